//! What random features and Nyström have in common.

use std::ops::Range;

use rayon::prelude::*;

use crate::data::{AnySamples, Matrix};
use crate::gram::GramError;
use crate::kernel::SpectrumError;
use crate::linalg::{CholeskyError, EigenError, NormalEquationsError, zeroed};
use crate::memory;
use crate::watch::{Stopped, Watch};

/// Why a kernel has no approximate features.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApproximationError {
    /// A parameter is outside of its range.
    #[error("{parameter} is {received}; it must be {allowed}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// What was given.
        received: String,
        /// What is allowed.
        allowed: String,
    },
    /// The samples have another number of columns than the features are of.
    #[error("the features are of {expected} columns, but the samples have {found}")]
    Columns {
        /// Columns of the samples.
        found: usize,
        /// Columns the features are of.
        expected: usize,
    },
    /// A matrix does not fit the memory.
    #[error("{what} would take {}, more than the {} there are", memory::human(*.needed), memory::human(*.budget))]
    Memory {
        /// The matrix.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        budget: u64,
    },
    /// A kernel value between landmarks is not a finite number.
    #[error("the kernel has no finite value at landmarks {row} and {column}")]
    KernelValue {
        /// One landmark, from 0.
        row: usize,
        /// The other, from 0.
        column: usize,
    },
    /// The kernel is zero, or not positive, on all landmarks.
    #[error("the kernel matrix of the landmarks has no positive eigenvalue")]
    NoRank,
    /// The kernel has no spectral density to draw from.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// A kernel matrix could not be computed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// An eigen-decomposition failed.
    #[error(transparent)]
    Eigen(#[from] EigenError),
    /// A factorisation failed.
    #[error(transparent)]
    Cholesky(#[from] CholeskyError),
    /// Sums over features could not be taken.
    #[error(transparent)]
    NormalEquations(#[from] NormalEquationsError),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl ApproximationError {
    /// Whether the work ended because its watch asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            Self::Stopped(_)
                | Self::Gram(GramError::Stopped(_))
                | Self::Cholesky(CholeskyError::Stopped(_))
                | Self::NormalEquations(NormalEquationsError::Stopped(_))
        )
    }

    pub(super) fn parameter(
        parameter: &'static str,
        received: impl ToString,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Parameter { parameter, received: received.to_string(), allowed: allowed.into() }
    }
}

/// A map φ of samples to features with ⟨φ(x),φ(z)⟩ ≈ k(x,z). The features of a row do not depend on other rows.
pub trait KernelFeatures: Sync {
    /// Columns of the samples.
    fn columns(&self) -> usize;

    /// Number of features.
    fn features(&self) -> usize;

    /// Writes the features of some rows of `samples` to `out`, row after row, in single precision.
    ///
    /// # Errors
    /// Where the samples have another number of columns, and where `watch` asks to stop.
    ///
    /// # Panics
    /// Where `out` does not have [`features`](Self::features) entries for each row.
    fn fill_f32(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [f32],
        watch: &dyn Watch,
    ) -> Result<(), ApproximationError>;

    /// As [`fill_f32`](Self::fill_f32), in double precision.
    ///
    /// # Errors
    /// As [`fill_f32`](Self::fill_f32).
    fn fill_f64(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), ApproximationError>;

    /// The features of every row in single precision.
    ///
    /// # Errors
    /// As [`fill_f32`](Self::fill_f32), and where they do not fit the memory.
    fn transform_f32(
        &self,
        samples: &AnySamples<'_>,
        watch: &dyn Watch,
    ) -> Result<Matrix<f32>, ApproximationError> {
        let (n, width) = (samples.nrows(), self.features());
        check_memory("the features", n, width, 4)?;
        let mut out = zeroed(n * width);
        self.fill_f32(samples, 0..n, &mut out, watch)?;
        Ok(Matrix::from_entries(n, width, out))
    }

    /// The features of every row in double precision.
    ///
    /// # Errors
    /// As [`transform_f32`](Self::transform_f32).
    fn transform_f64(
        &self,
        samples: &AnySamples<'_>,
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, ApproximationError> {
        let (n, width) = (samples.nrows(), self.features());
        check_memory("the features", n, width, 8)?;
        let mut out = zeroed(n * width);
        self.fill_f64(samples, 0..n, &mut out, watch)?;
        Ok(Matrix::from_entries(n, width, out))
    }
}

/// Whether `rows × columns` numbers of `size` bytes fit the memory budget.
pub(super) fn check_memory(
    what: &'static str,
    rows: usize,
    columns: usize,
    size: u64,
) -> Result<(), ApproximationError> {
    let needed = (rows as u64).saturating_mul(columns as u64).saturating_mul(size);
    let budget = memory::default_budget();
    // Asking the system costs a file read: not worth it for what surely fits.
    if needed > 64 << 20 && needed > budget {
        return Err(ApproximationError::Memory { what, needed, budget });
    }
    Ok(())
}

pub(super) fn check_columns(samples: &AnySamples<'_>, expected: usize) -> Result<(), ApproximationError> {
    let found = samples.ncols();
    if found == expected { Ok(()) } else { Err(ApproximationError::Columns { found, expected }) }
}

/// Calls `fill` with every band of `band` rows of `out`, in parallel, each with working memory of its thread.
pub(super) fn by_bands<T: Send, W: Send>(
    rows: Range<usize>,
    out: &mut [T],
    band: usize,
    working: impl Fn() -> W + Sync + Send,
    watch: &dyn Watch,
    fill: impl Fn(&mut W, Range<usize>, &mut [T]) -> Result<(), ApproximationError> + Sync + Send,
) -> Result<(), ApproximationError> {
    let count = rows.len();
    if count == 0 {
        assert!(out.is_empty());
        return Ok(());
    }
    assert!(out.len().is_multiple_of(count), "{count} rows of features");
    let width = out.len() / count;
    out.par_chunks_mut((band * width).max(1)).enumerate().try_for_each_init(working, |working, (b, out)| {
        watch.check()?;
        let start = rows.start + b * band;
        fill(working, start..rows.end.min(start + band), out)
    })
}
