//! What a solver sees of a matrix.

use crate::data::Matrix;
use crate::watch::{Stopped, Watch};

use super::engine::Part;

/// A matrix that can be applied to several right-hand sides at once.
pub trait LinearOperator: Sync {
    /// Number of rows.
    fn nrows(&self) -> usize;

    /// Number of columns.
    fn ncols(&self) -> usize;

    /// `out = A·rhs`, with `rhs` of [`ncols`](Self::ncols) rows and `out` of [`nrows`](Self::nrows) rows.
    ///
    /// The sums run in an order that does not depend on the number of threads.
    ///
    /// # Errors
    /// [`Stopped`] where `watch` asks for it; `out` is then unspecified.
    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;
}

/// A matrix of kernel values that can be written out.
pub trait KernelValues: LinearOperator {
    /// Writes the matrix into `out`, row-major; `part` is about square matrices.
    ///
    /// # Errors
    /// [`Stopped`] where `watch` asks for it; `out` is then unspecified.
    fn fill_f64(&self, part: Part, out: &mut [f64], watch: &dyn Watch) -> Result<(), Stopped>;

    /// As [`fill_f64`](Self::fill_f64), rounded to single precision.
    ///
    /// # Errors
    /// As [`fill_f64`](Self::fill_f64).
    fn fill_f32(&self, part: Part, out: &mut [f32], watch: &dyn Watch) -> Result<(), Stopped>;
}

/// A square, symmetric kernel matrix.
pub trait Gram: KernelValues {
    /// k(xᵢ, xᵢ) for every i.
    fn diagonal(&self) -> Vec<f64>;

    /// k(xᵢ, xⱼ) for i in `rows` and j in `cols`, row after row into `out` of length `rows.len()·cols.len()`.
    fn block(&self, rows: &[usize], cols: &[usize], out: &mut [f64]);
}
