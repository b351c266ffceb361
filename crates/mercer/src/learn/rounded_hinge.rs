//! The support vector machine on features that do not fit the memory: the hinge with its corner rounded off.

use crate::linalg::NormalEquations;
use crate::session::Session;
use crate::solve::{FeatureBlocks, LinearLossFit, RowLoss, Status, minimise};
use crate::watch::Watch;

use super::approx_classes::{ApproxClassifier, Blocks, Labelled};
use super::error::LearnError;

impl ApproxClassifier {
    /// The hinge rounded off over a width δ that is cut down until what this takes from the objective is small. The rounded
    /// objective is nowhere above the other, so its minimum is a lower bound of the minimum that is looked for, and what
    /// rounding takes is a bound on how far the answer is from the best.
    pub(super) fn rounded_machine(
        &self,
        blocks: &Blocks<'_>,
        labels: Labelled<'_>,
        sums: &NormalEquations,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let mut best: Option<LinearLossFit> = None;
        let (mut iterations, mut share) = (0, 1.0);
        for width in [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] {
            // Only rows in the rounded part have curvature: about as many as the width before had, by their share.
            let loss = RoundedHinge { labels, width, bound: share / width };
            let mut fit = minimise(blocks, &loss, sums, &self.settings(1e-4), best.as_ref(), session)?;
            iterations += fit.report.iterations;
            let (taken, rounded) = loss.rounding(blocks, &fit, session)?;
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

/// max(0, 1 − t) with a parabola in place of its corner: (1 − t)²/(2δ) where 0 ≤ 1 − t ≤ δ, 1 − t − δ/2 beyond.
struct RoundedHinge<'a> {
    labels: Labelled<'a>,
    width: f64,
    bound: f64,
}

/// Rows whose outputs are computed at a time.
const ROWS: usize = 512;

impl RoundedHinge<'_> {
    /// What rounding takes from the loss in all, and the share of the rows in the rounded part.
    fn rounding(
        &self,
        blocks: &Blocks<'_>,
        fit: &LinearLossFit,
        session: &Session<'_>,
    ) -> Result<(f64, f64), LearnError> {
        let (n, d, m) = (blocks.nrows(), blocks.ncols(), self.labels.outputs);
        let (mut taken, mut rounded) = (0.0, 0usize);
        let mut phi = vec![0.0; ROWS.min(n) * d];
        for first in (0..n).step_by(ROWS) {
            session.check()?;
            let rows = first..n.min(first + ROWS);
            let phi = &mut phi[..rows.len() * d];
            blocks.fill(rows.clone(), phi)?;
            for (i, phi) in rows.zip(phi.chunks_exact(d)) {
                let mut f = fit.intercepts.clone();
                for (k, v) in phi.iter().enumerate() {
                    f.iter_mut().zip(fit.weights.row(k)).for_each(|(f, w)| *f += v * w);
                }
                for (k, f) in f.iter().enumerate() {
                    let short = 1.0 - self.sign(i, k) * f;
                    let slope = (short / self.width).clamp(0.0, 1.0);
                    taken += self.labels.weights[i]
                        * (short.max(0.0) - slope * (short - 0.5 * self.width * slope));
                    rounded += usize::from(short > 0.0 && short < self.width);
                }
            }
        }
        Ok((taken, rounded as f64 / (n * m) as f64))
    }

    fn sign(&self, i: usize, output: usize) -> f64 {
        if self.labels.positive(i, output) { 1.0 } else { -1.0 }
    }
}

impl RowLoss for RoundedHinge<'_> {
    fn outputs(&self) -> usize {
        self.labels.outputs
    }

    fn curvature(&self) -> f64 {
        self.bound
    }

    fn row(&self, i: usize, f: &[f64], g: &mut [f64]) -> f64 {
        let (weight, width) = (self.labels.weights[i], self.width);
        let mut loss = 0.0;
        for (k, (f, g)) in f.iter().zip(g).enumerate() {
            let sign = self.sign(i, k);
            let short = 1.0 - sign * f;
            let slope = (short / width).clamp(0.0, 1.0);
            loss += weight * slope * (short - 0.5 * width * slope);
            *g = -sign * weight * slope;
        }
        loss
    }
}
