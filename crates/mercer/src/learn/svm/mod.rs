//! Support vector machines: classification, regression and one-class estimation, with C or ν.
//!
//! Every machine is a [`BoxQp`](crate::solve::svm::BoxQp) over the kernel matrix of its samples, in LIBSVM's scale and with its
//! stopping rule. Kernel values are computed in single precision where that is enough, and the answer is checked in double
//! precision.
//!
//! | file | content |
//! | --- | --- |
//! | `machine` | [`Machine`]: all that differs between the machines |
//! | `training` | the kernel matrix, in single and double precision |
//! | `dual` | the programs of one fit, and the [`Machines`] they give |
//! | `multiclass` | one machine per pair of classes, or per class |
//! | `path` | many values of C at once |
//! | `scorer` | tuning |
//! | `probability`, `sigmoid` | probabilities from decisions |

mod dual;
mod machine;
mod machines;
mod multiclass;
mod path;
mod primal;
mod probability;
mod scorer;
mod sigmoid;
mod training;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::model::Method;
use crate::session::Session;
use crate::solve::svm::SvmSettings;

use super::admission::{Admission, Admitted};
use super::basis::unit_vectors;
use super::class_weight::ClassWeight;
use super::error::LearnError;
use super::fitted::{Answer, Fitted, Settings};
use super::learner::{Learner, Requires};
use super::problem::{Inputs, Problem};

use dual::{Labels, Work};
pub use machine::Machine;
pub use machines::Machines;
pub use multiclass::Multiclass;
pub use primal::ApproxSvc;
pub use probability::density_marks;
pub use sigmoid::fit_sigmoid;
use training::Training;

/// Settings that a model file keeps; the kernel is part of the predictor.
const KEPT: [&str; 6] = ["C", "nu", "epsilon", "tol", "class_weight", "multiclass"];

/// A support vector machine: its hyper-parameters.
///
/// ```
/// use mercer::learn::Learner;
/// use mercer::learn::svm::{Machine, Svm};
/// let svm = Svm::new("rbf(gamma=1)".parse()?, Machine::Svc { c: 10.0 });
/// let fitted = svm.fit(&[[0.0], [1.0], [2.0], [3.0]], &["low", "low", "high", "high"])?;
/// assert_eq!(fitted.predict(&[[0.2], [2.8]])?.nrows(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Svm {
    /// The kernel; `auto` in it is resolved from the samples. Not used where the kernel matrix is given.
    pub kernel: Kernel,
    /// Which machine.
    #[serde(flatten)]
    pub machine: Machine,
    /// A factor of C for each class; for C-classification only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub class_weight: ClassWeight,
    /// How several classes are told apart.
    #[serde(default, skip_serializing_if = "is_default")]
    pub multiclass: Multiclass,
    /// Whether decisions are calibrated on held-out rows, which the seed of the session chooses. About four times the work of
    /// the fit itself for classification and regression.
    #[serde(default, skip_serializing_if = "is_default")]
    pub probability: bool,
    /// Whether the kernel must be proven to be positive semidefinite.
    #[serde(skip)]
    pub check: Admission,
    /// How the quadratic programs are solved.
    #[serde(flatten)]
    pub solver: SvmSettings,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Svm {
    /// Creates a support vector machine with this kernel; other settings take their defaults.
    #[must_use]
    pub fn new(kernel: Kernel, machine: Machine) -> Self {
        Self {
            kernel,
            machine,
            class_weight: ClassWeight::Uniform,
            multiclass: Multiclass::OneVsOne,
            probability: false,
            check: Admission::Check,
            solver: SvmSettings::default(),
        }
    }

    /// The same settings with another kernel and machine.
    #[must_use]
    pub fn with(self, kernel: Kernel, machine: Machine) -> Self {
        Self { kernel, machine, ..self }
    }

    /// The same machine with these class weights.
    #[must_use]
    pub fn class_weight(self, class_weight: ClassWeight) -> Self {
        Self { class_weight, ..self }
    }

    /// The same machine with this scheme for several classes.
    #[must_use]
    pub fn multiclass(self, multiclass: Multiclass) -> Self {
        Self { multiclass, ..self }
    }

    /// The same machine with or without probabilities.
    #[must_use]
    pub fn probability(self, probability: bool) -> Self {
        Self { probability, ..self }
    }

    /// The same machine with or without a check of the kernel.
    #[must_use]
    pub fn check(self, check: Admission) -> Self {
        Self { check, ..self }
    }

    /// The same machine with these settings of the solver.
    #[must_use]
    pub fn solver(self, solver: SvmSettings) -> Self {
        Self { solver, ..self }
    }

    /// Trains, and returns the machines in terms of the rows of the problem.
    ///
    /// O(sn) kernel values for each machine with s support vectors among n rows.
    ///
    /// # Errors
    /// Where the problem does not line up, a hyper-parameter is out of range, ν is infeasible for a pair of classes, or the
    /// kernel is refuted; and where the session is stopped.
    pub fn machines(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Machines, LearnError> {
        match &problem.inputs {
            Inputs::Gram(gram) => self.on_gram(*gram, problem, session),
            Inputs::Samples(_) | Inputs::Stream(_) => self.on_samples(problem, session),
        }
    }

    fn on_samples(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Machines, LearnError> {
        let samples = problem.samples()?;
        let kernel = self.kernel.resolve_auto(&session.scales(samples))?;
        kernel.check_columns(samples.ncols())?;
        let Admitted { domain, warning } = self.check.decide(&kernel, samples)?;
        let resident = session.load(samples)?;
        let svm = Self { kernel, ..self.clone() };
        let training = Training::new(&*resident, &svm.kernel)?;
        let machines = Work::new(&svm, &training, Labels::of(problem, &svm.machine)?, session)?.machines()?;
        let warnings = machines.warnings.into_iter().chain(warning).collect();
        Ok(Machines { domain, warnings, ..machines })
    }

    /// The kernel value with row i is the inner product with the i-th unit vector.
    fn on_gram(
        &self,
        gram: &dyn Gram,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Machines, LearnError> {
        let svm = Self { kernel: Kernel::linear(), ..self.clone() };
        let training = Training::precomputed(gram);
        Work::new(&svm, &training, Labels::of(problem, &svm.machine)?, session)?.machines()
    }
}

impl Learner for Svm {
    fn method(&self) -> Method {
        self.machine.method()
    }

    fn requires(&self) -> Requires {
        self.machine.requires()
    }

    fn settings(&self, session: &Session<'_>) -> Settings {
        let Ok(Value::Object(mut settings)) = serde_json::to_value(self) else { return Settings::new() };
        settings.retain(|key, _| KEPT.contains(&key.as_str()));
        if self.probability {
            settings.insert("seed".to_owned(), json!(session.seed()));
        }
        settings.into_iter().collect()
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        let mut machines = self.machines(problem, session)?;
        let (report, facts) = (machines.report(), machines.facts());
        let calibration = machines.calibration.take();
        let predictor = match problem.inputs {
            Inputs::Gram(gram) => machines.predictor(&unit_vectors(gram.nrows())?),
            _ => machines.predictor(problem.samples()?),
        };
        let answer = Answer { calibration, facts, ..Answer::new(predictor, report) };
        Ok(Fitted::new(self, problem, session, answer))
    }
}
