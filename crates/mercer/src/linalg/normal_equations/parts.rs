//! Sums over some of the features.

use crate::data::Matrix;

use super::{BLOCK, NormalEquations};

impl NormalEquations {
    /// The sums over the same samples for these features only, in this order.
    ///
    /// O(k²) time and memory for k features.
    ///
    /// # Panics
    /// If a place is not below the number of features.
    #[must_use]
    pub fn of_features(&self, kept: &[usize]) -> Self {
        let mut part = Self::new(kept.len(), self.targets);
        (part.rows, part.weight) = (self.rows, self.weight);
        part.feature_sums = kept.iter().map(|&k| self.feature_sums[k]).collect();
        part.target_sums.clone_from(&self.target_sums);
        part.target_squares.clone_from(&self.target_squares);
        let cross = kept.iter().flat_map(|&k| self.cross.row(k).iter().copied()).collect();
        part.cross = Matrix::from_entries(kept.len(), self.targets, cross);
        let bands = kept.len().div_ceil(BLOCK);
        let pairs = (0..bands).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for ((i, j), block) in pairs.zip(&mut part.blocks) {
            let (rows, columns) = (&kept[i * BLOCK..], &kept[j * BLOCK..]);
            let width = columns.len().min(BLOCK);
            for (row, &a) in block.chunks_exact_mut(width).zip(rows) {
                row.iter_mut().zip(columns).for_each(|(to, &b)| *to = self.product(a, b));
            }
        }
        part
    }

    /// Σwφφᵀ at one place.
    fn product(&self, a: usize, b: usize) -> f64 {
        let (i, j) = if a / BLOCK >= b / BLOCK { (a, b) } else { (b, a) };
        let (band, across) = (i / BLOCK, j / BLOCK);
        let width = BLOCK.min(self.features - across * BLOCK);
        self.blocks[band * (band + 1) / 2 + across][(i % BLOCK) * width + j % BLOCK]
    }
}

impl NormalEquations {
    /// Σwφyᵀ, one row per feature.
    pub(crate) fn cross(&self) -> &Matrix<f64> {
        &self.cross
    }

    /// Σwy² of each target.
    pub(crate) fn target_squares(&self) -> &[f64] {
        &self.target_squares
    }

    /// Σw(y − ȳ)² of each target, at least 0.
    #[must_use]
    pub fn target_spreads(&self) -> Vec<f64> {
        let spread = |(square, sum): (&f64, &f64)| (square - sum * sum / self.weight).max(0.0);
        self.target_squares.iter().zip(&self.target_sums).map(spread).collect()
    }
}
