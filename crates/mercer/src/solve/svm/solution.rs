//! Solves a [`BoxQp`] and tells how good the answer is.

use serde::{Deserialize, Serialize};

use crate::gram::Gram;
use crate::memory;
use crate::real::Precision;
use crate::solve::report::Status;
use crate::watch::Watch;

use super::block::{Block, End, Limits, Spent, violation};
use super::error::SvmError;
use super::exact::{Check, product};
use super::problem::BoxQp;
use super::rows::RowElement;

/// How a [`BoxQp`] is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SvmSettings {
    /// The violation m(α) − M(α) of the optimality conditions to stop at, above 0: LIBSVM's stopping rule.
    pub tol: f64,
    /// Bytes of kernel rows that may be kept; `None` for a fifth of the memory there is.
    pub cache: Option<u64>,
    /// Whether variables that stay at their bounds are set aside for a while.
    pub shrinking: bool,
    /// Steps of two variables at most; `None` for a hundred per variable and at least ten million.
    pub max_iter: Option<u64>,
}

impl Default for SvmSettings {
    /// Tolerance 10⁻³, as LIBSVM.
    fn default() -> Self {
        Self { tol: 1e-3, cache: None, shrinking: true, max_iter: None }
    }
}

/// How good a solution is, from the gradient in double precision. Where kernel rows were in single precision and their errors
/// too small to matter for the violation, the objective and the gap have those errors: about 10⁻⁶ of their size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmReport {
    /// How the solver ended.
    pub status: Status,
    /// m(α) − M(α), at most the tolerance where the solver converged.
    pub violation: f64,
    /// ½βᵀKβ + qᵀβ + ε Σ|β|.
    pub objective: f64,
    /// Primal minus dual objective, at least 0 up to rounding.
    pub gap: f64,
    /// Steps of two variables.
    pub iterations: u64,
    /// Working sets solved.
    pub rounds: u64,
    /// Kernel values computed.
    pub evaluations: u64,
    /// What a user should know about the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The solution of a [`BoxQp`].
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// β, one per variable.
    pub beta: Vec<f64>,
    /// The multiplier of each equality constraint: the mean of the gradient over the free variables of the group, or the
    /// middle of what the others allow where none is free.
    pub levels: Vec<f64>,
    /// How good it is.
    pub report: SvmReport,
}

impl Solution {
    /// ρ of the decision function Σ βᵢ k(xᵢ, ·) − ρ.
    #[must_use]
    pub fn rho(&self) -> f64 {
        self.levels.iter().sum::<f64>() / self.levels.len() as f64
    }

    /// Half the distance of the two levels: LIBSVM's r, the margin of ν-classification and minus the tube of ν-regression.
    #[must_use]
    pub fn margin(&self) -> f64 {
        0.5 * (self.levels[0] - self.levels[self.levels.len() - 1])
    }
}

/// Times that f may be recomputed exactly while kernel rows stay in single precision.
const REFINEMENTS: usize = 3;

impl BoxQp {
    /// Solves the problem over `gram`.
    ///
    /// Where `gram` is in single precision, `exact` is the same matrix in double: f = Kβ is checked against it where the
    /// verdict hangs, recomputed with it where rounding could have changed the verdict, and in the last resort the solver
    /// continues with it. Without `exact`, `gram` is what counts.
    ///
    /// O(kn) kernel values for k changed variables, n the variables not set aside.
    ///
    /// # Errors
    /// Where a setting or row is out of range, the kernel has no finite value, or `watch` asks to stop.
    pub fn solve(
        &self,
        gram: &dyn Gram,
        exact: Option<&dyn Gram>,
        settings: &SvmSettings,
        watch: &dyn Watch,
    ) -> Result<Solution, SvmError> {
        if !(settings.tol > 0.0 && settings.tol.is_finite()) {
            return Err(SvmError::Parameter {
                name: "tol",
                value: settings.tol,
                allowed: "a number above 0",
            });
        }
        let rows = gram.nrows();
        if let Some(variable) = self.rows.iter().position(|&row| row >= rows) {
            return Err(SvmError::Row { variable, row: self.rows[variable], rows });
        }
        let limits = Limits {
            tolerance: settings.tol,
            steps: settings.max_iter.unwrap_or_else(|| (100 * self.len() as u64).max(10_000_000)),
            cache: settings.cache.unwrap_or_else(|| memory::available() / 5),
            shrinking: settings.shrinking,
        };
        watch.check()?;
        let mut run = Run { qp: self, limits, spent: Spent::default(), watch };
        let (beta, f, end) = match (gram.precision(), exact) {
            (Precision::Single, Some(exact)) => run.refined(gram, exact)?,
            (Precision::Single, None) => run.plain::<f32>(gram, self.start.clone(), None)?,
            (Precision::Double, _) => run.plain::<f64>(gram, self.start.clone(), None)?,
        };
        run.report(beta, &f, end, settings)
    }
}

/// One solution on its way.
struct Run<'a> {
    qp: &'a BoxQp,
    limits: Limits,
    spent: Spent,
    watch: &'a dyn Watch,
}

type State = (Vec<f64>, Vec<f64>, End);

impl<'a> Run<'a> {
    /// Kernel rows of one matrix, from `beta` on; `f` is computed where it is not given.
    fn plain<T: RowElement>(
        &mut self,
        gram: &'a dyn Gram,
        beta: Vec<f64>,
        f: Option<Vec<f64>>,
    ) -> Result<State, SvmError> {
        let f = match f {
            Some(f) => f,
            None => product::<T>(self.qp, gram, &beta, self.watch, &mut self.spent)?,
        };
        let mut block = Block::<T>::new(self.qp, gram, self.left(), beta, f);
        let end = block.run(self.watch)?;
        self.spend(block.spent);
        let f = block.f().to_vec();
        Ok((block.beta, f, end))
    }

    /// Kernel rows in single precision, with f checked against the matrix in double.
    fn refined(&mut self, gram: &'a dyn Gram, exact: &'a dyn Gram) -> Result<State, SvmError> {
        let beta = self.qp.start.clone();
        let f = product::<f64>(self.qp, exact, &beta, self.watch, &mut self.spent)?;
        let mut block = Block::<f32>::new(self.qp, gram, self.left(), beta, f);
        for _ in 0..REFINEMENTS {
            let end = block.run(self.watch)?;
            let check = Check {
                qp: self.qp,
                exact,
                beta: &block.beta,
                f: block.f(),
                tolerance: self.limits.tolerance,
            };
            if end == End::Converged && check.holds(self.watch, &mut self.spent)? {
                self.spend(block.spent);
                let f = block.f().to_vec();
                return Ok((block.beta, f, end));
            }
            let f = product::<f64>(self.qp, exact, &block.beta, self.watch, &mut self.spent)?;
            let settled = violation(&ends(self.qp, &block.beta, &f)) <= self.limits.tolerance;
            block.set_f(&f);
            if settled || end == End::OutOfSteps {
                self.spend(block.spent);
                return Ok((block.beta, f, if settled { End::Converged } else { end }));
            }
        }
        self.spend(block.spent);
        let f = block.f().to_vec();
        self.plain::<f64>(exact, block.beta, Some(f))
    }

    /// The limits less what is spent.
    fn left(&self) -> Limits {
        Limits { steps: self.limits.steps.saturating_sub(self.spent.steps), ..self.limits }
    }

    fn spend(&mut self, more: Spent) {
        self.spent.steps += more.steps;
        self.spent.rounds += more.rounds;
        self.spent.evaluations += more.evaluations;
    }

    fn report(
        &self,
        beta: Vec<f64>,
        f: &[f64],
        end: End,
        settings: &SvmSettings,
    ) -> Result<Solution, SvmError> {
        let qp = self.qp;
        if let Some(v) = (0..qp.len()).find(|&v| !f[v].is_finite() || !beta[v].is_finite()) {
            return Err(SvmError::KernelValue { row: qp.rows[v] });
        }
        let ends = ends(qp, &beta, f);
        let levels: Vec<f64> =
            qp.groups().zip(&ends).map(|(group, ends)| level(qp, group, *ends, &beta, f)).collect();
        let objective: f64 =
            (0..qp.len()).map(|v| beta[v] * (0.5 * f[v] + qp.linear[v]) + qp.kink * beta[v].abs()).sum();
        let gap = qp.groups().zip(&levels).map(|(group, level)| gap(qp, group, *level, &beta, f)).sum();
        let violation = violation(&ends).max(0.0);
        let mut warnings = Vec::new();
        if end == End::Stalled {
            warnings.push(format!(
                "rounding is in the way: the optimality conditions are violated by {violation:e}, the tolerance is {:e}",
                settings.tol
            ));
        }
        let report = SvmReport {
            status: if end == End::Converged { Status::Converged } else { Status::OutOfIterations },
            violation,
            objective,
            gap,
            iterations: self.spent.steps,
            rounds: self.spent.rounds,
            evaluations: self.spent.evaluations,
            warnings,
        };
        Ok(Solution { beta, levels, report })
    }
}

/// The ends of the gradient in each group.
pub(super) fn ends(qp: &BoxQp, beta: &[f64], f: &[f64]) -> Vec<(f64, f64)> {
    let of = |group: std::ops::Range<usize>| {
        group.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most): (f64, f64), v| {
            let (up, low) = qp.slopes(v, beta[v]);
            (least.min(f[v] + up), most.max(f[v] + low))
        })
    };
    qp.groups().map(of).collect()
}

/// The multiplier of a group's equality constraint.
fn level(
    qp: &BoxQp,
    group: std::ops::Range<usize>,
    (least, most): (f64, f64),
    beta: &[f64],
    f: &[f64],
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for v in group.filter(|&v| qp.is_free(v, beta[v])) {
        sum += f[v] + qp.slopes(v, beta[v]).0;
        count += 1;
    }
    if count > 0 {
        return sum / f64::from(count);
    }
    match (least.is_finite(), most.is_finite()) {
        (true, true) => 0.5 * (least + most),
        (true, false) => least,
        (false, true) => most,
        (false, false) => 0.0,
    }
}

/// How much more the separable part costs at β than at its least, given the multiplier: summed over all groups this is the
/// duality gap.
fn gap(qp: &BoxQp, group: std::ops::Range<usize>, level: f64, beta: &[f64], f: &[f64]) -> f64 {
    group
        .map(|v| {
            let cost = |t: f64| (f[v] + qp.linear[v] - level) * t + qp.kink * t.abs();
            let inside = 0.0f64.clamp(qp.lower[v], qp.upper[v]);
            let least = cost(qp.lower[v]).min(cost(qp.upper[v])).min(cost(inside));
            cost(beta[v]) - least
        })
        .sum()
}
