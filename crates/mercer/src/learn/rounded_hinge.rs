//! The support vector machine on features that do not fit the memory: the hinge with its corner rounded off.

use crate::design::{Design, Labelled, RowLoss, for_blocks};
use crate::linalg::NormalEquations;
use crate::session::Session;
use crate::solve::{LinearLossFit, Status, minimise};

use super::approx_classes::ApproxClassifier;
use super::error::LearnError;

/// Rows whose outputs are computed at a time.
const ROWS: usize = 512;

impl ApproxClassifier {
    /// The hinge rounded off over a width δ that is cut down until what this takes from the objective is small. The rounded
    /// objective is nowhere above the other, so its minimum is a lower bound of the minimum that is looked for, and what
    /// rounding takes is a bound on how far the answer is from the best.
    pub(super) fn smoothed_machine(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        sums: &NormalEquations,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let mut best: Option<LinearLossFit> = None;
        let (mut iterations, mut share) = (0, 1.0);
        for width in [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] {
            // Only rows in the rounded part have curvature: about as many as the width before had, by their share.
            let loss = RowLoss::SmoothHinge { labels, width, share };
            let mut fit = minimise(design, &loss, sums, &self.settings(1e-4), best.as_ref(), session)?;
            iterations += fit.report.iterations;
            let (taken, rounded) = rounding(design, labels, width, &fit, session)?;
            let gap = if taken == 0.0 { 0.0 } else { taken / (fit.objective + taken) };
            share = (0.5 * rounded).clamp(0.01, 1.0);
            fit.report.iterations = iterations;
            fit.report.residual = gap;
            if gap <= self.tol {
                return Ok(fit);
            }
            best = Some(fit);
        }
        let mut best =
            best.ok_or(LearnError::Unsupported("a support vector machine takes a step at least"))?;
        best.report.status = Status::Stagnated;
        best.report.warnings.push(format!(
            "the objective is known to {:.1e} of itself, the tolerance is {:.1e}: features that fit the memory would allow more",
            best.report.residual, self.tol
        ));
        Ok(best)
    }
}

/// The amount that rounding subtracts from the loss in all, and the share of the rows in the rounded part.
fn rounding(
    design: &dyn Design,
    labels: Labelled<'_>,
    width: f64,
    fit: &LinearLossFit,
    session: &Session<'_>,
) -> Result<(f64, f64), LearnError> {
    let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
    let (mut taken, mut rounded) = (0.0, 0usize);
    for_blocks(design, ROWS, session, |rows, phi| {
        for (i, phi) in rows.zip(phi.chunks_exact(d)) {
            let mut f = fit.intercepts.clone();
            for (k, v) in phi.iter().enumerate() {
                f.iter_mut().zip(fit.weights.row(k)).for_each(|(f, w)| *f += v * w);
            }
            for (k, f) in f.iter().enumerate() {
                let short = 1.0 - labels.sign(i, k) * f;
                let slope = (short / width).clamp(0.0, 1.0);
                taken += labels.weights[i] * (short.max(0.0) - slope * (short - 0.5 * width * slope));
                rounded += usize::from(short > 0.0 && short < width);
            }
        }
        Ok(())
    })?;
    Ok((taken, rounded as f64 / (n * m) as f64))
}
