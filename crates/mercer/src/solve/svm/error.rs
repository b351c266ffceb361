//! Why a support vector machine's problem has no answer.

use crate::watch::Stopped;

/// Why a support vector machine's problem has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SvmError {
    /// There are no variables.
    #[error("there are no samples; a support vector machine needs at least one")]
    Empty,
    /// Samples and what belongs to them do not line up.
    #[error("there are {rows} samples but {found} {what}")]
    Length {
        /// What has the wrong number.
        what: &'static str,
        /// Samples there are.
        rows: usize,
        /// Of the other.
        found: usize,
    },
    /// A number that belongs to a sample is out of range.
    #[error("the {what} of sample {row} is {value}; it must be {allowed}")]
    Value {
        /// What the number is.
        what: &'static str,
        /// The sample, from 0.
        row: usize,
        /// The number.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A hyper-parameter is out of range.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// No point satisfies the constraints at this ν.
    #[error("nu is {nu}, which is infeasible: the smaller class allows at most {largest}")]
    InfeasibleNu {
        /// ν.
        nu: f64,
        /// The largest feasible ν.
        largest: f64,
    },
    /// A starting value is outside of its bounds.
    #[error("the starting value of variable {variable} is {value}; it must be from {lower} to {upper}")]
    Start {
        /// The variable, from 0.
        variable: usize,
        /// Its value.
        value: f64,
        /// The least allowed.
        lower: f64,
        /// The largest allowed.
        upper: f64,
    },
    /// A variable's row is not a row of the kernel matrix.
    #[error("variable {variable} belongs to row {row}, but the kernel matrix has {rows} rows")]
    Row {
        /// The variable, from 0.
        variable: usize,
        /// Its row.
        row: usize,
        /// Rows there are.
        rows: usize,
    },
    /// The kernel matrix has an entry that is not a finite number.
    #[error(
        "the kernel has no finite value at row {row} and another one: the formula is undefined or overflows there"
    )]
    KernelValue {
        /// A row with such an entry, from 0.
        row: usize,
    },
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}
