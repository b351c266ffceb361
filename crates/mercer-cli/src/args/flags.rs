//! The methods to which the flags of `fit` and `tune` apply.

use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};
use mercer::model::Method;
use mercer::model::Method::{
    Gp, Knn, Lms, Logistic, NuSvc, NuSvr, OneClass, Perceptron, Ridge, Smoother, Svc, Svr,
};

/// Flags that do not apply to every method, without their dashes.
const FLAGS: [(&str, &[Method]); 30] = [
    ("kernel", &[Ridge, Lms, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("features", &[Ridge, Lms, Perceptron]),
    ("lambda", &[Ridge, Logistic]),
    ("C", &[Logistic, Svc, Svr, NuSvr]),
    ("nu", &[NuSvc, NuSvr, OneClass]),
    ("no-tune", &[Ridge, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("epsilon", &[Svr]),
    ("bias", &[Ridge, Lms]),
    ("solver", &[Ridge, Lms, Logistic, Gp]),
    ("step", &[Lms, Perceptron, Logistic]),
    ("epochs", &[Lms, Perceptron, Logistic]),
    ("tol", &[Ridge, Lms, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("approx", &[Ridge, Logistic, Svc, Gp]),
    ("checkpoint", &[Ridge]),
    ("k", &[Knn]),
    ("weights", &[Knn]),
    ("metric", &[Knn]),
    ("classify", &[Knn, Gp]),
    ("assume-psd", &[Ridge, Lms, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("class-weight", &[Logistic, Svc]),
    ("sample-weight", &[Ridge, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("probability", &[Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("last", &[Perceptron]),
    ("vote", &[Perceptron]),
    ("budget", &[Perceptron]),
    ("multiclass", &[Perceptron, Svc, NuSvc]),
    ("noise", &[Gp]),
    ("objective", &[Gp]),
    ("no-variance", &[Gp]),
    ("restarts", &[Gp]),
];

/// The flags of `tune` that do not apply to every method.
const TUNE_FLAGS: [(&str, &[Method]); 21] = [
    ("kernel", &[Ridge, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("features", &[Ridge]),
    ("lambda", &[Ridge, Logistic]),
    ("C", &[Svc, Svr, NuSvr]),
    ("nu", &[NuSvc, NuSvr, OneClass]),
    ("epsilon", &[Svr]),
    ("k", &[Knn]),
    ("classify", &[Knn]),
    ("bias", &[Ridge]),
    ("class-weight", &[Logistic, Svc]),
    ("approx", &[Ridge]),
    ("criterion", &[Ridge, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("score", &[Ridge, Smoother, Knn, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr]),
    ("one-se", &[Ridge, Knn, Logistic, Svc, NuSvc, Svr, NuSvr]),
    ("folds", &[Ridge, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("holdout", &[Ridge, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("search", &[Ridge, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("points", &[Ridge, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("trials", &[Ridge, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("checkpoint", &[Ridge, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("assume-psd", &[Ridge, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
];

/// The flags of `plan` that do not apply to every method.
const PLAN_FLAGS: [(&str, &[Method]); 9] = [
    ("kernel", &[Ridge, Lms, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("features", &[Ridge, Lms, Perceptron]),
    ("lambda", &[Ridge]),
    ("lambdas", &[Ridge]),
    ("epochs", &[Lms, Perceptron]),
    ("classes", &[Perceptron, Logistic]),
    ("sgd", &[Lms]),
    ("k", &[Knn]),
    ("queries", &[Smoother, Knn]),
];

/// The methods to which a flag of `fit` applies; `None` for all of them.
pub fn methods_of(flag: &str) -> Option<&'static [Method]> {
    FLAGS.iter().find(|(known, _)| *known == flag).map(|(_, methods)| *methods)
}

/// The methods to which a flag of `tune` applies; `None` for all of them.
pub fn tuned_methods_of(flag: &str) -> Option<&'static [Method]> {
    TUNE_FLAGS.iter().find(|(known, _)| *known == flag).map(|(_, methods)| *methods)
}

/// Whether a flag of `fit`, `tune` or `plan` applies to a method.
pub fn applies(subcommand: &str, flag: &str, method: Method) -> bool {
    let methods = match subcommand {
        "tune" => tuned_methods_of(flag),
        "plan" => PLAN_FLAGS.iter().find(|(known, _)| *known == flag).map(|(_, methods)| *methods),
        _ => methods_of(flag),
    };
    methods.is_none_or(|methods| methods.contains(&method))
}

/// The names of the options that the command line gives.
#[derive(Debug)]
pub struct Given(Vec<String>);

impl Given {
    /// The given options, without dashes before their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_typed = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Self(matches.ids().filter(is_typed).map(|id| id.as_str().replace('_', "-")).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
