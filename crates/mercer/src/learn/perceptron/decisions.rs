//! Decision values of a perceptron: dual, on rows of a kernel matrix, and primal, on explicit features.

use crate::data::Matrix;
use crate::gram::Gram;
use crate::learn::error::LearnError;

use super::row_cache::RowCache;
use super::train::{Change, Decisions};

/// f = Ka: a correction of row i adds row i of K, in O(n).
pub(super) struct Dual<'a> {
    rows: RowCache<'a>,
    /// a, one column per output.
    coefficients: Matrix<f64>,
    /// Ka.
    values: Matrix<f64>,
}

impl<'a> Dual<'a> {
    /// Zero on a kernel matrix, whose rows are kept within `budget` bytes.
    pub fn new(gram: &'a dyn Gram, outputs: usize, budget: u64) -> Self {
        let zeros = Matrix::zeros(gram.nrows(), outputs);
        Self { rows: RowCache::new(gram, budget), coefficients: zeros.clone(), values: zeros }
    }
}

impl Decisions for Dual<'_> {
    fn at(&self, i: usize, out: &mut [f64]) {
        out.copy_from_slice(self.values.row(i));
    }

    fn correct(&mut self, i: usize, changes: &[Change]) -> Result<(), LearnError> {
        let outputs = self.values.ncols();
        let row = self.rows.row(i)?;
        for change in changes {
            let output = change.output as usize;
            self.coefficients.row_mut(i)[output] += change.amount;
            let values = self.values.entries_mut()[output..].iter_mut().step_by(outputs);
            values.zip(row).for_each(|(f, k)| *f += change.amount * k);
        }
        Ok(())
    }

    fn squared_norms(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.values.ncols()];
        for i in 0..self.values.nrows() {
            let pairs = self.coefficients.row(i).iter().zip(self.values.row(i));
            norms.iter_mut().zip(pairs).for_each(|(norm, (a, f))| *norm += a * f);
        }
        norms
    }
}

/// f = Φw: a correction of row i adds φ(xᵢ) to w, in O(D).
pub(super) struct Primal<'a> {
    features: &'a Matrix<f64>,
    /// One row per output.
    pub weights: Matrix<f64>,
}

impl<'a> Primal<'a> {
    /// Zero on the rows of `features`.
    pub fn new(features: &'a Matrix<f64>, outputs: usize) -> Self {
        Self { features, weights: Matrix::zeros(outputs, features.ncols()) }
    }
}

impl Decisions for Primal<'_> {
    fn at(&self, i: usize, out: &mut [f64]) {
        for (k, f) in out.iter_mut().enumerate() {
            *f = self.weights.row(k).iter().zip(self.features.row(i)).map(|(w, x)| w * x).sum();
        }
    }

    fn correct(&mut self, i: usize, changes: &[Change]) -> Result<(), LearnError> {
        for change in changes {
            let weights = self.weights.row_mut(change.output as usize);
            weights.iter_mut().zip(self.features.row(i)).for_each(|(w, x)| *w += change.amount * x);
        }
        Ok(())
    }

    fn squared_norms(&self) -> Vec<f64> {
        (0..self.weights.nrows()).map(|k| self.weights.row(k).iter().map(|w| w * w).sum()).collect()
    }
}
