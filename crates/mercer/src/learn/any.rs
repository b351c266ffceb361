//! Any of the learners, for the command line, Python and tuning.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::data::AnySamples;
use crate::design::{DesignError, LabelledRows};
use crate::linalg::NormalEquations;
use crate::model::{Facts, Method};
use crate::session::Session;

use super::error::LearnError;
use super::fitted::Fitted;
use super::gp::Gp;
use super::knn::Knn;
use super::learner::{Learner, Requires, Shape};
use super::lift::{Lift, Prepared};
use super::lms::Lms;
use super::logistic::Logistic;
use super::perceptron::Perceptron;
use super::problem::Problem;
use super::ridge::{Ridge, RidgeSolver};
use super::smoother::Smoother;
use super::svm::Svm;

/// Any learner with its settings; serialised with the tag `method`.
///
/// ```
/// use mercer::learn::AnyLearner;
/// let text = r#"{"method": "ridge", "kernel": "rbf(sigma=2)", "lambda": 0.1, "bias": "none"}"#;
/// let learner: AnyLearner = serde_json::from_str(text)?;
/// let AnyLearner::Ridge(ridge) = learner else { panic!("ridge") };
/// assert_eq!((ridge.lambda, ridge.tol), (vec![0.1], 1e-3));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnyLearner {
    /// Ridge regression.
    Ridge(Ridge),
    /// Least mean squares.
    Lms(Lms),
    /// The kernel smoother.
    Smoother(Smoother),
    /// k nearest neighbours.
    Knn(Knn),
    /// The perceptron.
    Perceptron(Perceptron),
    /// Logistic regression.
    Logistic(Logistic),
    /// A Gaussian process.
    Gp(Gp),
    /// A support vector machine, which has a method for each [`Machine`](super::svm::Machine).
    #[serde(untagged)]
    Svm(Svm),
}

impl AnyLearner {
    /// The same learner with column names in explicit features replaced by indices.
    ///
    /// # Errors
    /// If there is no column of that name.
    pub fn bind(mut self, names: &[String]) -> Result<Self, DesignError> {
        if let Some(lift) = self.lift_mut()
            && let Lift::Features(map) = lift
        {
            *lift = map.bind(names)?.into();
        }
        Ok(self)
    }

    /// The lift, if the learner has one.
    pub fn lift_mut(&mut self) -> Option<&mut Lift> {
        match self {
            Self::Ridge(Ridge { lift, .. })
            | Self::Lms(Lms { lift, .. })
            | Self::Perceptron(Perceptron { lift, .. })
            | Self::Logistic(Logistic { lift, .. })
            | Self::Svm(Svm { lift, .. }) => Some(lift),
            _ => None,
        }
    }

    /// The lift of a learner that trains on a stream: on features that approximate a kernel, other than by conjugate gradients,
    /// which read the rows in every step.
    #[must_use]
    pub fn lift_of_stream(&self) -> Option<&Lift> {
        let lift = match self {
            Self::Ridge(ridge) if ridge.solver != RidgeSolver::Cg => &ridge.lift,
            Self::Logistic(logistic) => &logistic.lift,
            Self::Svm(svm) => &svm.lift,
            _ => return None,
        };
        Some(lift).filter(|lift| matches!(lift, Lift::Approximate { .. } | Lift::Auto(_)))
    }

    /// The features of an approximation for this number of rows, of which samples are all or a part.
    ///
    /// # Errors
    /// As [`Prepared::new`]; if the learner is not on an approximation or does not work on features.
    pub fn prepare(
        &self,
        rows: (&AnySamples<'_>, u64),
        session: &Session<'_>,
    ) -> Result<Prepared, LearnError> {
        let (lift, kernel_check) = match self {
            Self::Ridge(ridge) => return ridge.prepare(rows, session),
            Self::Logistic(Logistic { lift, kernel_check, .. })
            | Self::Svm(Svm { lift, kernel_check, .. }) => (lift, *kernel_check),
            _ => return Err(LearnError::Unsupported("this learner does not work on approximate features")),
        };
        let (kernel, approximation) = lift.approximation()?;
        Prepared::new(kernel, approximation, kernel_check, rows, session)
    }

    /// Fits a classifier to rows of features that need not be on this machine: see [`Logistic::train_on_sums`] and
    /// [`Svm::train_on_sums`].
    ///
    /// # Errors
    /// Those of the learner, and if it is not one of these two.
    pub fn train_on_sums(
        &self,
        prepared: &Prepared,
        rows: &dyn LabelledRows,
        sums: &NormalEquations,
        classes: usize,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        match self {
            Self::Logistic(logistic) => logistic.train_on_sums(prepared, rows, sums, classes, session),
            Self::Svm(svm) => svm.train_on_sums(prepared, rows, sums, classes, session),
            _ => Err(LearnError::Unsupported("this learner is not a classifier on approximate features")),
        }
    }

    /// The learner for a fit to all rows that starts from the result of a fit to some of them; `None` if that saves
    /// nothing.
    #[must_use]
    pub fn continued(&self, facts: &Facts) -> Option<Self> {
        match self {
            Self::Gp(gp) => gp.continued(facts).map(Self::Gp),
            _ => None,
        }
    }

    fn inner(&self) -> &dyn Learner {
        match self {
            Self::Ridge(ridge) => ridge,
            Self::Lms(lms) => lms,
            Self::Smoother(smoother) => smoother,
            Self::Knn(knn) => knn,
            Self::Perceptron(perceptron) => perceptron,
            Self::Logistic(logistic) => logistic,
            Self::Gp(gp) => gp,
            Self::Svm(svm) => svm,
        }
    }
}

impl Learner for AnyLearner {
    fn method(&self) -> Method {
        self.inner().method()
    }

    fn requires(&self) -> Requires {
        self.inner().requires()
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        self.inner().settings(session)
    }

    fn check(&self, shape: Shape, session: &Session<'_>) -> Result<(), LearnError> {
        self.inner().check(shape, session)
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        self.inner().train(problem, session)
    }
}

/// Settings that are not given take their defaults.
impl<'de> Deserialize<'de> for AnyLearner {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let settings = Value::deserialize(source)?;
        let method = settings.get("method").cloned().ok_or_else(|| D::Error::missing_field("method"))?;
        let method: Method = read(method)?;
        Ok(match method {
            Method::Ridge => Self::Ridge(read(settings)?),
            Method::Lms => Self::Lms(read(settings)?),
            Method::Smoother => Self::Smoother(read(settings)?),
            Method::Knn => Self::Knn(read(settings)?),
            Method::Perceptron => Self::Perceptron(read(settings)?),
            Method::Logistic => Self::Logistic(read(settings)?),
            Method::Gp => Self::Gp(read(settings)?),
            Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => {
                Self::Svm(read(settings)?)
            }
        })
    }
}

fn read<T: DeserializeOwned, E: Error>(settings: Value) -> Result<T, E> {
    serde_json::from_value(settings).map_err(E::custom)
}

macro_rules! from {
    ($($learner:ident),+) => {
        $(
            impl From<$learner> for AnyLearner {
                fn from(learner: $learner) -> Self {
                    Self::$learner(learner)
                }
            }
        )+
    };
}

from!(Ridge, Lms, Smoother, Knn, Perceptron, Logistic, Gp, Svm);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Approximation;
    use crate::kernel::Kernel;
    use crate::learn::svm::Machine;
    use crate::learn::{ClassWeight, Intercept, KernelCheck, LogisticSolver, RidgeSolver, Rule, Step};

    fn kernel() -> Kernel {
        "rbf(gamma=0.1)".parse().unwrap()
    }

    #[test]
    fn settings_are_read_by_their_former_names() {
        let read: AnyLearner = serde_json::from_str(r#"{"method": "ridge", "admission": "assume"}"#).unwrap();
        assert_eq!(read, Ridge::default().kernel_check(KernelCheck::Assume).into());
    }

    #[test]
    fn settings_are_read_as_they_are_written() {
        let approximate = (kernel(), Approximation::nystrom(40));
        let learners: [AnyLearner; 10] = [
            Ridge::on(approximate.clone()).lambdas(vec![0.1, 2.0]).intercept(Intercept::Column).into(),
            Ridge::on(Lift::Auto(kernel())).solver(RidgeSolver::Cg).rank(Some(7)).into(),
            Lms::new(kernel()).step(Step::Value(0.25)).epochs(3).into(),
            Smoother::new(kernel()).into(),
            Gp::new(kernel()).noise(Some(0.1)).restarts(2).into(),
            Knn::new(7).classify(true).into(),
            Perceptron::on("x, x^2".parse::<crate::design::FeatureMap>().unwrap())
                .rule(Rule::OneVsRest)
                .into(),
            Logistic::new(kernel()).lambda(0.1).solver(LogisticSolver::Sgd).into(),
            Svm::on(approximate, Machine::Svc { c: 3.0 }).class_weight(ClassWeight::Balanced).into(),
            Svm::new(kernel(), Machine::NuSvr { c: 3.0, nu: 0.25 }).probability(true).into(),
        ];
        for learner in learners {
            let text = serde_json::to_string(&learner).unwrap();
            assert!(text.contains(&format!("\"method\":\"{}\"", learner.method())), "{text}");
            assert_eq!(serde_json::from_str::<AnyLearner>(&text).unwrap(), learner, "{text}");
        }
    }

    #[test]
    fn settings_that_are_not_finite_are_kept() {
        let (inf, unbounded) = (f64::INFINITY, Machine::Svr { c: f64::INFINITY, epsilon: f64::NEG_INFINITY });
        let learners: [AnyLearner; 4] = [
            Svm::new(kernel(), Machine::Svc { c: inf }).into(),
            Svm::new(kernel(), unbounded).into(),
            Ridge::new(kernel()).lambdas(vec![inf, 1.0]).tol(inf).into(),
            Logistic::new(kernel()).lambda(inf).tol(inf).into(),
        ];
        for learner in learners {
            let text = serde_json::to_string(&learner).unwrap();
            assert!(text.contains("\"inf\""), "{text}");
            assert_eq!(serde_json::from_str::<AnyLearner>(&text).unwrap(), learner, "{text}");
        }
        let read: AnyLearner = serde_json::from_str(r#"{"method": "svc", "C": "nan"}"#).unwrap();
        let AnyLearner::Svm(Svm { machine: Machine::Svc { c }, .. }) = read else { panic!("{read:?}") };
        assert!(c.is_nan());
    }

    #[test]
    fn omitted_settings_take_their_defaults() {
        let read = |text: &str| serde_json::from_str::<AnyLearner>(text);
        assert_eq!(read(r#"{"method": "logistic"}"#).unwrap(), Logistic::default().into());
        let svm = Svm::new(kernel(), Machine::Svc { c: 2.0 });
        assert_eq!(read(r#"{"method": "svc", "kernel": "rbf(gamma=0.1)", "C": 2}"#).unwrap(), svm.into());
        for (text, message) in [
            (r#"{"kernel": "linear"}"#, "method"),
            (r#"{"method": "svd"}"#, "unknown variant `svd`"),
            (r#"{"method": "ridge", "kernel": "rbf("}"#, "rbf("),
            (r#"{"method": "ridge", "features": "x", "approx": "fourier:4"}"#, "features are explicit"),
            (r#"{"method": "ridge", "approx": "fourier:3"}"#, "fourier:3"),
            (r#"{"method": "logistic", "lambda": [1, 2]}"#, "one number"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
