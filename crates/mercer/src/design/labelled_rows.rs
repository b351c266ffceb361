//! Rows of features with classes and weights, accessed through sums over them.

use crate::data::Matrix;
use crate::watch::Watch;

use super::Design;
use super::error::DesignError;
use super::row_loss::{Labelled, Loss, LossSums, RowLoss};

/// Rows whose outputs are computed at a time.
const ROWS: usize = 512;

/// Rows of features with classes and weights, accessed through the sums needed to fit a linear classifier.
///
/// All sums add up over parts of the rows, so the rows may be in memory ([`LabelledDesign`]) or on several machines.
pub trait LabelledRows: Sync {
    /// n, the number of rows.
    fn nrows(&self) -> u64;

    /// D, the number of features.
    fn features(&self) -> usize;

    /// Outputs: 1 for two classes, else one per class.
    fn outputs(&self) -> usize;

    /// Σᵢ ℓᵢ(Wᵀφᵢ + b) with its derivative in b and its mean curvature; `gradient` = the derivative in W.
    ///
    /// # Errors
    /// If features cannot be computed, or if `watch` asks to stop.
    fn loss(
        &self,
        loss: Loss,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        gradient: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<LossSums, DesignError>;

    /// The difference between the hinge and the smooth hinge of a width.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    fn rounding(
        &self,
        width: f64,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        watch: &dyn Watch,
    ) -> Result<Rounding, DesignError>;
}

/// The difference between the hinge and a smooth hinge, summed over rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rounding {
    /// The amount that rounding subtracts from the loss.
    pub taken: f64,
    /// The number of outputs of rows in the rounded part.
    pub rounded: u64,
}

/// A design with the labels of its rows.
#[derive(Clone, Copy)]
pub struct LabelledDesign<'a> {
    /// Φ.
    pub design: &'a dyn Design,
    /// The classes and weights of the rows.
    pub labels: Labelled<'a>,
}

impl LabelledRows for LabelledDesign<'_> {
    fn nrows(&self) -> u64 {
        self.design.nrows() as u64
    }

    fn features(&self) -> usize {
        self.design.ncols()
    }

    fn outputs(&self) -> usize {
        self.labels.outputs
    }

    fn loss(
        &self,
        loss: Loss,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        gradient: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<LossSums, DesignError> {
        let loss = RowLoss { loss, labels: self.labels };
        self.design.loss(&loss, weights, intercepts, gradient, watch)
    }

    fn rounding(
        &self,
        width: f64,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        watch: &dyn Watch,
    ) -> Result<Rounding, DesignError> {
        let Self { design, labels } = *self;
        let mut sums = Rounding::default();
        design.blocks(ROWS, watch, &mut |rows, phi| {
            for (i, phi) in rows.zip(phi.chunks_exact(design.ncols())) {
                let mut f = intercepts.to_vec();
                for (k, v) in phi.iter().enumerate() {
                    f.iter_mut().zip(weights.row(k)).for_each(|(f, w)| *f += v * w);
                }
                for (k, f) in f.iter().enumerate() {
                    let short = 1.0 - labels.sign(i, k) * f;
                    let slope = (short / width).clamp(0.0, 1.0);
                    sums.taken +=
                        labels.weights[i] * (short.max(0.0) - slope * (short - 0.5 * width * slope));
                    sums.rounded += u64::from(short > 0.0 && short < width);
                }
            }
            Ok(())
        })?;
        Ok(sums)
    }
}
