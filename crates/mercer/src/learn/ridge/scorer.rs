//! Mean squared errors of ridge regression for every λ at one kernel.

use crate::data::{AnySamples, Matrix};
use crate::gram::{DenseGram, Resident};
use crate::kernel::Kernel;
use crate::learn::{Admission, LearnError};
use crate::session::Session;
use crate::solve::{PathProblem, RidgePath, cross_validate, refit};

use super::criterion::{Criterion, Judgement};

/// Samples and targets, ready for any kernel: rows of weight 0 are left out, for they count in no fit and in no score.
pub(super) struct RidgeScores<'a> {
    samples: &'a AnySamples<'a>,
    resident: Box<dyn Resident>,
    targets: Matrix<f64>,
    root_weights: Option<Vec<f64>>,
    judgement: Judgement,
    intercept: bool,
}

impl<'a> RidgeScores<'a> {
    /// The scores of `targets` on `samples` by `criterion`; the input has been checked.
    pub fn new(
        samples: &'a AnySamples<'a>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        criterion: &Criterion,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let counted: Vec<usize> =
            (0..samples.nrows()).filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).collect();
        let judgement = criterion.on_rows(samples.nrows(), &counted)?;
        let entries = counted.iter().flat_map(|&i| targets.row(i).to_vec()).collect();
        Ok(Self {
            samples,
            resident: session.load(&samples.select(&counted))?,
            targets: Matrix::from_entries(counted.len(), targets.ncols(), entries),
            root_weights: weights.map(|w| counted.iter().map(|&i| w[i].sqrt()).collect()),
            judgement,
            intercept,
        })
    }

    /// The mean squared error at each λ; none where K + λI is not positive definite.
    ///
    /// # Errors
    /// Where the kernel is refuted or has a value that is not finite, and where the session is stopped.
    pub fn score(
        &self,
        kernel: &Kernel,
        lambdas: &[f64],
        admission: Admission,
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        admission.decide(kernel, self.samples)?;
        let session = &session.part();
        let n = self.resident.nrows();
        let gram = DenseGram::<f64>::compute(&*self.resident, kernel, session)?;
        if let Some(place) = gram.entries().iter().position(|k| !k.is_finite()) {
            return Err(LearnError::KernelValue { row: place / n, column: place % n });
        }
        let gram = Matrix::from_entries(n, n, gram.into_entries());
        let problem = PathProblem {
            targets: &self.targets,
            root_weights: self.root_weights.as_deref(),
            intercept: self.intercept,
            lambdas,
        };
        let all = || (0..n).collect::<Vec<_>>();
        let (residuals, rows) = match &self.judgement {
            Judgement::Gcv => {
                let scores = RidgePath::factor(gram, problem, session)?.generalised(session)?;
                let mean_weight = (0..n).map(|i| self.weight(i)).sum::<f64>() / n as f64;
                let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64 / mean_weight;
                return Ok(scores.into_iter().map(|scores| scores.map(mean)).collect());
            }
            Judgement::LeaveOneOut => {
                (RidgePath::factor(gram, problem, session)?.leave_one_out(session)?, all())
            }
            Judgement::Folds(folds) => (cross_validate(gram, problem, folds, session)?, all()),
            Judgement::HoldOut(split) => {
                let held = split.held_out.clone();
                (refit(&gram, problem, std::slice::from_ref(&held), session)?, held)
            }
        };
        Ok(residuals.iter().map(|found| found.as_ref().map(|e| self.mean_square(e, &rows))).collect())
    }

    fn weight(&self, row: usize) -> f64 {
        self.root_weights.as_ref().map_or(1.0, |roots| roots[row] * roots[row])
    }

    /// Σᵢ wᵢ eᵢ²/Σᵢ wᵢ over some of the rows, the mean over the targets.
    fn mean_square(&self, residuals: &Matrix<f64>, rows: &[usize]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for &i in rows {
            total += self.weight(i);
            sum += self.weight(i) * residuals.row(i).iter().map(|e| e * e).sum::<f64>();
        }
        sum / total / residuals.ncols() as f64
    }
}
