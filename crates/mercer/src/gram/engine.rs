//! Where kernel matrices are computed: an engine keeps samples resident where the work is done.

use std::any::Any;

use crate::data::{AnySamples, Matrix};
use crate::kernel::{EvalError, Kernel};
use crate::linalg::{HostMatrix, NormalEquations, NormalEquationsError, SymmetricMatrix};
use crate::watch::{Stopped, Watch};

use super::nearest::{Metric, Nearest};
use super::operator::{Gram, KernelGradient, KernelValues};
use super::values::ValuesRef;

/// Why a kernel matrix could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GramError {
    /// The kernel does not fit the samples.
    #[error(transparent)]
    Kernel(#[from] EvalError),
    /// The two sets of samples have different numbers of columns.
    #[error("the samples have {rows} and {cols} columns")]
    Columns {
        /// Columns of the first set.
        rows: usize,
        /// Columns of the second set.
        cols: usize,
    },
    /// The two sets of samples are held by different engines.
    #[error("the two sets of samples are held by different engines: load both with the same one")]
    Elsewhere,
    /// Values in single precision could be wrong in their third digit.
    #[error("single precision is too coarse for this kernel on these samples")]
    TooCoarse,
    /// A matrix was given with another number of entries than its order requires.
    #[error("{found} entries for a {order} × {order} matrix")]
    Entries {
        /// Rows and columns of the matrix.
        order: usize,
        /// Entries that were given.
        found: usize,
    },
    /// The engine could not do the work, such as a device that fails.
    #[error("{0}")]
    Engine(String),
    /// The engine has too little memory of its own.
    #[error("{0}")]
    EngineMemory(String),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Which entries of a symmetric matrix to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    Full,
    /// The diagonal and what is below it; the rest of the buffer is left unspecified.
    Lower,
}

/// The requested precision of a kernel matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The precision of the samples, or double if that is not enough.
    Exact,
    /// Single precision, for callers that check their answer against double.
    Single,
    /// Double precision for samples of either precision.
    Double,
}

/// A place where kernel matrices are computed.
pub trait Engine: Send + Sync {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// The device, for reports.
    fn describe(&self) -> String {
        self.name().to_owned()
    }

    /// Bytes of the engine's own memory that matrices may take; `None` if they are in host memory.
    fn memory(&self) -> Option<u64> {
        None
    }

    /// A symmetric matrix of this order, to be factored: `lower` is its lower triangle, row after row of `order` entries.
    ///
    /// # Panics
    /// If there are not `order²` entries.
    fn symmetric(&self, order: usize, lower: Vec<f64>) -> Box<dyn SymmetricMatrix> {
        Box::new(HostMatrix::new(order, lower))
    }

    /// The routine that sums over random features faster than passes on the host; `None` if there is none.
    fn wave_sums(&self) -> Option<&dyn WaveSums> {
        None
    }

    /// Takes the last failure of the engine in a call that could not return it and reported [`Stopped`] instead.
    fn take_fault(&self) -> Option<GramError> {
        None
    }

    /// Makes samples resident, ready for any kernel. O(nd) time and memory.
    ///
    /// # Errors
    /// If the engine has no room for them.
    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError>;

    /// A kernel matrix that was computed elsewhere: `values` are its entries, row after row.
    ///
    /// # Errors
    /// If there are not `order²` values, or if the engine has no room for them.
    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError>;
}

/// Samples and their random features: the cosines aⱼ·cos⟨ωⱼ,x⟩ and then the sines, or, where there are shifts (in turns), the
/// shifted cosines aⱼ·cos(⟨ωⱼ,x⟩ + 2πbⱼ) alone.
#[derive(Debug, Clone, Copy)]
pub struct WaveRows<'a> {
    /// x.
    pub samples: &'a AnySamples<'a>,
    /// ω, one a row.
    pub frequencies: &'a Matrix<f64>,
    /// b.
    pub shifts: Option<&'a [f64]>,
    /// a.
    pub amplitudes: &'a [f64],
    /// One row for each sample.
    pub targets: &'a Matrix<f64>,
    /// One for each sample; 1 if absent.
    pub weights: Option<&'a [f64]>,
}

/// Sums over random features.
pub trait WaveSums {
    /// Adds samples to sums over their features. nD²/2 multiply-adds.
    ///
    /// # Errors
    /// If the sums are of other features or targets, if something is not a finite number, if the engine has no room, or
    /// if `watch` asks to stop.
    fn add(
        &self,
        rows: &WaveRows<'_>,
        into: &mut NormalEquations,
        watch: &dyn Watch,
    ) -> Result<(), WaveSumsError>;
}

/// Why random features could not be added up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WaveSumsError {
    /// The engine failed, or the watch asked to stop.
    #[error(transparent)]
    Engine(#[from] GramError),
    /// The sums do not fit.
    #[error(transparent)]
    Sums(#[from] NormalEquationsError),
}

/// Samples held where the work is done. Folds, class pairs and a grid of hyper-parameters share one.
pub trait Resident: Any + Send + Sync {
    /// Number of samples.
    fn nrows(&self) -> usize;

    /// Number of columns.
    fn ncols(&self) -> usize;

    /// The chosen samples, in the order given.
    fn select(&self, rows: &[usize]) -> Box<dyn Resident>;

    /// The kernel matrix of the samples with themselves, computed tile by tile on each use and never stored.
    ///
    /// # Errors
    /// If the kernel does not fit the samples; [`GramError::TooCoarse`] if single precision is wanted and values could
    /// be wrong in their third digit.
    fn gram<'a>(&'a self, kernel: &Kernel, wanted: Wanted) -> Result<Box<dyn Gram + 'a>, GramError>;

    /// The kernel matrix of the samples (rows) with `other` (columns), computed tile by tile and never stored.
    ///
    /// # Errors
    /// If the kernel does not fit the samples, or if `other` has other columns or is held by another engine.
    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError>;

    /// Derivatives of a kernel matrix, of the samples with themselves or with `other`: one matrix for each of `derivatives`,
    /// which are what [`Kernel::gradient`] returns. They are computed tile by tile in double precision and never stored.
    ///
    /// # Errors
    /// If a derivative does not fit the samples, if `other` has other columns or is held by another engine, or if the
    /// engine has no derivatives.
    fn gradient<'a>(
        &'a self,
        derivatives: &[Kernel],
        other: Option<&'a dyn Resident>,
    ) -> Result<Box<dyn KernelGradient + 'a>, GramError> {
        let _ = (derivatives, other);
        Err(GramError::Engine("this engine computes no derivatives of kernels; use the processor".into()))
    }

    /// The `min(k, n)` samples nearest to each of `queries`; of equally distant ones those with the lowest numbers.
    ///
    /// Distances are those of the plain formula in double precision, summed over the columns in their order, for any storage.
    /// O(mnd) time for m queries and n samples; O(mk) memory for the answer and O((m + n)d) for packed copies.
    ///
    /// ```
    /// use mercer::data::{AnySamples, Samples};
    /// use mercer::gram::{CpuEngine, Engine, Metric};
    /// use mercer::watch::Unwatched;
    ///
    /// let rows = CpuEngine.load(&AnySamples::F64(Samples::dense(3, 1, vec![0.0, 1.0, 5.0])?))?;
    /// let query = CpuEngine.load(&AnySamples::F64(Samples::dense(1, 1, vec![3.0])?))?;
    /// let nearest = rows.nearest(&*query, 2, Metric::Euclidean, &Unwatched)?;
    /// assert_eq!(nearest.of(0).collect::<Vec<_>>(), [(1, 2.0), (2, 2.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `queries` have other columns or are held by another engine, or if `watch` asks to stop.
    fn nearest(
        &self,
        queries: &dyn Resident,
        k: usize,
        metric: Metric,
        watch: &dyn Watch,
    ) -> Result<Nearest, GramError>;
}
