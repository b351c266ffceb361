//! Decision values of a perceptron: dual, on rows of a kernel matrix, and primal, on explicit features.

use crate::data::Matrix;
use crate::gram::{Gram, KeepRows, Policy, RowSums, TileMut};
use crate::learn::error::LearnError;
use crate::watch::Unwatched;

use super::train::{Change, Decisions};

/// f = Ka: a correction of row i adds row i of K, in O(n).
pub(super) struct Dual<'a> {
    gram: &'a dyn Gram,
    rows: Box<dyn RowSums + 'a>,
    /// a, one column per output.
    coefficients: Matrix<f64>,
    /// Ka, one vector per output.
    values: Vec<Vec<f64>>,
}

impl<'a> Dual<'a> {
    /// The zero function on a kernel matrix, whose rows are cached within `budget` bytes.
    pub fn new(gram: &'a dyn Gram, outputs: usize, budget: u64) -> Self {
        let n = gram.nrows();
        let keep = KeepRows { bytes: budget, precision: gram.precision(), policy: Policy::Always };
        let rows = gram.row_sums(&(0..n).collect::<Vec<_>>(), keep);
        Self { gram, rows, coefficients: Matrix::zeros(n, outputs), values: vec![vec![0.0; n]; outputs] }
    }

    /// The error for row `i` of K if it made a value infinite or NaN.
    fn check(&self, i: usize, output: usize) -> Result<(), LearnError> {
        let Some(column) = self.values[output].iter().position(|f| !f.is_finite()) else { return Ok(()) };
        let mut value = [0f64];
        self.gram.block(&[i], &[column], TileMut::new(&mut value[..], 1));
        if value[0].is_finite() { Ok(()) } else { Err(LearnError::KernelValue { row: i, column }) }
    }
}

impl Decisions for Dual<'_> {
    fn at(&self, i: usize, out: &mut [f64]) {
        out.iter_mut().zip(&self.values).for_each(|(out, values)| *out = values[i]);
    }

    fn correct(&mut self, i: usize, changes: &[Change]) -> Result<(), LearnError> {
        for change in changes {
            let output = change.output as usize;
            self.coefficients.row_mut(i)[output] += change.amount;
            let before = self.rows.evaluations();
            self.rows.add(&[(i, change.amount)], &mut self.values[output], None, &Unwatched)?;
            if self.rows.evaluations() > before {
                self.check(i, output)?;
            }
        }
        Ok(())
    }

    fn squared_norms(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.values.len()];
        for i in 0..self.coefficients.nrows() {
            let pairs = self.coefficients.row(i).iter().zip(&self.values);
            norms.iter_mut().zip(pairs).for_each(|(norm, (a, values))| *norm += a * values[i]);
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
    /// The zero function on the rows of `features`.
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
