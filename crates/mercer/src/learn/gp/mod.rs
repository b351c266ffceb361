//! Gaussian processes: regression and classification with predictive distributions.
//!
//! y = f(x) + ε with f ~ GP(0, k) and ε ~ N(0, σ²/w). Hyper-parameters that are written `?` in the kernel, and σ² unless it is given,
//! maximise the likelihood of the targets (or the density of leaving one out) plus the logarithms of the priors, in logarithms and
//! between bounds (Rasmussen and Williams 2006, chapters 2 and 5).

mod cg;
mod classes;
mod exact;
mod inducing;
mod rows;
mod unknowns;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix, Number};
use crate::gram::{GramError, Resident};
use crate::kernel::family::noise::NOISE;
use crate::kernel::{Expr, Kernel};
use crate::linalg::Cholesky;
use crate::model::{Expansion, Facts, GaussianProcess, Method};
use crate::real::Precision;
use crate::session::Session;
use crate::solve::{MinimiseOptions, MinimiseStart, Minimum, Report, SolveError, Status, minimise_in_box};
use crate::watch::{Stopped, Watch};

use super::admission::{Admission, Admitted};
use super::cost::{self, Way};
use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::knn::check_features;
use super::learner::{Learner, Requires, Shape};
use super::problem::Problem;
use super::settings::{builder, is_default, kept};
use super::targets;

pub use exact::log_likelihood;
use exact::{Exact, Factored};
use inducing::Inducing;
pub use rows::{ProcessRows, ProcessStart, RowBlocks, TargetMoments};
pub use unknowns::Learnt;
use unknowns::{Unknown, add_priors};

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
    pub admission: Admission,
}

/// Random starts to try where the objective has no value at the usual ones.
const OTHER_STARTS: usize = 20;

/// The objective at θ and its gradient; `None` if it has no value.
type Evaluate<'a> = dyn FnMut(&[f64]) -> Result<Option<(f64, Vec<f64>)>, LearnError> + 'a;

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
            admission: Admission::Check,
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
        admission: Admission,
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
    /// O(n³) time and 2½n² numbers of memory; on M inducing points it is a lower bound of the likelihood, in O(nM²) time, and by
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

    /// Prepares the rows of positive weight: samples, normalised targets and unknowns. `moments` are those of the
    /// targets where the rows are a sample of more.
    fn prepare(
        &self,
        problem: &Problem<'_>,
        moments: Option<&TargetMoments>,
        session: &Session<'_>,
    ) -> Result<Prepared, LearnError> {
        let numbers = problem.numbers()?;
        let all = problem.samples()?;
        check_features(all)?;
        let rows = problem.counted();
        let (samples, numbers) = (all.select(&rows), numbers.select(&rows));
        for found in moments.iter().flat_map(|moments| [moments.means.len(), moments.squares.len()]) {
            if found != numbers.ncols() {
                return Err(LearnError::Length { what: "moments of targets", rows: numbers.ncols(), found });
            }
        }
        let weights = problem.weights().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        self.kernel.check_columns(samples.ncols())?;
        let kernel = self.kernel.resolve_auto(&session.scales(&samples))?;
        let (targets, means, scales) = normalised(&numbers, self.normalise, moments);
        let variance = mean_square(&targets);
        let is_constant = variance == 0.0;
        let variance = if is_constant { 1.0 } else { variance };
        let mut unknowns = unknowns::of_kernel(&kernel, &session.scales(&samples), variance)?;
        let noise = match self.noise {
            Some(noise) if !(noise.is_finite() && noise >= 0.0) => {
                let (parameter, received) = ("noise", noise.to_string());
                return Err(LearnError::Parameter {
                    parameter,
                    received,
                    allowed: "a finite number, 0 or more",
                });
            }
            Some(noise) => Some(noise),
            None if has_noise(kernel.expr()) => Some(0.0),
            None => {
                unknowns.push(unknowns::of_noise(variance));
                None
            }
        };
        unknowns::begin_at(&mut unknowns, self.initial.as_deref())?;
        let start: Vec<f64> = unknowns.iter().map(|unknown| unknown.start.exp()).collect();
        let of_kernel = kernel.tunables()?.len();
        // Rejects unknowns without a derivative before any work.
        kernel.gradient(&start[..of_kernel], samples.ncols())?;
        let admitted = self.admission.decide(&kernel, &samples)?;
        Ok(Prepared {
            samples,
            kernel,
            targets,
            means,
            scales,
            weights,
            noise,
            unknowns,
            is_constant,
            admitted,
            columns: problem.column_names(),
        })
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

    /// The best θ of all minimisations; `None` if the objective has no value at any start. Where it has none at the usual starts,
    /// others are tried.
    fn learnt(
        &self,
        evaluate: &mut Evaluate<'_>,
        unknowns: &[Unknown],
        session: &Session<'_>,
    ) -> Result<Option<Minimum>, LearnError> {
        let options = MinimiseOptions { max_steps: self.max_iter, ..MinimiseOptions::default() };
        self.learnt_to(options, evaluate, unknowns, session)
    }

    /// As [`learnt`](Self::learnt), with other tolerances.
    fn learnt_to(
        &self,
        options: MinimiseOptions,
        evaluate: &mut Evaluate<'_>,
        unknowns: &[Unknown],
        session: &Session<'_>,
    ) -> Result<Option<Minimum>, LearnError> {
        let label = |restart: usize| match restart {
            0 => String::new(),
            _ if restart > self.restarts => "another start, ".to_owned(),
            _ => format!("restart {restart} of {}, ", self.restarts),
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let mut best: Option<Minimum> = None;
        session.begin("Gaussian process", (self.max_iter * (1 + self.restarts)) as u64);
        for restart in 0..=self.restarts + OTHER_STARTS {
            if restart > self.restarts && best.is_some() {
                break;
            }
            let start: Vec<f64> = match restart {
                0 => unknowns.iter().map(|unknown| unknown.start).collect(),
                _ => unknowns.iter().map(|unknown| unknown.drawn(&mut random)).collect(),
            };
            let found =
                self.minimised(options, evaluate, unknowns, start.into(), &label(restart), session)?;
            if found.value.is_finite() && best.as_ref().is_none_or(|best| found.value < best.value) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// One minimisation; its value is not finite if the objective has none at the start.
    fn minimised(
        &self,
        options: MinimiseOptions,
        evaluate: &mut Evaluate<'_>,
        unknowns: &[Unknown],
        start: MinimiseStart,
        label: &str,
        session: &Session<'_>,
    ) -> Result<Minimum, LearnError> {
        let bounds: Vec<(f64, f64)> = unknowns.iter().map(|unknown| unknown.bounds).collect();
        let mut failure = None;
        let mut objective = |theta: &[f64]| match evaluate(theta) {
            Ok(Some((mut value, mut gradient))) => {
                add_priors(unknowns, theta, &mut value, &mut gradient);
                session.note(&format!("{label}log-likelihood {value:.6}"));
                gradient.iter_mut().for_each(|slope| *slope = -*slope);
                Ok((-value, gradient))
            }
            Ok(None) | Err(LearnError::KernelValue { .. }) => Ok((f64::INFINITY, vec![0.0; theta.len()])),
            Err(error) => {
                failure = Some(error);
                Err(SolveError::Stopped(Stopped))
            }
        };
        let found = minimise_in_box(&mut objective, start, &bounds, options, session);
        match failure {
            Some(error) => Err(error),
            None => Ok(found?),
        }
    }

    /// The hyper-parameters that maximise the objective, if there are any to learn.
    fn optimum(
        &self,
        evaluate: &mut Evaluate<'_>,
        prepared: &Prepared,
        options: MinimiseOptions,
        session: &Session<'_>,
    ) -> Result<Optimum, LearnError> {
        let start: Vec<f64> = prepared.unknowns.iter().map(|unknown| unknown.start).collect();
        let tried = self.learn && !prepared.is_constant && !start.is_empty();
        let found =
            if tried { self.learnt_to(options, evaluate, &prepared.unknowns, session)? } else { None };
        let theta = found.as_ref().map_or(start, |found| found.at.clone());
        Ok(Optimum { theta, found, tried })
    }
}

/// The result of learning.
struct Optimum {
    theta: Vec<f64>,
    /// The best minimum; `None` if nothing was tried or if no start has a value.
    found: Option<Minimum>,
    tried: bool,
}

impl Optimum {
    fn steps(&self) -> usize {
        self.found.as_ref().map_or(0, |minimum| minimum.steps)
    }

    /// Warnings about the kernel and the learnt values.
    fn warnings(&self, gp: &Gp, prepared: &Prepared, admitted: &Admitted) -> Vec<String> {
        let mut warnings: Vec<String> = admitted.warning.iter().cloned().collect();
        if prepared.is_constant && gp.learn {
            warnings.push(
                "the targets are the same in every row: nothing is learnt, and the model predicts them everywhere"
                    .to_owned(),
            );
        }
        if self.tried && self.found.is_none() {
            warnings
                .push("no start has a likelihood: the hyper-parameters stay where they started".to_owned());
        }
        if self.found.is_some() {
            warnings.extend(unknowns::bound_warnings(&prepared.unknowns, &self.theta, &prepared.columns));
        }
        warnings
    }
}

/// A problem prepared for the likelihood.
struct Prepared {
    samples: AnySamples<'static>,
    /// The kernel with its unknowns, every `auto` a number.
    kernel: Kernel,
    targets: Matrix<f64>,
    means: Vec<f64>,
    scales: Vec<f64>,
    weights: Option<Vec<f64>>,
    noise: Option<f64>,
    unknowns: Vec<Unknown>,
    is_constant: bool,
    admitted: Admitted,
    /// The names of the columns, if known.
    columns: Vec<String>,
}

impl Prepared {
    /// The verdict on the kernel that was learnt.
    fn settled(&self, kernel: &Kernel) -> Admitted {
        self.admitted.clone().settled(kernel, &self.samples)
    }

    /// The mean of the posterior from its coefficients for normalised targets, and the scales of the outputs.
    fn mean(self, kernel: Kernel, mut coefficients: Matrix<f64>) -> (Expansion, Vec<f64>) {
        let Self { samples, means, scales, admitted, .. } = self;
        for i in 0..coefficients.nrows() {
            coefficients.row_mut(i).iter_mut().zip(&scales).for_each(|(a, scale)| *a *= scale);
        }
        let mean = Expansion {
            kernel,
            domain: admitted.domain,
            centres: samples,
            shift: None,
            coefficients,
            intercepts: means,
        };
        (mean, scales)
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
        if needed > budget {
            return Err(LearnError::Memory { rows, what, needed, budget });
        }
        Ok(())
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
        match cost::gp_way(size, self.expected_evaluations(), session.memory()) {
            _ if !is_open || !self.takes_any_solver() => self.clone(),
            Way::ConjugateGradients => self.clone().solver(GpSolver::Cg),
            Way::Landmarks { landmarks } => self.clone().inducing(usize::try_from(landmarks).ok()),
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
            "the density of leaving one out needs the inverse of the kernel matrix: use the Cholesky solver"
        } else if has_noise(prepared.kernel.expr()) {
            "conjugate gradients have their noise beside the kernel: leave noise(…) out of the kernel, or give --noise"
        } else if prepared.noise == Some(0.0) {
            "conjugate gradients need noise above 0: give a larger --noise, or leave it to be learnt"
        } else {
            return Ok(());
        };
        Err(LearnError::Unsupported(reason))
    }

    /// Trains on a Cholesky factor of the kernel matrix.
    fn train_exact(
        &self,
        mut prepared: Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let resident = session.load(&prepared.samples)?;
        let exact = self.exact(&prepared, &*resident);
        let options = MinimiseOptions { max_steps: self.max_iter, ..MinimiseOptions::default() };
        let learnt =
            self.optimum(&mut |theta| exact.evaluate(theta, session), &prepared, options, session)?;
        let factored = exact.factor(&learnt.theta, session)?.ok_or(LearnError::Unsupported(
            "the kernel matrix with its noise is not positive definite; give more noise, or check that the kernel is one",
        ))?;
        let log_likelihood = exact.log_likelihood(&factored);
        let residual = residual(&exact, &factored, session)?;
        prepared.admitted = prepared.settled(&factored.kernel);
        let mut warnings = learnt.warnings(self, &prepared, &prepared.admitted);
        warnings.extend(jitter_warning(&prepared, &factored, &problem.counted()));
        let report = Report {
            status: match &learnt.found {
                Some(minimum) if !minimum.converged => Status::OutOfIterations,
                _ => Status::Converged,
            },
            solver: "cholesky f64".to_owned(),
            iterations: learnt.steps(),
            residual,
            reasons: Vec::new(),
            warnings,
        };
        let facts = facts(&prepared, &learnt.theta, &factored, log_likelihood);
        let Factored { kernel, noise, factor, alpha, .. } = factored;
        let (mean, scales) = prepared.mean(kernel, alpha);
        let factor = if self.variance {
            let lower = factor.to_lower(session).map_err(GramError::from)?;
            Some(Cholesky::from_lower(factor.order(), lower).into_triangle())
        } else {
            None
        };
        let model = GaussianProcess { mean, scales, noise, factor, posterior_factor: None, projection: None };
        Ok(Fitted::new(self, problem, session, Answer { facts, ..Answer::new(model, report) }))
    }
}

/// The warning that jitter was added to the diagonal. `rows` are the numbers of the prepared rows in the data.
fn jitter_warning(prepared: &Prepared, factored: &Factored, rows: &[usize]) -> Option<String> {
    if factored.jitter == 0.0 {
        return None;
    }
    let conflict = conflicting_rows(&prepared.samples, &prepared.targets).map_or(String::new(), |(i, j)| {
        format!("; rows {} and {} (counted from 0) are equal but have different targets", rows[i], rows[j])
    });
    Some(format!(
        "{:.3e} was added to the diagonal of the kernel matrix, which is not positive definite otherwise{conflict}; give more \
         noise to avoid it",
        factored.jitter
    ))
}

fn facts(prepared: &Prepared, theta: &[f64], factored: &Factored, log_likelihood: f64) -> Facts {
    Facts::new()
        .with("log_likelihood", Number(log_likelihood))
        .with("noise", Number(factored.noise))
        .with("jitter", Number(factored.jitter))
        .with("parameters", unknowns::table(&prepared.unknowns, theta))
}

/// ‖y − (K + σ²/w + jitter)α‖/‖y‖, the largest over the outputs.
fn residual(exact: &Exact<'_>, factored: &Factored, session: &Session<'_>) -> Result<f64, LearnError> {
    let gram = exact.samples.gram(&factored.kernel, crate::gram::Wanted::Double)?;
    let alpha = &factored.alpha;
    let mut product = Matrix::zeros(alpha.nrows(), alpha.ncols());
    gram.apply(&mut product, alpha, &session.part()).map_err(GramError::from)?;
    let mut largest = 0.0f64;
    for o in 0..alpha.ncols() {
        let (mut error, mut size) = (0.0, 0.0);
        for i in 0..alpha.nrows() {
            let noise = exact.weights.map_or(factored.noise, |w| factored.noise / w[i]) + factored.jitter;
            let y = exact.targets.row(i)[o];
            error += (y - product.row(i)[o] - noise * alpha.row(i)[o]).powi(2);
            size += y * y;
        }
        largest = largest.max(if size == 0.0 { 0.0 } else { (error / size).sqrt() });
    }
    Ok(largest)
}

/// Whether an expression contains `noise`.
fn has_noise(expr: &Expr) -> bool {
    match expr {
        Expr::Named(named) => named.family == NOISE,
        _ => expr.children().into_iter().any(has_noise),
    }
}

/// The targets less their means and divided by their standard deviations, the means, and the deviations; 0 and 1 if
/// targets are not normalised.
fn normalised(
    targets: &Matrix<f64>,
    normalise: bool,
    moments: Option<&TargetMoments>,
) -> (Matrix<f64>, Vec<f64>, Vec<f64>) {
    let outputs = targets.ncols();
    if !normalise {
        return (targets.clone(), vec![0.0; outputs], vec![1.0; outputs]);
    }
    let means = moments.map_or_else(|| targets::means(targets), |moments| moments.means.clone());
    let mut centred = targets::less(targets, &means);
    let scales: Vec<f64> = (0..outputs)
        .map(|o| {
            let (squares, rows) = match moments {
                Some(moments) => (moments.squares[o], moments.rows as f64),
                None => {
                    ((0..centred.nrows()).map(|i| centred.row(i)[o].powi(2)).sum(), centred.nrows() as f64)
                }
            };
            let deviation = (squares / rows).sqrt();
            // Rounding of the mean leaves a remainder of a few units in the last place.
            let rounding = 8.0 * f64::EPSILON * means[o].abs();
            if deviation > rounding && deviation.is_finite() { deviation } else { 0.0 }
        })
        .collect();
    for i in 0..centred.nrows() {
        for (y, scale) in centred.row_mut(i).iter_mut().zip(&scales) {
            *y = if *scale > 0.0 { *y / scale } else { 0.0 };
        }
    }
    let scales = scales.into_iter().map(|scale| if scale > 0.0 { scale } else { 1.0 }).collect();
    (centred, means, scales)
}

fn mean_square(targets: &Matrix<f64>) -> f64 {
    let entries = targets.entries();
    entries.iter().map(|y| y * y).sum::<f64>() / entries.len().max(1) as f64
}

/// Two equal rows with different targets.
fn conflicting_rows(samples: &AnySamples<'_>, targets: &Matrix<f64>) -> Option<(usize, usize)> {
    let mut seen = std::collections::HashMap::new();
    let mut row = vec![0.0; samples.ncols()];
    for i in 0..samples.nrows() {
        samples.copy_row(i, &mut row);
        let key: Vec<u64> = row.iter().map(|value| (value + 0.0).to_bits()).collect();
        let first = *seen.entry(key).or_insert(i);
        if targets.row(first) != targets.row(i) {
            return Some((first, i));
        }
    }
    None
}
