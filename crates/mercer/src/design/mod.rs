//! A feature matrix Φ, one row φ(xᵢ) per sample, by what it can do.
//!
//! | design | rows of Φ |
//! | --- | --- |
//! | [`Held`] | in memory |
//! | [`Recomputed`] | computed from samples in memory each time they are needed |
//! | [`Crossed`] | kernel values with landmarks, applied tile by tile |
//!
//! Features are those of a [`FeatureMap`], random Fourier features ([`RandomFeatures`]) or kernel values with landmarks
//! ([`Landmarks`]); [`Features`] is any of them.

mod approximation;
mod crossed;
mod error;
mod feature_map;
mod features;
mod formula;
pub mod fourier;
mod held;
pub mod landmarks;
mod monomials;
mod of_kernel;
mod passes;
mod quality;
mod recomputed;
mod row_loss;
mod text;
mod transform;
mod truncation;

use std::ops::Range;
use std::sync::Mutex;

use crate::data::Matrix;
use crate::gram::ValuesMut;
use crate::linalg::NormalEquations;
use crate::real::Precision;
use crate::watch::{Stopped, Watch};

pub use approximation::{Approximation, UnknownApproximation};
pub use crossed::Crossed;
pub(crate) use crossed::{column_means, subtract_and_weight};
pub use error::DesignError;
pub use feature_map::{FeatureMap, MAX_DEGREE};
pub use features::{Features, RowFeatures};
pub use formula::Formulas;
pub use fourier::{Form, Fourier, RandomFeatures, RandomSpec, Sampling};
pub use held::Held;
pub use landmarks::{LandmarkChoice, Landmarks};
pub use passes::{Parts, add_product, add_transposed_product, for_blocks};
pub use quality::{KernelError, kernel_error};
pub use recomputed::{Recomputed, fill_in_slices};
pub use row_loss::{Labelled, LossSums, RowLoss};
pub(crate) use row_loss::{logistic_row, sigmoid, softmax};
pub use text::{FeatureProblem, FeatureTextError};
pub use transform::Transform;

/// How rows of a design are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Any rows at any time, from memory.
    Held,
    /// Any rows at any time, computed each time.
    Computed,
    /// One row after the other: what needs chosen rows is refused.
    Sequential,
}

/// Φ: n rows of D features.
///
/// [`fill`](Self::fill) is required; every other operation has a default that computes it from blocks of rows. All sums run in an
/// order that does not depend on the number of threads.
///
/// # Errors
/// Every operation fails where rows cannot be computed and where `watch` asks to stop; its output is then unspecified.
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

    /// out = ΦV.
    fn apply(&self, v: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), DesignError> {
        passes::apply(self, v, out, watch)
    }

    /// out = ΦᵀU.
    fn apply_transposed(
        &self,
        u: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        passes::apply_transposed(self, u, out, watch)
    }

    /// out = Φᵀ(w ∘ ΦV) in one pass over the rows; weights of 1 where none are given.
    fn normal(
        &self,
        v: &Matrix<f64>,
        weights: Option<&[f64]>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        passes::normal(self, v, weights, out, watch)
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
        passes::normal_equations(self, targets, weights, parts, into, watch)
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
        passes::loss(self, loss, weights, intercepts, gradient, watch)
    }

    /// out = ⟨φᵢ, v⟩ for chosen rows i.
    fn dots_at(
        &self,
        rows: &[usize],
        v: &[f64],
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        passes::dots_at(self, rows, v, out, watch)
    }

    /// out = Σ uᵢφᵢ over chosen rows i.
    fn combine_at(
        &self,
        rows: &[usize],
        u: &[f64],
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        passes::combine_at(self, rows, u, out, watch)
    }
}

/// Keeps why a design failed while the error passes through an interface that can only say [`Stopped`].
#[derive(Debug, Default)]
pub(crate) struct KeptError(Mutex<Option<DesignError>>);

impl KeptError {
    /// Keeps the error of `result`.
    pub fn keep<T>(&self, result: Result<T, DesignError>) -> Result<T, Stopped> {
        result.map_err(|error| {
            *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
            Stopped
        })
    }

    /// The error that was kept; a stop where there is none.
    pub fn take(&self) -> DesignError {
        let kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        kept.unwrap_or(DesignError::Stopped(Stopped))
    }
}
