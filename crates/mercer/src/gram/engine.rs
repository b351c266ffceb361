//! Where kernel matrices are computed: an engine keeps samples resident where the work is done.

use std::any::Any;

use crate::data::AnySamples;
use crate::kernel::{EvalError, Kernel};
use crate::real::Precision;
use crate::watch::Stopped;

use super::operator::{Gram, KernelValues};

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

/// A place where kernel matrices are computed.
pub trait Engine: Send + Sync {
    /// Makes samples resident: centred, with their norms, ready for any kernel.
    fn load(&self, samples: &AnySamples<'_>) -> Box<dyn Resident>;
}

/// Samples held where the work is done. Folds, class pairs and a grid of hyper-parameters share one.
pub trait Resident: Any + Send + Sync {
    /// Number of samples.
    fn nrows(&self) -> usize;

    /// Number of columns.
    fn ncols(&self) -> usize;

    /// The kernel matrix of the samples with themselves, computed tile by tile on each use and never stored.
    fn gram<'a>(&'a self, kernel: &Kernel) -> Result<Box<dyn Gram + 'a>, GramError>;

    /// As [`gram`](Self::gram), in a precision of the caller's choice whatever that of the samples; `None` where values
    /// in single precision could be wrong in their third digit: for callers that check their answer against double.
    fn gram_in<'a>(
        &'a self,
        kernel: &Kernel,
        precision: Precision,
    ) -> Result<Option<Box<dyn Gram + 'a>>, GramError>;

    /// The kernel matrix of the samples (rows) with `other` (columns), tile by tile, never stored.
    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError>;

    /// Some of the samples, in the order given.
    fn select(&self, rows: &[usize]) -> Box<dyn Resident>;
}
