//! The kernel matrix held in memory for many products.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::{DenseGram, Gram, LinearOperator, Part};
use crate::linalg::{Scalar, zeroed};
use crate::watch::{Stopped, Watch};

/// Rows that one task multiplies: fixed, so that the order of summation is.
const ROWS: usize = 128;

/// From this many right-hand sides on a matrix product is faster than one row at a time.
const PRODUCT_FROM: usize = 3;

/// A kernel matrix in full, in single or double precision.
pub(super) struct Stored<T: Scalar>(DenseGram<'static, T>);

impl Stored<f64> {
    /// Computes all of `gram` in double precision. 8n² bytes.
    pub fn double(gram: &dyn Gram, watch: &dyn Watch) -> Result<Self, Stopped> {
        let n = gram.nrows();
        let mut entries = zeroed(n * n);
        gram.fill_f64(Part::Full, &mut entries, watch)?;
        Ok(Self(DenseGram::new(n, entries)))
    }
}

impl Stored<f32> {
    /// Computes all of `gram`, rounded to single precision. 4n² bytes.
    pub fn single(gram: &dyn Gram, watch: &dyn Watch) -> Result<Self, Stopped> {
        let n = gram.nrows();
        let mut entries = zeroed(n * n);
        gram.fill_f32(Part::Full, &mut entries, watch)?;
        Ok(Self(DenseGram::new(n, entries)))
    }
}

impl<T: Scalar> Stored<T> {
    /// Row `i`.
    pub fn row(&self, i: usize) -> &[T] {
        let n = self.0.nrows();
        &self.0.entries()[i * n..(i + 1) * n]
    }
}

impl<T: Scalar> LinearOperator for Stored<T> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (n, m) = (self.nrows(), rhs.ncols());
        if m < PRODUCT_FROM {
            return self.0.apply(out, rhs, watch);
        }
        // A power of two brings the right-hand sides into the range of single precision and changes no digit.
        let largest = rhs.entries().iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let unit = if largest > 0.0 && largest.is_finite() { 2f64.powi(largest.log2() as i32) } else { 1.0 };
        let rhs: Vec<T> = rhs.entries().iter().map(|v| T::from_f64(v / unit)).collect();
        let rhs = MatRef::from_row_major_slice(&rhs, n, m);
        let bands = out.entries_mut().par_chunks_mut(ROWS * m).zip(self.0.entries().par_chunks(ROWS * n));
        bands.try_for_each_init(
            || vec![T::default(); ROWS * m],
            |product, (out, rows)| {
                watch.check()?;
                let height = out.len() / m;
                let rows = MatRef::from_row_major_slice(rows, height, n);
                let to = MatMut::from_row_major_slice_mut(&mut product[..out.len()], height, m);
                matmul(to, Accum::Replace, rows, rhs, T::from_f64(1.0), Par::Seq);
                out.iter_mut().zip(product.iter()).for_each(|(o, p)| *o = p.to_f64() * unit);
                Ok(())
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    #[test]
    fn a_product_is_that_of_the_matrix() {
        let n = ROWS + 70;
        let entry = |i: usize, j: usize| 1.0 / (1.0 + (i as f64 - j as f64).abs());
        let gram = DenseGram::<f64>::new(n, (0..n * n).map(|k| entry(k / n, k % n)).collect::<Vec<_>>());
        for outputs in [1, 2, 5] {
            // Far outside of what single precision can hold.
            let rhs =
                Matrix::from_entries(n, outputs, (0..n * outputs).map(|k| 1e60 * (k as f64).cos()).collect());
            let (mut expected, mut found) = (Matrix::zeros(n, outputs), Matrix::zeros(n, outputs));
            for i in 0..n {
                for (o, e) in expected.row_mut(i).iter_mut().enumerate() {
                    *e = (0..n).map(|j| entry(i, j) * rhs.row(j)[o]).sum::<f64>();
                }
            }
            let close = |found: &Matrix<f64>, digits: f64| {
                let pairs = found.entries().iter().zip(expected.entries());
                pairs.for_each(|(f, e)| assert!((f - e).abs() < digits * 1e60 * n as f64, "{f} is not {e}"));
            };
            Stored::double(&gram, &Unwatched).unwrap().apply(&mut found, &rhs, &Unwatched).unwrap();
            close(&found, 1e-15);
            Stored::single(&gram, &Unwatched).unwrap().apply(&mut found, &rhs, &Unwatched).unwrap();
            close(&found, 1e-7);
        }
    }
}
