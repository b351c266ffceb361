//! Solves a [`BoxQp`] and reports on the quality of the solution.

use serde::{Deserialize, Serialize};

use crate::gram::Gram;
use crate::memory;
use crate::real::Precision;
use crate::solve::report::Status;
use crate::watch::Watch;

use super::decomposition::{Decomposition, End, Limits, Spent, violation};
use super::exact::{Check, product};
use super::problem::BoxQp;
use crate::solve::error::SolveError;

/// The settings for solving a [`BoxQp`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SvmSettings {
    /// The tolerance on the violation m(α) − M(α) of the optimality conditions, above 0: LIBSVM's stopping rule.
    #[serde(with = "crate::data::number")]
    pub tol: f64,
    /// Bytes of kernel rows that may be cached; `None` for a fifth of the memory.
    pub cache: Option<u64>,
    /// Whether variables that stay at their bounds are set aside for a while.
    pub shrinking: bool,
    /// The most steps of two variables; `None` for a hundred per variable and at least ten million.
    pub max_iter: Option<u64>,
}

impl Default for SvmSettings {
    /// Tolerance 10⁻³, as LIBSVM.
    fn default() -> Self {
        Self { tol: 1e-3, cache: None, shrinking: true, max_iter: None }
    }
}

/// The quality of a solution, from the gradient in double precision. If kernel rows were in single precision and their
/// errors do not affect the violation, the objective and the gap have those errors: about 10⁻⁶ of their size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmReport {
    /// The status.
    pub status: Status,
    /// m(α) − M(α), at most the tolerance if the solver converged.
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
    /// Why the solver ended before its stopping rule was met, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Further warnings about the solution.
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
    /// The rounding error of Kβ, and hence of the levels.
    pub rounding: f64,
    /// The report.
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

/// The most exact recomputations of f while kernel rows stay in single precision.
const REFINEMENTS: usize = 3;

impl BoxQp {
    /// Solves the problem over `gram`.
    ///
    /// If `gram` is in single precision, `exact` is the same matrix in double: f = Kβ is checked against it at the ends
    /// of the gradient, recomputed with it if rounding could have changed the stopping decision, and in the last resort
    /// the solver continues with it. Without `exact`, `gram` counts as exact.
    ///
    /// O(kn) kernel values for k changed variables, n the variables not set aside.
    ///
    /// # Errors
    /// If a setting or row is out of range, the kernel has no finite value, or `watch` asks to stop.
    pub fn solve(
        &self,
        gram: &dyn Gram,
        exact: Option<&dyn Gram>,
        settings: &SvmSettings,
        watch: &dyn Watch,
    ) -> Result<Solution, SolveError> {
        self.check(gram, settings)?;
        watch.check()?;
        let mut run = Run::new(gram, exact, settings, watch);
        run.start(self)?;
        run.finish(self)
    }

    /// Solves the problem with its bounds multiplied by each of `scales`, in their order, each from the previous
    /// solution: the path along C, if these are ascending and the bounds 1.
    ///
    /// A solution β at one scale gives the start sβ for the next, with the s that is best in the larger box, which
    /// costs no kernel value. Kernel rows are shared by the whole path. Solutions are those of [`solve`](Self::solve)
    /// at each scale, within the tolerance.
    ///
    /// # Errors
    /// As [`solve`](Self::solve), and if a scale is not above 0 and finite.
    pub fn solve_path(
        &self,
        scales: &[f64],
        gram: &dyn Gram,
        exact: Option<&dyn Gram>,
        settings: &SvmSettings,
        watch: &dyn Watch,
    ) -> Result<Vec<Solution>, SolveError> {
        self.check(gram, settings)?;
        if let Some(&value) = scales.iter().find(|s| !(**s > 0.0 && s.is_finite())) {
            return Err(SolveError::Parameter {
                name: "scale of the bounds",
                value,
                allowed: "a number above 0",
            });
        }
        let problems: Vec<Self> = scales.iter().map(|&scale| self.scaled(scale)).collect();
        let mut run = Run::new(gram, exact, settings, watch);
        let mut answers = Vec::with_capacity(scales.len());
        for (k, qp) in problems.iter().enumerate() {
            watch.check()?;
            match k.checked_sub(1) {
                None => run.start(qp)?,
                Some(last) => run.go_on(&problems[last], qp, scales[k] / scales[last])?,
            }
            answers.push(run.finish(qp)?);
        }
        Ok(answers)
    }

    fn check(&self, gram: &dyn Gram, settings: &SvmSettings) -> Result<(), SolveError> {
        if !(settings.tol > 0.0 && settings.tol.is_finite()) {
            return Err(SolveError::Parameter {
                name: "tol",
                value: settings.tol,
                allowed: "a number above 0",
            });
        }
        let rows = gram.nrows();
        match self.rows.iter().position(|&row| row >= rows) {
            Some(variable) => Err(SolveError::Row { variable, row: self.rows[variable], rows }),
            None => Ok(()),
        }
    }
}

/// A sequence of solutions, each started from the one before.
struct Run<'a> {
    gram: &'a dyn Gram,
    exact: Option<&'a dyn Gram>,
    settings: &'a SvmSettings,
    watch: &'a dyn Watch,
    spent: Spent,
    state: State<'a>,
}

/// The state of the variables, by the precision of kernel rows.
enum State<'a> {
    Nowhere,
    Single(Decomposition<'a, f32>),
    Double(Decomposition<'a, f64>),
}

/// Kβ for every variable, and the outcome of the run.
type Ended = (Vec<f64>, End);

impl<'a> Run<'a> {
    fn new(
        gram: &'a dyn Gram,
        exact: Option<&'a dyn Gram>,
        settings: &'a SvmSettings,
        watch: &'a dyn Watch,
    ) -> Self {
        Self { gram, exact, settings, watch, spent: Spent::default(), state: State::Nowhere }
    }

    fn limits(&self, qp: &BoxQp) -> Limits {
        Limits {
            tolerance: self.settings.tol,
            steps: self.settings.max_iter.unwrap_or_else(|| (100 * qp.len() as u64).max(10_000_000)),
            cache: self.settings.cache.unwrap_or_else(|| memory::total() / 5),
            shrinking: self.settings.shrinking,
        }
    }

    /// Starts from the problem's own start.
    fn start(&mut self, qp: &'a BoxQp) -> Result<(), SolveError> {
        let (limits, beta) = (self.limits(qp), qp.start.clone());
        let exact = self.exact.unwrap_or(self.gram);
        let f = product(qp, exact, &beta, self.watch, &mut self.spent)?;
        self.state = if self.exact.is_some() && self.gram.precision() == Precision::Single {
            State::Single(Decomposition::new(qp, self.gram, limits, beta, f))
        } else {
            State::Double(Decomposition::new(qp, self.gram, limits, beta, f))
        };
        Ok(())
    }

    /// Continues from the solution of `last`, whose bounds are those of `qp` divided by `ratio`.
    fn go_on(&mut self, last: &BoxQp, qp: &'a BoxQp, ratio: f64) -> Result<(), SolveError> {
        self.spent = Spent::default();
        let limits = self.limits(qp);
        match &mut self.state {
            State::Nowhere => self.start(qp)?,
            State::Single(block) => {
                block.go_on_with(qp, last.best_factor(&block.beta, block.f(), ratio), limits);
            }
            State::Double(block) => {
                block.go_on_with(qp, last.best_factor(&block.beta, block.f(), ratio), limits);
            }
        }
        Ok(())
    }

    /// Solves to the tolerance, with f checked against the matrix in double precision if kernel rows are in single.
    fn finish(&mut self, qp: &'a BoxQp) -> Result<Solution, SolveError> {
        if let Some((f, end)) = self.in_single(qp)? {
            let State::Single(block) = &self.state else { unreachable!("it was in single precision") };
            return self.report(qp, &block.beta, &f, end);
        }
        if let State::Single(block) = &mut self.state {
            let exact = self.exact.expect("what was refined has a matrix to refine with");
            let (beta, f) = (std::mem::take(&mut block.beta), block.f().to_vec());
            let limits = self.limits(qp);
            let left = Limits { steps: limits.steps.saturating_sub(self.spent.steps), ..limits };
            self.state = State::Double(Decomposition::new(qp, exact, left, beta, f));
        }
        let State::Double(block) = &mut self.state else { unreachable!("a run has been started") };
        let end = block.run(self.watch)?;
        self.spent.add(block.spent);
        let State::Double(block) = &self.state else { unreachable!("as above") };
        self.report(qp, &block.beta, block.f(), end)
    }

    /// The answer with kernel rows in single precision; `None` if these are not enough or not there.
    fn in_single(&mut self, qp: &'a BoxQp) -> Result<Option<Ended>, SolveError> {
        let (State::Single(block), Some(exact)) = (&mut self.state, self.exact) else { return Ok(None) };
        let (tolerance, watch, mut extra) = (self.settings.tol, self.watch, Spent::default());
        let mut answer = None;
        for _ in 0..REFINEMENTS {
            let end = block.run(watch)?;
            let check = Check { qp, exact, beta: &block.beta, f: block.f(), tolerance };
            if end == End::Converged && check.holds(watch, &mut extra)? {
                answer = Some((block.f().to_vec(), end));
                break;
            }
            let f = product(qp, exact, &block.beta, watch, &mut extra)?;
            let settled = violation(&ends(qp, &block.beta, &f)) <= tolerance;
            block.set_f(&f);
            if settled || end == End::OutOfSteps {
                answer = Some((f, if settled { End::Converged } else { end }));
                break;
            }
            if end == End::Coarse {
                break;
            }
        }
        self.spent.add(block.spent);
        self.spent.add(extra);
        Ok(answer)
    }

    fn report(&self, qp: &BoxQp, beta: &[f64], f: &[f64], end: End) -> Result<Solution, SolveError> {
        if let Some(v) = (0..qp.len()).find(|&v| !f[v].is_finite() || !beta[v].is_finite()) {
            return Err(SolveError::KernelValue { row: qp.rows[v] });
        }
        let ends = ends(qp, beta, f);
        let levels: Vec<f64> =
            qp.groups().zip(&ends).map(|(group, ends)| level(qp, group, *ends, beta, f)).collect();
        let objective: f64 =
            (0..qp.len()).map(|v| beta[v] * (0.5 * f[v] + qp.linear[v]) + qp.kink * beta[v].abs()).sum();
        let gap = qp.groups().zip(&levels).map(|(group, level)| gap(qp, group, *level, beta, f)).sum();
        let violation = violation(&ends).max(0.0);
        let mut reasons = Vec::new();
        if matches!(end, End::Stalled | End::Coarse) {
            reasons.push(format!(
                "rounding is in the way: the optimality conditions are violated by {violation:e}, the tolerance is {:e}",
                self.settings.tol
            ));
        }
        let report = SvmReport {
            status: match end {
                End::Converged => Status::Converged,
                End::OutOfSteps => Status::OutOfIterations,
                End::Stalled | End::Coarse => Status::Stagnated,
            },
            violation,
            objective,
            gap,
            iterations: self.spent.steps,
            rounds: self.spent.rounds,
            evaluations: self.spent.evaluations,
            reasons,
            warnings: Vec::new(),
        };
        let diagonal = self.exact.unwrap_or(self.gram).diagonal();
        let largest = qp.rows.iter().map(|&row| diagonal[row].abs()).fold(0.0, f64::max);
        let rounding = 4.0 * f64::EPSILON * largest * beta.iter().map(|b| b.abs()).sum::<f64>();
        Ok(Solution { beta: beta.to_vec(), levels, rounding, report })
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

/// The separable part at β minus its minimum, given the multiplier: summed over all groups this is the duality gap.
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
