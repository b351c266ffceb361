//! The part of a search that each learner implements.

use std::fmt;

use crate::kernel::{Kernel, SearchSpace};
use crate::learn::error::LearnError;
use crate::learn::fitted::Fitted;
use crate::learn::kernel_check::KernelCheck;
use crate::learn::learner::{Learner, Requires};
use crate::learn::problem::Problem;
use crate::session::Session;

use super::criterion::Criterion;
use super::measure::Measure;
use super::shared::Shared;

/// The score of a set of hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The measure over the held-out rows; for the accuracy of support vector classification its mean over the folds.
    pub loss: f64,
    /// The standard error of the loss, from the variance over folds or rows; `None` if unknown.
    pub error: Option<f64>,
    /// The loss on each fold, if there are folds.
    pub folds: Vec<f64>,
}

impl From<f64> for Score {
    fn from(loss: f64) -> Self {
        Self { loss, error: None, folds: Vec::new() }
    }
}

/// Scores hyper-parameters on one problem.
pub trait Scorer {
    /// The score of each of `shared` with this kernel; `None` if there is no answer. For a learner without a kernel, or
    /// on a given kernel matrix, `kernel` is `None`.
    ///
    /// # Errors
    /// If the kernel has a value that is not finite, which leaves it without a score, or if the search cannot continue.
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError>;

    /// Sets another value of the learner's [second](Tunable::second) hyper-parameter for the following scores.
    fn set_second(&mut self, value: f64) {
        let _ = value;
    }

    /// The model with the best hyper-parameters, if the scorer can compute it from its sums, and warnings.
    ///
    /// # Errors
    /// If there is no such model, or if the session is stopped.
    fn finish(
        &mut self,
        kernel: Option<&Kernel>,
        shared: f64,
        session: &Session<'_>,
    ) -> Result<Found, LearnError> {
        let _ = (kernel, shared, session);
        Ok(Found::default())
    }
}

/// A scoring function, for learners whose scorer has no state.
impl<F> Scorer for F
where
    F: FnMut(Option<&Kernel>, &[f64], &Session<'_>) -> Result<Vec<Option<Score>>, LearnError>,
{
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        self(kernel, shared, session)
    }
}

/// The result of a scorer at the end of a search.
#[derive(Debug, Default)]
pub struct Found {
    /// The model with the best hyper-parameters.
    pub fitted: Option<Fitted>,
    /// Warnings about it.
    pub warnings: Vec<String>,
}

/// A learner whose hyper-parameters can be searched for.
pub trait Tunable: Learner + Clone + fmt::Debug {
    /// The kernel, with a `?` for each hyper-parameter to search; `None` for a learner without a kernel.
    fn open_kernel(&self) -> Option<&Kernel>;

    /// The learner with another kernel.
    #[must_use]
    fn with_kernel(self, kernel: Kernel) -> Self;

    /// The hyper-parameter whose values are scored together at each kernel.
    fn shared(&self) -> Shared {
        Shared::None
    }

    /// The learner with another value of it.
    #[must_use]
    fn with_shared(self, value: f64) -> Self {
        let _ = value;
        self
    }

    /// Its default values for a problem; `None` for those that suit any problem.
    ///
    /// # Errors
    /// If the problem does not suit the learner.
    fn usual_values(&self, problem: &Problem<'_>) -> Result<Option<SearchSpace>, LearnError> {
        let _ = problem;
        Ok(None)
    }

    /// A second hyper-parameter in addition to the kernel's, searched with one fit for each of its values: ε or ν of
    /// support vector regression.
    fn second(&self) -> Shared {
        Shared::None
    }

    /// The learner with another value of it.
    #[must_use]
    fn with_second(self, value: f64) -> Self {
        let _ = value;
        self
    }

    /// Whether each kernel must be proven to be positive semidefinite before it is scored.
    fn check_of_trials(&self) -> KernelCheck {
        KernelCheck::Assume
    }

    /// The default criterion.
    fn usual_criterion(&self) -> Criterion {
        if self.requires() == Requires::Classes { Criterion::Folds(5) } else { Criterion::LeaveOneOut }
    }

    /// The text that identifies a search, in addition to the data; `None` if trials are not worth storing.
    fn identity(&self, criterion: &str, measure: Measure, seed: u64) -> Option<String> {
        Some(format!("{self:?} {measure:?} {criterion} {seed}"))
    }

    /// Prepares the problem for scoring. Targets, weights and measure have been checked.
    ///
    /// # Errors
    /// If the criterion does not suit the learner or the rows, or if the memory budget is exceeded.
    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError>;
}

/// A scorer that needs a kernel got none.
pub(crate) const NO_KERNEL: LearnError = LearnError::Unsupported("this search needs a kernel");
