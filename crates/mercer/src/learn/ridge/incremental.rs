//! Ridge regression on approximate features from sums over rows, in memory or in chunks.
//!
//! Minimises Σᵢ wᵢ(yᵢ − ⟨v, φ(xᵢ)⟩ − b)² + λ‖v‖² with ⟨φ(x), φ(z)⟩ ≈ k(x, z). All that is kept of the samples are sums
//! over their features ([`NormalEquations`]), so samples in memory, in chunks and on several machines give the same fit:
//! [`Ridge::prepare`] the features, [`add_rows`] to [`empty_sums`], and [`Ridge::solve`] them.

use std::slice;

use crate::data::{AnySamples, Matrix};
use crate::design::{Design, DesignError, Features, Parts, Recomputed};
use crate::linalg::{LinearFit, NormalEquations};
use crate::model::Predictor;
use crate::session::Session;
use crate::solve::{Report, Status};

use super::super::cost;
use super::super::error::LearnError;
use super::super::fitted::{Answer, Facts, Fitted};
use super::super::lift::Prepared;
use super::super::problem::Problem;
use super::passes::PassesFit;
use super::{Ridge, check_problem, targets_by_lambda};

/// A fit and the sums that tell of its features.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproxFit {
    /// What predicts.
    pub predictor: Predictor,
    /// How good the answer of the normal equations is.
    pub report: Report,
    /// φ.
    pub prepared: Prepared,
    /// The sums over φ that the fit follows from, or those over a sample where the features of all rows were held.
    pub sums: NormalEquations,
    /// The solution of the sums, with λ times the share of a sample.
    pub solution: Solution,
    /// The errors over all rows, where the sums are over a sample of them.
    pub all_rows: Option<AllRows>,
}

/// The solution of the normal equations, from one factor of them for each λ.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// β and b.
    pub fit: LinearFit,
    /// ‖c − (G + λI)β‖/‖c‖ of the normal equations, the largest over the targets.
    pub residual: f64,
    /// An estimate of tr G(G + λI)⁻¹ at the largest λ: what the fit uses of its features.
    pub effective_dimension: f64,
}

/// The errors over all rows of a fit whose sums are over a sample of them.
#[derive(Debug, Clone, PartialEq)]
pub struct AllRows {
    /// Σw of the sample as a part of that of all rows.
    pub share: f64,
    /// The mean squared error of each target over all rows.
    pub errors: Vec<f64>,
}

/// The errors of a fit over the samples of some sums, for one target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetError {
    /// Samples.
    pub rows: u64,
    /// √ of the mean of the squared errors.
    pub rmse: f64,
    /// 1 − Σ(y−f)²/Σ(y−ȳ)²; none where the targets are all equal.
    pub r2: Option<f64>,
}

/// Empty sums over this number of features and targets.
///
/// # Errors
/// Where they, and the matrix that is factored, do not fit the memory budget.
pub fn empty_sums(
    features: usize,
    targets: usize,
    session: &Session<'_>,
) -> Result<NormalEquations, LearnError> {
    let (needed, budget) = (cost::sums_bytes(features, targets), session.memory());
    if needed > budget {
        let what = "the sums over the features and the factor of them";
        return Err(DesignError::Memory { what, needed, budget }.into());
    }
    Ok(NormalEquations::new(features, targets))
}

/// Adds the features of rows to the sums of their parts.
///
/// O(nDd + nD²/2) time for n rows of d columns and D features.
///
/// # Errors
/// Where the rows, targets and weights do not line up or hold something else than finite numbers, and where the session is stopped.
pub fn add_rows(
    features: &Features,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    (parts, sums): (&Parts<'_>, &mut [NormalEquations]),
    session: &Session<'_>,
) -> Result<(), LearnError> {
    let design = Recomputed::new(features.ready(samples.ncols(), None, session)?, samples)?;
    Ok(design.normal_equations(targets, weights, parts, sums, session)?)
}

impl Ridge {
    /// Fits `targets` on features that are ready.
    ///
    /// O(nD(d + D) + D³) time, O(D²) memory for D features. In large problems, from n = 8D on, where the features of all rows
    /// fit the memory budget, they are held, and some twenty passes over them replace the sums of their products
    /// ([`NormalCg`](crate::solve::NormalCg)): O(nDd + D³).
    ///
    /// # Errors
    /// Where the input does not line up, where the sums do not fit the memory budget, where λ = 0 and the features are linearly
    /// dependent, and where the session is stopped.
    pub fn fit_prepared(
        &self,
        prepared: Prepared,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<ApproxFit, LearnError> {
        check_problem(&self.lambda, samples.nrows(), targets, weights)?;
        let mut sums = empty_sums(prepared.features.count(samples.ncols())?, targets.ncols(), session)?;
        if let Some(PassesFit { fit, mut report, sample: (sums, solution), all_rows }) =
            self.passes(&prepared, samples, targets, weights, session)?
        {
            report.warnings.extend(prepared.warning.clone());
            let predictor = predictor(&prepared, fit);
            return Ok(ApproxFit { predictor, report, prepared, sums, solution, all_rows: Some(all_rows) });
        }
        let into = (&Parts::All, slice::from_mut(&mut sums));
        add_rows(&prepared.features, samples, targets, weights, into, session)?;
        self.fit_sums(prepared, sums, session)
    }

    /// The fit from sums over features.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn fit_sums(
        &self,
        prepared: Prepared,
        sums: NormalEquations,
        session: &Session<'_>,
    ) -> Result<ApproxFit, LearnError> {
        let solution = self.solve(&sums, session)?;
        let (predictor, report) = self.finish(&prepared, &solution)?;
        Ok(ApproxFit { predictor, report, prepared, sums, solution, all_rows: None })
    }

    /// The predictor of a solution, and the quality of the solution.
    ///
    /// # Errors
    /// Where the learner is not on an approximation.
    pub fn finish(
        &self,
        prepared: &Prepared,
        solution: &Solution,
    ) -> Result<(Predictor, Report), LearnError> {
        let report = Report {
            status: Status::Converged,
            solver: format!("cholesky f64 on {}", self.approximation()?.1),
            iterations: 0,
            residual: solution.residual,
            warnings: prepared.warning.iter().cloned().collect(),
        };
        Ok((predictor(prepared, solution.fit.clone()), report))
    }

    /// The model of a solution over the rows of a problem.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn fitted(
        &self,
        prepared: &Prepared,
        solution: &Solution,
        problem: &Problem<'_>,
        facts: Facts,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let (predictor, report) = self.finish(prepared, solution)?;
        let answer = Answer { facts, ..Answer::new(predictor, report) };
        Ok(Fitted::new(self, problem, session, answer))
    }

    /// The solution of sums.
    ///
    /// D³/3 multiply-adds for each different λ.
    ///
    /// # Errors
    /// Where there are no samples, where λ = 0 and the features are linearly dependent, and where the session is stopped.
    pub fn solve(&self, sums: &NormalEquations, session: &Session<'_>) -> Result<Solution, LearnError> {
        let (features, targets) = (sums.features(), sums.targets());
        let fit = LinearFit { weights: Matrix::zeros(features, targets), intercepts: vec![0.0; targets] };
        let mut all = Solution { fit, residual: 0.0, effective_dimension: f64::INFINITY };
        for (lambda, group) in targets_by_lambda(&self.lambda, targets) {
            let factor = sums.factor(lambda, self.intercept, session)?;
            let fit = factor.fit(session)?;
            all.residual = all.residual.max(factor.residual(&fit));
            all.take(&fit, factor.effective_dimension(session)?, &group);
        }
        Ok(all)
    }
}

/// The predictor of a linear function of the features.
fn predictor(prepared: &Prepared, fit: LinearFit) -> Predictor {
    let Prepared { features, columns, domain, .. } = prepared;
    Predictor::on_features(features.clone(), *columns, fit.weights, fit.intercepts, *domain)
}

impl Solution {
    /// The errors on samples held out, by a fit that has not seen them: `held_out` are their sums, the solution is that of the
    /// others.
    ///
    /// # Errors
    /// Where the fit is of other features or targets.
    pub fn errors_on(&self, held_out: &NormalEquations) -> Result<Vec<TargetError>, LearnError> {
        let squares = held_out.squared_errors(&self.fit)?;
        let spreads = held_out.target_spreads();
        let of_target = |(squares, spread): (f64, f64)| TargetError {
            rows: held_out.rows(),
            rmse: (squares / held_out.weight()).sqrt(),
            r2: (spread > 0.0).then(|| 1.0 - squares / spread),
        };
        Ok(squares.into_iter().zip(spreads).map(of_target).collect())
    }

    /// Takes the answer of some targets, which share one λ. The larger λ is, the smaller the effective dimension.
    pub(super) fn take(&mut self, fit: &LinearFit, effective_dimension: f64, targets: &[usize]) {
        self.effective_dimension = self.effective_dimension.min(effective_dimension);
        for &o in targets {
            self.fit.intercepts[o] = fit.intercepts[o];
            (0..fit.weights.nrows()).for_each(|k| self.fit.weights.row_mut(k)[o] = fit.weights.row(k)[o]);
        }
    }
}
