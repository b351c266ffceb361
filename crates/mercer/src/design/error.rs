//! Why there are no features.

use crate::memory;
use crate::watch::Stopped;

/// Why a feature map has no features of some samples.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// A parameter of the map is outside of its range.
    #[error("{map}: {parameter} is {received}; it must be {allowed}")]
    Parameter {
        /// The kind of map.
        map: &'static str,
        /// Its parameter.
        parameter: &'static str,
        /// What was given.
        received: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The features cannot even be counted in 64 bits.
    #[error("{map} of {columns} columns has {count} features, more than any memory holds")]
    TooMany {
        /// The map.
        map: String,
        /// Columns it was asked for.
        columns: usize,
        /// The number of features, exactly.
        count: String,
    },
    /// The features, or what is computed from them, do not fit the memory budget.
    #[error(
        "{map} of {columns} columns has {count} features: {what} would take {}, more than the memory budget of {}",
        memory::human(*.needed), memory::human(*.budget)
    )]
    Memory {
        /// The map.
        map: String,
        /// Columns it was asked for.
        columns: usize,
        /// The number of features.
        count: u64,
        /// What needs the memory.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may use.
        budget: u64,
    },
    /// A formula asks for a column that is not there.
    #[error(
        "the feature {feature} uses column {column}, but there are only {available} columns (counted from 0)"
    )]
    MissingColumn {
        /// The formula.
        feature: String,
        /// The column asked for, from 0.
        column: usize,
        /// Columns there are.
        available: usize,
    },
    /// A formula names a column that the data does not have.
    #[error("there is no column `{name}`{}; there are {known}", did_you_mean(suggestion))]
    UnknownColumn {
        /// The name found.
        name: String,
        /// The nearest name there is.
        suggestion: Option<String>,
        /// The columns there are.
        known: String,
    },
    /// A name in a formula is the name of one column and stands for something else as well.
    #[error(
        "`{name}` is the name of column {column} (counted from 0), but in a formula it stands for {meaning}; \
         put names of columns in backquotes, as in `{name}` between them"
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// The column of that name, from 0.
        column: usize,
        /// What else it stands for.
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
    /// The samples have another number of columns than the map was made for.
    #[error("the features are of {expected} columns, but the samples have {found}")]
    Columns {
        /// Columns of the samples.
        found: usize,
        /// Columns the map was made for.
        expected: usize,
    },
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

pub(super) fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
