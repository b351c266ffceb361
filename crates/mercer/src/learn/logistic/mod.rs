//! Kernel logistic regression.
//!
//! Minimises Σᵢ wᵢ·loss(yᵢ, f(xᵢ)) + (λ/2)‖f‖² over f = Σᵢ aᵢ k(xᵢ, ·) + b, the intercept not penalised; C = 1/λ. For two
//! classes f is one logit, that of class 1: p(1|x) = 1/(1 + e^(−f(x))). For more it is one per class, all of them penalised,
//! and p(c|x) = e^(f_c(x))/Σⱼ e^(f_j(x)): the multinomial model.

mod primal;
mod scorer;

use serde::{Deserialize, Serialize};

use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::linalg::Intercept;
use crate::model::{Facts, Method};
use crate::session::Session;
use crate::solve::descent::Step;
use crate::solve::{
    Labels, LogisticProblem, LogisticSettings, LogisticSolution, LogisticSolver, SolveError, extrapolated,
};

use super::basis::Basis;
use super::class_weight::{ClassWeight, Counted};
use super::codes::check_codes;
use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::held_out::with_held_out;
use super::kernel_check::KernelCheck;
use super::learner::{Learner, Requires};
use super::lift::Lift;
use super::problem::{Inputs, Problem};
use super::ridge::{Coefficients, explain};
use super::settings::{builder, is_default, kept, listed, number};

/// The residual of a trial, for each row.
const TRIAL_RESIDUAL: f64 = 1e-3;

/// Logistic regression: its settings.
///
/// The model has one output for two classes, the logit of class 1, else one per class;
/// [`probabilities`](crate::model::probabilities) converts its predictions to probabilities. On the kernel: O(n²) a
/// product with the kernel matrix, of which a Newton step takes some tens; 4n² to 16n² bytes. On D approximate
/// features: nD²/2 multiply-adds once and nD for each output and step; O(D²) bytes, and the nD features where they fit
/// the budget.
///
/// A residual above `tol` is not an error: see the status of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Logistic {
    /// The kernel, or an approximation of it.
    #[serde(flatten)]
    pub lift: Lift,
    /// λ ≥ 0, which is 1/C; above 0 on approximate features. With λ = 0 classes that can be separated are an error.
    #[serde(serialize_with = "listed", deserialize_with = "number")]
    pub lambda: f64,
    /// Whether there is an intercept, which is not penalised; there is no [`Intercept::Column`].
    #[serde(rename = "bias")]
    pub intercept: Intercept,
    /// The weight of each class, by which those of its rows are multiplied.
    #[serde(skip_serializing_if = "is_default")]
    pub class_weight: ClassWeight,
    /// The algorithm on the kernel; on approximate features it is L-BFGS.
    pub solver: LogisticSolver,
    /// The size of gradient steps.
    pub step: Step,
    /// The upper bound of ‖λa + w(p − y)‖ at the answer, for weights around 1; on approximate features that of the gradient,
    /// relative to the first one. More than 0.
    #[serde(with = "crate::data::number")]
    pub tol: f64,
    /// The most steps or passes, 1 or more; `None` for 100 Newton steps, 1,000 gradient steps or passes, and 500 steps
    /// of L-BFGS.
    pub max_iter: Option<usize>,
    /// Whether the kernel must be proven positive semidefinite.
    #[serde(alias = "admission")]
    pub kernel_check: KernelCheck,
}

impl Logistic {
    /// Creates a learner on a kernel, with the defaults of [`on`](Self::on).
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self::on(kernel)
    }

    /// Creates a learner with this kernel or approximation, λ = 1, an intercept, and Newton's method to 10⁻⁶.
    #[must_use]
    pub fn on(lift: impl Into<Lift>) -> Self {
        Self {
            lift: lift.into(),
            lambda: 1.0,
            intercept: Intercept::Centred,
            class_weight: ClassWeight::Uniform,
            solver: LogisticSolver::Newton,
            step: Step::Auto,
            tol: 1e-6,
            max_iter: None,
            kernel_check: KernelCheck::Check,
        }
    }

    builder! {
        lift: Lift,
        lambda: f64,
        intercept: Intercept,
        class_weight: ClassWeight,
        solver: LogisticSolver,
        step: Step,
        tol: f64,
        max_iter: Option<usize>,
        kernel_check: KernelCheck,
    }

    fn on_kernel(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        self.validate()?;
        problem.codes()?;
        let basis = Basis::new(kernel, Intercept::None, self.kernel_check, problem, session)?;
        let mut path = basis.with_gram(problem, session, false, |gram| {
            self.on_gram(gram, problem, &[self.lambda], session)
        })?;
        let found = path.pop().ok_or(LearnError::Unsupported("a path of no lambda has no answer"))?;
        // Rows of weight zero have coefficients of exactly zero.
        Ok(basis.sparse_answer(&found.dual, found.intercepts, found.report))
    }

    /// Fits a problem with a kernel matrix for each λ of `lambdas` in turn, each from the answer of the one before: fastest where
    /// they descend. The lift and [`lambda`](Self::lambda) do not matter.
    ///
    /// # Errors
    /// As [`train`](Learner::train), and if the problem has no kernel matrix.
    pub fn path(
        &self,
        problem: &Problem<'_>,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Coefficients>, LearnError> {
        let Inputs::Gram(gram) = problem.inputs else {
            return Err(LearnError::Unsupported("a path over lambda needs a kernel matrix"));
        };
        self.validate()?;
        self.on_gram(gram, problem, lambdas, session)
    }

    fn on_gram(
        &self,
        gram: &dyn Gram,
        problem: &Problem<'_>,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Coefficients>, LearnError> {
        lambdas.iter().try_for_each(|&lambda| LearnError::check_lambda(lambda))?;
        let (codes, classes) = problem.codes()?;
        let class_weight = self.class_weight.resolved(problem.classes())?;
        let weights = class_weight.combine(codes, classes, problem.weights(), Counted::Weights)?;
        check_codes(gram.nrows(), codes, classes, Some(&weights))?;
        let labels = Labels::new(codes, classes, weights);
        // Gradient steps accumulate rounding errors of the matrix: only Newton's steps can use a rounded one.
        let smallest = match self.solver {
            LogisticSolver::Newton => lambdas.iter().copied().fold(f64::INFINITY, f64::min),
            _ => 0.0,
        };
        let newton = self.solver == LogisticSolver::Newton;
        let problem = LogisticProblem::new(gram, labels, smallest, session.memory(), session)?;
        let mut answers: Vec<LogisticSolution> = Vec::with_capacity(lambdas.len());
        for &lambda in lambdas {
            let settings = self.solver_settings(lambda, session);
            let ahead = if newton { ahead(lambda, lambdas, &answers) } else { None };
            let start = match (answers.last(), &ahead) {
                (Some(last), Some(ahead)) => Some(problem.better_start(lambda, last, ahead, session)?),
                (last, _) => last,
            };
            let answer =
                problem.solve(&settings, start, session).map_err(|error| explain_failure(gram, error))?;
            answers.push(answer);
        }
        let coefficients = |answer: LogisticSolution| Coefficients {
            dual: answer.dual,
            intercepts: answer.intercepts,
            report: answer.report,
        };
        Ok(answers.into_iter().map(coefficients).collect())
    }

    fn solver_settings(&self, lambda: f64, session: &Session<'_>) -> LogisticSettings {
        let steps = if self.solver == LogisticSolver::Newton { 100 } else { 1_000 };
        LogisticSettings {
            lambda,
            intercept: self.intercept != Intercept::None,
            solver: self.solver,
            step: match self.step {
                Step::Auto => None,
                Step::Value(step) => Some(step),
            },
            seed: session.seed(),
            tol: self.tol,
            max_iter: self.max_iter.unwrap_or(steps),
        }
    }

    /// The same settings with a tolerance for trials of a search on this many rows, small enough not to affect a score.
    #[must_use]
    pub fn for_trials(self, rows: usize) -> Self {
        let tol = self.tol.max(TRIAL_RESIDUAL * (rows as f64).sqrt());
        self.tol(tol)
    }

    fn validate(&self) -> Result<(), LearnError> {
        LearnError::check_lambda(self.lambda)?;
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(LearnError::parameter("tol", self.tol, "a finite number, more than 0"));
        }
        if self.max_iter == Some(0) {
            return Err(LearnError::parameter("max_iter", 0, "1 or more"));
        }
        if self.intercept == Intercept::Column {
            return Err(LearnError::Unsupported(
                "the intercept of logistic regression is centred or none, not a column",
            ));
        }
        if let Step::Value(step) = self.step
            && !(step > 0.0 && step.is_finite())
        {
            return Err(LearnError::parameter("step", step, "a finite number, more than 0"));
        }
        Ok(())
    }
}

impl Default for Logistic {
    fn default() -> Self {
        Self::on(Lift::default())
    }
}

impl Learner for Logistic {
    fn method(&self) -> Method {
        Method::Logistic
    }

    fn requires(&self) -> Requires {
        Requires::Classes
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(self, &["lambda", "tol"], Some(session.seed()))
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        if let Lift::Auto(_) = self.lift {
            let (lift, _) = self.lift.resolved(problem, session)?;
            return self.clone().lift(lift).train(problem, session);
        }
        with_held_out(problem, session, |problem| {
            let answer = match &self.lift {
                Lift::Approximate { kernel, approx } => {
                    let kernel = kernel.resolve_auto(&session.scales(problem.sample()?.0))?;
                    self.on_features(&kernel, *approx, problem, session)?
                }
                Lift::Kernel(kernel) | Lift::Auto(kernel) => self.on_kernel(kernel, problem, session)?,
                Lift::Features(_) => {
                    return Err(LearnError::Unsupported(
                        "logistic regression works on a kernel, not on features",
                    ));
                }
            };
            Ok(Fitted::new(self, problem, session, answer))
        })
    }
}

/// The start of [`extrapolated`](crate::solve::extrapolated) as a solution.
fn ahead(lambda: f64, lambdas: &[f64], answers: &[LogisticSolution]) -> Option<LogisticSolution> {
    let [.., earlier, last] = answers else { return None };
    let (second, first) = (lambdas[answers.len() - 2], lambdas[answers.len() - 1]);
    let (dual, intercepts) = extrapolated(
        lambda,
        (second, &earlier.dual, &earlier.intercepts),
        (first, &last.dual, &last.intercepts),
    )?;
    Some(LogisticSolution { dual, intercepts, ..last.clone() })
}

/// Results that are not finite come from kernel values that are not: the error names the first such pair.
fn explain_failure(gram: &dyn Gram, error: SolveError) -> LearnError {
    match error {
        SolveError::NotFinite | SolveError::Singular { .. } | SolveError::Indefinite { .. } => {
            explain(gram, error.into())
        }
        _ => error.into(),
    }
}
