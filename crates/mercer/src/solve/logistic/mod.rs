//! Kernel logistic regression, binary and multinomial.
//!
//! ```text
//! minimise over a, b    Σᵢ wᵢ·loss(yᵢ, fᵢ) + (λ/2)·tr aᵀKa          f = Ka + 1bᵀ
//! ```
//!
//! One logit for two classes; one per class, all penalised, for more. The intercepts b are not penalised. With p the
//! probabilities and g = w(p − y), the gradient in a is K(λa + g) and the one in b is Σᵢgᵢ. The stopping rule bounds
//!
//! ```text
//! (‖λa + g‖² + ‖Σᵢgᵢ‖²/n)^½ ≤ tol·(Σᵢwᵢ²/n)^½
//! ```
//!
//! and not the gradient K(λa + g), which is small long before a is accurate. Without weights the rule is ‖λa + p − y‖ ≤
//! tol.
//!
//! λ = 0 means maximum likelihood. The maximum may exist if K has low rank, as for the linear kernel; a is then not
//! unique, and the stopping rule bounds the gradient (tr gᵀKg/max kᵢᵢ + ‖Σᵢgᵢ‖²/n)^½. For separable classes it does not
//! exist, which is an error.

mod cg;
mod descent;
mod factored;
mod folds;
mod intercepts;
mod iterate;
mod labels;
mod loss;
mod newton;
mod products;

use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::gram::Gram;
use crate::watch::{Stopped, Watch};

pub use folds::LogisticFolds;
pub use labels::Labels;

use super::error::SolveError;
use super::report::Report;
use iterate::Iterate;
use loss::Loss;
use products::Products;

/// The algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogisticSolver {
    /// Newton's method: each step by conjugate gradients, or for two classes by Cholesky if that is faster.
    #[default]
    Newton,
    /// Gradient descent on all rows at once: a ← a − ε(λa + g). One product with K an iteration.
    Gd,
    /// One row after the other, shuffled: aᵢ ← aᵢ − ε(λaᵢ + gᵢ). An iteration is a pass over all rows, O(n) each.
    Sgd,
}

/// The settings of the solver.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticSettings {
    /// λ ≥ 0.
    pub lambda: f64,
    /// Whether there are intercepts.
    pub intercept: bool,
    /// The algorithm.
    pub solver: LogisticSolver,
    /// Gradient steps: ε > 0; `None` for 1/(λ + ‖D‖·λ̄), λ̄ ≥ λmax(K), with which [`LogisticSolver::Gd`] cannot
    /// diverge, and for 1/(λ + ‖Dᵢ‖·kᵢᵢ), with which [`LogisticSolver::Sgd`] never overshoots the minimum of a row.
    pub step: Option<f64>,
    /// [`LogisticSolver::Sgd`]: the seed of the order of rows.
    pub seed: u64,
    /// The tolerance on the residual.
    pub tol: f64,
    /// The most iterations: Newton steps, gradient steps or passes.
    pub max_iter: usize,
}

/// A solution.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticSolution {
    /// a, one column per output.
    pub dual: Matrix<f64>,
    /// b, one per output.
    pub intercepts: Vec<f64>,
    /// Σᵢ wᵢ·loss at the rows.
    pub loss: f64,
    /// The report; its residual is the one compared with `tol`.
    pub report: Report,
}

/// A start for the next λ of a path, from the coefficients and intercepts at the two before it; none far from both. Every entry of
/// λa = w(y − p) keeps its sign and is nearly a power of λ, which two answers give.
pub(crate) fn extrapolated(
    lambda: f64,
    (second, earlier, earlier_intercepts): (f64, &Matrix<f64>, &[f64]),
    (first, last, last_intercepts): (f64, &Matrix<f64>, &[f64]),
) -> Option<(Matrix<f64>, Vec<f64>)> {
    let part = (lambda / first).ln() / (first / second).ln();
    if !(part > 0.0 && part <= 2.0) {
        return None;
    }
    let mut dual = last.clone();
    for (a, before) in dual.entries_mut().iter_mut().zip(earlier.entries()) {
        let ratio = (first * *a) / (second * before);
        let growth = if ratio > 0.0 { ratio.clamp(0.1, 10.0).powf(part) } else { 1.0 };
        *a *= growth * first / lambda;
    }
    let intercepts =
        last_intercepts.iter().zip(earlier_intercepts).map(|(b, before)| b + part * (b - before));
    Some((dual, intercepts.collect()))
}

/// A kernel matrix and labels, prepared for several λ in turn.
pub struct LogisticProblem<'a> {
    products: Products<'a>,
    labels: Labels<'a>,
}

impl<'a> LogisticProblem<'a> {
    /// Stores the kernel matrix within `budget` bytes: in single precision if that is enough for Newton steps at λ ≥
    /// `smallest`, otherwise in double; if neither fits, every product recomputes it.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// If there is not a label for every row of `gram`.
    pub fn new(
        gram: &'a dyn Gram,
        labels: Labels<'a>,
        smallest: f64,
        budget: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Stopped> {
        assert_eq!(gram.nrows(), labels.nrows(), "one label a row");
        let products = Products::new(gram, &labels, smallest, budget, watch)?;
        Ok(Self { products, labels })
    }

    /// The one of two starts with the smaller objective at λ; the first if there is no other.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn better_start<'s>(
        &self,
        lambda: f64,
        first: &'s LogisticSolution,
        other: &'s LogisticSolution,
        watch: &dyn Watch,
    ) -> Result<&'s LogisticSolution, Stopped> {
        let objective = |start: &LogisticSolution| {
            let at = Iterate::new(&self.products, start.dual.clone(), start.intercepts.clone(), watch)?;
            Ok::<f64, Stopped>(Loss::at(&self.labels, &at.logits()).total + at.penalty(lambda))
        };
        Ok(if objective(other)? < objective(first)? { other } else { first })
    }

    /// Solves for one λ, starting from the solution for another λ if given.
    ///
    /// # Errors
    /// As [`SolveError`] says.
    pub fn solve(
        &self,
        settings: &LogisticSettings,
        start: Option<&LogisticSolution>,
        watch: &dyn Watch,
    ) -> Result<LogisticSolution, SolveError> {
        let start = match start {
            Some(known) => Iterate::new(&self.products, known.dual.clone(), known.intercepts.clone(), watch)?,
            None => Iterate::zero(self.labels.nrows(), self.labels.outputs()),
        };
        match settings.solver {
            LogisticSolver::Newton => newton::minimise(&self.products, &self.labels, settings, start, watch),
            LogisticSolver::Gd => descent::all_rows(&self.products, &self.labels, settings, start, watch),
            LogisticSolver::Sgd => descent::row_by_row(&self.products, &self.labels, settings, start, watch),
        }
    }
}
