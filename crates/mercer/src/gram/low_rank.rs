//! The factor F of K ≈ FFᵀ, stored by the host or by an engine.

use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::{
    HostMatrix, NormalEquations, NormalEquationsError, RowProducts, Scalar, SymmetricMatrix, combined_rows,
    products, zeroed,
};
use crate::watch::{Stopped, Watch};

use super::operator::Gram;
use super::values::TileMut;

/// Rows that one task updates.
const BAND: usize = 256;

/// Rows between two checks of the watch.
const ROWS_PER_CHECK: usize = 16 * BAND;

/// Rows converted to double precision at a time.
const WIDENED: usize = 2048;

/// Rows that stay in cache while each column is multiplied.
const CACHED: usize = 64;

/// Columns to add to a factor.
#[derive(Debug, Clone)]
pub struct NewColumns<'a> {
    /// S, the rows of K that they reproduce.
    pub chosen: &'a [usize],
    /// F_S, row-major.
    pub rows: Vec<f64>,
    /// L with LLᵀ = K(S,S) − F_S F_Sᵀ, row-major.
    pub lower: Vec<f64>,
}

/// F: one row for each row of K; columns are added until it is finished.
///
/// # Errors
/// Every operation returns [`Stopped`] if `watch` requests it, and if an engine fails.
pub trait LowRankFactor: Send + Sync {
    /// Number of rows.
    fn nrows(&self) -> usize;

    /// Number of columns so far.
    fn ncols(&self) -> usize;

    /// Chosen rows in double precision, one after the other.
    fn rows(&self, rows: &[usize]) -> Result<Vec<f64>, Stopped>;

    /// Appends (K(:,S) − F F_Sᵀ)L⁻ᵀ to the columns of F, and subtracts its squares from `residual`, the diagonal of K − FFᵀ.
    fn extend(
        &mut self,
        gram: &dyn Gram,
        new: &NewColumns<'_>,
        residual: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), Stopped>;

    /// Tells that no more columns follow.
    fn finish(&mut self);

    /// Multiplies every row by its factor.
    fn scale_rows(&mut self, factors: &[f64]) -> Result<(), Stopped>;

    /// FᵀF + λI, in double precision: an error of the size of λ would make the inverse of FFᵀ + λI indefinite. nk² multiply-adds.
    fn second_moment(&self, lambda: f64, watch: &dyn Watch) -> Result<Box<dyn SymmetricMatrix>, Stopped>;

    /// Fᵀv, summed in double precision.
    fn transposed_times(&self, v: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped>;

    /// out −= Fu, summed in double precision.
    fn subtract_product(
        &self,
        u: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped>;
}

/// F in host memory, with room for the columns to come.
#[derive(Debug, Clone, PartialEq)]
pub struct HostFactor<T> {
    entries: Matrix<T>,
    known: usize,
}

impl<T: Scalar> HostFactor<T> {
    /// No columns of `nrows` rows, with room for `rank`.
    #[must_use]
    pub fn new(nrows: usize, rank: usize) -> Self {
        Self { entries: Matrix::from_entries(nrows, rank, zeroed(nrows * rank)), known: 0 }
    }

    /// F.
    #[must_use]
    pub fn into_matrix(mut self) -> Matrix<T> {
        self.finish();
        self.entries
    }
}

impl<T: Scalar> From<Matrix<T>> for HostFactor<T> {
    fn from(entries: Matrix<T>) -> Self {
        Self { known: entries.ncols(), entries }
    }
}

impl<T: Scalar> LowRankFactor for HostFactor<T> {
    fn nrows(&self) -> usize {
        self.entries.nrows()
    }

    fn ncols(&self) -> usize {
        self.known
    }

    fn rows(&self, rows: &[usize]) -> Result<Vec<f64>, Stopped> {
        let row = |&i: &usize| self.entries.row(i)[..self.known].iter().map(|v| v.to_f64());
        Ok(rows.iter().flat_map(row).collect())
    }

    fn extend(
        &mut self,
        gram: &dyn Gram,
        new: &NewColumns<'_>,
        residual: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let (width, rank, known) = (new.chosen.len(), self.entries.ncols(), self.known);
        if width == 0 {
            return Ok(());
        }
        let narrow = |values: &[f64]| values.iter().map(|v| T::from_f64(*v)).collect::<Vec<T>>();
        let (rows, lower) = (narrow(&new.rows), narrow(&new.lower));
        let (rows, lower) = (
            MatRef::from_row_major_slice(&rows, width, known),
            MatRef::from_row_major_slice(&lower, width, width),
        );
        let mut values = vec![0.0; ROWS_PER_CHECK.min(residual.len()) * width];
        let factor = self.entries.entries_mut().chunks_mut(ROWS_PER_CHECK * rank);
        let parts = factor.zip(residual.chunks_mut(ROWS_PER_CHECK)).enumerate();
        for (s, (factor, residual)) in parts {
            watch.check()?;
            let here: Vec<usize> = (s * ROWS_PER_CHECK..s * ROWS_PER_CHECK + residual.len()).collect();
            let values = &mut values[..here.len() * width];
            gram.block(&here, new.chosen, TileMut::new(&mut *values, width));
            let bands = factor.par_chunks_mut(BAND * rank).zip(residual.par_chunks_mut(BAND));
            bands.zip(values.par_chunks(BAND * width)).for_each(|((factor, residual), values)| {
                let height = residual.len();
                let mut added = narrow(values);
                let mut block = MatMut::from_row_major_slice_mut(&mut added, height, width);
                if known > 0 {
                    let before = MatRef::from_row_major_slice(factor, height, rank).subcols(0, known);
                    products::add(block.rb_mut(), -1.0, before, rows.transpose());
                }
                products::solve_lower(lower, block.transpose_mut());
                for (r, added) in added.chunks_exact(width).enumerate() {
                    factor[r * rank + known..][..width].copy_from_slice(added);
                    let squares: f64 = added.iter().map(|v| v.to_f64() * v.to_f64()).sum();
                    residual[r] = (residual[r] - squares).max(0.0);
                }
            });
        }
        self.known += width;
        Ok(())
    }

    fn finish(&mut self) {
        let (n, rank, found) = (self.entries.nrows(), self.entries.ncols(), self.known);
        if found < rank {
            let mut entries = std::mem::take(&mut self.entries).into_entries();
            for i in 0..n {
                entries.copy_within(i * rank..i * rank + found, i * found);
            }
            entries.truncate(n * found);
            self.entries = Matrix::from_entries(n, found, entries);
        }
    }

    fn scale_rows(&mut self, factors: &[f64]) -> Result<(), Stopped> {
        for (i, factor) in factors.iter().enumerate() {
            self.entries.row_mut(i).iter_mut().for_each(|v| *v = T::from_f64(v.to_f64() * factor));
        }
        Ok(())
    }

    fn second_moment(&self, lambda: f64, watch: &dyn Watch) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let (n, k) = (self.entries.nrows(), self.known);
        let mut equations = NormalEquations::new(k, 0);
        watch.begin("preconditioner", n as u64);
        for first in (0..n).step_by(WIDENED) {
            let rows = first..n.min(first + WIDENED);
            let wide =
                self.entries.entries()[rows.start * k..rows.end * k].iter().map(|v| v.to_f64()).collect();
            let wide = Matrix::from_entries(rows.len(), k, wide);
            match equations.add(&wide, &Matrix::zeros(rows.len(), 0), None, watch) {
                Err(NormalEquationsError::Stopped(stopped)) => return Err(stopped),
                // Entries that are not finite: there is no factor then.
                Err(_) => return Ok(Box::new(HostMatrix::new(k, vec![f64::NAN; k * k]))),
                Ok(()) => {}
            }
            watch.advance(rows.len() as u64);
        }
        let mut lower = equations.lower();
        (0..k).for_each(|i| lower[i * k + i] += lambda);
        Ok(Box::new(HostMatrix::new(k, lower)))
    }

    fn transposed_times(&self, v: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let (k, t) = (self.known, v.ncols());
        let columns = combined_rows(&self.entries, t, watch, |_, first, by_output| {
            let rows = by_output.len() / t.max(1);
            for r in 0..rows {
                (0..t).for_each(|o| by_output[o * rows + r] = v.row(first + r)[o]);
            }
        })?;
        let mut out = Matrix::zeros(k, t);
        for (o, column) in columns.chunks_exact(k).enumerate() {
            column.iter().enumerate().for_each(|(j, v)| out.row_mut(j)[o] = *v);
        }
        Ok(out)
    }

    fn subtract_product(&self, u: &Matrix<f64>, out: &mut Matrix<f64>, _: &dyn Watch) -> Result<(), Stopped> {
        let (k, t) = (self.known, u.ncols());
        let columns: Vec<Vec<f64>> = (0..t).map(|o| (0..k).map(|j| u.row(j)[o]).collect()).collect();
        let bands = self.entries.entries().par_chunks(CACHED * k);
        out.entries_mut().par_chunks_mut(CACHED * t).zip(bands).for_each(|(out, rows)| {
            let mut dots = vec![0.0; rows.len() / k];
            for (o, column) in columns.iter().enumerate() {
                RowProducts::new(rows, k).dot(column, &mut dots);
                dots.iter().enumerate().for_each(|(r, dot)| out[r * t + o] -= dot);
            }
        });
        Ok(())
    }
}
