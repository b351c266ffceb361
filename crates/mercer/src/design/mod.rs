//! A feature matrix Φ, one row φ(xᵢ) per sample, as a set of operations.
//!
//! | design | rows of Φ |
//! | --- | --- |
//! | [`Held`] | in memory |
//! | [`Recomputed`] | computed from samples in memory each time they are needed |
//! | [`Streamed`] | computed from rows that are read in passes, for operations that need them in order |
//!
//! Features are those of a [`FeatureMap`], random Fourier features ([`RandomFeatures`]) or kernel values with landmarks
//! ([`Landmarks`]); [`Features`] is any of them.

mod approximation;
mod error;
mod feature_map;
mod features;
mod formula;
pub mod fourier;
mod held;
mod labelled_rows;
pub mod landmarks;
mod monomials;
mod of_kernel;
mod passes;
mod quality;
mod recomputed;
mod row_loss;
mod streamed;
mod text;
mod transform;
mod truncation;

use std::ops::Range;
use std::sync::Mutex;

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::{Values, ValuesMut, with_values};
use crate::linalg::{NormalEquations, RowProducts, products, zeroed};
use crate::real::Precision;
use crate::watch::{Stopped, Watch};

pub use approximation::{Approximation, UnknownApproximation};
pub use error::DesignError;
pub use feature_map::{FeatureMap, MAX_DEGREE};
pub use features::{Features, RowFeatures};
pub use formula::Formulas;
pub use fourier::{Form, Fourier, RandomFeatures, RandomSpec, Sampling};
pub use held::Held;
pub use labelled_rows::{LabelledDesign, LabelledRows, Rounding};
pub use landmarks::{LandmarkChoice, LandmarkFactor, Landmarks};
pub use passes::{Parts, add_product, add_transposed_product};
pub use quality::{KernelError, kernel_error};
pub use recomputed::{Recomputed, fill_in_slices};
pub use row_loss::{Labelled, Loss, LossSums, RowLoss};
pub(crate) use row_loss::{logistic_row, sigmoid, softmax};
pub use streamed::Streamed;
pub use text::{FeatureProblem, FeatureTextError};
pub use transform::Transform;

/// Rows of Φ that are held at a time.
const BLOCK: usize = 1_024;

/// Rows that are sorted into parts at a time.
const SORTED: usize = 16_384;

/// Rows of one task of a loss.
const LOSS_ROWS: usize = 128;

/// Tasks of a loss whose partial gradients are held at the same time.
const LOSS_TASKS: usize = 64;

/// Chosen rows that are computed at a time.
const CHOSEN: usize = 256;

/// How the rows of a design can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Any rows at any time, from memory.
    Held,
    /// Any rows at any time, computed each time.
    Computed,
    /// One row after the other: operations on chosen rows fail.
    Sequential,
}

/// A callback that receives the range of some rows and the rows, row-major.
pub type BlockVisitor<'a> = dyn FnMut(Range<usize>, &[f64]) -> Result<(), DesignError> + Send + 'a;

/// Φ: n rows of D features.
///
/// [`fill`](Self::fill) is required; every other operation has a default that computes it from blocks of rows. All sums run in an
/// order that does not depend on the number of threads.
///
/// # Errors
/// Every operation fails if rows cannot be computed or if `watch` asks to stop; its output is then unspecified.
///
/// # Panics
/// Every operation panics where vectors and matrices do not have the shape of Φ.
pub trait Design: Sync {
    /// n, the number of rows.
    fn nrows(&self) -> usize;

    /// D, the number of features.
    fn ncols(&self) -> usize;

    /// The precision that rows are computed or stored in.
    fn precision(&self) -> Precision;

    /// How rows are read.
    fn access(&self) -> Access {
        Access::Computed
    }

    /// Writes a range of rows into `out`, row after row.
    fn fill(&self, rows: Range<usize>, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError>;

    /// Writes chosen rows into `out`, row after row.
    fn fill_at(&self, rows: &[usize], mut out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        let width = self.ncols();
        rows.iter()
            .enumerate()
            .try_for_each(|(i, &row)| self.fill(row..row + 1, out.slice(i * width..(i + 1) * width), watch))
    }

    /// A range of rows in double precision: borrowed if they are in memory, otherwise written into `buffer`.
    fn view<'a>(
        &'a self,
        rows: Range<usize>,
        buffer: &'a mut Vec<f64>,
        watch: &dyn Watch,
    ) -> Result<&'a [f64], DesignError> {
        computed(self, rows, buffer, watch)
    }

    /// Calls `visit` with every block of at most `height` rows, in order and in double precision.
    fn blocks(
        &self,
        height: usize,
        watch: &dyn Watch,
        visit: &mut BlockVisitor<'_>,
    ) -> Result<(), DesignError> {
        let n = self.nrows();
        let height = height.min(n.max(1));
        let mut buffer = Vec::new();
        for first in (0..n).step_by(height) {
            watch.check()?;
            let rows = first..n.min(first + height);
            visit(rows.clone(), self.view(rows, &mut buffer, watch)?)?;
        }
        Ok(())
    }

    /// out = ΦV.
    fn apply(&self, v: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), DesignError> {
        let outputs = v.ncols();
        out.entries_mut().fill(0.0);
        self.blocks(BLOCK, watch, &mut |rows, phi| {
            add_product(&mut out.entries_mut()[rows.start * outputs..rows.end * outputs], phi, v, 1.0);
            Ok(())
        })
    }

    /// out = ΦᵀU.
    fn apply_transposed(
        &self,
        u: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        out.entries_mut().fill(0.0);
        self.blocks(BLOCK, watch, &mut |rows, phi| {
            add_transposed_product(out, phi, &u.entries()[rows.start * u.ncols()..rows.end * u.ncols()]);
            Ok(())
        })
    }

    /// out = Φᵀ(w ∘ ΦV) in one pass over the rows; weights of 1 where none are given.
    fn normal(
        &self,
        v: &Matrix<f64>,
        weights: Option<&[f64]>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let outputs = v.ncols();
        out.entries_mut().fill(0.0);
        self.blocks(BLOCK, watch, &mut |rows, phi| {
            let mut values = vec![0.0; rows.len() * outputs];
            add_product(&mut values, phi, v, 1.0);
            if let Some(weights) = weights {
                let rows = values.chunks_exact_mut(outputs.max(1)).zip(&weights[rows]);
                rows.for_each(|(values, w)| values.iter_mut().for_each(|value| *value *= w));
            }
            add_transposed_product(out, phi, &values);
            Ok(())
        })
    }

    /// Adds each row, its targets and its weight to the sums of its part.
    ///
    /// nD²/2 multiply-adds and 1,024 rows of features in memory.
    fn normal_equations(
        &self,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        parts: &Parts<'_>,
        into: &mut [NormalEquations],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let n = self.nrows();
        for (what, found) in [
            ("the number of rows of targets", Some(targets.nrows())),
            ("the number of weights", weights.map(<[f64]>::len)),
        ] {
            if let Some(found) = found.filter(|found| *found != n) {
                return Err(DesignError::parameter(what, found, format!("{n}, one for each sample")));
            }
        }
        watch.begin("features", n as u64);
        let mut phi = Values::zeros(self.precision(), 0, self.ncols());
        let mut add = |sums: &mut NormalEquations, rows: &[usize]| {
            if phi.nrows() != rows.len() {
                phi = Values::zeros(self.precision(), rows.len(), self.ncols());
            }
            match (rows.first(), rows.last()) {
                (Some(&first), Some(&last)) if last - first + 1 == rows.len() => {
                    self.fill(first..last + 1, phi.entries_mut(), watch)?;
                }
                _ => self.fill_at(rows, phi.entries_mut(), watch)?,
            }
            let weights: Option<Vec<f64>> = weights.map(|w| rows.iter().map(|&row| w[row]).collect());
            with_values!(Values, &phi, phi => sums.add(phi, &targets.select(rows), weights.as_deref(), watch))?;
            Ok::<_, DesignError>(())
        };
        for start in (0..n).step_by(SORTED) {
            let mut rows = vec![Vec::new(); into.len()];
            for row in start..n.min(start + SORTED) {
                let part = match parts {
                    Parts::All => Some(0),
                    Parts::Table(table) => table[row],
                };
                part.into_iter().for_each(|part| rows[part].push(row));
            }
            for (sums, rows) in into.iter_mut().zip(&rows) {
                for rows in rows.chunks(BLOCK) {
                    add(sums, rows)?;
                    watch.advance(rows.len() as u64);
                }
            }
        }
        Ok(())
    }

    /// Σᵢ ℓᵢ(Wᵀφᵢ + b) with its derivative in b and its mean curvature; `gradient` = the derivative in W.
    fn loss(
        &self,
        loss: &RowLoss<'_>,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        gradient: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<LossSums, DesignError> {
        let (n, d, m) = (self.nrows(), self.ncols(), intercepts.len());
        let view = products::view(weights);
        let starts: Vec<usize> = (0..n).step_by(LOSS_ROWS).collect();
        gradient.entries_mut().fill(0.0);
        let mut sums = LossSums { value: 0.0, pull: vec![0.0; m], curvature: Some(0.0) };
        for starts in starts.chunks(LOSS_TASKS) {
            let parts = starts.par_iter().map(|&first| {
                watch.check()?;
                let rows = first..n.min(first + LOSS_ROWS);
                let height = rows.len();
                let mut buffer = Vec::new();
                let phi =
                    MatRef::from_row_major_slice(self.view(rows.clone(), &mut buffer, watch)?, height, d);
                let mut f = intercepts.repeat(height);
                let out = MatMut::from_row_major_slice_mut(&mut f, height, m);
                products::add(out, 1.0, phi, view);
                let mut g = vec![0.0; height * m];
                let mut part = LossSums { value: 0.0, pull: vec![0.0; m], curvature: Some(0.0) };
                for (i, (f, g)) in rows.zip(f.chunks_exact(m).zip(g.chunks_exact_mut(m))) {
                    part.value += loss.row(i, f, g);
                    part.curvature = part.curvature.zip(loss.curvature_at(i, g)).map(|(a, b)| a + b);
                    part.pull.iter_mut().zip(&*g).for_each(|(pull, g)| *pull += g);
                }
                let mut of_rows = vec![0.0; d * m];
                let out = MatMut::from_row_major_slice_mut(&mut of_rows, d, m);
                let g = MatRef::from_row_major_slice(&g, height, m);
                products::assign(out, 1.0, phi.transpose(), g);
                Ok::<_, DesignError>((part, of_rows))
            });
            for part in parts.collect::<Vec<_>>() {
                let (part, of_rows) = part?;
                sums.add(&part);
                gradient.entries_mut().iter_mut().zip(of_rows).for_each(|(to, from)| *to += from);
            }
        }
        Ok(sums)
    }

    /// out = ⟨φᵢ, v⟩ for chosen rows i.
    fn dots_at(
        &self,
        rows: &[usize],
        v: &[f64],
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let width = self.ncols();
        let mut phi = vec![0.0; width * CHOSEN.min(rows.len())];
        for (rows, out) in rows.chunks(CHOSEN).zip(out.chunks_mut(CHOSEN)) {
            let phi = &mut phi[..rows.len() * width];
            self.fill_at(rows, (&mut *phi).into(), watch)?;
            RowProducts::new(phi, width).dot(v, out);
        }
        Ok(())
    }

    /// out = Σ uᵢφᵢ over chosen rows i.
    fn combine_at(
        &self,
        rows: &[usize],
        u: &[f64],
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let width = self.ncols();
        let mut phi = vec![0.0; width * CHOSEN.min(rows.len())];
        out.fill(0.0);
        for (rows, u) in rows.chunks(CHOSEN).zip(u.chunks(CHOSEN)) {
            let phi = &mut phi[..rows.len() * width];
            self.fill_at(rows, (&mut *phi).into(), watch)?;
            RowProducts::new(phi, width).combine(u, out);
        }
        Ok(())
    }
}

/// A range of rows, computed into `buffer`.
fn computed<'a, D: Design + ?Sized>(
    design: &D,
    rows: Range<usize>,
    buffer: &'a mut Vec<f64>,
    watch: &dyn Watch,
) -> Result<&'a [f64], DesignError> {
    let count = rows.len() * design.ncols();
    if buffer.len() < count {
        *buffer = zeroed(count);
    }
    design.fill(rows, (&mut buffer[..count]).into(), watch)?;
    Ok(&buffer[..count])
}

/// Records why a design failed while the error passes through an interface that can only return [`Stopped`].
#[derive(Debug, Default)]
pub(crate) struct KeptError(Mutex<Option<DesignError>>);

impl KeptError {
    /// Records the error of `result`.
    pub fn keep<T>(&self, result: Result<T, DesignError>) -> Result<T, Stopped> {
        result.map_err(|error| {
            *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
            Stopped
        })
    }

    /// The recorded error; a stop if there is none.
    pub fn take(&self) -> DesignError {
        let kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        kept.unwrap_or(DesignError::Stopped(Stopped))
    }
}
