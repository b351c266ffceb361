//! f = Φθ: one coordinate per feature.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::watch::{Stopped, Watch};

use super::coordinates::Coordinates;
use super::dual::centre_columns;

/// The coordinates θ of f = Φθ for features Φ, one row per sample; with an intercept the features are centred.
pub struct Primal<'a> {
    features: &'a Matrix<f64>,
    /// φ̄, the mean of the features.
    means: Option<Vec<f64>>,
}

/// Groups of rows whose sums are kept apart in a product with Φᵀ; fixed, so that the order of summation is.
const GROUPS: usize = 32;

/// Rows of a group at least.
const ROWS: usize = 256;

/// Samples visited between two questions to the watch.
const VISITS: usize = 64;

impl<'a> Primal<'a> {
    /// f = Φθ.
    #[must_use]
    pub fn new(features: &'a Matrix<f64>) -> Self {
        Self { features, means: None }
    }

    /// f = (Φ − 1φ̄ᵀ)θ.
    #[must_use]
    pub fn centred(features: &'a Matrix<f64>) -> Self {
        let (n, count) = (features.nrows(), features.ncols());
        let mut means = vec![0.0; count];
        for i in 0..n {
            means.iter_mut().zip(features.row(i)).for_each(|(m, v)| *m += v);
        }
        means.iter_mut().for_each(|m| *m /= n.max(1) as f64);
        Self { features, means: Some(means) }
    }

    /// b of f(x) = ⟨θ,φ(x)⟩ + b, from the means that were taken from the targets: b = ȳ − ⟨θ,φ̄⟩.
    #[must_use]
    pub fn intercepts(&self, unknown: &Matrix<f64>, target_means: &[f64]) -> Vec<f64> {
        let mut intercepts = target_means.to_vec();
        for (j, mean) in self.means.iter().flatten().enumerate() {
            intercepts.iter_mut().zip(unknown.row(j)).for_each(|(b, weight)| *b -= mean * weight);
        }
        intercepts
    }

    fn chunk_rows(&self) -> usize {
        self.features.nrows().div_ceil(GROUPS).max(ROWS)
    }

    fn rows(&self, first: usize, count: usize) -> MatRef<'_, f64> {
        let width = self.features.ncols();
        let entries = &self.features.entries()[first * width..(first + count) * width];
        MatRef::from_row_major_slice(entries, count, width)
    }

    /// Φᵀ·rhs. With centred features the right-hand side is centred first, which is the same.
    fn transposed(&self, rhs: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let centred = self.means.as_ref().map(|_| {
            let mut centred = rhs.clone();
            centre_columns(&mut centred);
            centred
        });
        let rhs = centred.as_ref().unwrap_or(rhs);
        let (width, outputs, rows) = (self.features.ncols(), rhs.ncols(), self.chunk_rows());
        let partial = rhs
            .entries()
            .par_chunks(rows * outputs)
            .enumerate()
            .map(|(chunk, rhs)| {
                watch.check()?;
                let count = rhs.len() / outputs;
                let mut sums = vec![0.0; width * outputs];
                let out = MatMut::from_row_major_slice_mut(&mut sums, width, outputs);
                let features = self.rows(chunk * rows, count).transpose();
                let rhs = MatRef::from_row_major_slice(rhs, count, outputs);
                matmul(out, Accum::Replace, features, rhs, 1.0, Par::Seq);
                Ok(sums)
            })
            .collect::<Result<Vec<_>, Stopped>>()?;
        out.entries_mut().fill(0.0);
        for sums in partial {
            out.entries_mut().iter_mut().zip(sums).for_each(|(o, s)| *o += s);
        }
        Ok(())
    }
}

impl Coordinates for Primal<'_> {
    fn nsamples(&self) -> usize {
        self.features.nrows()
    }

    fn ncoordinates(&self) -> usize {
        self.features.ncols()
    }

    /// θ follows Φᵀr, and the fit ΦΦᵀr.
    fn pull(
        &self,
        residual: &Matrix<f64>,
        direction: &mut Matrix<f64>,
        image: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        self.transposed(residual, direction, watch)?;
        self.fitted(direction, image, watch)
    }

    fn fitted(&self, unknown: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (outputs, rows) = (unknown.ncols(), self.chunk_rows());
        let weights = MatRef::from_row_major_slice(unknown.entries(), unknown.nrows(), outputs);
        out.entries_mut().par_chunks_mut(rows * outputs).enumerate().try_for_each(|(chunk, out)| {
            watch.check()?;
            let count = out.len() / outputs;
            let out = MatMut::from_row_major_slice_mut(out, count, outputs);
            matmul(out, Accum::Replace, self.rows(chunk * rows, count), weights, 1.0, Par::Seq);
            Ok(())
        })?;
        if self.means.is_some() {
            centre_columns(out);
        }
        Ok(())
    }

    /// O(D) for each sample, and one product with Φ for the residual at the end.
    fn visit(
        &self,
        order: &[usize],
        step: f64,
        targets: &Matrix<f64>,
        unknown: &mut Matrix<f64>,
        residual: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let mut feature = vec![0.0; self.features.ncols()];
        let mut change = vec![0.0; targets.ncols()];
        for visited in order.chunks(VISITS) {
            watch.check()?;
            for &i in visited {
                feature.copy_from_slice(self.features.row(i));
                if let Some(means) = &self.means {
                    feature.iter_mut().zip(means).for_each(|(f, m)| *f -= m);
                }
                change.copy_from_slice(targets.row(i));
                for (j, f) in feature.iter().enumerate() {
                    change.iter_mut().zip(unknown.row(j)).for_each(|(e, weight)| *e -= f * weight);
                }
                change.iter_mut().for_each(|e| *e *= step);
                for (j, f) in feature.iter().enumerate() {
                    unknown.row_mut(j).iter_mut().zip(&change).for_each(|(weight, c)| *weight += f * c);
                }
            }
        }
        self.fitted(unknown, residual, watch)?;
        for (f, y) in residual.entries_mut().iter_mut().zip(targets.entries()) {
            *f = y - *f;
        }
        Ok(())
    }

    fn squared_norms(&self) -> Vec<f64> {
        let means = self.means.as_deref();
        (0..self.features.nrows())
            .map(|i| {
                let row = self.features.row(i).iter().enumerate();
                row.map(|(j, f)| (f - means.map_or(0.0, |m| m[j])).powi(2)).sum()
            })
            .collect()
    }
}
