//! A method with its settings, ready to be fitted to scaled rows.

mod approx_svc;
mod classifiers;
mod library;
pub mod svm;

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::design::FeatureMap;
use mercer::kernel::Kernel;
use mercer::learn::{
    self, Admission, ClassWeight, Fitted, Knn, Lms, LmsSolver, Ridge, RidgeSolver, Smoother,
};
use mercer::model::{self, Calibration, Link, Predictor, Weights};
use mercer::session::Session;
use mercer::solve::Report;
use serde_json::Value;

use crate::approx::{self, Approx};
use crate::args::{Fit, Method, Multiclass, Solver, Weighting};
use crate::failure::Failure;

pub use library::Library;

/// A method with its settings.
pub trait Learner: Send + Sync {
    /// The method's name in the model.
    fn method(&self) -> model::Method;

    /// The settings that the model remembers.
    fn settings(&self) -> BTreeMap<String, Value>;

    /// Whether the method works on classes, where `text` says that the target holds texts.
    fn classifies(&self, text: bool) -> bool {
        let _ = text;
        false
    }

    /// Whether there is something to predict: one-class machines only look at the features.
    fn needs_target(&self) -> bool {
        true
    }

    /// Tells the learner the classes, before it is fitted to them.
    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        let _ = classes;
        Ok(())
    }

    /// What can be refused before any work: a problem too large, a setting out of range.
    fn check(&self, rows: usize, columns: usize, session: &Session<'_>) -> Result<(), Failure>;

    /// Fits `targets`, one row per row of `samples`, each of which counts by its weight. Weights are only given to methods that
    /// `--sample-weight` is for.
    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure>;
}

/// What a learner found.
pub struct Learnt {
    /// What predicts.
    pub predictor: Predictor,
    /// What makes probabilities of its decisions, where anything does.
    pub calibration: Option<Calibration>,
    /// How the work ended; none where there was none, as for neighbours.
    pub report: Option<Report>,
    /// More about it, for the report: numbers and words, no wall times.
    pub facts: BTreeMap<String, Value>,
}

impl From<Fitted> for Learnt {
    fn from(fitted: Fitted) -> Self {
        let Fitted { model, report, facts, .. } = fitted;
        Self { predictor: model.predictor, calibration: model.calibration, report, facts }
    }
}

/// Refuses what is wrong whatever the data is.
pub fn check_text(arguments: &Fit) -> Result<(), Failure> {
    refuse_what_does_not_apply(arguments)?;
    approx::check_text(arguments)?;
    Lift::parse(arguments).map(drop)
}

/// The learner that the command line asks for. `names` are those of the feature columns.
pub fn of(arguments: &Fit, names: &[String]) -> Result<Box<dyn Learner>, Failure> {
    let exact = exact(arguments, Lift::of(arguments, names)?)?;
    Ok(match arguments.approx.filter(|approx| approx.is_asked()) {
        Some(approx) if arguments.method == Method::Svc => {
            let lift = Lift::of(arguments, names)?;
            Box::new(approx_svc::ApproxSvcLearner::new(arguments, approx, lift, exact)?)
        }
        _ => exact,
    })
}

/// The learner, for support vectors on the kernel itself.
fn exact(arguments: &Fit, lift: Lift) -> Result<Box<dyn Learner>, Failure> {
    Ok(match arguments.method {
        Method::Ridge => Library::boxed(ridge(arguments, lift), arguments.common.seed),
        Method::Lms => Library::boxed(lms(arguments, lift), arguments.common.seed),
        Method::Smoother => Library::boxed(smoother(lift)?, arguments.common.seed),
        Method::Knn => Library::boxed(knn(arguments), arguments.common.seed),
        Method::Perceptron => Library::boxed(classifiers::perceptron(arguments, lift), arguments.common.seed),
        Method::Logistic => Library::boxed(classifiers::logistic(arguments, lift)?, arguments.common.seed),
        Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => {
            Box::new(svm::SvmLearner::new(arguments, lift)?)
        }
    })
}

fn ridge(arguments: &Fit, lift: Lift) -> Ridge {
    let method = match arguments.solver {
        Some(Solver::Cholesky) => RidgeSolver::Cholesky,
        Some(Solver::Mixed) => RidgeSolver::Mixed,
        Some(Solver::Primal) => RidgeSolver::Primal,
        Some(Solver::Cg) => RidgeSolver::Cg,
        _ => RidgeSolver::Auto,
    };
    let usual = Ridge::new(lift);
    let tol = arguments.tol.unwrap_or(usual.tol);
    let lambda = if arguments.lambda.is_empty() { vec![1.0] } else { arguments.lambda.clone() };
    usual
        .lambdas(lambda)
        .intercept(arguments.bias.unwrap_or_default())
        .admission(admission(arguments))
        .solver(method)
        .tol(tol)
}

fn lms(arguments: &Fit, lift: Lift) -> Lms {
    let method = match arguments.solver {
        Some(Solver::Sgd) => LmsSolver::Sgd,
        _ => LmsSolver::Batch,
    };
    Lms::new(lift)
        .step(arguments.step.unwrap_or_default())
        .epochs(arguments.epochs.unwrap_or(200))
        .tol(arguments.tol.unwrap_or(1e-6))
        .solver(method)
        .intercept(arguments.bias.unwrap_or_default())
        .admission(admission(arguments))
}

fn smoother(lift: Lift) -> Result<Smoother, Failure> {
    match lift {
        Lift::Kernel(kernel) => Ok(Smoother::new(kernel)),
        Lift::Features(_) => Err(Failure::usage("the smoother weights rows by a kernel, not by features")),
    }
}

fn knn(arguments: &Fit) -> Knn {
    let weights = match arguments.weights.unwrap_or(Weighting::Uniform) {
        Weighting::Uniform => Weights::Uniform,
        Weighting::Distance => Weights::Distance,
    };
    Knn::new(arguments.k.unwrap_or(5))
        .weights(weights)
        .metric(arguments.metric.unwrap_or_default())
        .classify(arguments.classify)
}

/// How samples are lifted: by a kernel, or by explicit features.
pub enum Lift {
    /// A kernel, `auto` not yet resolved.
    Kernel(Kernel),
    /// A feature map.
    Features(FeatureMap),
}

impl From<Lift> for learn::Lift {
    fn from(lift: Lift) -> Self {
        match lift {
            Lift::Kernel(kernel) => kernel.into(),
            Lift::Features(map) => map.into(),
        }
    }
}

impl Lift {
    fn of(arguments: &Fit, names: &[String]) -> Result<Self, Failure> {
        Ok(match Self::parse(arguments)? {
            Self::Features(map) => {
                Self::Features(map.bind(names).map_err(|e| Failure::usage(format!("in --features: {e}")))?)
            }
            kernel => kernel,
        })
    }

    /// As typed.
    pub fn parse(arguments: &Fit) -> Result<Self, Failure> {
        if let Some(text) = &arguments.features {
            let map = text.parse().map_err(|error| Failure::usage(format!("in --features: {error}")));
            return map.map(Self::Features);
        }
        if is_precomputed(arguments) {
            return match arguments.method {
                // The kernel value with training row i is the inner product with the unit vector of column i.
                Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => {
                    Ok(Self::Kernel(Kernel::linear()))
                }
                _ => Err(Failure::usage("--kernel precomputed is for support vector machines")),
            };
        }
        let kernel: Kernel = arguments.kernel.as_deref().unwrap_or("rbf(sigma=auto)").parse()?;
        if !kernel.tunables()?.is_empty() {
            return Err(Failure::usage("the kernel has `?`, which asks for tuning")
                .hint("use `mercer tune` to search, or give a number or `auto`"));
        }
        Ok(Self::Kernel(kernel))
    }
}

/// Whether the data are rows of kernel values.
pub fn is_precomputed(arguments: &Fit) -> bool {
    arguments.kernel.as_deref().map(str::trim) == Some("precomputed")
}

/// Whether a proof is asked for.
pub fn admission(arguments: &Fit) -> Admission {
    if arguments.assume_psd { Admission::Assume } else { Admission::Check }
}

/// A flag that the method would ignore is a mistake of the user's: say so.
fn refuse_what_does_not_apply(arguments: &Fit) -> Result<(), Failure> {
    use Method::{Knn, Lms, Logistic, NuSvc, NuSvr, OneClass, Perceptron, Ridge, Smoother, Svc, Svr};
    let flags: [(&str, bool, &[Method]); 25] = [
        (
            "--kernel",
            arguments.kernel.is_some(),
            &[Ridge, Lms, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass],
        ),
        ("--features", arguments.features.is_some(), &[Ridge, Lms, Perceptron]),
        ("--lambda", !arguments.lambda.is_empty(), &[Ridge, Logistic]),
        ("--C", arguments.c.is_some(), &[Logistic, Svc, Svr, NuSvr]),
        ("--nu", arguments.nu.is_some(), &[NuSvc, NuSvr, OneClass]),
        ("--epsilon", arguments.epsilon.is_some(), &[Svr]),
        ("--bias", arguments.bias.is_some(), &[Ridge, Lms]),
        ("--solver", arguments.solver.is_some(), &[Ridge, Lms, Logistic]),
        ("--step", arguments.step.is_some(), &[Lms]),
        ("--epochs", arguments.epochs.is_some(), &[Lms, Perceptron, Logistic]),
        ("--tol", arguments.tol.is_some(), &[Ridge, Lms, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
        ("--approx", arguments.approx.is_some(), &[Ridge, Logistic, Svc]),
        ("--checkpoint", arguments.checkpoint.is_some(), &[Ridge]),
        ("-k", arguments.k.is_some(), &[Knn]),
        ("--weights", arguments.weights.is_some(), &[Knn]),
        ("--metric", arguments.metric.is_some(), &[Knn]),
        ("--classify", arguments.classify, &[Knn]),
        (
            "--assume-psd",
            arguments.assume_psd,
            &[Ridge, Lms, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass],
        ),
        ("--class-weight", arguments.class_weight.is_some(), &[Logistic, Svc]),
        (
            "--sample-weight",
            arguments.sample_weight.is_some(),
            &[Ridge, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass],
        ),
        ("--probability", arguments.probability, &[Svc, NuSvc, Svr, NuSvr, OneClass]),
        ("--last", arguments.last, &[Perceptron]),
        ("--vote", arguments.vote, &[Perceptron]),
        ("--budget", arguments.budget.is_some(), &[Perceptron]),
        ("--multiclass", arguments.multiclass.is_some(), &[Perceptron, Svc, NuSvc]),
    ];
    let name = |method: Method| match method {
        Ridge => "ridge",
        Lms => "lms",
        Smoother => "smoother",
        Knn => "knn",
        Perceptron => "perceptron",
        Logistic => "logistic",
        Svc => "svc",
        NuSvc => "nu-svc",
        Svr => "svr",
        NuSvr => "nu-svr",
        OneClass => "one-class",
    };
    for (flag, given, methods) in flags {
        if given && !methods.contains(&arguments.method) {
            let those: Vec<&str> = methods.iter().map(|&method| name(method)).collect();
            return Err(Failure::usage(format!(
                "{flag} does not apply to {}; it is for {}",
                name(arguments.method),
                those.join(", ")
            )));
        }
    }
    match (arguments.method, arguments.multiclass) {
        (Perceptron, Some(Multiclass::OneVsOne)) => {
            return Err(Failure::usage("--multiclass of a perceptron is direct or one-vs-rest"));
        }
        (Svc | NuSvc, Some(Multiclass::Direct)) => {
            return Err(Failure::usage("--multiclass of support vectors is one-vs-one or one-vs-rest"));
        }
        _ => {}
    }
    let iterative = arguments.solver == Some(Solver::Cg);
    let approximate = arguments.approx.is_some_and(Approx::is_asked);
    if arguments.method == Ridge && arguments.tol.is_some() && !iterative {
        return Err(Failure::usage("--tol of ridge is for --solver cg; the other solvers are direct"));
    }
    if arguments.sample_weight.is_some() && arguments.method == Ridge && (iterative || approximate) {
        return Err(Failure::usage("--sample-weight does not go with --solver cg or --approx"));
    }
    if arguments.checkpoint.is_some() && !(iterative || approximate) {
        return Err(Failure::usage("--checkpoint is for --solver cg and for --approx"));
    }
    let Some(solver) = arguments.solver else { return Ok(()) };
    let (fits, those) = match arguments.method {
        Lms => (matches!(solver, Solver::Batch | Solver::Sgd), "batch or sgd"),
        Logistic => (matches!(solver, Solver::Newton | Solver::Gd | Solver::Sgd), "newton, gd or sgd"),
        _ => (
            matches!(solver, Solver::Auto | Solver::Cholesky | Solver::Mixed | Solver::Primal | Solver::Cg),
            "auto, cholesky, mixed, primal or cg",
        ),
    };
    if fits {
        return Ok(());
    }
    Err(Failure::usage(format!("{} is solved by {those}", name(arguments.method))))
}

/// The class of each row of one-hot targets.
pub fn codes_of(targets: &Matrix<f64>) -> Vec<usize> {
    (0..targets.nrows()).map(|i| Link::Shares.class(targets.row(i))).collect()
}

/// The weight of each class, from weights by name; 1 for those that are not named.
fn weights_by_name(weights: &[(String, f64)], classes: &Classes) -> Result<Vec<f64>, Failure> {
    match ClassWeight::Named(weights.to_vec()).resolved(Some(classes))? {
        ClassWeight::Each(each) => Ok(each),
        _ => Ok(vec![1.0; classes.len()]),
    }
}
