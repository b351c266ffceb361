//! A design of landmarks whose kernel values are applied tile by tile and never held.

use std::ops::Range;

use crate::data::Matrix;
use crate::gram::{LinearOperator, ValuesMut};
use crate::real::Precision;
use crate::watch::Watch;

use super::Design;
use super::error::DesignError;
use super::held::{solve_lower, solve_upper};
use super::landmarks::Landmarks;
use super::recomputed::Recomputed;

/// Φ = KL⁻ᵀ with K the n × M kernel matrix of samples and landmarks, and LLᵀ that of the landmarks with themselves. With
/// [`centred`](Self::centred), products ΦᵀW(ΦV) subtract the weighted mean of each column of ΦV.
#[derive(Clone, Copy)]
pub struct Crossed<'a> {
    rows: &'a Recomputed<'a>,
    landmarks: &'a Landmarks,
    forward: &'a dyn LinearOperator,
    backward: &'a dyn LinearOperator,
    centred: bool,
}

impl<'a> Crossed<'a> {
    /// The design whose `rows` are features of these landmarks, with K (`forward`) and Kᵀ (`backward`) as operators.
    #[must_use]
    pub fn new(
        rows: &'a Recomputed<'a>,
        landmarks: &'a Landmarks,
        forward: &'a dyn LinearOperator,
        backward: &'a dyn LinearOperator,
    ) -> Self {
        Self { rows, landmarks, forward, backward, centred: false }
    }

    /// The same design, with products ΦᵀW(ΦV) centred.
    #[must_use]
    pub fn centred(self, centred: bool) -> Self {
        Self { centred, ..self }
    }
}

/// The weighted mean of each column of `v`.
pub(crate) fn column_means(v: &Matrix<f64>, weights: Option<&[f64]>) -> Vec<f64> {
    let (mut sums, mut total) = (vec![0.0; v.ncols()], 0.0);
    for i in 0..v.nrows() {
        let weight = weights.map_or(1.0, |w| w[i]);
        total += weight;
        sums.iter_mut().zip(v.row(i)).for_each(|(sum, v)| *sum += weight * v);
    }
    sums.into_iter().map(|sum| sum / total).collect()
}

/// w ∘ (V − 1m), in place.
pub(crate) fn subtract_and_weight(v: &mut Matrix<f64>, means: &[f64], weights: Option<&[f64]>) {
    for i in 0..v.nrows() {
        let weight = weights.map_or(1.0, |w| w[i]);
        v.row_mut(i).iter_mut().zip(means).for_each(|(v, mean)| *v = weight * (*v - mean));
    }
}

impl Design for Crossed<'_> {
    fn nrows(&self) -> usize {
        self.forward.nrows()
    }

    fn ncols(&self) -> usize {
        self.backward.nrows()
    }

    fn precision(&self) -> Precision {
        self.rows.precision()
    }

    fn fill(&self, rows: Range<usize>, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        self.rows.fill(rows, out, watch)
    }

    fn fill_at(&self, rows: &[usize], out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        self.rows.fill_at(rows, out, watch)
    }

    fn apply(&self, v: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), DesignError> {
        let mut coefficients = v.clone();
        solve_upper(self.landmarks.whitening(), &mut coefficients);
        Ok(self.forward.apply(out, &coefficients, watch)?)
    }

    fn apply_transposed(
        &self,
        u: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        self.backward.apply(out, u, watch)?;
        solve_lower(self.landmarks.whitening(), out);
        Ok(())
    }

    fn normal(
        &self,
        v: &Matrix<f64>,
        weights: Option<&[f64]>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let mut values = Matrix::zeros(self.nrows(), v.ncols());
        self.apply(v, &mut values, watch)?;
        let means = if self.centred { column_means(&values, weights) } else { vec![0.0; v.ncols()] };
        subtract_and_weight(&mut values, &means, weights);
        self.apply_transposed(&values, out, watch)
    }
}
