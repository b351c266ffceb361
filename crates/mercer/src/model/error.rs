//! Errors of models and model files.

use std::io;
use std::path::PathBuf;

use crate::data::{DataError, reason};
use crate::design::DesignError;
use crate::gram::GramError;
use crate::solve::SolveError;

/// Why a model cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file could not be read.
    #[error("{}: {}", path.display(), reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The bytes are not a model: not the container, cut short, or damaged.
    #[error("{}: not a mercer model: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The parts of a predictor are inconsistent.
    #[error("the parts of the model are inconsistent: {reason}")]
    Inconsistent {
        /// What is wrong with them.
        reason: String,
    },
    /// The file is a model of a later format.
    #[error("{}: written by a newer version of mercer (format {found}; this version reads up to {supported})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The latest format this program reads.
        supported: u64,
    },
    /// The file needs a feature this program does not have.
    #[error("{}: the model requires `{feature}`, which this version of mercer does not support", path.display())]
    Requires {
        /// The file.
        path: PathBuf,
        /// The feature.
        feature: String,
    },
    /// The text is not a valid LIBSVM model.
    #[error("{}:{line}: not a LIBSVM model: {problem}", path.display())]
    Libsvm {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// LIBSVM has no such model.
    #[error("cannot be written as a LIBSVM model: {reason}")]
    NotLibsvm {
        /// Why not.
        reason: String,
    },
    /// The samples have another number of columns than the model was trained on.
    #[error("the model was trained on {expected} feature columns, but the samples have {found}")]
    Columns {
        /// Columns of the samples.
        found: usize,
        /// Columns of the model.
        expected: usize,
    },
    /// A sample is outside of the domain that the kernel is proven on.
    #[error(
        "row {row} (from 0, after scaling) is outside the domain on which the kernel is proven: {reason}"
    )]
    OutsideDomain {
        /// The row, from 0.
        row: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The file could not be written, or the samples cannot be scaled.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The prediction could not be computed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// The weights of a primal model do not match its features and outputs.
    #[error("the model has {rows} × {columns} weights for {features} features and {outputs} outputs")]
    Weights {
        /// Rows of weights.
        rows: usize,
        /// Columns of weights.
        columns: usize,
        /// Features of its map.
        features: usize,
        /// Its outputs.
        outputs: usize,
    },
    /// The model keeps no variance.
    #[error(
        "the model has no variance: it was fitted with --no-variance, or by a method that has none; fit it again without that flag"
    )]
    NoVariance,
    /// The covariance of a posterior has no Cholesky factor.
    #[error(
        "the posterior's covariance at these points is not positive definite to working precision, so nothing can be drawn from it"
    )]
    NoDraws,
    /// The samples do not have the model's features.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The variances of latent functions could not be computed.
    #[error(transparent)]
    Solve(#[from] SolveError),
}
