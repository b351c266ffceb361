//! What a solver sees of a matrix.

use std::ops::Range;

use crate::data::Matrix;
use crate::real::Precision;
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

/// Columns that [`Crossing::visit_f32`] visits at a time, at most.
pub const COLUMNS_AT_A_TIME: usize = 256;

/// Chosen columns of a kernel matrix, made ready once for many visits.
pub trait Columns: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a value costs, in multiply-adds: 0 where it is read from store.
    fn cost(&self) -> usize;

    /// The part of the matrix where `rows`, by their index in the matrix, cross the columns.
    fn cross<'a>(&'a self, rows: &[usize]) -> Box<dyn Crossing + 'a>;
}

/// Kernel values of a few of the rows of a [`Crossing`] with all columns of a visit.
#[derive(Debug)]
pub struct RowBlock<'a, T> {
    /// The rows, by their place in the crossing: at most eight.
    pub rows: Range<usize>,
    /// Their values, row after row.
    pub values: &'a [T],
    /// Entries from one row to the next.
    pub stride: usize,
}

/// Chosen rows of a kernel matrix with chosen columns.
pub trait Crossing: Sync {
    /// Hands the values of every row with the columns `cols`, counted among the chosen ones, to `sink`, a few rows at a
    /// time while they are in cache. Runs on the calling thread.
    ///
    /// # Panics
    /// Where `cols` does not start at a multiple of [`COLUMNS_AT_A_TIME`] or has more columns.
    fn visit_f32(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f32>));

    /// As [`visit_f32`](Self::visit_f32), in double precision.
    ///
    /// # Panics
    /// As [`visit_f32`](Self::visit_f32).
    fn visit_f64(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f64>));
}

/// A square, symmetric kernel matrix.
pub trait Gram: KernelValues {
    /// The precision its values are computed or stored in.
    fn precision(&self) -> Precision;

    /// The columns `cols` of the matrix, which may repeat. O(their features) time and memory.
    fn columns<'a>(&'a self, cols: &[usize]) -> Box<dyn Columns + 'a>;

    /// k(xᵢ, xᵢ) for every i.
    fn diagonal(&self) -> Vec<f64>;

    /// k(xᵢ, xᵢ) for i in `rows`.
    fn diagonal_at(&self, rows: &[usize]) -> Vec<f64>;

    /// k(xᵢ, xⱼ) for i in `rows` and j in `cols`, row after row into `out` of length `rows.len()·cols.len()`.
    fn block(&self, rows: &[usize], cols: &[usize], out: &mut [f64]);
}
