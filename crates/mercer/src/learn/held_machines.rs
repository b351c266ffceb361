//! Support vector machines on features that are all held in memory.

use crate::data::Matrix;
use crate::design::{Design, Labelled, Parts};
use crate::linalg::{Intercept, LinearFit, NormalEquations, NormalEquationsError};
use crate::session::Session;
use crate::solve::{HingeNewton, LinearLossFit, Report, Status};
use crate::watch::Watch;

use super::approx_classes::ApproxClassifier;
use super::error::LearnError;

/// The gap that is aimed at, as a part of the one that is asked for: the last steps cost little and bring much.
const AIM: f64 = 0.1;

impl ApproxClassifier {
    /// A machine for each output, from ridge regression on its sides where that costs no more than a step.
    pub(super) fn machines(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
        let LinearFit { mut weights, mut intercepts } = self.sides_by_ridge(design, labels, session)?;
        let solver = "semismooth newton on features".to_owned();
        let mut report =
            Report { status: Status::Converged, solver, iterations: 0, residual: 0.0, warnings: Vec::new() };
        let mut objective = 0.0;
        session.begin("machines", m as u64);
        for k in 0..m {
            let positive: Vec<bool> = (0..n).map(|i| labels.positive(i, k)).collect();
            let machine = HingeNewton {
                rows: design,
                positive: &positive,
                bounds: labels.weights,
                intercept: self.constant(),
            };
            let start = (0..d).map(|j| weights.row(j)[k]).collect();
            let fit = machine.fit((start, intercepts[k]), AIM * self.tol, self.max_iter, session)?;
            fit.weights.iter().enumerate().for_each(|(j, w)| weights.row_mut(j)[k] = *w);
            intercepts[k] = fit.intercept;
            objective += fit.objective;
            report.iterations += fit.iterations;
            report.residual = report.residual.max(fit.gap);
            if fit.gap > self.tol {
                report.status = fit.status;
            }
            session.advance(1);
        }
        Ok(LinearLossFit { weights, intercepts, objective, report })
    }

    /// Ridge regression on ±1; zero where there are more features than rows or rounding is in the way.
    fn sides_by_ridge(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        session: &Session<'_>,
    ) -> Result<LinearFit, LearnError> {
        let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
        if d <= n {
            let sides = Matrix::from_entries(n, m, (0..n * m).map(|e| labels.sign(e / m, e % m)).collect());
            let mut sums = [NormalEquations::new(d, m)];
            let weights = Some(labels.weights);
            design.normal_equations(&sides, weights, &Parts::All, &mut sums, &session.part())?;
            match sums[0].ridge(1.0, self.constant(), session) {
                Err(NormalEquationsError::Indefinite { .. }) => {}
                other => return Ok(other?),
            }
        }
        Ok(LinearFit { weights: Matrix::zeros(d, m), intercepts: vec![0.0; m] })
    }

    fn constant(&self) -> Intercept {
        if self.intercept { Intercept::Unpenalised } else { Intercept::None }
    }
}
