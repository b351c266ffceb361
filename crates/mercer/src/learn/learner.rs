//! The interface of learners: settings that can be trained on a problem.

use crate::model::{Facts, Method};
use crate::session::Session;

use super::error::LearnError;
use super::fitted::Fitted;
use super::problem::{Inputs, Problem, Targets};

/// The targets a learner works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requires {
    /// One number per target.
    Numbers,
    /// One class per row.
    Classes,
    /// Numbers, or classes if the target is text.
    NumbersOrClasses,
    /// No targets at all.
    Nothing,
}

/// The size of a problem, for checks before training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub rows: usize,
    /// Feature columns.
    pub columns: usize,
    /// Targets of a regression or classes.
    pub targets: usize,
}

/// A method with its settings.
///
/// One trait for regression, classification and one-class estimation: the command line, Python and tuning all train
/// through it, so that validation, defaults, the choice of a solver and the assembly of a model exist once.
pub trait Learner: Send + Sync {
    /// The method's name in the model.
    fn method(&self) -> Method;

    /// The targets it works on.
    fn requires(&self) -> Requires;

    /// The settings as stored in a model file.
    fn settings(&self, session: &Session<'_>) -> Facts;

    /// Checks the settings before training: ranges, and whether the problem fits the memory budget.
    ///
    /// # Errors
    /// If the learner cannot be trained on a problem of this size.
    fn check(&self, shape: Shape, session: &Session<'_>) -> Result<(), LearnError> {
        let _ = (shape, session);
        Ok(())
    }

    /// Trains on a problem.
    ///
    /// # Errors
    /// If the problem does not line up, does not suit the learner, or has no solution; or if the session is stopped.
    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError>;

    /// Trains on inputs and targets in a default session.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    fn fit<'a>(
        &self,
        inputs: impl Into<Inputs<'a>>,
        targets: impl Into<Targets<'a>>,
    ) -> Result<Fitted, LearnError>
    where
        Self: Sized,
    {
        self.train(&Problem::new(inputs, targets), &Session::default())
    }
}
