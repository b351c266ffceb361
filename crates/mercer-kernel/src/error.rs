//! Errors of kernels.

/// Why a kernel has no value on given points.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A hyper-parameter is not resolved yet: it needs data or tuning.
    #[error("{family}: {parameter} has no value yet (`auto` and `?` are filled in from data)")]
    Unresolved {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
    },
    /// A list has another length than the points have columns.
    #[error("{family}: {parameter} lists {values} values, but there are {columns} columns")]
    ListLength {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
        /// Values in the list.
        values: usize,
        /// Columns of the points.
        columns: usize,
    },
    /// A column subset uses a column that does not exist.
    #[error("the kernel uses column {column}, but there are only {available} columns (counted from 0)")]
    MissingColumn {
        /// The column used, from 0.
        column: usize,
        /// The number of columns.
        available: usize,
    },
    /// The two points have different numbers of coordinates.
    #[error("the points have {x} and {z} coordinates")]
    Lengths {
        /// Coordinates of the first point.
        x: usize,
        /// Coordinates of the second point.
        z: usize,
    },
}
