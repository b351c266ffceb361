//! Ridge regression.
//!
//! Minimises ½ Σᵢ wᵢ(yᵢ − f(xᵢ))² + (λ/2)‖f‖² over the functions of a kernel, or over f(x) = ⟨v, φ(x)⟩ + b with ‖f‖ = ‖v‖:
//!
//! | lift | auto | dual, Cholesky, mixed | primal | conjugate gradients |
//! | --- | --- | --- | --- | --- |
//! | kernel | the cheaper of dual and primal | on the kernel matrix | on the kernel's finite feature map | without the matrix |
//! | features | primal | – | normal equations, QR where they are ill-conditioned | – |
//! | random features | sums, or passes over features in memory | – | as auto | – |
//! | landmarks | as for random features | – | as auto | Falkon |
//!
//! Rows that are read in passes are fitted on approximate features, from sums or, where the features fit the memory, by passes over
//! these.
//!
//! λ is added to the matrix directly, not multiplied by the number of rows.

mod cg;
mod choice;
mod dual;
mod feature_scorer;
mod incremental;
mod landmarks;
mod passes;
mod primal;
mod quality;
mod scorer;
mod stream;

use serde::{Deserialize, Serialize};

use crate::data::AnySamples;
use crate::design::Approximation;
use crate::kernel::Kernel;
use crate::linalg::Intercept;
use crate::model::{Facts, Method};
use crate::session::Session;

use super::cost;
use super::error::{KERNEL_MATRIX, LearnError};
use super::fitted::{Answer, Fitted};
use super::kernel_check::KernelCheck;
use super::learner::{Learner, Requires, Shape};
use super::lift::{Lift, Prepared};
use super::problem::{Inputs, Problem};
use super::settings::{builder, kept, list, numbers};

pub use choice::{FormChoice, choose_approximation};
pub use dual::Coefficients;
pub(super) use dual::{column_means, explain};
pub use incremental::{Solution, add_rows, empty_sums};
pub use quality::{Quality, Sizes, SolvedSums, TargetSizes};
pub(super) use scorer::finite_gram;

/// The methods of ridge regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RidgeSolver {
    /// The cheapest that fits the memory, by counts of operations.
    #[default]
    Auto,
    /// By a Cholesky factor of the kernel matrix, in single precision with refinement if that is certain to converge.
    Dual,
    /// By a Cholesky factor of the kernel matrix in double precision.
    Cholesky,
    /// By a Cholesky factor of the kernel matrix in single precision, refined to the double-precision answer.
    Mixed,
    /// On features: those of a finite map, or approximate ones.
    Primal,
    /// By preconditioned conjugate gradients, without the kernel matrix.
    Cg,
}

/// Ridge regression: its settings.
///
/// ```
/// use mercer::learn::{Learner, Ridge};
/// use mercer::kernel::Kernel;
/// let x: Vec<[f64; 1]> = (0..50).map(|i| [0.1 * i as f64]).collect();
/// let y: Vec<f64> = x.iter().map(|x| x[0].sin()).collect();
/// let kernel: Kernel = "rbf(sigma=1)".parse()?;
/// let fitted = Ridge::new(kernel).lambda(1e-3).fit(&x[..], &y)?;
/// assert!((fitted.predict(&[[0.7]])?.row(0)[0] - 0.7f64.sin()).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Ridge {
    /// The kernel or the features.
    #[serde(flatten)]
    pub lift: Lift,
    /// λ ≥ 0, above 0 for conjugate gradients: one for all targets, or one per target.
    #[serde(deserialize_with = "numbers", serialize_with = "list")]
    pub lambda: Vec<f64>,
    /// The intercept. [`Intercept::Column`] is for methods on the kernel matrix and on explicit features.
    #[serde(rename = "bias")]
    pub intercept: Intercept,
    /// The method.
    pub solver: RidgeSolver,
    /// Whether the kernel must be proven positive semidefinite.
    #[serde(alias = "admission")]
    pub kernel_check: KernelCheck,
    /// Conjugate gradients: the relative residual to reach, above 0.
    #[serde(with = "crate::data::number")]
    pub tol: f64,
    /// Conjugate gradients: the most steps.
    pub max_iter: u64,
    /// Conjugate gradients: the rank of the preconditioner; `None` for 3√n.
    pub rank: Option<usize>,
}

impl Ridge {
    /// Creates a learner on a kernel, with the defaults of [`on`](Self::on).
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self::on(kernel)
    }

    /// Creates a ridge learner with this kernel or these features, λ = 1 and an unpenalised intercept.
    #[must_use]
    pub fn on(lift: impl Into<Lift>) -> Self {
        Self {
            lift: lift.into(),
            lambda: vec![1.0],
            intercept: Intercept::Centred,
            solver: RidgeSolver::Auto,
            kernel_check: KernelCheck::Check,
            tol: 1e-3,
            max_iter: 1_000,
            rank: None,
        }
    }

    builder! {
        lift: Lift,
        intercept: Intercept,
        solver: RidgeSolver,
        kernel_check: KernelCheck,
        tol: f64,
        max_iter: u64,
        rank: Option<usize>,
    }

    /// The same settings with another λ, for all targets.
    #[must_use]
    pub fn lambda(self, lambda: f64) -> Self {
        self.lambdas(vec![lambda])
    }

    /// The same settings with a λ for each target.
    #[must_use]
    pub fn lambdas(self, lambda: Vec<f64>) -> Self {
        Self { lambda, ..self }
    }

    /// The fit on samples and a kernel whose hyper-parameters are all numbers.
    fn on_kernel(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let samples = problem.samples()?;
        if self.solver == RidgeSolver::Cg {
            return self.conjugate_gradients(kernel, problem, session);
        }
        let choice = self.solver.choose(kernel, samples.nrows(), samples.ncols(), session.memory());
        match choice.primal {
            Some(map) => self.primal(&map, problem, session),
            None if self.solver == RidgeSolver::Primal => {
                Err(LearnError::NoFiniteMap { kernel: kernel.to_string() })
            }
            None => self.dual(kernel, problem, session),
        }
    }

    /// The fit on features that approximate a kernel whose hyper-parameters are all numbers.
    fn on_approximation(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Answer, LearnError> {
        let (kernel, approximation) = self.approximation()?;
        if let (RidgeSolver::Cg, Approximation::Nystrom { landmarks, choice }) = (self.solver, approximation)
        {
            return self.on_landmarks(kernel, (landmarks, choice), problem, session);
        }
        self.check_approximate_method()?;
        self.on_features(problem, session)
    }

    /// The features of an approximation for this number of rows, of which samples are all or a part.
    ///
    /// # Errors
    /// As [`Prepared::new`]; if the learner is not on an approximation, or has a bias that features do not have.
    pub fn prepare(
        &self,
        rows: (&AnySamples<'_>, u64),
        session: &Session<'_>,
    ) -> Result<Prepared, LearnError> {
        if self.intercept == Intercept::Column {
            let reason = "bias = column is not for approximate features; use centred or none";
            return Err(LearnError::Unsupported(reason));
        }
        let (kernel, approximation) = self.approximation()?;
        Prepared::new(kernel, approximation, self.kernel_check, rows, session)
    }

    /// Rejects a method that does not support approximate features.
    fn check_approximate_method(&self) -> Result<(), LearnError> {
        match self.solver {
            RidgeSolver::Auto | RidgeSolver::Primal => Ok(()),
            _ => Err(LearnError::Unsupported(
                "approximate features are solved by the methods auto and primal, landmarks in memory also by conjugate \
                 gradients",
            )),
        }
    }

    /// The kernel and its approximation.
    fn approximation(&self) -> Result<(&Kernel, Approximation), LearnError> {
        self.lift.approximation()
    }
}

impl Default for Ridge {
    fn default() -> Self {
        Self::on(Lift::default())
    }
}

impl Learner for Ridge {
    fn method(&self) -> Method {
        Method::Ridge
    }

    fn requires(&self) -> Requires {
        Requires::Numbers
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(self, &["bias", "lambda", "approx"], Some(session.seed()))
    }

    fn check(&self, shape: Shape, session: &Session<'_>) -> Result<(), LearnError> {
        match (&self.lift, self.solver) {
            (Lift::Features(_), RidgeSolver::Auto | RidgeSolver::Primal) => Ok(()),
            (Lift::Features(_), _) => {
                Err(LearnError::Unsupported("on explicit features the method is auto or primal"))
            }
            (Lift::Approximate { .. } | Lift::Auto(_), _) | (Lift::Kernel(_), RidgeSolver::Cg) => Ok(()),
            (Lift::Kernel(kernel), method) => {
                let budget = session.memory();
                // The features of a kernel with open hyper-parameters are not known yet.
                let primal = || method.choose(kernel, shape.rows, shape.columns, budget).primal.is_some();
                match method {
                    _ if kernel.is_resolved() && primal() => Ok(()),
                    RidgeSolver::Primal => Err(LearnError::NoFiniteMap { kernel: kernel.to_string() }),
                    _ => method.check_memory(shape.rows, session),
                }
            }
        }
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        if let Inputs::Stream(passes) = problem.inputs {
            return self.on_stream(passes, problem, session);
        }
        check_lambda(&self.lambda, problem.numbers()?.ncols())?;
        if let (Inputs::Gram(_), Some(kernel)) = (&problem.inputs, self.lift.kernel()) {
            if matches!(self.solver, RidgeSolver::Primal | RidgeSolver::Cg) {
                return Err(LearnError::Unsupported(
                    "with a kernel matrix in place of samples the method is not primal or cg",
                ));
            }
            return Ok(Fitted::new(self, problem, session, self.dual(kernel, problem, session)?));
        }
        let (lift, _) = self.lift.resolved(problem, session)?;
        let ridge = self.clone().lift(lift);
        let answer = match &ridge.lift {
            Lift::Kernel(kernel) | Lift::Auto(kernel) => ridge.on_kernel(kernel, problem, session)?,
            Lift::Approximate { .. } => ridge.on_approximation(problem, session)?,
            Lift::Features(map) => {
                ridge.check(shape(problem)?, session)?;
                ridge.primal(map, problem, session)?
            }
        };
        Ok(Fitted::new(&ridge, problem, session, answer))
    }
}

fn shape(problem: &Problem<'_>) -> Result<Shape, LearnError> {
    let samples = problem.samples()?;
    Ok(Shape { rows: samples.nrows(), columns: samples.ncols(), targets: problem.numbers()?.ncols() })
}

impl RidgeSolver {
    /// Whether the kernel matrix that the method factors first fits the memory: in single precision where that is asked for, or where
    /// the matrix is in the memory of a device that has no room for double precision.
    fn check_memory(self, rows: usize, session: &Session<'_>) -> Result<(), LearnError> {
        let single = match self {
            Self::Mixed => true,
            Self::Auto | Self::Dual => session.engine().memory().is_some(),
            _ => false,
        };
        let needed = cost::matrix_bytes(rows) / if single { 2 } else { 1 };
        LearnError::check_matrix_memory(rows, KERNEL_MATRIX, needed, session)
    }
}

/// Whether the kernel matrix of this many rows fits the memory budget in double precision.
///
/// # Errors
/// [`LearnError::Memory`] or [`LearnError::DeviceMemory`] if it does not.
pub fn check_matrix_memory(rows: usize, session: &Session<'_>) -> Result<(), LearnError> {
    LearnError::check_matrix_memory(rows, KERNEL_MATRIX, cost::matrix_bytes(rows), session)
}

fn check_lambda(lambda: &[f64], targets: usize) -> Result<(), LearnError> {
    lambda.iter().try_for_each(|&lambda| LearnError::check_lambda(lambda))?;
    if lambda.len() != 1 && lambda.len() != targets {
        return Err(LearnError::Lambdas { found: lambda.len(), targets });
    }
    Ok(())
}

/// The targets that share a λ, in the order of first use: one factorisation serves each group.
fn targets_by_lambda(lambda: &[f64], columns: usize) -> Vec<(f64, Vec<usize>)> {
    let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
    for column in 0..columns {
        let lambda = lambda[if lambda.len() == 1 { 0 } else { column }];
        match groups.iter_mut().find(|(l, _)| *l == lambda) {
            Some((_, group)) => group.push(column),
            None => groups.push((lambda, vec![column])),
        }
    }
    groups
}

/// The square roots of the weights.
fn roots(weights: Option<&[f64]>) -> Option<Vec<f64>> {
    weights.map(|w| w.iter().map(|w| w.sqrt()).collect())
}
