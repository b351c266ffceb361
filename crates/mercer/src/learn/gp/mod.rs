//! Gaussian processes: regression and classification with predictive distributions.
//!
//! y = f(x) + ε with f ~ GP(0, k) and ε ~ N(0, σ²/w). Hyper-parameters that are written `?` in the kernel, and σ² unless it is given,
//! maximise the likelihood of the targets (or the density of leaving one out) plus the logarithms of the priors, in logarithms and
//! between bounds (Rasmussen and Williams 2006, chapters 2 and 5).

mod cg;
mod classes;
mod exact;
mod inducing;
mod optimum;
mod prepared;
mod rows;
mod unknowns;

use serde::{Deserialize, Serialize};

use crate::gram::Resident;
use crate::kernel::family::noise::NOISE;
use crate::kernel::{Expr, Kernel};
use crate::model::{Facts, Method};
use crate::real::Precision;
use crate::session::Session;

use super::cost::{self, Algorithm};
use super::error::LearnError;
use super::fitted::Fitted;
use super::kernel_check::KernelCheck;
use super::learner::{Learner, Requires, Shape};
use super::problem::Problem;
use super::settings::{builder, is_default, kept};

use exact::Exact;
pub use exact::log_likelihood;
use inducing::Inducing;
use prepared::Prepared;
pub use rows::{ProcessRows, ProcessStart, RowBlocks, TargetMoments};
pub use unknowns::Learnt;
use unknowns::Unknown;

/// The objective of the hyper-parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpObjective {
    /// The likelihood of the targets with f integrated out.
    #[default]
    Likelihood,
    /// The density of each target given all other rows.
    LeaveOneOut,
}

/// The method for the likelihood and the mean of a regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpSolver {
    /// The first of these that costs no more multiply-adds than [`cost::GP_PATIENCE`] and fits the memory: a Cholesky factor,
    /// conjugate gradients, inducing points.
    #[default]
    Auto,
    /// A Cholesky factor of the kernel matrix: O(n³) time, O(n²) memory.
    Cholesky,
    /// Conjugate gradients with a preconditioner of low rank, and an estimate of the determinant from random probes: O(n²) time a
    /// step, O(n√n) memory.
    Cg,
}

/// A Gaussian process: its settings.
///
/// ```
/// use mercer::kernel::Kernel;
/// use mercer::learn::{Gp, Learner};
/// let x: Vec<[f64; 1]> = (0..40).map(|i| [0.1 * i as f64]).collect();
/// let y: Vec<f64> = x.iter().map(|x| x[0].sin()).collect();
/// let kernel: Kernel = "?*rbf(sigma=?)".parse()?;
/// let fitted = Gp::new(kernel).fit(&x[..], &y)?;
/// assert!((fitted.predict(&[[0.75]])?.row(0)[0] - 0.75f64.sin()).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Gp {
    /// The kernel; each `?` is learnt.
    pub kernel: Kernel,
    /// σ², the variance of the noise; learnt if not given, unless the kernel contains `noise`.
    pub noise: Option<f64>,
    /// The objective of the hyper-parameters.
    pub objective: GpObjective,
    /// Whether targets are first standardised to mean 0 and variance 1. Factors and σ² are then in units of their
    /// variance.
    pub normalise: bool,
    /// Minimisations from seeded random starts, in addition to the one from the scales of the data.
    pub restarts: usize,
    /// The starting point, in place of the scales of the data: the logarithms of the kernel's unknowns in the order of
    /// its text, then that of σ² if it is learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<f64>>,
    /// Whether hyper-parameters are learnt; if not, they keep their starting values.
    pub learn: bool,
    /// Whether the model stores the n(n+1)/2 numbers needed for its variance.
    pub variance: bool,
    /// The most steps of one minimisation.
    pub max_iter: usize,
    /// The number of inducing points among the rows; `None` if `solver` decides.
    pub inducing: Option<usize>,
    /// The method for the likelihood of a regression without inducing points; classes need a Cholesky factor.
    #[serde(skip_serializing_if = "is_default")]
    pub solver: GpSolver,
    /// Whether numbers are classes; targets that are text always are.
    #[serde(skip_serializing_if = "is_default")]
    pub classify: bool,
    /// Whether the kernel must be proven positive semidefinite.
    #[serde(alias = "admission")]
    pub kernel_check: KernelCheck,
}

impl Default for Gp {
    fn default() -> Self {
        Self::new(Self::default_kernel())
    }
}

impl Gp {
    /// Creates a learner with this kernel that learns its unknowns and the noise, on normalised targets.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            noise: None,
            objective: GpObjective::Likelihood,
            normalise: true,
            restarts: 0,
            initial: None,
            learn: true,
            variance: true,
            max_iter: 200,
            inducing: None,
            solver: GpSolver::Auto,
            classify: false,
            kernel_check: KernelCheck::Check,
        }
    }

    /// `?*rbf(sigma=[?])`: a Gaussian with one width per column.
    #[must_use]
    pub fn default_kernel() -> Kernel {
        "?*rbf(sigma=[?])".parse().unwrap_or_else(|_| Kernel::gaussian_auto())
    }

    builder! {
        kernel: Kernel,
        noise: Option<f64>,
        objective: GpObjective,
        normalise: bool,
        restarts: usize,
        initial: Option<Vec<f64>>,
        learn: bool,
        variance: bool,
        max_iter: usize,
        inducing: Option<usize>,
        solver: GpSolver,
        classify: bool,
        kernel_check: KernelCheck,
    }

    /// The learner that starts only from the result of another fit, given by its facts.
    pub(crate) fn continued(&self, facts: &Facts) -> Option<Self> {
        let learnt: Vec<Learnt> = facts.read("parameters")?;
        let initial = learnt.iter().map(|parameter| parameter.value.0.ln()).collect();
        Some(self.clone().initial(Some(initial)).restarts(0))
    }

    /// The estimated number of evaluations of the likelihood and its gradient, for plans.
    pub(crate) fn expected_evaluations(&self) -> usize {
        const STEPS: usize = 40;
        STEPS.min(self.max_iter + 1) * (1 + self.restarts)
    }

    /// The objective and its gradient at `theta`: the logarithms of the kernel's unknowns in the order of its text,
    /// then that of σ² where it is learnt. Without priors. `None` if K + σ²/w is not positive definite there.
    ///
    /// O(n³) time and n² numbers of memory; on M inducing points it is a lower bound of the likelihood, in O(nM²) time, and by
    /// conjugate gradients an estimate.
    ///
    /// # Errors
    /// As [`train`](Learner::train), and if there is another number of values.
    pub fn objective_at(
        &self,
        problem: &Problem<'_>,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        let prepared = self.prepare(problem, None, session)?;
        if theta.len() != prepared.unknowns.len() {
            let (rows, found) = (prepared.unknowns.len(), theta.len());
            return Err(LearnError::Length { what: "values of theta", rows, found });
        }
        if let Some(count) = self.inducing {
            let (_, points) = self.inducing_points(count, &prepared, session)?;
            let blocks = prepared.blocks(&points, session)?;
            return Inducing::new(&prepared, &points, &blocks, session)?.evaluate(theta, session);
        }
        if self.solver == GpSolver::Cg {
            return self.estimate(&prepared, theta, session);
        }
        let samples = session.load(&prepared.samples)?;
        self.exact(&prepared, &*samples).evaluate(theta, session)
    }

    /// The logarithm of the likelihood at `theta`, as [`objective_at`](Self::objective_at) without its gradient.
    pub(crate) fn log_likelihood_at(
        &self,
        problem: &Problem<'_>,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<f64>, LearnError> {
        let prepared = self.prepare(problem, None, session)?;
        let samples = session.load(&prepared.samples)?;
        let exact = self.exact(&prepared, &*samples);
        Ok(exact.factor(theta, session)?.map(|factored| exact.log_likelihood(&factored)))
    }

    /// The start, the lower and the upper bound of each hyper-parameter, as logarithms, in the order of
    /// [`objective_at`](Self::objective_at).
    ///
    /// # Errors
    /// As [`train`](Learner::train).
    pub fn start(
        &self,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Vec<(f64, f64, f64)>, LearnError> {
        let prepared = self.prepare(problem, None, session)?;
        let three = |u: &Unknown| (u.start, u.bounds.0, u.bounds.1);
        Ok(prepared.unknowns.iter().map(three).collect())
    }

    fn exact<'a>(&self, prepared: &'a Prepared, samples: &'a dyn Resident) -> Exact<'a> {
        Exact {
            samples,
            kernel: &prepared.kernel,
            targets: &prepared.targets,
            weights: prepared.weights.as_deref(),
            noise: prepared.noise,
            objective: self.objective,
        }
    }
}

impl Learner for Gp {
    fn method(&self) -> Method {
        Method::Gp
    }

    fn requires(&self) -> Requires {
        if self.classify { Requires::Classes } else { Requires::NumbersOrClasses }
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(
            self,
            &["kernel", "noise", "objective", "normalise", "restarts", "inducing", "solver", "classify"],
            Some(session.seed()),
        )
    }

    fn check(&self, shape: Shape, session: &Session<'_>) -> Result<(), LearnError> {
        let Shape { rows, targets, .. } = shape;
        let budget = session.memory();
        let classes = matches!(self.requires(), Requires::Classes);
        let (what, needed) = match self.resolved(shape, session) {
            Self { inducing: Some(points), .. } => {
                ("matrices of the inducing points", cost::gp_inducing_bytes(points))
            }
            Self { solver: GpSolver::Cg, .. } if !classes => {
                ("a preconditioner and vectors", cost::gp_cg_bytes(rows, targets))
            }
            _ => ("a kernel matrix, its factor and its inverse", cost::gp_exact_bytes(rows)),
        };
        LearnError::check_memory(rows, what, needed, budget)
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        if problem.classes().is_some() {
            return self.train_classes(problem, session);
        }
        let prepared = self.prepare(problem, None, session)?;
        let shape = Shape {
            rows: prepared.samples.nrows(),
            columns: prepared.samples.ncols(),
            targets: prepared.targets.ncols(),
        };
        self.check(shape, session)?;
        let resolved = self.resolved(shape, session);
        match resolved {
            Self { inducing: Some(points), .. } => {
                resolved.train_inducing(points, &prepared, problem, session)
            }
            Self { solver: GpSolver::Cg, .. } => resolved.train_cg(prepared, problem, session),
            _ => resolved.train_exact(prepared, problem, session),
        }
    }
}

impl Gp {
    /// The same settings with `auto` replaced by a solver or by inducing points.
    #[must_use]
    pub fn resolved(&self, shape: Shape, session: &Session<'_>) -> Self {
        let is_open = self.solver == GpSolver::Auto && self.inducing.is_none();
        let size = cost::Size {
            rows: shape.rows,
            columns: shape.columns,
            targets: shape.targets,
            dtype: Precision::Double,
        };
        match cost::gp_algorithm(size, self.expected_evaluations(), session.memory()) {
            _ if !is_open || !self.takes_any_solver() => self.clone(),
            Algorithm::ConjugateGradients => self.clone().solver(GpSolver::Cg),
            Algorithm::Landmarks { landmarks } => self.clone().inducing(usize::try_from(landmarks).ok()),
            _ => self.clone(),
        }
    }

    /// Whether conjugate gradients and inducing points support the settings.
    fn takes_any_solver(&self) -> bool {
        let objective = self.objective == GpObjective::Likelihood;
        objective && !self.classify && self.noise != Some(0.0) && !has_noise(self.kernel.expr())
    }

    /// Rejects settings that solvers without the whole matrix do not support.
    fn needs_likelihood_and_noise(&self, prepared: &Prepared) -> Result<(), LearnError> {
        let reason = if self.objective != GpObjective::Likelihood {
            "the leave-one-out density needs the inverse of the kernel matrix: use the Cholesky solver"
        } else if has_noise(prepared.kernel.expr()) {
            "conjugate gradients need the noise outside the kernel: leave noise(…) out of the kernel, or give --noise"
        } else if prepared.noise == Some(0.0) {
            "conjugate gradients need noise above 0: give a larger --noise, or leave it to be learnt"
        } else {
            return Ok(());
        };
        Err(LearnError::Unsupported(reason))
    }
}

/// Whether an expression contains `noise`.
fn has_noise(expr: &Expr) -> bool {
    match expr {
        Expr::Named(named) => named.family == NOISE,
        _ => expr.children().into_iter().any(has_noise),
    }
}
