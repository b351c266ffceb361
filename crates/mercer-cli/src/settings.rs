//! The arguments of `fit` as settings of the library's learners.

use mercer::design::{Approximation, FeatureMap};
use mercer::kernel::{Kernel, bind_columns, names_columns, with_unknown_columns};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{
    AnyLearner, Gp, GpSolver, Intercept, KernelCheck, Knn, Lift, Lms, Logistic, Perceptron, Ridge, Smoother,
    Step,
};
use mercer::model::Method;
use mercer::select::{Open, default_kernel};
use mercer::solve::svm::SvmSettings;
use serde::de::DeserializeOwned;

use crate::args::{self, Approx, Fit, Given, methods_of};
use crate::failure::Failure;

/// The learner that the command line describes. Columns chosen by name in the kernel or the features are not resolved
/// to indices yet.
pub fn learner(arguments: &Fit) -> Result<AnyLearner, Failure> {
    refuse(&arguments.given, methods_of, arguments.method, "")?;
    refuse_contradictions(arguments)?;
    of_columns(arguments, None)
}

/// The same learner on data with these columns.
pub fn bound(learner: AnyLearner, arguments: &Fit, names: &[String]) -> Result<AnyLearner, Failure> {
    if arguments.kernel.as_deref().is_some_and(names_columns) {
        return of_columns(arguments, Some(names));
    }
    Ok(learner.bind(names)?)
}

/// Parses a kernel text; named columns are replaced by their indices or, if these are unknown, by a column beyond any
/// data.
pub fn kernel(text: &str, names: Option<&[String]>) -> Result<Kernel, Failure> {
    let text = match names {
        _ if !names_columns(text) => text.to_owned(),
        Some(names) => bind_columns(text, names).map_err(|error| Failure::usage(error.to_string()))?,
        None => with_unknown_columns(text),
    };
    Ok(text.parse()?)
}

/// The learner on data with these columns, or with columns that are still unknown.
fn of_columns(arguments: &Fit, names: Option<&[String]>) -> Result<AnyLearner, Failure> {
    if arguments.method == Method::Gp {
        return Ok(gp(arguments, names)?.into());
    }
    let lift = lift(arguments, names)?;
    Ok(match (arguments.method, lift) {
        (Method::Ridge, lift) => ridge(arguments, lift).into(),
        (Method::Lms, lift) => lms(arguments, lift).into(),
        (Method::Knn, _) => knn(arguments).into(),
        (Method::Perceptron, lift) => perceptron(arguments, lift).into(),
        (Method::Logistic, lift) => logistic(arguments, lift)?.into(),
        (Method::Smoother, Lift::Kernel(kernel)) => Smoother::new(kernel).into(),
        (_, lift) => svm(arguments, lift).into(),
    })
}

/// The settings to choose: the penalty if no flag gives one, and the kernel if it is not given either.
pub fn open(arguments: &Fit) -> Option<Open> {
    use Method::{Logistic, NuSvc, NuSvr, OneClass, Ridge, Svc, Svr};
    let method = arguments.method;
    let has_penalty = !arguments.lambda.is_empty()
        || arguments.c.is_some()
        || arguments.nu.is_some()
        || arguments.epsilon.is_some();
    let is_chosen = matches!(method, Ridge | Logistic | Svc | NuSvc | Svr | NuSvr | OneClass);
    if arguments.no_tune || has_penalty || !is_chosen {
        return None;
    }
    match arguments.kernel {
        None if arguments.features.is_some() => Some(Open::Penalty),
        None => Some(Open::KernelAndPenalty),
        Some(_) => (method != OneClass).then_some(Open::Penalty),
    }
}

/// Whether the data are rows of kernel values.
pub fn is_precomputed(arguments: &Fit) -> bool {
    arguments.kernel.as_deref().map(str::trim) == Some("precomputed")
}

fn lift(arguments: &Fit, names: Option<&[String]>) -> Result<Lift, Failure> {
    lifted(arguments.features.as_deref(), arguments.approx, || {
        // The kernel value with training row i is the inner product with the unit vector of column i.
        let text = if is_precomputed(arguments) { Some("linear") } else { arguments.kernel.as_deref() };
        let kernel = text.map(|text| kernel(text, names)).transpose()?;
        let kernel = kernel.unwrap_or_else(|| default_kernel(arguments.method));
        if !kernel.tunables()?.is_empty() {
            return Err(Failure::usage("the kernel has an unknown value `?`")
                .hint("use `mercer tune` to search, or give a number or `auto`"));
        }
        Ok(kernel)
    })
}

/// The features, or the kernel with its approximation.
pub fn lifted(
    features: Option<&str>,
    approx: Option<Approx>,
    kernel: impl FnOnce() -> Result<Kernel, Failure>,
) -> Result<Lift, Failure> {
    if let Some(text) = features {
        let map =
            text.parse::<FeatureMap>().map_err(|error| Failure::usage(format!("in --features: {error}")));
        return map.map(Lift::from);
    }
    let kernel = kernel()?;
    Ok(match approx {
        None | Some(Approx::Exact) => kernel.into(),
        Some(Approx::Auto) => Lift::Auto(kernel),
        Some(Approx::As(approximation)) => (kernel, approximation).into(),
    })
}

/// The setting that a flag names, which has been checked; else its default.
fn chosen<T: DeserializeOwned + Default>(name: &Option<String>) -> T {
    name.as_deref().and_then(|name| args::named(name).ok()).unwrap_or_default()
}

/// Whether a proof is required.
fn kernel_check(arguments: &Fit) -> KernelCheck {
    if arguments.assume_psd { KernelCheck::Assume } else { KernelCheck::Check }
}

fn ridge(arguments: &Fit, lift: Lift) -> Ridge {
    let mut ridge = Ridge::on(lift)
        .intercept(arguments.bias.unwrap_or_default())
        .kernel_check(kernel_check(arguments))
        .solver(chosen(&arguments.solver));
    if !arguments.lambda.is_empty() {
        ridge.lambda.clone_from(&arguments.lambda);
    }
    ridge.tol = arguments.tol.unwrap_or(ridge.tol);
    ridge
}

fn lms(arguments: &Fit, lift: Lift) -> Lms {
    let lms = Lms::on(lift);
    let (epochs, tol) = (arguments.epochs.unwrap_or(lms.epochs), arguments.tol.unwrap_or(lms.tol));
    lms.step(arguments.step.unwrap_or_default())
        .epochs(epochs)
        .tol(tol)
        .solver(chosen(&arguments.solver))
        .intercept(arguments.bias.unwrap_or_default())
        .kernel_check(kernel_check(arguments))
}

fn gp(arguments: &Fit, names: Option<&[String]>) -> Result<Gp, Failure> {
    let kernel = match arguments.kernel.as_deref() {
        Some(text) => kernel(text, names)?,
        None => Gp::default_kernel(),
    };
    let (inducing, open) = match arguments.approx {
        None | Some(Approx::Auto) => (None, GpSolver::Auto),
        Some(Approx::Exact) => (None, GpSolver::Cholesky),
        Some(Approx::As(Approximation::Nystrom { landmarks, .. })) => (Some(landmarks), GpSolver::Auto),
        Some(_) => {
            return Err(Failure::usage(
                "a Gaussian process is approximated by inducing points: --approx nystrom:M, auto or none",
            ));
        }
    };
    let solver = match &arguments.solver {
        None => open,
        Some(_) if inducing.is_some() => {
            return Err(Failure::usage(
                "--solver is for a process without inducing points: leave out --approx",
            ));
        }
        solver => chosen(solver),
    };
    Ok(Gp::new(kernel)
        .noise(arguments.noise)
        .objective(arguments.objective.unwrap_or_default())
        .solver(solver)
        .variance(!arguments.no_variance)
        .restarts(arguments.restarts.unwrap_or(0))
        .classify(arguments.classify)
        .inducing(inducing)
        .kernel_check(kernel_check(arguments)))
}

fn knn(arguments: &Fit) -> Knn {
    let knn = Knn::default();
    knn.k(arguments.k.unwrap_or(knn.k))
        .weights(arguments.weights.unwrap_or_default())
        .metric(arguments.metric.unwrap_or_default())
        .classify(arguments.classify)
}

fn perceptron(arguments: &Fit, lift: Lift) -> Perceptron {
    let perceptron = Perceptron::on(lift);
    let passes = arguments.epochs.unwrap_or(perceptron.passes);
    perceptron
        .passes(passes)
        .averaged(!arguments.last)
        .vote(arguments.vote)
        .budget(arguments.budget)
        .step(match arguments.step {
            Some(Step::Value(step)) => step,
            Some(Step::Auto) | None => 1.0,
        })
        .rule(chosen(&arguments.multiclass))
        .kernel_check(kernel_check(arguments))
}

fn logistic(arguments: &Fit, lift: Lift) -> Result<Logistic, Failure> {
    let lambda = match (arguments.c, arguments.lambda.as_slice()) {
        (Some(c), []) if c > 0.0 && c.is_finite() => 1.0 / c,
        (Some(c), []) => {
            return Err(Failure::usage(format!("C is {c}; it must be a finite number above 0")));
        }
        (None, []) => 1.0,
        (None, [lambda]) => *lambda,
        (Some(_), _) => {
            return Err(Failure::usage("--C and --lambda set the same penalty (C = 1/λ); give one of them"));
        }
        (None, _) => return Err(Failure::usage("a classifier takes one value of --lambda")),
    };
    let logistic = Logistic::on(lift).lambda(lambda);
    let tol = arguments.tol.unwrap_or(logistic.tol);
    Ok(logistic
        .solver(chosen(&arguments.solver))
        .class_weight(arguments.class_weight.clone().unwrap_or_default())
        .step(arguments.step.unwrap_or_default())
        .tol(tol)
        .max_iter(arguments.epochs)
        .kernel_check(kernel_check(arguments)))
}

fn svm(arguments: &Fit, lift: Lift) -> Svm {
    let machine = Machine::of(arguments.method, arguments.c, arguments.nu, arguments.epsilon);
    let usual = SvmSettings::default();
    Svm::on(lift, machine)
        .class_weight(arguments.class_weight.clone().unwrap_or_default())
        .multiclass(chosen(&arguments.multiclass))
        .probability(arguments.probability)
        .kernel_check(kernel_check(arguments))
        .solver(SvmSettings { tol: arguments.tol.unwrap_or(usual.tol), cache: arguments.memory, ..usual })
}

/// Rejects given flags that are for methods that `methods_of` lists, if the method is not one; `task` stands before the method.
pub fn refuse(
    given: &Given,
    methods_of: fn(&str) -> Option<&'static [Method]>,
    method: Method,
    task: &str,
) -> Result<(), Failure> {
    for flag in given.names() {
        let Some(methods) = methods_of(flag) else { continue };
        if !methods.contains(&method) {
            let those: Vec<String> = methods.iter().map(Method::to_string).collect();
            let (dashes, those) = (if flag == "k" { "-" } else { "--" }, those.join(", "));
            return Err(Failure::usage(format!(
                "{dashes}{flag} does not apply to {task}{method}; it is for {those}"
            )));
        }
    }
    Ok(())
}

/// The message about a kind of bias that an approximation does not have.
pub const BIAS_OF_APPROX: &str = "--approx supports --bias centred and none only";

/// Rejects values that the method does not support, and contradictory flags.
fn refuse_contradictions(arguments: &Fit) -> Result<(), Failure> {
    let method = arguments.method;
    let (solvers, last): (&[&str], &str) = match method {
        Method::Lms => (&["batch"], "sgd"),
        Method::Logistic => (&["newton", "gd"], "sgd"),
        Method::Gp => (&["auto", "cholesky"], "cg"),
        _ => (&["auto", "cholesky", "mixed", "primal"], "cg"),
    };
    let solver = arguments.solver.as_deref();
    if solver.is_some_and(|solver| !solvers.contains(&solver) && solver != last) {
        return Err(Failure::usage(format!(
            "--solver for {method} must be {} or {last}",
            solvers.join(", ")
        )));
    }
    let (ridge, perceptron) = (method == Method::Ridge, method == Method::Perceptron);
    let vectors =
        matches!(method, Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass);
    let (cg, precomputed) = (solver == Some("cg"), is_precomputed(arguments));
    let approximate = arguments.approx.is_some_and(Approx::is_asked);
    let multiclass = arguments.multiclass.as_deref();
    let (one_vs_one, direct) = (multiclass == Some("one-vs-one"), multiclass == Some("direct"));
    let contradictions = [
        (perceptron && one_vs_one, "--multiclass for a perceptron must be direct or one-vs-rest"),
        (vectors && direct, "--multiclass for a support vector machine must be one-vs-one or one-vs-rest"),
        (approximate && one_vs_one, "--multiclass one-vs-one cannot be combined with --approx"),
        (
            ridge && arguments.tol.is_some() && !cg,
            "--tol applies to ridge with --solver cg only; the other solvers are direct",
        ),
        (
            ridge && arguments.sample_weight.is_some() && (cg || approximate),
            "--sample-weight cannot be combined with --solver cg or --approx",
        ),
        (
            arguments.checkpoint.is_some() && !(cg || approximate),
            "--checkpoint needs --solver cg or --approx",
        ),
        (
            method == Method::Logistic && arguments.step.is_some() && !matches!(solver, Some("gd" | "sgd")),
            "--step of logistic is for --solver gd and sgd; Newton's method finds its own",
        ),
        (precomputed && !vectors, "--kernel precomputed is supported by support vector machines only"),
        (precomputed && approximate, "--approx cannot be used with precomputed kernel values"),
        (approximate && arguments.features.is_some(), "--approx cannot be combined with --features"),
        (approximate && arguments.bias == Some(Intercept::Column), BIAS_OF_APPROX),
        (
            approximate
                && ridge
                && solver.is_some_and(|solver| solver != "auto")
                && !(cg && matches!(arguments.approx, Some(Approx::As(Approximation::Nystrom { .. })))),
            "--approx cannot be combined with --solver, except nystrom:M with cg",
        ),
    ];
    match contradictions.iter().find(|(found, _)| *found) {
        Some((_, message)) => Err(Failure::usage(message)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;
    use mercer::learn::{GpObjective, LmsSolver, RidgeSolver};
    use serde_json::json;

    fn parsed(text: &str) -> Result<AnyLearner, Failure> {
        let typed = ["mercer", "fit"].into_iter().chain(text.split(' ')).chain(["d.csv", "-o", "m"]);
        match Arguments::parse_from(typed).command {
            Command::Fit(fit) => learner(&fit),
            _ => panic!("fit"),
        }
    }

    #[test]
    fn arguments_become_settings() {
        let by_gamma: Kernel = "rbf(gamma=auto)".parse().unwrap();
        let cases = [
            ("ridge", Ridge::default().into()),
            (
                "ridge --kernel linear --lambda 0.5,2 --bias none --solver cg --tol 1e-4 --assume-psd",
                Ridge::new(Kernel::linear())
                    .lambdas(vec![0.5, 2.0])
                    .intercept(Intercept::None)
                    .solver(RidgeSolver::Cg)
                    .tol(1e-4)
                    .kernel_check(KernelCheck::Assume)
                    .into(),
            ),
            ("ridge --approx auto", AnyLearner::from(Ridge::on(Lift::Auto(Kernel::gaussian_auto())))),
            ("lms --solver sgd --epochs 7", Lms::default().solver(LmsSolver::Sgd).epochs(7).into()),
            ("logistic --C 4", Logistic::new(by_gamma.clone()).lambda(0.25).into()),
            (
                "perceptron --last --budget 9",
                Perceptron::new(by_gamma).averaged(false).budget(Some(9)).into(),
            ),
            ("knn -k 3 --classify", Knn::new(3).classify(true).into()),
            ("gp", Gp::default().into()),
            (
                "gp --kernel rbf(sigma=?) --noise 0.1 --no-variance --restarts 2",
                Gp::new("rbf(sigma=?)".parse().unwrap()).noise(Some(0.1)).variance(false).restarts(2).into(),
            ),
            ("gp --solver cg", Gp::default().solver(GpSolver::Cg).into()),
            ("gp --approx none", Gp::default().solver(GpSolver::Cholesky).into()),
            ("gp --objective loo", Gp::default().objective(GpObjective::LeaveOneOut).into()),
            ("gp --approx nystrom:50", Gp::default().inducing(Some(50)).into()),
            ("gp --classify", Gp::default().classify(true).into()),
            ("smoother --kernel linear", Smoother::new(Kernel::linear()).into()),
            ("nu-svr --nu 0.2", Svm::on(Lift::default(), Machine::NuSvr { c: 1.0, nu: 0.2 }).into()),
        ];
        for (text, expected) in cases {
            assert_eq!(parsed(text).unwrap(), expected, "{text}");
        }
        let svc =
            serde_json::to_value(parsed("svc --class-weight a=2 --multiclass one-vs-rest").unwrap()).unwrap();
        assert_eq!((&svc["method"], &svc["multiclass"]), (&json!("svc"), &json!("one-vs-rest")));
        assert_eq!(svc["class_weight"], json!({"named": [["a", 2.0]]}));
    }

    #[test]
    fn unset_flags_leave_settings_open() {
        let left_open = |text: &str| {
            let typed = ["mercer", "fit"].into_iter().chain(text.split(' ')).chain(["d.csv", "-o", "m"]);
            match Arguments::parse_from(typed).command {
                Command::Fit(fit) => open(&fit),
                _ => panic!("fit"),
            }
        };
        for method in ["ridge", "logistic", "svc", "nu-svc", "svr", "nu-svr", "one-class"] {
            assert_eq!(left_open(method), Some(Open::KernelAndPenalty), "{method}");
            assert_eq!(left_open(&format!("{method} --no-tune")), None, "{method}");
        }
        assert_eq!(left_open("svc --kernel linear"), Some(Open::Penalty));
        assert_eq!(left_open("ridge --features x"), Some(Open::Penalty));
        for text in [
            "ridge --lambda 2",
            "svr --epsilon 0.2",
            "svr --C 3",
            "nu-svc --nu 0.2",
            "one-class --kernel linear",
            "ridge --features x --lambda 1",
            "lms --features x",
            "lms",
            "knn",
            "perceptron",
            "smoother",
        ] {
            assert_eq!(left_open(text), None, "{text}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, message) in [
            ("ridge --C 1", "--C does not apply to ridge; it is for logistic, svc, svr, nu-svr"),
            ("lms --solver cg", "--solver for lms must be batch or sgd"),
            ("ridge --objective loo", "--objective does not apply to ridge; it is for gp"),
            ("ridge --tol 1e-3", "--solver cg"),
            ("ridge --kernel precomputed", "support vector machines"),
            ("svc --kernel precomputed --approx auto", "precomputed kernel values"),
            ("ridge --features x --approx fourier:8", "combined with --features"),
            ("ridge --bias column --approx fourier:8", "centred and none"),
            ("ridge --kernel rbf(sigma=?)", "unknown value `?`"),
            ("ridge --checkpoint half", "--checkpoint needs"),
        ] {
            let failure = parsed(text).unwrap_err();
            assert!(failure.message().contains(message), "{text}: {}", failure.message());
        }
    }
}
