//! Why a design has no features.

use crate::data::{AnySamples, PassError};
use crate::gram::GramError;
use crate::kernel::SpectrumError;
use crate::linalg::{CholeskyError, EigenError, NormalEquationsError};
use crate::memory;
use crate::watch::Stopped;

/// Why features, or a result from them, cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// A parameter is outside of its range.
    #[error("{parameter} is {received}; it must be {allowed}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// The value received.
        received: String,
        /// The values allowed.
        allowed: String,
    },
    /// A parameter of a feature map is outside of its range.
    #[error("{map}: {parameter} is {received}; it must be {allowed}")]
    MapParameter {
        /// The kind of map.
        map: &'static str,
        /// Its parameter.
        parameter: &'static str,
        /// The map received.
        received: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// The number of features does not fit 64 bits.
    #[error("{map} of {columns} columns has {count} features, more than can be stored")]
    TooMany {
        /// The map.
        map: String,
        /// Columns of the samples.
        columns: usize,
        /// The number of features, exactly.
        count: String,
    },
    /// The features of a map, or what is computed from them, do not fit the memory budget.
    #[error(
        "{map} of {columns} columns has {count} features: {what} would take {}, more than the memory budget of {}",
        memory::human(*.needed), memory::human(*.budget)
    )]
    TooLarge {
        /// The map.
        map: String,
        /// Columns of the samples.
        columns: usize,
        /// The number of features.
        count: u64,
        /// The allocation.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may use.
        budget: u64,
    },
    /// A matrix does not fit the memory.
    #[error("{what} would take {}, but only {} are available", memory::human(*.needed), memory::human(*.budget))]
    Memory {
        /// The matrix.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        budget: u64,
    },
    /// A sample is so far from the origin that the phases of random features are not known.
    #[error(
        "row {row} (from 0) holds {value:e} in column {column} (from 0), where random features vary over about {length:.1e}: their \
         phases are lost in rounding; scale the column, or use a kernel with a larger length"
    )]
    Phase {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value found.
        value: f64,
        /// The inverse of a typical frequency.
        length: f64,
    },
    /// A formula refers to a column that the samples do not have.
    #[error(
        "the feature {feature} uses column {column}, but there are only {available} columns (counted from 0)"
    )]
    MissingColumn {
        /// The formula.
        feature: String,
        /// The column it refers to, from 0.
        column: usize,
        /// Columns of the samples.
        available: usize,
    },
    /// A formula names a column that the data does not have.
    #[error("there is no column `{name}`{}; there are {known}", did_you_mean(suggestion))]
    UnknownColumn {
        /// The name found.
        name: String,
        /// The nearest name of a column.
        suggestion: Option<String>,
        /// The columns of the data.
        known: String,
    },
    /// A name in a formula is ambiguous: it is the name of a column and also has another meaning.
    #[error(
        "`{name}` is the name of column {column} (counted from 0), but in a formula it stands for {meaning}; \
         put names of columns in backquotes, as in `{name}` between them"
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// The column of that name, from 0.
        column: usize,
        /// Its other meaning.
        meaning: String,
    },
    /// A feature has no finite value.
    #[error("the feature {feature} is {value} in row {row} (counted from 0), where {at}")]
    NonFinite {
        /// The feature.
        feature: String,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
        /// The columns it is computed from, and their values.
        at: String,
    },
    /// The samples have another number of columns than the features are of.
    #[error("the features need {expected} columns, but the samples have {found}")]
    Columns {
        /// Columns of the samples.
        found: usize,
        /// Columns the features are of.
        expected: usize,
    },
    /// A map that does not support shifted samples was used on them.
    #[error("random features do not support shifted samples (bias = column)")]
    Shifted,
    /// The rows of the design can only be read in order.
    #[error("the rows are read sequentially, but this operation needs random access")]
    Sequential,
    /// The rows of a stream could not be read.
    #[error("{0}")]
    Rows(String),
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
    /// The normal equations of the features could not be summed or solved.
    #[error(transparent)]
    NormalEquations(#[from] NormalEquationsError),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<PassError> for DesignError {
    fn from(error: PassError) -> Self {
        match error {
            PassError::Stopped(stopped) => Self::Stopped(stopped),
            error => Self::Rows(error.to_string()),
        }
    }
}

impl DesignError {
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

    /// Whether the error is of a feature map, not of an approximation of a kernel.
    #[must_use]
    pub fn is_of_map(&self) -> bool {
        matches!(
            self,
            Self::MapParameter { .. }
                | Self::TooMany { .. }
                | Self::TooLarge { .. }
                | Self::MissingColumn { .. }
                | Self::UnknownColumn { .. }
                | Self::Ambiguous { .. }
                | Self::NonFinite { .. }
        )
    }
}

/// Checks that `rows × columns` numbers of `size` bytes fit the memory budget.
pub(super) fn check_memory(
    what: &'static str,
    rows: usize,
    columns: usize,
    size: u64,
    budget: u64,
) -> Result<(), DesignError> {
    let needed = (rows as u64).saturating_mul(columns as u64).saturating_mul(size);
    if needed > budget { Err(DesignError::Memory { what, needed, budget }) } else { Ok(()) }
}

pub(super) fn check_columns(samples: &AnySamples<'_>, expected: usize) -> Result<(), DesignError> {
    let found = samples.ncols();
    if found == expected { Ok(()) } else { Err(DesignError::Columns { found, expected }) }
}

pub(super) fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
