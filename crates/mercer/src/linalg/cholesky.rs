//! Cholesky factorisation, A = LLᵀ, blocked by columns.
//!
//! Left-looking: for each block column j, once the columns to its left are known,
//!
//! ```text
//! D   ← A_jj − L_j L_jᵀ             L_j: the rows of block j, columns before it
//! L_jj ← chol(D)
//! L_ij ← (A_ij − L_i L_jᵀ) L_jj⁻ᵀ    for every block row i below
//! ```
//!
//! Every entry of A is written once, and almost all of the n³/3 multiply-adds are in one long matrix product per
//! block row. Blocks have a fixed size and each is computed by one thread, so the factor has the same bits for any
//! number of threads; the watch is checked between block columns.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltParams, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::reborrow::{IntoConst, Reborrow, ReborrowMut};
use faer::{Auto, MatMut, MatRef, Par, Spec};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::watch::{Stopped, Watch};

use super::{Scalar, products};

/// Block size: a block of the product stays in the L2 cache, and the products are long enough to run at full speed.
const BLOCK: usize = 256;

/// Rows of a diagonal block per task: few, so that the threads share even a single block.
const SLICE: usize = 32;

/// Why there is no Cholesky factor.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CholeskyError {
    /// The matrix is not positive definite to working precision.
    #[error("the matrix is not positive definite: pivot {pivot} of {order} is not positive")]
    NotPositiveDefinite {
        /// The pivot, from 0.
        pivot: usize,
        /// The matrix's order.
        order: usize,
    },
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// A lower-triangular L with A = LLᵀ, in the buffer that held A.
#[derive(Debug)]
pub struct Cholesky<T> {
    order: usize,
    /// Row-major; entries above the diagonal are not read.
    factor: Vec<T>,
}

impl<T: Scalar> Cholesky<T> {
    /// Factors the symmetric matrix whose lower triangle `matrix` holds, row-major.
    ///
    /// n³/3 multiply-adds, no memory beyond the matrix itself.
    ///
    /// # Errors
    /// If a pivot is not positive, or if `watch` asks to stop.
    ///
    /// # Panics
    /// If `matrix` does not have `order²` entries.
    pub fn factor(order: usize, mut matrix: Vec<T>, watch: &dyn Watch) -> Result<Self, CholeskyError> {
        assert_eq!(matrix.len(), order * order, "a square matrix of order {order}");
        watch.begin("Cholesky", cost(order, order));
        for start in (0..order).step_by(BLOCK) {
            watch.check()?;
            let width = BLOCK.min(order - start);
            let (head, below) = matrix.split_at_mut((start + width) * order);
            let rows = &mut head[start * order..];
            factor_diagonal_block(rows, order, start, width)
                .map_err(|pivot| CholeskyError::NotPositiveDefinite { pivot: start + pivot, order })?;
            let rows = MatRef::from_row_major_slice(rows, width, order);
            below.par_chunks_mut(BLOCK * order).try_for_each(|chunk| {
                watch.check()?;
                let height = chunk.len() / order;
                let chunk = MatMut::from_row_major_slice_mut(chunk, height, order);
                let (left, right) = chunk.split_at_col_mut(start);
                let mut block = right.subcols_mut(0, width);
                subtract_product(block.rb_mut(), left.rb(), rows.subcols(0, start).transpose());
                products::solve_lower(rows.subcols(start, width), block.transpose_mut());
                Ok::<_, Stopped>(())
            })?;
            watch.advance(cost(order, start + width) - cost(order, start));
        }
        Ok(Self { order, factor: matrix })
    }

    /// The factorisation whose factor L is `lower`, row-major; entries above the diagonal are not read.
    ///
    /// # Panics
    /// If `lower` does not have `order²` entries.
    #[must_use]
    pub fn from_lower(order: usize, lower: Vec<T>) -> Self {
        assert_eq!(lower.len(), order * order, "a square matrix of order {order}");
        Self { order, factor: lower }
    }

    /// As [`factor`](Self::factor), with separate errors for a stop and for a matrix that is not positive definite.
    pub(crate) fn try_factor(
        order: usize,
        matrix: Vec<T>,
        watch: &dyn Watch,
    ) -> Result<Result<Self, CholeskyError>, Stopped> {
        match Self::factor(order, matrix, watch) {
            Err(CholeskyError::Stopped(stopped)) => Err(stopped),
            other => Ok(other),
        }
    }

    /// The factor whose rows up to the diagonal are in `triangle`, one after another.
    ///
    /// # Panics
    /// If `triangle` does not have `order·(order + 1)/2` entries.
    pub(crate) fn from_triangle(order: usize, triangle: &[T]) -> Self {
        assert_eq!(triangle.len(), order * (order + 1) / 2, "a triangle of order {order}");
        let mut factor = super::zeroed(order * order);
        for i in 0..order {
            let start = i * (i + 1) / 2;
            factor[i * order..][..=i].copy_from_slice(&triangle[start..=start + i]);
        }
        Self { order, factor }
    }

    /// The rows of L up to the diagonal, one after another.
    pub(crate) fn into_triangle(self) -> Vec<T> {
        let n = self.order;
        (0..n).flat_map(|i| self.factor[i * n..][..=i].to_vec()).collect()
    }

    /// The order of the matrix.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// L, row-major; entries above the diagonal are unspecified.
    pub(crate) fn lower(&self) -> &[T] {
        &self.factor
    }

    /// The buffer of L, row-major; entries above the diagonal are unspecified.
    #[must_use]
    pub fn into_lower(self) -> Vec<T> {
        self.factor
    }

    /// The smallest pivot L_ii²: small relative to A's diagonal if A is nearly singular.
    #[must_use]
    pub fn smallest_pivot(&self) -> f64 {
        self.pivots().fold(f64::INFINITY, f64::min)
    }

    /// The pivots L_ii², the diagonal entries A_ii after elimination of the columns before them.
    pub fn pivots(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.order).map(|i| self.factor[i * self.order + i].to_f64().powi(2))
    }

    /// Solves A·X = B for every column of `rhs`, in place.
    ///
    /// 2n² multiply-adds a column; reads the factor twice.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn solve(&self, rhs: &mut Matrix<T>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.solve_lower(rhs, watch)?;
        self.solve_upper(rhs, watch)
    }

    /// Solves L·X = B for every column of `rhs`, in place, block rows downwards.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn solve_lower(&self, rhs: &mut Matrix<T>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (n, m) = (self.order, rhs.ncols());
        for start in (0..n).step_by(BLOCK) {
            watch.check()?;
            let width = BLOCK.min(n - start);
            let (known, rest) = rhs.entries_mut().split_at_mut(start * m);
            let block = &mut rest[..width * m];
            let known = MatRef::from_row_major_slice(known, start, m);
            block.par_chunks_mut(SLICE * m).enumerate().for_each(|(slice, out)| {
                let (first, height) = (start + slice * SLICE, out.len() / m);
                let left = self.rows(first, height).subcols(0, start);
                subtract_product(MatMut::from_row_major_slice_mut(out, height, m), left, known);
            });
            let diagonal = self.rows(start, width).subcols(start, width);
            let block = MatMut::from_row_major_slice_mut(block, width, m);
            products::solve_lower(diagonal, block);
        }
        Ok(())
    }

    /// Solves Lᵀ·X = B, block rows upwards: each solved block is eliminated from all blocks above it.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn solve_upper(&self, rhs: &mut Matrix<T>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (n, m) = (self.order, rhs.ncols());
        for start in (0..n).step_by(BLOCK).rev() {
            watch.check()?;
            let width = BLOCK.min(n - start);
            let (above, rest) = rhs.entries_mut().split_at_mut(start * m);
            let rows = self.rows(start, width);
            let mut solved = MatMut::from_row_major_slice_mut(&mut rest[..width * m], width, m);
            let diagonal = rows.subcols(start, width).transpose();
            products::solve_upper(diagonal, solved.rb_mut());
            let solved = solved.into_const();
            above.par_chunks_mut(BLOCK * m).enumerate().for_each(|(slice, out)| {
                let (first, height) = (slice * BLOCK, out.len() / m);
                let left = rows.subcols(first, height).transpose();
                subtract_product(MatMut::from_row_major_slice_mut(out, height, m), left, solved);
            });
        }
        Ok(())
    }

    fn rows(&self, start: usize, height: usize) -> MatRef<'_, T> {
        let n = self.order;
        MatRef::from_row_major_slice(&self.factor[start * n..(start + height) * n], height, n)
    }
}

/// Factors the diagonal block of a block row, after subtracting the contribution of the columns to its left. `Err` is
/// the failing pivot.
fn factor_diagonal_block<T: Scalar>(
    rows: &mut [T],
    order: usize,
    start: usize,
    width: usize,
) -> Result<(), usize> {
    let mut diagonal = vec![T::default(); width * width];
    let known = MatRef::from_row_major_slice(rows, width, order);
    let left = known.subcols(0, start);
    diagonal.par_chunks_mut(SLICE * width).enumerate().for_each(|(slice, out)| {
        let (first, height) = (slice * SLICE, out.len() / width);
        let reach = first + height;
        let mut block = MatMut::from_row_major_slice_mut(out, height, width).subcols_mut(0, reach);
        block.copy_from(known.submatrix(first, start, height, reach));
        subtract_product(block, left.subrows(first, height), left.subrows(0, reach).transpose());
    });
    factor_in_place(MatMut::from_row_major_slice_mut(&mut diagonal, width, width))?;
    for i in 0..width {
        rows[i * order + start..][..=i].copy_from_slice(&diagonal[i * width..][..=i]);
    }
    Ok(())
}

/// A ← L with A = LLᵀ in the lower triangle of a small matrix, on the calling thread. `Err` is the failing pivot.
pub(crate) fn factor_in_place<T: Scalar>(mut a: MatMut<'_, T>) -> Result<(), usize> {
    let n = a.nrows();
    let params = Spec::new(<LltParams as Auto<T>>::auto());
    let mut scratch = MemBuffer::new(cholesky_in_place_scratch::<T>(n, Par::Seq, params));
    cholesky_in_place(a.rb_mut(), Default::default(), Par::Seq, MemStack::new(&mut scratch), params)
        .map_err(|LltError::NonPositivePivot { index }| index)?;
    // A NaN pivot passes the factorisation's comparison with zero.
    (0..n).find(|&i| a[(i, i)].to_f64().is_nan()).map_or(Ok(()), Err)
}

fn subtract_product<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    if a.ncols() > 0 {
        products::add(out, -1.0, a, b);
    }
}

/// Multiply-adds of the first `columns` columns, up to a constant factor: the unit of the progress report.
fn cost(order: usize, columns: usize) -> u64 {
    let (n, k) = (order as u64, columns as u64);
    (k * k * n / 2).saturating_sub(k * k * k / 3) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool;
    use crate::watch::Unwatched;

    /// A = MMᵀ + nI for a fixed pseudo-random M.
    fn positive_definite(n: usize) -> Vec<f64> {
        let m: Vec<f64> =
            (0..n * n).map(|k| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0).collect();
        let m = MatRef::from_row_major_slice(&m, n, n);
        let mut a = vec![0.0; n * n];
        let mut out = MatMut::from_row_major_slice_mut(&mut a, n, n);
        products::assign(out.rb_mut(), 1.0, m, m.transpose());
        (0..n).for_each(|i| out[(i, i)] += n as f64);
        a
    }

    fn largest_residual(a: &[f64], x: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
        let n = x.nrows();
        let mut worst = 0.0f64;
        for i in 0..n {
            for c in 0..x.ncols() {
                let ax: f64 = (0..n).map(|j| a[i * n + j] * x.row(j)[c]).sum();
                worst = worst.max((ax - b.row(i)[c]).abs());
            }
        }
        worst
    }

    #[test]
    fn solves_across_block_borders() {
        for n in [1, 2, SLICE - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 37] {
            let a = positive_definite(n);
            let b = Matrix::from_entries(n, 2, (0..2 * n).map(|k| (k as f64).sin()).collect());
            let factor = Cholesky::factor(n, a.clone(), &Unwatched).unwrap();
            let mut x = b.clone();
            factor.solve(&mut x, &Unwatched).unwrap();
            // Backward stable: the residual is a small multiple of n·ε·‖A‖‖x‖, all near 1 here.
            assert!(largest_residual(&a, &x, &b) < 1e-12 * n as f64, "order {n}");
        }
    }

    #[test]
    fn has_the_same_bits_for_every_number_of_threads() {
        let n = 2 * BLOCK + 100;
        let a = positive_definite(n);
        let factor = |threads| {
            pool::with(Some(threads), || {
                let factor = Cholesky::factor(n, a.clone(), &Unwatched).unwrap();
                let mut x = Matrix::from_entries(n, 1, (0..n).map(|k| k as f64).collect());
                factor.solve(&mut x, &Unwatched).unwrap();
                (factor.factor, x)
            })
        };
        let one = factor(1);
        assert!(one == factor(2) && one == factor(3));
    }

    #[test]
    fn names_the_pivot_that_fails() {
        let n = BLOCK + 10;
        let mut a = positive_definite(n);
        let bad = BLOCK + 3;
        a[bad * n + bad] = -1.0;
        let error = Cholesky::factor(n, a.clone(), &Unwatched).unwrap_err();
        assert_eq!(error, CholeskyError::NotPositiveDefinite { pivot: bad, order: n });
        a[bad * n + bad] = f64::NAN;
        assert!(Cholesky::factor(n, a, &Unwatched).is_err());
    }

    #[test]
    fn stops_when_asked() {
        let stop = std::sync::atomic::AtomicBool::new(true);
        assert_eq!(
            Cholesky::factor(2, vec![1.0, 0.0, 0.0, 1.0], &stop).unwrap_err(),
            CholeskyError::Stopped(Stopped)
        );
    }
}
