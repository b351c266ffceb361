//! The arguments of `tune` as a search of the library.

use mercer::kernel::SearchSpace;
use mercer::learn::search::{Criterion, Shared};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{AnyLearner, Intercept, KernelCheck, Knn, Lift, Logistic, Perceptron, Ridge, Smoother};
use mercer::model::Method;
use mercer::select::Values;

use crate::args::{Approx, Tune, tuned_methods_of};
use crate::failure::Failure;
use crate::settings::{BIAS_OF_APPROX, kernel, lifted, refuse};

/// ε where the residual noise is not known.
const DEFAULT_EPSILON: f64 = 0.1;

/// The search, in addition to the `?` of the kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The learner; its kernel has a `?` for each hyper-parameter to search for.
    pub learner: AnyLearner,
    /// ε or ν of support vector regression and one-class estimation, if it is a number.
    number: f64,
    /// The values of λ, C, ν or k; `None` for their default range.
    pub shared: Option<SearchSpace>,
    /// The values of ε or ν of support vector regression; `None` if it is a number.
    pub second: Option<Values>,
}

/// The requested search. Columns chosen by name are not resolved to indices yet.
pub fn settings(arguments: &Tune) -> Result<Settings, Failure> {
    refuse_what_does_not_apply(arguments)?;
    check_approximation(arguments)?;
    let method = arguments.method;
    let shared = match method {
        Method::Knn => Some((Shared::Neighbours, arguments.k.as_deref())),
        Method::Svc | Method::Svr | Method::NuSvr => {
            // The range of a bare `?` has the units of the target, which are not known yet.
            Some((Shared::Cost, arguments.c.as_deref().filter(|text| text.trim() != "?")))
        }
        Method::NuSvc => Some((Shared::Nu, arguments.nu.as_deref())),
        Method::Ridge | Method::Logistic => Some((Shared::Lambda, arguments.lambda.as_deref())),
        _ => None,
    };
    let shared = shared.and_then(|(shared, text)| Some(read(shared, text?)));
    let second = match method {
        Method::Svr => arguments.epsilon.as_deref().map(|text| (Shared::Epsilon, text)),
        Method::NuSvr | Method::OneClass => Some((Shared::Nu, arguments.nu.as_deref().unwrap_or("0.5"))),
        _ => None,
    };
    let (number, second) = match second {
        // ε is taken from the residual noise.
        None => (DEFAULT_EPSILON, None),
        Some((_, text)) if method == Method::OneClass && text.trim().starts_with('?') => {
            return Err(Failure::usage(
                "nu of one-class is the fraction of outliers that you expect; without known outliers it cannot be searched",
            )
            .hint("give a number, such as --nu 0.05"));
        }
        Some((_, text)) if text.trim() == "?" => (0.5, Some(Values::Usual)),
        Some((second, text)) => match (read(second, text)?, text.trim().starts_with('?')) {
            (SearchSpace::OneOf(values), false) => (values[0], None),
            (space, _) => (0.5, Some(Values::Within(space))),
        },
    };
    let learner = learner(arguments, number, None)?;
    Ok(Settings { learner, number, shared: shared.transpose()?, second })
}

impl Settings {
    /// The learner on data with these columns.
    pub fn bound(&self, arguments: &Tune, names: &[String]) -> Result<AnyLearner, Failure> {
        Ok(learner(arguments, self.number, Some(names))?.bind(names)?)
    }
}

fn read(shared: Shared, text: &str) -> Result<SearchSpace, Failure> {
    shared.read(text).map_err(|error| Failure::usage(error.to_string()))
}

/// The learner, with `second` as ε or ν of machines that have one in addition to the searched hyper-parameter.
fn learner(arguments: &Tune, second: f64, names: Option<&[String]>) -> Result<AnyLearner, Failure> {
    let kernel_check = if arguments.assume_psd { KernelCheck::Assume } else { KernelCheck::Check };
    let weights = arguments.class_weight.clone().unwrap_or_default();
    let lift = lift(arguments, names)?;
    Ok(match (arguments.method, lift) {
        (Method::Knn, _) => Knn::default().classify(arguments.classify).into(),
        (Method::Smoother, Lift::Kernel(kernel)) => Smoother::new(kernel).into(),
        (Method::Perceptron, lift) => Perceptron::on(lift).kernel_check(kernel_check).into(),
        (Method::Logistic, lift) => {
            Logistic::on(lift).kernel_check(kernel_check).class_weight(weights).into()
        }
        (Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass, lift) => {
            let machine = Machine::of(arguments.method, None, Some(second), Some(second));
            Svm::on(lift, machine).kernel_check(kernel_check).class_weight(weights).into()
        }
        (_, lift) => Ridge::on(lift)
            .intercept(arguments.bias.unwrap_or(Intercept::Centred))
            .kernel_check(kernel_check)
            .into(),
    })
}

fn lift(arguments: &Tune, names: Option<&[String]>) -> Result<Lift, Failure> {
    let text = arguments.kernel.as_deref().unwrap_or("rbf(sigma=?)");
    lifted(arguments.features.as_deref(), arguments.approx, || kernel(text, names))
}

/// Rejects flags that the method would ignore.
fn refuse_what_does_not_apply(arguments: &Tune) -> Result<(), Failure> {
    let method = arguments.method;
    refuse(&arguments.given, tuned_methods_of, method, "the tuning of ")?;
    let by = arguments.criterion.as_ref();
    let one_fit = matches!(by, Some(Criterion::LeaveOneOut | Criterion::Gcv));
    if one_fit && method != Method::Ridge {
        return Err(Failure::usage(format!(
            "--criterion loo and gcv are for ridge, whose left-out errors follow from one fit; {method} is scored by folds or \
             holdout"
        )));
    }
    let contradictions = [
        (
            arguments.folds.is_some() && by.is_some_and(|by| !matches!(by, Criterion::Folds(_))),
            "--folds is for --criterion folds",
        ),
        (
            arguments.holdout.is_some() && by.is_some_and(|by| !matches!(by, Criterion::HoldOut(_))),
            "--holdout is for --criterion holdout; --outer keeps rows apart from the search",
        ),
    ];
    match contradictions.iter().find(|(found, _)| *found) {
        Some((_, message)) => Err(Failure::usage(message)),
        None => Ok(()),
    }
}

/// Rejects options that cannot be combined with an approximation.
fn check_approximation(arguments: &Tune) -> Result<(), Failure> {
    match arguments.approx {
        Some(Approx::As(_)) => check_criterion(arguments)?,
        Some(Approx::Auto) => {}
        Some(Approx::Exact) | None => return Ok(()),
    }
    if arguments.bias == Some(Intercept::Column) {
        return Err(Failure::usage(BIAS_OF_APPROX));
    }
    Ok(())
}

/// Rejects a criterion that needs the kernel matrix.
pub fn check_criterion(arguments: &Tune) -> Result<(), Failure> {
    match arguments.criterion(true) {
        Criterion::LeaveOneOut | Criterion::Gcv => {
            Err(Failure::usage("--criterion loo and gcv need the kernel matrix, which --approx does without")
                .hint("use --folds 5 or --holdout 0.2"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    fn parsed(text: &str) -> Result<Settings, Failure> {
        let typed = ["mercer", "tune"].into_iter().chain(text.split(' ')).chain(["d.csv", "-o", "m"]);
        match Arguments::parse_from(typed).command {
            Command::Tune(tune) => settings(&tune),
            _ => panic!("tune"),
        }
    }

    #[test]
    fn arguments_become_searches() {
        let svr = parsed("svr --epsilon ?0.01..1 --C 3").unwrap();
        assert_eq!(svr.second, Some(Values::Within(SearchSpace::Between(0.01, 1.0))));
        assert_eq!(svr.shared, Some(SearchSpace::OneOf(vec![3.0])));
        assert_eq!(parsed("svr --epsilon ?").unwrap().second, Some(Values::Usual));
        let fixed = parsed("svr --epsilon 0.3").unwrap();
        let AnyLearner::Svm(svm) = &fixed.learner else { panic!("svr") };
        assert_eq!((svm.machine, fixed.second), (Machine::Svr { c: 1.0, epsilon: 0.3 }, None));
        assert_eq!(parsed("nu-svr --nu ?").unwrap().second, Some(Values::Usual));
        assert_eq!(parsed("nu-svc --nu ?").unwrap().shared, Some(SearchSpace::Between(0.01, 0.8)));
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, message) in [
            ("one-class --nu ?", "the fraction of outliers that you expect"),
            ("knn --folds 5", "--folds does not apply to the tuning of knn"),
            ("svc --lambda 1", "it is for ridge, logistic"),
            ("smoother --one-se", "--one-se does not apply to the tuning of smoother"),
            ("svc --criterion loo", "svc is scored by folds or holdout"),
            ("ridge --criterion loo --folds 4", "--folds is for --criterion folds"),
            ("svr --epsilon -1", "epsilon is `-1`"),
            ("ridge --approx fourier:8 --bias column", "centred and none only"),
        ] {
            let failure = parsed(text).unwrap_err();
            assert!(failure.message().contains(message), "{text}: {}", failure.message());
        }
    }
}
