//! Ridge regression on approximate features from sums over rows, in memory or in chunks.
//!
//! Minimises Σᵢ wᵢ(yᵢ − ⟨v, φ(xᵢ)⟩ − b)² + λ‖v‖² with ⟨φ(x), φ(z)⟩ ≈ k(x, z). Only sums over the features of samples
//! are stored ([`NormalEquations`]), so that samples in memory, in chunks and on several machines give the same fit:
//! [`Ridge::prepare`] the features, [`add_rows`] to [`empty_sums`], and [`Ridge::solve`] them.

use crate::data::{AnySamples, Matrix};
use crate::design::{DesignError, Features, Parts};
use crate::linalg::{LinearFit, NormalEquations};
use crate::model::{Facts, Predictor};
use crate::session::Session;
use crate::solve::{Report, Status};

use super::super::cost;
use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::lift::Prepared;
use super::super::problem::{Origin, Problem};
use super::passes::Outcome;
use super::quality::SolvedSums;
use super::{Ridge, targets_by_lambda};

/// The solution of the normal equations, from one factor of them for each λ.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// β and b.
    pub fit: LinearFit,
    /// ‖c − (G + λI)β‖/‖c‖ of the normal equations, the largest over the targets.
    pub residual: f64,
    /// An estimate of tr G(G + λI)⁻¹ at the largest λ: the effective dimension of the fit.
    pub effective_dimension: f64,
}

/// Empty sums over this number of features and targets.
///
/// # Errors
/// If they, and the matrix that is factored, do not fit the memory budget.
pub fn empty_sums(
    features: usize,
    targets: usize,
    session: &Session<'_>,
) -> Result<NormalEquations, LearnError> {
    let (needed, budget) = (cost::sums_bytes(features, targets), session.memory());
    if needed > budget {
        let what = "the sums over the features and their factor";
        return Err(DesignError::Memory { what, needed, budget }.into());
    }
    Ok(NormalEquations::new(features, targets))
}

/// Adds the features of rows to the sums of their parts.
///
/// O(nDd + nD²/2) time for n rows of d columns and D features.
///
/// # Errors
/// If the rows, targets and weights do not match in number or hold a value that is not finite, or if the session is
/// stopped.
pub fn add_rows(
    features: &Features,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    (parts, sums): (&Parts<'_>, &mut [NormalEquations]),
    session: &Session<'_>,
) -> Result<(), LearnError> {
    Ok(features.add_sums(samples, (targets, weights), parts, sums, session)?)
}

impl Ridge {
    /// The fit on features that approximate a kernel whose hyper-parameters are all numbers.
    ///
    /// O(nD(d + D) + D³) time, O(D²) memory for D features. In large problems, from n = 8D on, if the features of all
    /// rows fit the memory budget, they are stored, and about twenty passes over them replace the sums of their
    /// products ([`NormalCg`](crate::solve::NormalCg)): O(nDd + D³).
    pub(super) fn on_features(
        &self,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let samples = problem.samples()?;
        let prepared = self.prepare(problem.sample()?, session)?;
        let sums = match self.passes_or_sums(&prepared, problem, session)? {
            Outcome::Fitted(answer) => return Ok(*answer),
            Outcome::Summed(sums) => sums,
        };
        let solution = self.solve(&sums, session)?;
        let summed = SolvedSums { sums: &sums, solution: &solution, held_out: None };
        let quality = self.quality(&prepared, summed, samples, session)?;
        self.answer(&prepared, &solution, quality.facts(&problem.origin.outputs))
    }

    /// The predictor of a solution, its report, and the quality of the features.
    pub(super) fn answer(
        &self,
        prepared: &Prepared,
        solution: &Solution,
        facts: Facts,
    ) -> Result<Answer, LearnError> {
        let solver = format!("cholesky f64 on {}", self.approximation()?.1);
        let mut report = Report::new(Status::Converged, solver, 0, solution.residual);
        report.warnings.extend(prepared.warning.clone());
        Ok(Answer { facts, ..Answer::new(predictor(prepared, solution.fit.clone()), report) })
    }

    /// The model of a solution over this many rows.
    ///
    /// # Errors
    /// If the learner is not on an approximation.
    pub fn fitted(
        &self,
        prepared: &Prepared,
        solution: &Solution,
        rows: (u64, Origin),
        facts: Facts,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        Ok(Fitted::of_rows(self, rows, None, session, self.answer(prepared, solution, facts)?))
    }

    /// The solution of sums.
    ///
    /// D³/3 multiply-adds for each different λ.
    ///
    /// # Errors
    /// If there are no samples, if λ = 0 and the features are linearly dependent, or if the session is stopped.
    pub fn solve(&self, sums: &NormalEquations, session: &Session<'_>) -> Result<Solution, LearnError> {
        let (features, targets) = (sums.features(), sums.targets());
        let fit = LinearFit { weights: Matrix::zeros(features, targets), intercepts: vec![0.0; targets] };
        let mut all = Solution { fit, residual: 0.0, effective_dimension: f64::INFINITY };
        for (lambda, group) in targets_by_lambda(&self.lambda, targets) {
            let store = |order, lower| session.engine().symmetric(order, lower);
            let factor = sums.factor_in(lambda, self.intercept, &store, session)?;
            let fit = factor.solution(session)?;
            all.residual = all.residual.max(factor.residual(&fit));
            all.take(&fit, factor.effective_dimension(session)?, &group);
        }
        Ok(all)
    }
}

/// The predictor of a linear function of the features.
pub(super) fn predictor(prepared: &Prepared, fit: LinearFit) -> Predictor {
    let Prepared { features, columns, domain, .. } = prepared;
    Predictor::on_features(features.clone(), *columns, fit.weights, fit.intercepts, *domain)
}

impl Solution {
    /// Adds the solution of targets that share one λ. The effective dimension is that of the largest λ, which is the
    /// smallest.
    pub(super) fn take(&mut self, fit: &LinearFit, effective_dimension: f64, targets: &[usize]) {
        self.effective_dimension = self.effective_dimension.min(effective_dimension);
        for &o in targets {
            self.fit.intercepts[o] = fit.intercepts[o];
            (0..fit.weights.nrows()).for_each(|k| self.fit.weights.row_mut(k)[o] = fit.weights.row(k)[o]);
        }
    }
}
