//! Errors of training.

use crate::data::{PassError, counted};
use crate::design::DesignError;
use crate::gram::GramError;
use crate::kernel::check::Domain;
use crate::kernel::{ComposeError, EvalError, ResolveError};
use crate::linalg::NormalEquationsError;
use crate::memory;
use crate::model::ModelError;
use crate::session::Session;
use crate::solve::SolveError;
use crate::watch::Stopped;

/// Errors of training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// The problem is empty.
    #[error("there are {rows} rows and {columns} feature columns; a model needs at least one of each")]
    Empty {
        /// The number of rows.
        rows: usize,
        /// The number of feature columns.
        columns: usize,
    },
    /// The numbers of rows and targets, or rows and weights, differ.
    #[error("there are {rows} rows but {found} {what}")]
    Length {
        /// The items whose number differs.
        what: &'static str,
        /// The number of rows.
        rows: usize,
        /// The number of those items.
        found: usize,
    },
    /// A hyper-parameter is outside of its range.
    #[error("{parameter} is {received}; it must be {allowed}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// The value given.
        received: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// The number of values of λ is neither one nor that of the targets.
    #[error("there are {found} values of lambda for {targets} target{}; give one for all targets or one for each", if *.targets == 1 { "" } else { "s" })]
    Lambdas {
        /// The number of values.
        found: usize,
        /// The number of targets.
        targets: usize,
    },
    /// There are fewer rows than the neighbours requested.
    #[error("k is {k}, but there {} only {}", if *.rows == 1 { "is" } else { "are" }, counted(*.rows, "neighbour"))]
    TooManyNeighbours {
        /// The neighbours requested.
        k: usize,
        /// The number of rows.
        rows: usize,
    },
    /// The kernel cannot be the weight of a smoother.
    #[error("{kernel} cannot be used as weights: {reason}")]
    NotAWeight {
        /// The formula.
        kernel: String,
        /// The reason.
        reason: String,
    },
    /// There are too few rows to choose hyper-parameters.
    #[error("there are {rows} rows with a weight above 0; choosing hyper-parameters needs at least {needed}")]
    TooFewRows {
        /// Rows of positive weight.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Every row has the same targets.
    #[error("the target is {value} in every row: no choice of hyper-parameters matters")]
    ConstantTargets {
        /// The value of the first target.
        value: f64,
    },
    /// None of the hyper-parameters tried has a score.
    #[error(
        "none of the {trials} combinations of hyper-parameters tried has an answer: K + λI is not positive definite \
         with them; try a larger λ"
    )]
    NoScore {
        /// Combinations tried.
        trials: usize,
    },
    /// A target or weight is not a finite number.
    #[error("the {what} of row {row} is {value}, not a finite number")]
    NonFinite {
        /// `target`, `weight` or `feature`.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A class code is not one of the classes.
    #[error("the class of row {row} is {code}; with {classes} classes it must be below {classes}")]
    Code {
        /// The row, from 0.
        row: usize,
        /// Its code.
        code: usize,
        /// The number of classes.
        classes: usize,
    },
    /// A class weight names a class that does not exist.
    #[error("there is no class `{name}`; the classes are {classes}")]
    UnknownClass {
        /// The name.
        name: String,
        /// The names of the classes.
        classes: String,
    },
    /// There are fewer than two classes.
    #[error("the rows of positive weight have {found} class{}; at least two are needed", if *.found == 1 { "" } else { "es" })]
    Classes {
        /// The number of classes.
        found: usize,
    },
    /// A class has no rows.
    #[error("no row of positive weight is of class {class}, counted from 0, of the {classes} classes")]
    EmptyClass {
        /// The class, from 0.
        class: usize,
        /// The number of classes.
        classes: usize,
    },
    /// The problem does not fit the memory budget.
    #[error(
        "{rows} rows need {what} of {}, more than the memory budget of {}",
        memory::human(*.needed), memory::human(*.budget)
    )]
    Memory {
        /// Rows of the problem.
        rows: usize,
        /// The allocation: [`KERNEL_MATRIX`] or another.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may use.
        budget: u64,
    },
    /// The problem does not fit the memory of the device that the work is on.
    #[error(
        "{rows} rows need {what} of {}, more than the {} of the GPU's memory that are left", memory::human(*.needed), memory::human(*.room)
    )]
    DeviceMemory {
        /// Rows of the problem.
        rows: usize,
        /// The allocation: [`KERNEL_MATRIX`] or another.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may use.
        room: u64,
    },
    /// The formula is not positive semidefinite on a domain that contains the samples.
    #[error("{kernel} is not a kernel on {}, which holds the data: {refutation}", .domain.describe())]
    NotAKernel {
        /// The formula.
        kernel: String,
        /// The narrowest domain that holds the samples.
        domain: Domain,
        /// The counter-example.
        refutation: String,
    },
    /// The kernel has infinitely many features, or no known feature map.
    #[error("{kernel} does not have finitely many features, so the primal solver cannot be used")]
    NoFiniteMap {
        /// The formula.
        kernel: String,
    },
    /// A combination that is not supported.
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
    /// A hyper-parameter could not be filled in.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The kernel with its constant would be larger than a kernel may be.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The kernel matrix could not be computed.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// The features of the samples cannot be computed.
    #[error(transparent)]
    Design(DesignError),
    /// The problem has no solution.
    #[error(transparent)]
    Solve(SolveError),
    /// The normal equations of features have no solution.
    #[error(transparent)]
    NormalEquations(#[from] NormalEquationsError),
    /// The fit cannot predict at held-out rows, for this reason.
    #[error("{0}")]
    Prediction(String),
    /// The session asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The allocation of most methods on a kernel.
pub const KERNEL_MATRIX: &str = "a kernel matrix";

impl From<DesignError> for LearnError {
    fn from(error: DesignError) -> Self {
        match error {
            DesignError::NormalEquations(error) => Self::NormalEquations(error),
            error => Self::Design(error),
        }
    }
}

impl From<PassError> for LearnError {
    fn from(error: PassError) -> Self {
        DesignError::from(error).into()
    }
}

impl From<ModelError> for LearnError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Design(error) => error.into(),
            ModelError::Gram(error) => Self::Gram(error),
            error => Self::Prediction(error.to_string()),
        }
    }
}

impl From<SolveError> for LearnError {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::Design(error) => error.into(),
            error => Self::Solve(error),
        }
    }
}

impl LearnError {
    pub(crate) fn parameter(parameter: &'static str, received: impl ToString, allowed: &'static str) -> Self {
        Self::Parameter { parameter, received: received.to_string(), allowed }
    }

    /// Checks that `needed` bytes do not exceed the budget.
    ///
    /// # Errors
    /// [`LearnError::Memory`] if they do.
    pub fn check_memory(rows: usize, what: &'static str, needed: u64, budget: u64) -> Result<(), Self> {
        if needed > budget { Err(Self::Memory { rows, what, needed, budget }) } else { Ok(()) }
    }

    /// The same for an allocation where the engine stores its matrices: [`LearnError::DeviceMemory`] if that is not on the host.
    pub(crate) fn check_matrix_memory(
        rows: usize,
        what: &'static str,
        needed: u64,
        session: &Session<'_>,
    ) -> Result<(), Self> {
        match session.engine().memory() {
            Some(room) if needed > room => Err(Self::DeviceMemory { rows, what, needed, room }),
            Some(_) => Ok(()),
            None => Self::check_memory(rows, what, needed, session.memory()),
        }
    }

    /// Refuses a penalty that is negative or not finite.
    pub(crate) fn check_lambda(lambda: f64) -> Result<(), Self> {
        if lambda.is_finite() && lambda >= 0.0 {
            return Ok(());
        }
        Err(Self::parameter("lambda", lambda, "a finite number, 0 or more"))
    }

    /// Whether the work ended because its session asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            Self::Stopped(_)
                | Self::Gram(GramError::Stopped(_))
                | Self::Solve(SolveError::Stopped(_))
                | Self::NormalEquations(NormalEquationsError::Stopped(_))
        ) || matches!(self, Self::Design(error) if error.is_stop())
    }
}
