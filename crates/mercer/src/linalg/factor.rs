//! Symmetric matrices and their Cholesky factors, stored by the host or by an engine.

use faer::MatRef;
use rayon::prelude::*;

use crate::data::Matrix;
use crate::watch::{Stopped, Watch};

use super::vectors::column_norms;
use super::{Cholesky, CholeskyError, Scalar, products, zeroed};

/// A symmetric matrix to factor in place, stored by the host or an engine.
pub trait SymmetricMatrix: Send {
    /// Its order.
    fn order(&self) -> usize;

    /// ‖A‖_F.
    ///
    /// # Errors
    /// [`Stopped`] if the engine fails.
    fn frobenius(&self) -> Result<f64, Stopped>;

    /// L with A = LLᵀ, in the memory of A. n³/6 multiply-adds.
    ///
    /// # Errors
    /// If a pivot is not positive, or if `watch` asks to stop.
    fn factor(self: Box<Self>, watch: &dyn Watch) -> Result<Box<dyn CholeskyFactor>, CholeskyError>;
}

impl dyn SymmetricMatrix + '_ {
    /// As [`factor`](SymmetricMatrix::factor), with separate errors for a stop and for a matrix that is not positive
    /// definite.
    pub(crate) fn try_factor(
        self: Box<Self>,
        watch: &dyn Watch,
    ) -> Result<Result<Box<dyn CholeskyFactor>, CholeskyError>, Stopped> {
        match self.factor(watch) {
            Err(CholeskyError::Stopped(stopped)) => Err(stopped),
            other => Ok(other),
        }
    }
}

/// A lower-triangular L with A = LLᵀ. Right-hand sides are in double precision; single-precision factors round them, each relative
/// to its norm.
///
/// # Errors
/// Every operation returns [`Stopped`] if `watch` requests it.
pub trait CholeskyFactor: Send + Sync {
    /// The order of the matrix.
    fn order(&self) -> usize;

    /// The smallest L_ii².
    fn smallest_pivot(&self) -> f64;

    /// L·X = B, in place.
    fn solve_lower(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;

    /// Lᵀ·X = B, in place.
    fn solve_upper(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;

    /// A·X = B, in place.
    fn solve(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;

    /// scale·LᵀL + λI. n³/6 multiply-adds at least, n² numbers.
    fn transposed_product(
        &self,
        scale: f64,
        lambda: f64,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped>;

    /// A⁻¹ on the host; entries above the diagonal are unspecified. n³/3 multiply-adds at least.
    fn into_inverse(self: Box<Self>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped>;

    /// log|A|.
    fn log_determinant(&self) -> f64;

    /// L on the host, row-major; entries above the diagonal are unspecified.
    fn to_lower(&self, watch: &dyn Watch) -> Result<Vec<f64>, Stopped>;
}

/// The lower triangle of a matrix in host memory, row-major; entries above the diagonal are not read.
#[derive(Debug)]
pub struct HostMatrix<T> {
    order: usize,
    lower: Vec<T>,
}

impl<T: Scalar> HostMatrix<T> {
    /// The matrix of this order whose lower triangle is `lower`.
    ///
    /// # Panics
    /// If `lower` does not have `order²` entries.
    #[must_use]
    pub fn new(order: usize, lower: Vec<T>) -> Self {
        assert_eq!(lower.len(), order * order, "a square matrix of order {order}");
        Self { order, lower }
    }

    /// The row-major entries; the lower triangle holds the matrix.
    #[must_use]
    pub fn lower(&self) -> &[T] {
        &self.lower
    }
}

impl<T: Scalar> SymmetricMatrix for HostMatrix<T> {
    fn order(&self) -> usize {
        self.order
    }

    fn frobenius(&self) -> Result<f64, Stopped> {
        let mut sum = 0.0;
        for i in 0..self.order {
            let row = &self.lower[i * self.order..][..=i];
            let squares: f64 = row[..i].iter().map(|v| v.to_f64() * v.to_f64()).sum();
            sum += 2.0 * squares + row[i].to_f64().powi(2);
        }
        Ok(sum.sqrt())
    }

    fn factor(self: Box<Self>, watch: &dyn Watch) -> Result<Box<dyn CholeskyFactor>, CholeskyError> {
        Ok(Box::new(Cholesky::factor(self.order, self.lower, watch)?))
    }
}

/// Rows of a product that one task computes.
const BLOCK: usize = 128;

impl<T: Scalar> CholeskyFactor for Cholesky<T> {
    fn order(&self) -> usize {
        self.order()
    }

    fn smallest_pivot(&self) -> f64 {
        self.smallest_pivot()
    }

    fn solve_lower(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        rounded(rhs, |rhs| self.solve_lower(rhs, watch))
    }

    fn solve_upper(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        rounded(rhs, |rhs| self.solve_upper(rhs, watch))
    }

    fn solve(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        rounded(rhs, |rhs| self.solve(rhs, watch))
    }

    fn transposed_product(
        &self,
        scale: f64,
        lambda: f64,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let m = self.order();
        let mut lower: Vec<T> = self.lower().to_vec();
        (0..m).for_each(|i| lower[i * m + i + 1..(i + 1) * m].fill(T::default()));
        let l = MatRef::from_row_major_slice(&lower, m, m);
        let mut matrix: Vec<T> = zeroed(m * m);
        matrix.par_chunks_mut((BLOCK * m).max(1)).enumerate().try_for_each(|(b, rows)| {
            watch.check()?;
            let (first, height) = (b * BLOCK, rows.len() / m);
            // Columns of L are zero above the diagonal: only rows from `first` on contribute.
            let out = faer::MatMut::from_row_major_slice_mut(rows, height, m).subcols_mut(0, first + height);
            let below = l.subrows(first, m - first);
            let (a, c) = (below.subcols(first, height), below.subcols(0, first + height));
            products::assign(out, scale, a.transpose(), c);
            Ok::<_, Stopped>(())
        })?;
        (0..m).for_each(|i| matrix[i * m + i] = T::from_f64(matrix[i * m + i].to_f64() + lambda));
        Ok(Box::new(HostMatrix::new(m, matrix)))
    }

    fn into_inverse(self: Box<Self>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let n = self.order();
        let inverse = (*self).into_inverse(watch)?;
        Ok(Matrix::from_entries(n, n, T::into_doubles(inverse.into_entries())))
    }

    fn log_determinant(&self) -> f64 {
        self.log_determinant()
    }

    fn to_lower(&self, _: &dyn Watch) -> Result<Vec<f64>, Stopped> {
        Ok(self.lower().par_iter().map(|v| v.to_f64()).collect())
    }
}

/// Runs `work` on right-hand sides in another precision, each column divided by the power of two near its norm.
fn rounded<T: Scalar>(
    rhs: &mut Matrix<f64>,
    work: impl FnOnce(&mut Matrix<T>) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let scale =
        |norm: f64| if norm > 0.0 && norm.is_finite() { 2f64.powi(norm.log2().ceil() as i32) } else { 1.0 };
    let scales: Vec<f64> = column_norms(rhs).into_iter().map(scale).collect();
    let scale_of = |k: usize| scales[k % scales.len()];
    let entries = rhs.entries().iter().enumerate().map(|(k, v)| T::from_f64(v / scale_of(k))).collect();
    let mut narrow = Matrix::from_entries(rhs.nrows(), rhs.ncols(), entries);
    work(&mut narrow)?;
    let entries = rhs.entries_mut().iter_mut().zip(narrow.entries()).enumerate();
    entries.for_each(|(k, (v, narrow))| *v = narrow.to_f64() * scale_of(k));
    Ok(())
}
