//! Inverses of Cholesky factors and of the matrices they factor, in the memory of the factor.
//!
//! Both go through block rows from the top, and each block of a row is one task, so that the bits of a result do not depend
//! on the number of threads.

use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::watch::{Stopped, Watch};

use super::dense::mirror_lower;
use super::{Cholesky, Scalar, products};

/// Order of a block.
const BLOCK: usize = 128;

impl<T: Scalar> Cholesky<T> {
    /// L⁻¹, row-major, with zeros above the diagonal. n³/6 multiply-adds.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub(crate) fn inverse_lower(&self, watch: &dyn Watch) -> Result<Matrix<T>, Stopped> {
        let n = self.order();
        let mut lower = self.lower().to_vec();
        invert_lower(n, &mut lower, watch)?;
        (0..n).for_each(|i| lower[i * n + i + 1..(i + 1) * n].fill(T::default()));
        Ok(Matrix::from_entries(n, n, lower))
    }

    /// A⁻¹ = L⁻ᵀL⁻¹, both triangles. n³/3 multiply-adds.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn inverse(&self, watch: &dyn Watch) -> Result<Matrix<T>, Stopped> {
        let copy = Self::from_lower(self.order(), self.lower().to_vec());
        let mut inverse = copy.into_inverse(watch)?;
        mirror_lower(&mut inverse);
        Ok(inverse)
    }

    /// A⁻¹ in the memory of L; entries above the diagonal are unspecified. n³/3 multiply-adds.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn into_inverse(self, watch: &dyn Watch) -> Result<Matrix<T>, Stopped> {
        let n = self.order();
        let mut entries = self.into_lower();
        invert_lower(n, &mut entries, watch)?;
        multiply_by_transpose(n, &mut entries, watch)?;
        Ok(Matrix::from_entries(n, n, entries))
    }
}

/// Replaces L by X = L⁻¹; blocks on the diagonal become zero above it.
///
/// The rows of block i follow from those above: X_i = −L_ii⁻¹ Σ_{k<i} L_ik X_k, X_ii = L_ii⁻¹.
fn invert_lower<T: Scalar>(n: usize, entries: &mut [T], watch: &dyn Watch) -> Result<(), Stopped> {
    for start in (0..n).step_by(BLOCK) {
        watch.check()?;
        let width = BLOCK.min(n - start);
        let (above, rest) = entries.split_at_mut(start * n);
        let above = MatRef::from_row_major_slice(above, start, n);
        let (own, mut rows) = block_row(rest, n, start, width);
        let own = products::view(&own);
        let (left, corner) = own.split_at_col(start);
        rows.rb_mut().par_col_chunks_mut(BLOCK).enumerate().for_each(|(chunk, mut out)| {
            let first = chunk * BLOCK;
            if first < start {
                let x = above.submatrix(first, first, start - first, out.ncols());
                products::assign(out.rb_mut(), -1.0, left.subcols(first, start - first), x);
            } else {
                out.fill(T::default());
                out.rb_mut().diagonal_mut().fill(T::from_f64(1.0));
            }
            products::solve_lower(corner, out);
        });
    }
    Ok(())
}

/// Replaces X by the lower triangle of XᵀX, for a lower triangle X that is zero above the diagonal of each block on the
/// diagonal.
///
/// Row block i of the product needs no row of X above it.
fn multiply_by_transpose<T: Scalar>(n: usize, entries: &mut [T], watch: &dyn Watch) -> Result<(), Stopped> {
    for start in (0..n).step_by(BLOCK) {
        watch.check()?;
        let width = BLOCK.min(n - start);
        let rest = &mut entries[start * n..];
        let (head, below) = rest.split_at_mut(width * n);
        let below = MatRef::from_row_major_slice(below, n - start - width, n);
        let (own, mut rows) = block_row(head, n, start, width);
        let own = products::view(&own);
        let (corner, column) =
            (own.subcols(start, width).transpose(), below.subcols(start, width).transpose());
        rows.rb_mut().par_col_chunks_mut(BLOCK).enumerate().for_each(|(chunk, mut out)| {
            let (first, count) = (chunk * BLOCK, out.ncols());
            products::assign(out.rb_mut(), 1.0, corner, own.subcols(first, count));
            products::add(out, 1.0, column, below.subcols(first, count));
        });
    }
    Ok(())
}

/// The rows of a block up to its end on the diagonal: a copy, and a view of the originals, which are first in `rest`.
fn block_row<T: Scalar>(rest: &mut [T], n: usize, start: usize, width: usize) -> (Matrix<T>, MatMut<'_, T>) {
    let reach = start + width;
    let copy = rest.chunks_exact(n).take(width).flat_map(|row| &row[..reach]).copied().collect();
    let rows = MatMut::from_row_major_slice_mut(&mut rest[..width * n], width, n).subcols_mut(0, reach);
    (Matrix::from_entries(width, reach, copy), rows)
}
