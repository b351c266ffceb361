//! Why a learner has no model.

use crate::features::ApproximationError;
use crate::gram::GramError;
use crate::kernel::check::Domain;
use crate::kernel::{ComposeError, EvalError};
use crate::memory;
use crate::solve::{CgError, SolveError};
use crate::watch::Stopped;

/// Why a learner has no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// There is nothing to learn from.
    #[error("there are {rows} rows and {columns} feature columns; a model needs at least one of each")]
    Empty {
        /// Rows there are.
        rows: usize,
        /// Feature columns there are.
        columns: usize,
    },
    /// Rows and targets, or rows and weights, do not line up.
    #[error("there are {rows} rows but {found} {what}")]
    Length {
        /// What there is another number of.
        what: &'static str,
        /// Rows there are.
        rows: usize,
        /// Of the other.
        found: usize,
    },
    /// A hyper-parameter is outside of its range.
    #[error("{parameter} is {received}; it must be {allowed}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// What was given.
        received: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A target or weight is not a finite number.
    #[error("the {what} of row {row} is {value}, not a finite number")]
    NonFinite {
        /// `target` or `weight`.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The problem does not fit the memory budget.
    #[error(
        "{rows} rows need a kernel matrix of {}, more than the memory budget of {}",
        memory::human(*.needed), memory::human(*.budget)
    )]
    Memory {
        /// Rows of the problem.
        rows: usize,
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may use.
        budget: u64,
    },
    /// The formula is not positive semidefinite where the samples are.
    #[error("{kernel} is not a kernel on {domain}: {refutation}")]
    NotAKernel {
        /// The formula.
        kernel: String,
        /// The narrowest domain that holds the samples.
        domain: Domain,
        /// The counter-example.
        refutation: String,
    },
    /// Something that cannot be had together.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The kernel matrix has an entry that is not a finite number.
    #[error(
        "the kernel has no finite value at rows {row} and {column}: the formula is undefined or overflows there"
    )]
    KernelValue {
        /// One row, from 0.
        row: usize,
        /// The other, from 0.
        column: usize,
    },
    /// The kernel does not fit the samples.
    #[error(transparent)]
    Kernel(#[from] EvalError),
    /// The kernel with its constant would be larger than a kernel may be.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The kernel matrix could not be computed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// The problem has no answer.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// There are no features that stand in for the kernel.
    #[error(transparent)]
    Approximation(#[from] ApproximationError),
    /// Conjugate gradients have no answer.
    #[error(transparent)]
    ConjugateGradients(#[from] CgError),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl LearnError {
    /// Whether the work ended because its watch asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            Self::Stopped(_)
                | Self::Gram(GramError::Stopped(_))
                | Self::Solve(SolveError::Stopped(_))
                | Self::ConjugateGradients(CgError::Stopped(_))
                | Self::Approximation(ApproximationError::Stopped(_))
                | Self::Approximation(ApproximationError::Gram(GramError::Stopped(_)))
        )
    }
}
