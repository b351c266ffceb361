//! Products of dense matrices on all threads.
//!
//! One thread computes each strip of rows of a result, so that its bits do not depend on the number of threads.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::watch::{Stopped, Watch};

use super::{Cholesky, Scalar, products, zeroed};

/// Rows of a strip.
const STRIP: usize = 64;

/// AB.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn multiply(a: MatRef<'_, f64>, b: MatRef<'_, f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
    let (height, width) = (a.nrows(), b.ncols());
    let mut out = zeroed(height * width);
    out.par_chunks_mut((STRIP * width).max(1)).enumerate().try_for_each(|(strip, out)| {
        watch.check()?;
        let rows = out.len() / width;
        let out = MatMut::from_row_major_slice_mut(out, rows, width);
        products::assign(out, 1.0, a.subrows(strip * STRIP, rows), b);
        Ok::<_, Stopped>(())
    })?;
    Ok(Matrix::from_entries(height, width, out))
}

/// AᵀA, both triangles.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn gram_of_columns(a: MatRef<'_, f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
    let n = a.ncols();
    let mut out = zeroed(n * n);
    out.par_chunks_mut((STRIP * n).max(1)).enumerate().try_for_each(|(strip, out)| {
        watch.check()?;
        let (first, rows) = (strip * STRIP, out.len() / n);
        let reach = first + rows;
        let out = MatMut::from_row_major_slice_mut(out, rows, n).subcols_mut(0, reach);
        products::assign(out, 1.0, a.subcols(first, rows).transpose(), a.subcols(0, reach));
        Ok::<_, Stopped>(())
    })?;
    let mut out = Matrix::from_entries(n, n, out);
    mirror_lower(&mut out);
    Ok(out)
}

/// Copies the lower triangle of a square matrix to the upper one.
pub fn mirror_lower<T: Copy + Default>(matrix: &mut Matrix<T>) {
    let n = matrix.nrows();
    let entries = matrix.entries_mut();
    // Square tiles keep both the rows read and those written in cache.
    for top in (0..n).step_by(STRIP) {
        for left in (top..n).step_by(STRIP) {
            for i in top..n.min(top + STRIP) {
                for j in left.max(i + 1)..n.min(left + STRIP) {
                    entries[i * n + j] = entries[j * n + i];
                }
            }
        }
    }
}

impl<T: Scalar> Cholesky<T> {
    /// log|A| = 2 Σ log Lᵢᵢ.
    #[must_use]
    pub fn log_determinant(&self) -> f64 {
        self.pivots().map(f64::ln).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    fn noise(count: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0).collect()
    }

    #[test]
    fn inverses_and_products_agree_across_blocks() {
        for n in [1, STRIP - 1, STRIP + 1, 4 * STRIP + 3] {
            let m = Matrix::from_entries(n, n, noise(n * n));
            let mut a = gram_of_columns(products::view(&m), &Unwatched).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let expected: f64 = (0..n).map(|k| m.row(k)[i] * m.row(k)[j]).sum();
                    assert!((a.row(i)[j] - expected).abs() < 1e-12 * n as f64, "order {n}");
                }
                a.row_mut(i)[i] += n as f64;
            }
            let factor = Cholesky::factor(n, a.entries().to_vec(), &Unwatched).unwrap();
            let inverse = factor.inverse(&Unwatched).unwrap();
            let one = multiply(products::view(&a), products::view(&inverse), &Unwatched).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let expected = f64::from(u8::from(i == j));
                    // The condition number of A is below 10.
                    assert!((one.row(i)[j] - expected).abs() < 1e-13 * n as f64, "order {n}");
                }
            }
            let determinant: f64 = factor.pivots().product();
            assert!((factor.log_determinant() - determinant.ln()).abs() < 1e-9 || determinant.is_infinite());
        }
    }
}
