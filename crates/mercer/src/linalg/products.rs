//! Matrix products and triangular solves, compiled once for each precision.
//!
//! Each function runs on the calling thread. Callers divide their work into parts of a fixed size, so that the bits of
//! a result do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place,
    solve_unit_upper_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par};

use crate::data::Matrix;

use super::Scalar;

/// The matrix as a view of faer.
pub fn view<T: Scalar>(matrix: &Matrix<T>) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(matrix.entries(), matrix.nrows(), matrix.ncols())
}

/// The matrix as a mutable view of faer.
pub fn view_mut<T: Scalar>(matrix: &mut Matrix<T>) -> MatMut<'_, T> {
    let (nrows, ncols) = (matrix.nrows(), matrix.ncols());
    MatMut::from_row_major_slice_mut(matrix.entries_mut(), nrows, ncols)
}

/// out = α·AB.
#[inline(never)]
pub fn assign<T: Scalar>(out: MatMut<'_, T>, alpha: f64, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(out, Accum::Replace, a, b, T::from_f64(alpha), Par::Seq);
}

/// out += α·AB.
#[inline(never)]
pub fn add<T: Scalar>(out: MatMut<'_, T>, alpha: f64, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(out, Accum::Add, a, b, T::from_f64(alpha), Par::Seq);
}

/// L·X = B in place, for a lower triangle L.
#[inline(never)]
pub fn solve_lower<T: Scalar>(lower: MatRef<'_, T>, rhs: MatMut<'_, T>) {
    solve_lower_triangular_in_place(lower, rhs, Par::Seq);
}

/// U·X = B in place, for an upper triangle U.
#[inline(never)]
pub fn solve_upper<T: Scalar>(upper: MatRef<'_, T>, rhs: MatMut<'_, T>) {
    solve_upper_triangular_in_place(upper, rhs, Par::Seq);
}

/// L·X = B in place, for a unit lower triangle L.
#[inline(never)]
pub fn solve_unit_lower(lower: MatRef<'_, f64>, rhs: MatMut<'_, f64>) {
    solve_unit_lower_triangular_in_place(lower, rhs, Par::Seq);
}

/// U·X = B in place, for a unit upper triangle U.
#[inline(never)]
pub fn solve_unit_upper(upper: MatRef<'_, f64>, rhs: MatMut<'_, f64>) {
    solve_unit_upper_triangular_in_place(upper, rhs, Par::Seq);
}
