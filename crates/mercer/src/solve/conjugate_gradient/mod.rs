//! Preconditioned conjugate gradients for A·X = B, with A symmetric positive definite and given only by its products.
//!
//! ```text
//! z = P⁻¹r,  β = ⟨r,z⟩/⟨r,z⟩_before,  p ← z + βp,  α = ⟨r,z⟩/⟨p,Ap⟩,  x ← x + αp,  r ← r − αAp
//! ```
//!
//! for every column of B with its own α and β, all of them sharing each product with A. Recurrences are in double
//! precision. Products may come from a faster, less exact operator: the residual is then replaced by the true residual,
//! computed with the exact operator, whenever the recurrence indicates convergence, and at regular intervals (van der
//! Vorst and Ye 2000). The errors of the fast operator are thus corrected until the solution is that of the exact one,
//! or until it no longer improves, which the report tells.
//!
//! There may be a still faster, coarse operator A + E. The recurrence then solves (A + E)x = b and leaves a residual of
//! Ex, so that a round stops once the recurrence's residual is below about |Ex|: the true residual is computed, and the
//! steps restart with it as the right-hand side. Each such round multiplies the residual by about |Ex|/|b|, so that the
//! iteration converges for any coarse operator with |A⁻¹E| well below 1. If a round gains less than a factor of two, or
//! if A + E is indefinite, the fast operator replaces the coarse one.

mod lanczos;
mod preconditioner;
mod state;

use crate::data::{Matrix, counted};
use crate::gram::LinearOperator;
use crate::linalg::vectors::{column_dots, column_norms, columns};
use crate::solve::{Report, SolveError, Status};
use crate::watch::{Stopped, Watch};

pub use lanczos::Lanczos;
pub use preconditioner::{LowRank, Preconditioner, Unconditioned};
pub use state::CgState;
use state::{Operator, Standing};

/// The system A·X = B and its operators.
#[derive(Clone, Copy)]
pub struct CgProblem<'a> {
    /// A, faster but coarser than `operator`; used as long as it helps.
    pub coarse: Option<Coarse<'a>>,
    /// A, as fast as possible.
    pub operator: &'a dyn LinearOperator,
    /// A, as exact as possible; `None` if the fast operator is that.
    pub exact: Option<&'a dyn LinearOperator>,
    /// B: one column for each right-hand side.
    pub rhs: &'a Matrix<f64>,
    /// P⁻¹.
    pub preconditioner: &'a dyn Preconditioner,
}

/// A matrix A + E near A.
#[derive(Clone, Copy)]
pub struct Coarse<'a> {
    /// A + E.
    pub operator: &'a dyn LinearOperator,
    /// An estimate of |Ev|/|v|.
    pub rounding: f64,
}

/// Conjugate gradients: the stopping rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConjugateGradient {
    /// ‖b − Ax‖/‖b‖ at which a right-hand side is solved, by the true residual.
    pub tolerance: f64,
    /// The most steps.
    pub iterations: u64,
    /// Steps after which the true residual is computed in any case.
    pub check_every: u64,
}

impl Default for ConjugateGradient {
    fn default() -> Self {
        Self { tolerance: 1e-6, iterations: 1_000, check_every: 200 }
    }
}

/// Stagnation: a true residual that is not below this fraction of the previous one.
const STAGNANT: f64 = 0.5;

/// The recurrence is inaccurate if the true residual is this many times its own. If it is accurate, a residual that
/// does not fall means slow convergence: its norm need not fall in every step.
const WRONG: f64 = 2.0;

/// A round with a coarse operator continues to this fraction of the residual that its errors are expected to leave.
const BELOW_ROUNDING: f64 = 0.5;

/// The least reduction of the residual by a round, for any expected errors.
const LEAST_ROUND: f64 = 0.25;

impl<'a> CgProblem<'a> {
    /// The coarse operator, unless it was abandoned.
    fn coarse_for(&self, state: &CgState) -> Option<Coarse<'a>> {
        self.coarse.filter(|_| state.uses_coarse())
    }

    /// The operator of the steps.
    fn operator_for(&self, state: &CgState) -> &'a dyn LinearOperator {
        match (self.coarse_for(state), self.exact) {
            (Some(coarse), _) => coarse.operator,
            (None, Some(exact)) if state.uses_exact() => exact,
            _ => self.operator,
        }
    }

    /// An operator with smaller errors than the one of the steps.
    fn better_than(&self, state: &CgState) -> Option<Operator> {
        if self.coarse_for(state).is_some() {
            Some(Operator::WithoutCoarse)
        } else {
            self.exact.filter(|_| !state.uses_exact()).map(|_| Operator::Exact)
        }
    }
}

impl ConjugateGradient {
    /// Solves from zero.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn solve(
        &self,
        problem: &CgProblem<'_>,
        watch: &dyn Watch,
    ) -> Result<(Matrix<f64>, Report), SolveError> {
        let mut state = CgState::start(problem.rhs);
        let report = self.run(problem, &mut state, watch, &mut |_| {})?;
        Ok((state.x, report))
    }

    /// Continues from `state` until every right-hand side is solved or stagnates, or the steps are used up. `after`
    /// receives the state after each step and may save it.
    ///
    /// One product with A, one with P⁻¹ and O(n) operations a step, and a product with the exact A for each true
    /// residual; three vectors for each right-hand side.
    ///
    /// # Errors
    /// If the shapes do not fit, if A turns out not to be positive definite, or if `watch` asks to stop; `state` is
    /// then the one after the last whole step.
    pub fn run(
        &self,
        problem: &CgProblem<'_>,
        state: &mut CgState,
        watch: &dyn Watch,
        after: &mut dyn FnMut(&CgState),
    ) -> Result<Report, SolveError> {
        self.advance(problem, state, self.iterations, watch, after)?;
        let active = state.active();
        if !active.is_empty() {
            // Out of steps: the report still has the true residual.
            let norms = column_norms(problem.rhs);
            let remaining = column_norms(&from_scratch(problem, &state.x, &active, watch)?);
            for (place, &o) in active.iter().enumerate() {
                state.checked[o] = remaining[place] / norms[o];
            }
        }
        Ok(self.report(problem, state))
    }

    /// As [`run`](Self::run), up to step number `until` and without a report.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn advance(
        &self,
        problem: &CgProblem<'_>,
        state: &mut CgState,
        until: u64,
        watch: &dyn Watch,
        after: &mut dyn FnMut(&CgState),
    ) -> Result<(), SolveError> {
        let order = problem.operator.nrows();
        for (what, found, expected) in [
            ("rows of the right-hand sides", problem.rhs.nrows(), order),
            ("rows of the saved state", state.x.nrows(), order),
            ("right-hand sides of the saved state", state.x.ncols(), problem.rhs.ncols()),
            ("rows of the exact matrix", problem.exact.map_or(order, |e| e.nrows()), order),
        ] {
            if found != expected {
                return Err(SolveError::Shape { what, found, expected });
            }
        }
        let norms = column_norms(problem.rhs);
        if problem.coarse.is_some() && state.operator == Operator::Fast {
            state.operator = Operator::Coarse;
            // Earlier parts of the solution are unaffected by errors of later steps.
            let believed = column_norms(&state.residual);
            state.active().iter().for_each(|&o| state.checked[o] = believed[o] / norms[o]);
        }
        watch.begin("conjugate gradients", self.iterations);
        watch.advance(state.iterations);
        loop {
            let active = state.active();
            if active.is_empty() || state.iterations >= until.min(self.iterations) {
                break;
            }
            *state = match self.step(problem, state, &active, &norms, watch) {
                Err(SolveError::NegativeCurvature { .. }) if problem.better_than(state).is_some() => {
                    state.operator = problem.better_than(state).unwrap_or(state.operator);
                    self.start_afresh(problem, state, &active, &norms, watch)?;
                    continue;
                }
                next => next?,
            };
            watch.advance(1);
            watch.note(&format!("step {}, residual {:.2e}", state.iterations, estimate(state, &norms)));
            after(state);
        }
        Ok(())
    }

    /// The estimated remaining steps at the present rate, by the recurrence's residual; infinite without progress.
    #[must_use]
    pub fn steps_to_go(&self, rhs: &Matrix<f64>, state: &CgState) -> f64 {
        let residual = estimate(state, &column_norms(rhs));
        let gained = -residual.ln() / state.iterations as f64;
        if gained > 0.0 { ((residual / self.tolerance).ln() / gained).max(0.0) } else { f64::INFINITY }
    }

    /// The state after one step.
    fn step(
        &self,
        problem: &CgProblem<'_>,
        state: &CgState,
        active: &[usize],
        norms: &[f64],
        watch: &dyn Watch,
    ) -> Result<CgState, SolveError> {
        let mut next = state.clone();
        let p = direction(problem, state, &mut next, active, watch)?;
        let mut ap = Matrix::zeros(p.nrows(), active.len());
        problem.operator_for(state).apply(&mut ap, &p, watch)?;
        next.iterations += 1;
        next.since_check += 1;
        descend(&mut next, active, &p, &ap)?;
        let remaining = column_norms(&next.residual);
        let sizes = column_norms(&next.x);
        let coarse = problem.coarse_for(state);
        let enough = |o: usize| {
            let left = coarse.map_or(0.0, |coarse| coarse.rounding * sizes[o] / norms[o]);
            self.tolerance.max(next.checked[o] * (BELOW_ROUNDING * left).min(LEAST_ROUND))
        };
        let seems_solved = |o: usize| remaining[o] <= enough(o) * norms[o];
        if active.iter().all(|&o| seems_solved(o)) || next.since_check >= self.check_every {
            let believed: Vec<f64> = active.iter().map(|&o| remaining[o] / norms[o]).collect();
            self.replace(problem, &mut next, active, &believed, norms, watch)?;
        }
        Ok(next)
    }

    /// Computes the true residual of the active right-hand sides and compares it with the residual that the recurrence
    /// `believed`.
    fn replace(
        &self,
        problem: &CgProblem<'_>,
        state: &mut CgState,
        active: &[usize],
        believed: &[f64],
        norms: &[f64],
        watch: &dyn Watch,
    ) -> Result<(), SolveError> {
        let residual = from_scratch(problem, &state.x, active, watch)?;
        let remaining = column_norms(&residual);
        let better = problem.better_than(state);
        let mut given_up = false;
        for (place, &o) in active.iter().enumerate() {
            let relative = remaining[place] / norms[o];
            let wrong = believed[place] <= self.tolerance || relative > WRONG * believed[place];
            state.standing[o] = if relative <= self.tolerance {
                Standing::Converged
            } else if !wrong {
                Standing::Running
            } else if relative < STAGNANT * state.checked[o] {
                // Restart from the true residual.
                Standing::Fresh
            } else if better.is_some() {
                given_up = true;
                Standing::Fresh
            } else {
                Standing::Stagnated
            };
            state.checked[o] = relative;
            (0..residual.nrows()).for_each(|i| state.residual.row_mut(i)[o] = residual.row(i)[place]);
        }
        state.since_check = 0;
        if let Some(better) = better.filter(|_| given_up) {
            state.operator = better;
        }
        Ok(())
    }

    /// Restarts every active right-hand side from its true residual.
    fn start_afresh(
        &self,
        problem: &CgProblem<'_>,
        state: &mut CgState,
        active: &[usize],
        norms: &[f64],
        watch: &dyn Watch,
    ) -> Result<(), SolveError> {
        let residual = from_scratch(problem, &state.x, active, watch)?;
        let remaining = column_norms(&residual);
        for (place, &o) in active.iter().enumerate() {
            (state.checked[o], state.standing[o]) = (remaining[place] / norms[o], Standing::Fresh);
            (0..residual.nrows()).for_each(|i| state.residual.row_mut(i)[o] = residual.row(i)[place]);
        }
        state.since_check = 0;
        Ok(())
    }

    fn report(&self, problem: &CgProblem<'_>, state: &CgState) -> Report {
        let any = |standing| state.standing.contains(&standing);
        let status = if any(Standing::Fresh) || any(Standing::Running) {
            Status::OutOfIterations
        } else if any(Standing::Stagnated) {
            Status::Stagnated
        } else {
            Status::Converged
        };
        let residual = state.checked.iter().copied().fold(0.0, f64::max);
        let mut reasons = Vec::new();
        if status == Status::Stagnated {
            reasons.push(format!(
                "the residual stagnates at {residual:.1e}, above the tolerance of {:.1e}: \
                 rounding errors limit the accuracy; use a larger λ",
                self.tolerance
            ));
        }
        if status == Status::OutOfIterations {
            reasons.push(format!(
                "not converged after {}: the residual is {residual:.1e}, the tolerance {:.1e}",
                counted(state.iterations, "step"),
                self.tolerance
            ));
        }
        let solver = format!("conjugate gradients, {}", problem.preconditioner.describe());
        Report { reasons, ..Report::new(status, solver, state.iterations as usize, residual) }
    }
}

/// The largest relative residual of the recurrence.
fn estimate(state: &CgState, norms: &[f64]) -> f64 {
    let now = column_norms(&state.residual);
    now.iter().zip(norms).map(|(r, b)| if *b > 0.0 { r / b } else { 0.0 }).fold(0.0, f64::max)
}

/// p ← z + βp for the active right-hand sides, with z = P⁻¹r and β = 0 at a restart; `next` receives ⟨r,z⟩.
fn direction(
    problem: &CgProblem<'_>,
    state: &CgState,
    next: &mut CgState,
    active: &[usize],
    watch: &dyn Watch,
) -> Result<Matrix<f64>, SolveError> {
    let residual = columns(&state.residual, active);
    let mut z = Matrix::zeros(residual.nrows(), active.len());
    problem.preconditioner.apply(&mut z, &residual, watch)?;
    let rho = column_dots(&residual, &z);
    let mut p = columns(&state.direction, active);
    for (place, &o) in active.iter().enumerate() {
        let fresh = state.standing[o] == Standing::Fresh;
        let beta = if fresh { 0.0 } else { rho[place] / state.rho[o] };
        for i in 0..p.nrows() {
            let entry = &mut p.row_mut(i)[place];
            *entry = z.row(i)[place] + beta * *entry;
        }
        (next.rho[o], next.standing[o]) = (rho[place], Standing::Running);
    }
    Ok(p)
}

/// x ← x + αp and r ← r − αAp with α = ⟨r,z⟩/⟨p,Ap⟩, for the active right-hand sides.
fn descend(
    next: &mut CgState,
    active: &[usize],
    p: &Matrix<f64>,
    ap: &Matrix<f64>,
) -> Result<(), SolveError> {
    let curvature = column_dots(p, ap);
    for (place, &o) in active.iter().enumerate() {
        if curvature[place].is_nan() || curvature[place] <= 0.0 {
            return Err(SolveError::NegativeCurvature {
                iteration: next.iterations,
                value: curvature[place],
            });
        }
        let alpha = next.rho[o] / curvature[place];
        next.lengths[o] = alpha;
        for i in 0..p.nrows() {
            next.x.row_mut(i)[o] += alpha * p.row(i)[place];
            next.residual.row_mut(i)[o] -= alpha * ap.row(i)[place];
            next.direction.row_mut(i)[o] = p.row(i)[place];
        }
    }
    Ok(())
}

/// B − AX for some columns.
fn from_scratch(
    problem: &CgProblem<'_>,
    x: &Matrix<f64>,
    active: &[usize],
    watch: &dyn Watch,
) -> Result<Matrix<f64>, Stopped> {
    let mut out = Matrix::zeros(x.nrows(), active.len());
    problem.exact.unwrap_or(problem.operator).apply(&mut out, &columns(x, active), watch)?;
    for i in 0..out.nrows() {
        let b = problem.rhs.row(i);
        out.row_mut(i).iter_mut().zip(active).for_each(|(v, &o)| *v = b[o] - *v);
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
