//! A design with its rows in memory.

use std::ops::Range;

use faer::{MatMut, MatRef};

use crate::data::{AnySamples, Matrix};
use crate::gram::{Values, ValuesMut, with_values};
use crate::linalg::{chosen_row_dots, chosen_rows_combined, combined_rows, products, row_dots};
use crate::real::Precision;
use crate::session::Session;
use crate::watch::Watch;

use super::error::{DesignError, check_columns, check_memory};
use super::features::RowFeatures;
use super::{Access, Design, computed};

/// Φ in memory, in single or double precision; sums over it are in double precision.
///
/// Rows of landmarks may be held as kernel values k with φ = L⁻¹k: two triangular solves for each pass replace one for
/// each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Held<'a> {
    values: Values,
    /// L, row-major with zeros above the diagonal, where the values are k.
    whitening: Option<&'a [f64]>,
}

impl From<Values> for Held<'_> {
    fn from(values: Values) -> Self {
        Self { values, whitening: None }
    }
}

impl<'a> Held<'a> {
    /// The rows of another design, in its precision.
    ///
    /// # Errors
    /// If the rows cannot be computed, or if `watch` asks to stop.
    pub fn of(design: &dyn Design, watch: &dyn Watch) -> Result<Self, DesignError> {
        let (n, d) = (design.nrows(), design.ncols());
        let values = filled(design.precision(), n, d, watch, |rows, out| design.fill(rows, out, watch))?;
        Ok(values.into())
    }

    /// The features of all samples, for passes with few right-hand sides: features of landmarks are stored as kernel
    /// values.
    ///
    /// # Errors
    /// As [`empty`](Self::empty) and [`set`](Self::set).
    pub fn for_passes(
        features: &RowFeatures<'a>,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Self, DesignError> {
        let mut held = Self::empty(features, samples.nrows(), features.precision(samples), session)?;
        session.begin("features", samples.nrows() as u64);
        held.set(0, features, samples, session)?;
        Ok(held)
    }

    /// `rows` rows for passes, all of them 0 until they are [`set`](Self::set).
    ///
    /// # Errors
    /// If they do not fit the memory of the session.
    pub fn empty(
        features: &RowFeatures<'a>,
        rows: usize,
        precision: Precision,
        session: &Session<'_>,
    ) -> Result<Self, DesignError> {
        let whitening = match *features {
            RowFeatures::Landmarks(landmarks, _) => Some(landmarks.whitening()),
            _ => None,
        };
        check_memory("the features", rows, features.count(), precision.bytes(), session.memory())?;
        Ok(Self { values: Values::zeros(precision, rows, features.count()), whitening })
    }

    /// Computes the rows of some samples, from the row `first` on.
    ///
    /// # Errors
    /// As [`RowFeatures::fill`].
    ///
    /// # Panics
    /// If there are fewer rows, or if they are not of these features.
    pub fn set(
        &mut self,
        first: usize,
        features: &RowFeatures<'_>,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<(), DesignError> {
        check_columns(samples, features.columns())?;
        let d = self.values.ncols();
        let entries = first * d..(first + samples.nrows()) * d;
        fill_blocks(d, self.values.entries_mut().slice(entries), session, |rows, out| match features {
            RowFeatures::Landmarks(landmarks, _) => landmarks.fill_kernel_values(samples, rows, out, session),
            features => features.fill(samples, rows, out, session),
        })
    }

    /// The rows in memory: φ, or k if there is a factor L with φ = L⁻¹k.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// L⁻¹·`sums`, in place.
    fn whiten(&self, sums: &mut Matrix<f64>) {
        if let Some(lower) = self.whitening {
            solve_lower(lower, sums);
        }
    }

    /// L⁻ᵀ·`weights`.
    fn unwhitened(&self, weights: &Matrix<f64>) -> Matrix<f64> {
        let mut weights = weights.clone();
        if let Some(lower) = self.whitening {
            solve_upper(lower, &mut weights);
        }
        weights
    }

    /// Whitens rows of k in place.
    fn whiten_rows(&self, out: ValuesMut<'_>) {
        let (Some(lower), d) = (self.whitening, self.values.ncols()) else { return };
        let lower = MatRef::from_row_major_slice(lower, d, d);
        let solve = |rows: &mut [f64]| {
            let rows = MatMut::from_row_major_slice_mut(rows, rows.len() / d.max(1), d);
            products::solve_lower(lower, rows.transpose_mut());
        };
        match out {
            ValuesMut::F64(rows) => solve(rows),
            ValuesMut::F32(rows) => {
                let mut wide: Vec<f64> = rows.iter().map(|v| f64::from(*v)).collect();
                solve(&mut wide);
                rows.iter_mut().zip(wide).for_each(|(row, wide)| *row = wide as f32);
            }
        }
    }
}

/// A matrix of `n` rows and `d` columns that `fill` writes block by block.
pub(super) fn filled(
    precision: Precision,
    n: usize,
    d: usize,
    watch: &dyn Watch,
    fill: impl Fn(Range<usize>, ValuesMut<'_>) -> Result<(), DesignError>,
) -> Result<Values, DesignError> {
    watch.begin("features", n as u64);
    let mut values = Values::zeros(precision, n, d);
    fill_blocks(d, values.entries_mut(), watch, fill)?;
    Ok(values)
}

/// Fills rows of `d` entries block by block.
fn fill_blocks(
    d: usize,
    mut out: ValuesMut<'_>,
    watch: &dyn Watch,
    fill: impl Fn(Range<usize>, ValuesMut<'_>) -> Result<(), DesignError>,
) -> Result<(), DesignError> {
    /// Rows between two reports of progress: enough for all threads.
    const ROWS: usize = 16_384;
    let n = out.len() / d.max(1);
    for first in (0..n).step_by(ROWS) {
        let rows = first..n.min(first + ROWS);
        fill(rows.clone(), out.slice(rows.start * d..rows.end * d))?;
        watch.advance(rows.len() as u64);
    }
    Ok(())
}

/// L·X = B, in place, for L row-major.
pub(super) fn solve_lower(lower: &[f64], rhs: &mut Matrix<f64>) {
    let (d, t) = (rhs.nrows(), rhs.ncols());
    if t == 0 {
        return;
    }
    products::solve_lower(MatRef::from_row_major_slice(lower, d, d), products::view_mut(rhs));
}

/// Lᵀ·X = B, in place, for L row-major.
pub(super) fn solve_upper(lower: &[f64], rhs: &mut Matrix<f64>) {
    let (d, t) = (rhs.nrows(), rhs.ncols());
    if t == 0 {
        return;
    }
    products::solve_upper(MatRef::from_row_major_slice(lower, d, d).transpose(), products::view_mut(rhs));
}

/// The transpose of a row-major `rows × columns` matrix.
fn transposed(entries: &[f64], rows: usize, columns: usize) -> Matrix<f64> {
    let mut out = Matrix::zeros(columns, rows);
    for (r, row) in entries.chunks_exact(columns.max(1)).enumerate() {
        row.iter().enumerate().for_each(|(c, v)| out.row_mut(c)[r] = *v);
    }
    out
}

impl Design for Held<'_> {
    fn nrows(&self) -> usize {
        self.values.nrows()
    }

    fn ncols(&self) -> usize {
        self.values.ncols()
    }

    fn precision(&self) -> Precision {
        self.values.precision()
    }

    fn access(&self) -> Access {
        Access::Held
    }

    fn fill(&self, rows: Range<usize>, mut out: ValuesMut<'_>, _: &dyn Watch) -> Result<(), DesignError> {
        let d = self.ncols();
        out.copy_from(self.values.entries().slice(rows.start * d..rows.end * d));
        self.whiten_rows(out);
        Ok(())
    }

    fn view<'a>(
        &'a self,
        rows: Range<usize>,
        buffer: &'a mut Vec<f64>,
        watch: &dyn Watch,
    ) -> Result<&'a [f64], DesignError> {
        let entries = rows.start * self.ncols()..rows.end * self.ncols();
        match (&self.values, self.whitening) {
            (Values::F64(phi), None) => Ok(&phi.entries()[entries]),
            _ => computed(self, rows, buffer, watch),
        }
    }

    fn fill_at(&self, rows: &[usize], mut out: ValuesMut<'_>, _: &dyn Watch) -> Result<(), DesignError> {
        let d = self.ncols();
        for (i, &row) in rows.iter().enumerate() {
            out.slice(i * d..(i + 1) * d).copy_from(self.values.entries().slice(row * d..(row + 1) * d));
        }
        self.whiten_rows(out);
        Ok(())
    }

    fn apply(&self, v: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), DesignError> {
        let (n, outputs) = (self.nrows(), v.ncols());
        let by_output = transposed(self.unwhitened(v).entries(), v.nrows(), outputs);
        let mut dots = vec![0.0; n];
        for o in 0..outputs {
            with_values!(Values, &self.values, phi => row_dots(phi, by_output.row(o), &mut dots, watch))?;
            dots.iter().enumerate().for_each(|(i, dot)| out.row_mut(i)[o] = *dot);
        }
        Ok(())
    }

    fn apply_transposed(
        &self,
        u: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let t = u.ncols();
        let sums = with_values!(Values, &self.values, phi => combined_rows(phi, t, watch, |_, first, by_output| {
            let rows = by_output.len() / t;
            for r in 0..rows {
                u.row(first + r).iter().enumerate().for_each(|(o, u)| by_output[o * rows + r] = *u);
            }
        }))?;
        *out = transposed(&sums, t, self.ncols());
        self.whiten(out);
        Ok(())
    }

    /// Processes eight rows at a time: their products with V, weighted, and their sum while they are in cache, so that
    /// Φ is read once.
    fn normal(
        &self,
        v: &Matrix<f64>,
        weights: Option<&[f64]>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let (d, t) = (v.nrows(), v.ncols());
        let by_output = transposed(self.unwhitened(v).entries(), d, t);
        let sums = with_values!(Values, &self.values, phi => combined_rows(phi, t, watch, |block, first, u| {
            let rows = u.len() / t;
            for (u, v) in u.chunks_exact_mut(rows).zip(by_output.entries().chunks_exact(d)) {
                block.dot(v, u);
                if let Some(w) = weights {
                    u.iter_mut().zip(&w[first..]).for_each(|(u, w)| *u *= w);
                }
            }
        }))?;
        *out = transposed(&sums, t, d);
        self.whiten(out);
        Ok(())
    }

    fn dots_at(
        &self,
        rows: &[usize],
        v: &[f64],
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let v = self.unwhitened(&Matrix::from_entries(v.len(), 1, v.to_vec()));
        let dots = with_values!(Values, &self.values, phi => chosen_row_dots(phi, rows, v.entries(), watch))?;
        out.copy_from_slice(&dots);
        Ok(())
    }

    fn combine_at(
        &self,
        rows: &[usize],
        u: &[f64],
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let sum = with_values!(Values, &self.values, phi => chosen_rows_combined(phi, rows, u, watch))?;
        let mut sum = Matrix::from_entries(sum.len(), 1, sum);
        self.whiten(&mut sum);
        out.copy_from_slice(sum.entries());
        Ok(())
    }
}
