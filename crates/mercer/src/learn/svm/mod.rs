//! Support vector machines: classification, regression and one-class estimation, with C or ν.
//!
//! Every machine is a [`BoxQp`](crate::solve::svm::BoxQp) over the kernel matrix of its samples, in LIBSVM's scale and with its
//! stopping rule. Kernel values are computed in single precision where that is enough, and the answer is checked in double
//! precision.
//!
//! | file | content |
//! | --- | --- |
//! | `machine` | [`Machine`]: the differences between the machines |
//! | `training` | the kernel matrix, in single and double precision |
//! | `dual` | the programs of one fit, and the resulting [`Machines`] |
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

use crate::data::AnySamples;
use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::model::{Facts, Method};
use crate::session::Session;
use crate::solve::svm::SvmSettings;

use super::basis::unit_vectors;
use super::class_weight::ClassWeight;
use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::held_out::with_held_out;
use super::kernel_check::{CheckedKernel, KernelCheck};
use super::learner::{Learner, Requires};
use super::lift::Lift;
use super::problem::{Inputs, Problem};
use super::settings::{builder, is_default, kept};

use dual::{Labels, Work};
pub use machine::Machine;
pub use machines::Machines;
pub use multiclass::Multiclass;
use multiclass::Programs;
pub use probability::density_marks;
pub use sigmoid::fit_sigmoid;
use training::Training;

/// Settings that a model file keeps; the kernel is part of the predictor.
const KEPT: [&str; 6] = ["C", "nu", "epsilon", "tol", "class_weight", "multiclass"];

/// The largest ν to use, relative to the largest feasible one, at which the margin may vanish.
pub(crate) const FEASIBLE: f64 = 0.95;

/// A support vector machine: its hyper-parameters.
///
/// On the kernel itself: O(sn) kernel values for each machine with s support vectors among n rows. On D approximate features,
/// for C-classification: one decision for two classes, else one per class against all others, for each of them some tens of
/// Newton steps, each nD and the rows near the margin ([`HingeNewton`](crate::solve::HingeNewton)); O(D²) memory and, where they
/// fit the budget, the nD features.
///
/// ```
/// use mercer::learn::Learner;
/// use mercer::kernel::Kernel;
/// use mercer::learn::svm::{Machine, Svm};
/// let kernel: Kernel = "rbf(gamma=1)".parse()?;
/// let svm = Svm::new(kernel, Machine::Svc { c: 10.0 });
/// let fitted = svm.fit(&[[0.0], [1.0], [2.0], [3.0]], &["low", "low", "high", "high"])?;
/// assert_eq!(fitted.predict(&[[0.2], [2.8]])?.nrows(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Svm {
    /// The kernel, or for C-classification an approximation of it. Not used where the kernel matrix is given.
    #[serde(flatten)]
    pub lift: Lift,
    /// The machine.
    #[serde(flatten)]
    pub machine: Machine,
    /// A factor of C for each class; for C-classification only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub class_weight: ClassWeight,
    /// The scheme for several classes on the kernel itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub multiclass: Multiclass,
    /// Whether decisions are calibrated on held-out rows, which the seed of the session chooses. About four times the work of
    /// the fit itself for classification and regression.
    #[serde(default, skip_serializing_if = "is_default")]
    pub probability: bool,
    /// Whether the kernel must be proven to be positive semidefinite.
    #[serde(default)]
    #[serde(alias = "admission")]
    pub kernel_check: KernelCheck,
    /// The settings of the solver. On approximate features `tol` bounds the relative distance of the objective from its
    /// minimum, and `max_iter` is 500 steps for each decision by default.
    #[serde(flatten)]
    pub solver: SvmSettings,
}

impl Svm {
    /// Creates a support vector machine on a kernel; other settings take their defaults.
    #[must_use]
    pub fn new(kernel: Kernel, machine: Machine) -> Self {
        Self::on(kernel, machine)
    }

    /// Creates a support vector machine on a kernel, or on features that approximate one.
    #[must_use]
    pub fn on(lift: impl Into<Lift>, machine: Machine) -> Self {
        Self {
            lift: lift.into(),
            machine,
            class_weight: ClassWeight::Uniform,
            multiclass: Multiclass::OneVsOne,
            probability: false,
            kernel_check: KernelCheck::Check,
            solver: SvmSettings::default(),
        }
    }

    /// The same settings with another kernel and machine.
    #[must_use]
    pub fn with(self, kernel: Kernel, machine: Machine) -> Self {
        Self { lift: kernel.into(), machine, ..self }
    }

    builder! {
        class_weight: ClassWeight,
        multiclass: Multiclass,
        probability: bool,
        kernel_check: KernelCheck,
        solver: SvmSettings,
    }

    /// The kernel of a machine on the kernel itself.
    ///
    /// # Errors
    /// If the machine is on features.
    pub fn kernel(&self) -> Result<&Kernel, LearnError> {
        match &self.lift {
            Lift::Kernel(kernel) => Ok(kernel),
            _ => Err(LearnError::Unsupported("this machine works on a kernel, not on features")),
        }
    }

    /// The same settings with ν lowered to a little below the largest feasible one where it is not feasible for the classes of a
    /// problem.
    ///
    /// # Errors
    /// If a machine with ν has no classes, or one without rows.
    pub fn feasible(mut self, problem: &Problem<'_>) -> Result<Self, LearnError> {
        let largest = self.largest_nu(problem)?;
        if let (Some(largest), Machine::NuSvc { nu }) = (largest, &mut self.machine)
            && *nu > largest
        {
            *nu = FEASIBLE * largest;
        }
        Ok(self)
    }

    /// The largest ν that is feasible for every machine of ν-classification on these classes; `None` for other machines.
    ///
    /// # Errors
    /// If the problem has no classes, or a class has no row.
    pub(crate) fn largest_nu(&self, problem: &Problem<'_>) -> Result<Option<f64>, LearnError> {
        if !matches!(self.machine, Machine::NuSvc { .. }) {
            return Ok(None);
        }
        let labels = Labels::of(problem, &self.machine)?;
        Programs::new(&labels, self.multiclass).map(|programs| Some(programs.largest_nu(&labels)))
    }

    /// Trains on the kernel itself, and returns the machines in terms of the rows of the problem.
    ///
    /// # Errors
    /// If the machine is on features, the problem does not line up, a hyper-parameter is out of range, ν is infeasible
    /// for a pair of classes, or the kernel is refuted; or if the session is stopped.
    pub fn machines(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Machines, LearnError> {
        match &problem.inputs {
            Inputs::Gram(gram) => self.on_gram(*gram, problem, session),
            Inputs::Samples(_) | Inputs::Stream(_) => self.on_samples(problem, session),
        }
    }

    fn on_samples(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Machines, LearnError> {
        let samples = problem.samples()?;
        let kernel = self.kernel()?.resolve_auto(&session.scales(samples))?;
        kernel.check_columns(samples.ncols())?;
        let CheckedKernel { domain, warning } = self.kernel_check.decide(&kernel, samples)?;
        let resident = session.load(samples)?;
        let training = Training::new(&*resident, &kernel)?;
        let machines = self.on_training(&training, kernel, problem, session)?;
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
        self.on_training(&Training::precomputed(gram), Kernel::linear(), problem, session)
    }

    /// The machines on a kernel matrix; the kernel is that of their predictor.
    fn on_training(
        &self,
        training: &Training<'_>,
        kernel: Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Machines, LearnError> {
        let svm = self.clone().with(kernel, self.machine).resolved(problem)?;
        Work::new(&svm, training, Labels::of(problem, &svm.machine)?, session)?.machines()
    }

    /// The same with class weights by the places of the classes.
    fn resolved(self, problem: &Problem<'_>) -> Result<Self, LearnError> {
        let class_weight = self.class_weight.resolved(problem.classes())?;
        Ok(self.class_weight(class_weight))
    }

    /// The model of machines that this learner trained on the problem. `samples` are its rows; for a kernel matrix,
    /// samples whose inner products are the kernel values.
    #[must_use]
    pub fn fitted(
        &self,
        mut machines: Machines,
        samples: &AnySamples<'_>,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Fitted {
        let (report, facts) = (machines.report(), machines.facts());
        let calibration = machines.calibration.take();
        let iterations = machines.reports.iter().map(|report| report.iterations).collect();
        let centres = Some(machines.support.clone());
        let predictor = machines.predictor(samples);
        let answer = Answer { calibration, facts, centres, iterations, ..Answer::new(predictor, report) };
        Fitted::new(self, problem, session, answer)
    }
}

impl Learner for Svm {
    fn method(&self) -> Method {
        self.machine.method()
    }

    fn requires(&self) -> Requires {
        self.machine.requires()
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(self, &KEPT, self.probability.then(|| session.seed()))
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        let mut svm = self.clone().resolved(problem)?;
        if !matches!(problem.inputs, Inputs::Gram(_)) {
            svm.lift = self.lift.resolved(problem, session)?.0;
        }
        if let Lift::Approximate { kernel, approx } = &svm.lift {
            return with_held_out(problem, session, |problem| {
                let answer = svm.on_features(kernel, *approx, problem, session)?;
                Ok(Fitted::new(&svm, problem, session, answer))
            });
        }
        let machines = svm.machines(problem, session)?;
        Ok(match problem.inputs {
            Inputs::Gram(gram) => svm.fitted(machines, &unit_vectors(gram.nrows())?, problem, session),
            _ => svm.fitted(machines, problem.samples()?, problem, session),
        })
    }
}
