//! The kernel perceptron.
//!
//! Visits the rows one after the other and, if row i is on the wrong side of f = Σⱼ aⱼ k(xⱼ, ·), adds its kernel
//! function:
//!
//! ```text
//! two classes, y = ±1     where yᵢf(xᵢ) ≤ 0:  aᵢ ← aᵢ + yᵢ
//! one against the rest    the same for each class, y = +1 for its own rows
//! direct                  where f_y(xᵢ) ≤ f_c(xᵢ), c the best of the other classes:  a_iy ← a_iy + 1, a_ic ← a_ic − 1
//! ```
//!
//! A value of exactly 0 is a mistake. A step size only scales f: the mistakes are the same for all of them. There is no intercept: add a constant to
//! the kernel for one. A correction costs O(n) plus a row of the kernel matrix, a visit O(1).
//!
//! Rosenblatt (1958); Novikoff (1962); Freund & Schapire (1999) for the averaged and voted forms.

mod budgeted;
mod budgeted_passes;
mod decisions;
mod report;
mod scorer;
mod train;
mod voted;

use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::design::FeatureMap;
use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::linalg::Intercept;
use crate::model::{Facts, Linear, Method};
use crate::session::Session;

use super::basis::Basis;
use super::codes::check_codes;
use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::kernel_check::KernelCheck;
use super::learner::{Learner, Requires};
use super::lift::Lift;
use super::problem::Problem;
use super::settings::{builder, kept};
use decisions::{Dual, Primal};
use report::Outcome;
use train::{Course, History, train};

pub use budgeted::BudgetedPerceptron;

/// The rule for more than two classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One function per class, each trained to separate its class from all others.
    OneVsRest,
    /// One function per class, trained so that the function of a row's class is the largest.
    #[default]
    Direct,
}

/// The perceptron: its settings.
///
/// The model has one output for two classes, positive for class 1, else one per class, the largest of which decides. On
/// a kernel its centres are the rows on which a mistake was made. O(n(d + 1)) a mistake, less if its row of the kernel
/// matrix is cached; on D features it makes the same mistakes in the same order, up to rounding, at O(D) a visit.
///
/// The facts of a fit are `passes`; `mistakes`; `radius`, R = maxᵢ √k(xᵢ, xᵢ); and, if a pass made no mistake, `margin`
/// and `mistake_bound`. The margin of the function that separates the classes is γ = minᵢ yᵢf(xᵢ)/‖f‖ for two classes.
/// It bounds the mistakes of every order of visits (Novikoff, 1962): at most R²/γ² for two classes, Σₖ R²/γₖ² for one
/// against the rest, and 2R²/γ² for the direct rule, where γ = minᵢ (f_y(xᵢ) − max f_c(xᵢ))/(Σₖ‖fₖ‖²)^½.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Perceptron {
    /// The kernel or the features.
    #[serde(flatten)]
    pub lift: Lift,
    /// The most passes over the rows, 1 or more; training stops after a pass without mistakes.
    #[serde(rename = "epochs")]
    pub passes: usize,
    /// Whether the rows are shuffled before each pass, by the seed of the session; else they are visited in their order.
    pub shuffle: bool,
    /// Whether the result is the mean of the functions after each visit, which is more stable for overlapping classes,
    /// instead of the last function.
    pub averaged: bool,
    /// Whether all functions are kept, each with one vote per visit that it survived; `averaged` is then ignored.
    pub vote: bool,
    /// The most centres, 1 or more: see [`BudgetedPerceptron`]. The result is the last function, without a margin.
    pub budget: Option<usize>,
    /// The size of every correction, more than 0: it scales the function and changes no decision. 1 with votes or a budget.
    #[serde(skip_serializing_if = "is_one")]
    pub step: f64,
    /// The rule for more than two classes.
    #[serde(rename = "multiclass")]
    pub rule: Rule,
    /// Whether the kernel must be proven positive semidefinite.
    #[serde(alias = "admission")]
    pub kernel_check: KernelCheck,
}

impl Perceptron {
    /// Creates a learner on a kernel, with the defaults of [`on`](Self::on).
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self::on(kernel)
    }

    /// Creates an averaged perceptron with at most 100 passes, each shuffled.
    #[must_use]
    pub fn on(lift: impl Into<Lift>) -> Self {
        Self {
            lift: lift.into(),
            passes: 100,
            shuffle: true,
            averaged: true,
            vote: false,
            budget: None,
            step: 1.0,
            rule: Rule::Direct,
            kernel_check: KernelCheck::Check,
        }
    }

    builder! {
        lift: Lift,
        passes: usize,
        shuffle: bool,
        averaged: bool,
        vote: bool,
        budget: Option<usize>,
        step: f64,
        rule: Rule,
        kernel_check: KernelCheck,
    }

    fn on_kernel(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (codes, classes) = problem.codes()?;
        let basis = Basis::new(kernel, Intercept::None, self.kernel_check, problem, session)?;
        if let Some(budget) = self.budget {
            return self.within_budget(basis, budget, problem, session);
        }
        let (history, outcome) = basis
            .with_gram(problem, session, false, |gram| self.train_on_gram(gram, codes, classes, session))?;
        let report = outcome.report();
        let answer = if self.vote {
            voted::voted(basis, classes, &history, report)
        } else {
            let coefficients = self.coefficients(&history, codes.len(), outputs(classes));
            basis.sparse_answer(&coefficients, vec![0.0; outputs(classes)], report)
        };
        Ok(Answer { facts: outcome.facts(), ..answer })
    }

    /// The coefficients on a kernel matrix, one row per row of the matrix and one column per output.
    ///
    /// # Errors
    /// As [`train`](Learner::train).
    pub(crate) fn dual(
        &self,
        gram: &dyn Gram,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, LearnError> {
        self.check_passes()?;
        check_codes(gram.nrows(), codes, classes, None)?;
        let (history, _) = self.train_on_gram(gram, codes, classes, session)?;
        Ok(self.coefficients(&history, gram.nrows(), outputs(classes)))
    }

    fn on_features(
        &self,
        map: &FeatureMap,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        if self.vote || self.budget.is_some() {
            return Err(LearnError::Unsupported("votes and a budget need a kernel, not features"));
        }
        let (samples, (codes, classes)) = (problem.samples()?, problem.codes()?);
        let features = map.transform(samples, session)?;
        let columns = features.ncols();
        if let Some(place) = features.entries().iter().position(|v| !v.is_finite()) {
            let (row, value) = (place / columns, features.entries()[place]);
            return Err(LearnError::NonFinite { what: "feature", row, value });
        }
        let mut primal = Primal::new(&features, outputs(classes));
        let history = train(&self.course(codes, classes, session), &mut primal, session)?;
        let squares = (0..codes.len()).map(|i| features.row(i).iter().map(|v| v * v).sum());
        let outcome = Outcome::new(&history, codes, self.rule, radius(squares), &primal);
        let mut weights = Matrix::zeros(columns, outputs(classes));
        for update in &history.updates {
            let amount = self.amount(&history, update);
            for (j, x) in features.row(update.row as usize).iter().enumerate() {
                weights.row_mut(j)[update.change.output as usize] += amount * x;
            }
        }
        let (map, columns, intercepts) = (map.clone().into(), samples.ncols(), vec![0.0; outputs(classes)]);
        let linear = Linear { map, columns, shift: None, weights, intercepts };
        Ok(Answer { facts: outcome.facts(), ..Answer::new(linear, outcome.report()) })
    }

    fn train_on_gram(
        &self,
        gram: &dyn Gram,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<(History, Outcome), LearnError> {
        let mut dual = Dual::new(gram, outputs(classes), session.memory());
        let history = train(&self.course(codes, classes, session), &mut dual, session)?;
        let radius = radius(gram.diagonal().iter().copied());
        let outcome = Outcome::new(&history, codes, self.rule, radius, &dual);
        Ok((history, outcome))
    }

    fn check_passes(&self) -> Result<(), LearnError> {
        if self.passes > 0 {
            return Ok(());
        }
        Err(LearnError::parameter("passes", 0, "1 or more"))
    }

    fn course<'a>(&self, codes: &'a [usize], classes: usize, session: &Session<'_>) -> Course<'a> {
        Course {
            codes,
            outputs: outputs(classes),
            rule: self.rule,
            passes: self.passes,
            shuffle: self.shuffle.then(|| session.seed()),
        }
    }

    /// The amount that an update adds to the coefficients of the result.
    fn amount(&self, history: &History, update: &train::Update) -> f64 {
        let share = if self.averaged { history.share(update) } else { 1.0 };
        self.step * update.change.amount * share
    }

    fn coefficients(&self, history: &History, rows: usize, outputs: usize) -> Matrix<f64> {
        let mut coefficients = Matrix::zeros(rows, outputs);
        for update in &history.updates {
            coefficients.row_mut(update.row as usize)[update.change.output as usize] +=
                self.amount(history, update);
        }
        coefficients
    }
}

impl Default for Perceptron {
    fn default() -> Self {
        Self::on(Lift::default())
    }
}

impl Learner for Perceptron {
    fn method(&self) -> Method {
        Method::Perceptron
    }

    fn requires(&self) -> Requires {
        Requires::Classes
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(self, &["averaged", "epochs"], Some(session.seed()))
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        problem.unweighted()?;
        self.check_passes()?;
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(LearnError::parameter("step", self.step, "a finite number above 0"));
        }
        if self.step != 1.0 && (self.vote || self.budget.is_some()) {
            return Err(LearnError::Unsupported("votes and a budget do not depend on a step; leave it out"));
        }
        if self.vote && self.budget.is_some() {
            return Err(LearnError::Unsupported("votes need all mistaken rows, so they have no budget"));
        }
        let answer = match &self.lift {
            Lift::Kernel(kernel) => self.on_kernel(kernel, problem, session)?,
            Lift::Features(map) => self.on_features(map, problem, session)?,
            Lift::Approximate { .. } | Lift::Auto(_) => {
                return Err(LearnError::Unsupported("a perceptron has no approximate features"));
            }
        };
        Ok(Fitted::new(self, problem, session, answer))
    }
}

fn is_one(step: &f64) -> bool {
    *step == 1.0
}

/// One decision value for two classes, else one per class.
fn outputs(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// R = maxᵢ √k(xᵢ, xᵢ).
fn radius(squares: impl Iterator<Item = f64>) -> f64 {
    squares.fold(0.0, f64::max).sqrt()
}
