//! The settings that a user leaves open: the width of a Gaussian kernel and the penalty, chosen on a sample of the rows.
//!
//! | file | content |
//! | --- | --- |
//! | `drawn` | the sample of the rows |
//! | `grid` | searches over widths and penalties, by [`Tune`](super::Tune) |
//! | `methods` | the searches for each method |
//! | `baseline` | the score of the best constant prediction |

mod baseline;
mod drawn;
mod grid;
mod methods;

use crate::kernel::Kernel;
use crate::learn::search::Measure;
use crate::learn::svm::Machine;
use crate::learn::{AnyLearner, Gp, LearnError, Problem, Requires, Ridge};
use crate::model::Method;
use crate::session::Session;

pub use baseline::baseline;
use drawn::Drawn;

/// A choice of the settings that a user leaves open, by the errors on held-out rows.
///
/// The choice is made on a sample of at most 2,000 rows, which the seed of the session draws: a grid of widths and penalties on
/// at most 1,000 of them, then a finer one around the best on all of them. The work is bounded for any number of rows,
/// and the result depends only on the problem, the settings and the seed.
///
/// Ridge regression is scored by leaving out one row at a time, other methods by folds. λ of ridge regression grows with the
/// number of rows from the sample to the problem; C and ν are kept. The tube of support vector regression is
/// ε = 3τ√(ln n/n) for residuals of size τ (Cherkassky and Ma 2004). The width of one-class estimation is the smallest that
/// rejects no more of the rows left out than ν says (Tax and Müller 2004).
///
/// ```
/// use mercer::learn::{AnyLearner, Problem, Ridge};
/// use mercer::select::{Choose, Open};
/// use mercer::session::Session;
/// let x: Vec<[f64; 1]> = (0..60).map(|i| [0.1 * i as f64]).collect();
/// let y: Vec<f64> = x.iter().map(|x| x[0].sin()).collect();
/// let choose = Choose { learner: Ridge::default().into(), open: Open::KernelAndPenalty };
/// let chosen = choose.run(&Problem::new(&x[..], &y), 60, &Session::default())?.unwrap();
/// assert!(chosen.score < 1e-3 * chosen.baseline.unwrap());
/// # Ok::<(), mercer::learn::LearnError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Choose {
    /// The learner; its open settings may have any value.
    pub learner: AnyLearner,
    /// The settings to choose.
    pub open: Open,
}

/// The settings that a user leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// λ, C, ν or, with C, ε.
    Penalty,
    /// The penalty, and the width of a Gaussian kernel.
    KernelAndPenalty,
}

/// The chosen settings and their score.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The learner with the chosen settings.
    pub learner: AnyLearner,
    /// The settings that were chosen, by the names of their flags, with all of their digits.
    pub settings: Vec<(&'static str, String)>,
    /// The measure of the score.
    pub measure: Measure,
    /// The score on held-out rows; smaller is better.
    pub score: f64,
    /// The score of the best constant prediction; `None` for one-class estimation.
    pub baseline: Option<f64>,
    /// How rows were held out.
    pub criterion: &'static str,
    /// Rows of the sample.
    pub rows: usize,
}

impl Choose {
    /// Chooses on a sample of `problem`, for a fit to `rows` rows; `None` for a learner that has nothing to choose, and
    /// where there are too few rows to choose by or nothing that differs between them.
    ///
    /// # Errors
    /// As [`Tune::run`](super::Tune::run).
    pub fn run(
        &self,
        problem: &Problem<'_>,
        rows: usize,
        session: &Session<'_>,
    ) -> Result<Option<Chosen>, LearnError> {
        let session = &session.without_checkpoint();
        let Some(drawn) = Drawn::new(problem, session)? else { return Ok(None) };
        match self.methods(&drawn, (problem, rows), session) {
            Err(LearnError::NoScore { .. }) => Ok(None),
            chosen => chosen,
        }
    }
}

/// Half the width of the tube of support vector regression, ε = 3τ√(ln n/n) for residuals of size τ: those of ridge regression
/// with a Gaussian kernel, whose width and λ are chosen on a sample; `None` where there are too few rows or they do not differ.
///
/// # Errors
/// As [`Choose::run`].
pub fn tube(problem: &Problem<'_>, session: &Session<'_>) -> Result<Option<f64>, LearnError> {
    let choose = Choose { learner: Ridge::default().into(), open: Open::KernelAndPenalty };
    let session = &session.without_checkpoint();
    match Drawn::new(problem, session)?.map(|drawn| choose.epsilon(&drawn, session)).transpose() {
        Err(LearnError::NoScore { .. }) => Ok(None),
        epsilon => epsilon,
    }
}

impl Chosen {
    /// The same choice with ν [feasible](crate::learn::svm::Svm::feasible) for another problem.
    ///
    /// # Errors
    /// As [`Svm::feasible`](crate::learn::svm::Svm::feasible).
    pub fn feasible(mut self, problem: &Problem<'_>) -> Result<Self, LearnError> {
        if let AnyLearner::Svm(svm) = &mut self.learner {
            *svm = svm.clone().feasible(problem)?;
            if let Machine::NuSvc { nu } = &mut svm.machine {
                *nu = grid::rounded(*nu);
                self.settings.retain(|(name, _)| *name != "nu");
                self.settings.push(("nu", grid::text(*nu)));
            }
        }
        Ok(self)
    }

    /// Whether the score is no better than that of a constant prediction.
    #[must_use]
    pub fn is_no_better_than_baseline(&self) -> bool {
        self.baseline.is_some_and(|baseline| self.score >= baseline)
    }
}

/// The kernel of a method where none is given and none is chosen: `rbf(gamma=auto)` for classes, else `rbf(sigma=auto)`.
///
/// ```
/// use mercer::{model::Method, select::default_kernel};
/// assert_eq!(default_kernel(Method::Svc).to_string(), "rbf(gamma=auto)");
/// ```
#[must_use]
pub fn default_kernel(method: Method) -> Kernel {
    match method {
        Method::Svc | Method::NuSvc | Method::OneClass | Method::Logistic | Method::Perceptron => {
            grid::gaussian("gamma", "auto")
        }
        Method::Gp => Gp::default_kernel(),
        _ => Kernel::gaussian_auto(),
    }
}

/// Whether a learner tells classes apart, and its kernel is written with γ.
fn by_gamma(requires: Requires) -> bool {
    requires == Requires::Classes
}
