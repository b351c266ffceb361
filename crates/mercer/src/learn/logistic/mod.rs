//! Kernel logistic regression.
//!
//! Minimises Σᵢ wᵢ·loss(yᵢ, f(xᵢ)) + (λ/2)‖f‖² over f = Σᵢ aᵢ k(xᵢ, ·) + b, the intercept not penalised; C = 1/λ. For two
//! classes f is one logit, that of class 1: p(1|x) = 1/(1 + e^(−f(x))). For more it is one per class, all of them penalised,
//! and p(c|x) = e^(f_c(x))/Σⱼ e^(f_j(x)): the multinomial model.

mod class_weight;

use crate::data::{AnySamples, Matrix};
use crate::gram::{Gram, Wanted};
use crate::kernel::Kernel;
use crate::model::Expansion;
use crate::session::Session;
use crate::solve::{
    Labels, LogisticError, LogisticProblem, LogisticSettings, LogisticSolution, LogisticSolver, Report,
};

use super::admission::Admission;
use super::codes::check_codes;
use super::error::LearnError;
use super::ridge::{Coefficients, explain};

pub use class_weight::ClassWeight;

/// Kernel logistic regression: its hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Logistic {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// λ ≥ 0, which is 1/C. With λ = 0 classes that can be separated are an error.
    pub lambda: f64,
    /// Whether there is an intercept, which is not penalised.
    pub intercept: bool,
    /// What each class counts, beside the weights of its rows.
    pub class_weight: ClassWeight,
    /// How the minimum is looked for.
    pub solver: LogisticSolver,
    /// What ‖λa + w(p − y)‖ has to come down to, for weights around 1; more than 0.
    pub tol: f64,
    /// Newton steps, gradient steps or passes at most; 1 or more.
    pub max_iter: usize,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
}

impl Logistic {
    /// Logistic regression with this kernel and λ, an intercept, by Newton's method to 10⁻⁶.
    #[must_use]
    pub fn new(kernel: Kernel, lambda: f64) -> Self {
        Self {
            kernel,
            lambda,
            intercept: true,
            class_weight: ClassWeight::Uniform,
            solver: LogisticSolver::Newton,
            tol: 1e-6,
            max_iter: 100,
            admission: Admission::Check,
        }
    }

    /// Fits samples of `classes` classes, numbered by `codes` from 0.
    ///
    /// The expansion has one output for two classes, the logit of class 1, else one per class;
    /// [`probabilities`](crate::model::probabilities) makes them of its predictions. O(n²) a product with the kernel matrix, of which a Newton step takes
    /// some tens; 4n² to 16n² bytes.
    ///
    /// # Errors
    /// Where the codes or weights do not line up or are out of range, where fewer than two classes have rows that count,
    /// where the kernel is refuted or not finite on the samples, where λ = 0 and the classes are separated, and where
    /// the session asks to stop. A residual that did not come down to `tol` is no error: the report's status tells.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(Expansion, Report), LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        self.validate(rows, codes, classes, weights)?;
        self.kernel.check_columns(columns)?;
        let admitted = self.admission.decide(&self.kernel, samples)?;
        let resident = session.load(samples)?;
        let gram = resident.gram(&self.kernel, Wanted::Exact)?;
        let Coefficients { dual, intercepts, mut report } =
            self.fit_gram(&*gram, codes, classes, weights, session)?;
        report.warnings.extend(admitted.warning);
        // Rows of weight zero have coefficients of exactly zero.
        let used: Vec<usize> = (0..rows).filter(|&i| dual.row(i).iter().any(|a| *a != 0.0)).collect();
        let kept = used.iter().flat_map(|&i| dual.row(i)).copied().collect();
        let expansion = Expansion {
            kernel: self.kernel.clone(),
            domain: admitted.domain,
            centres: samples.select(&used),
            shift: None,
            coefficients: Matrix::from_entries(used.len(), intercepts.len(), kept),
            intercepts,
        };
        Ok((expansion, report))
    }

    /// Fits on a kernel matrix, precomputed or not.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_gram(
        &self,
        gram: &dyn Gram,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Coefficients, LearnError> {
        let mut path = self.fit_path(gram, codes, classes, weights, &[self.lambda], session)?;
        path.pop().ok_or(LearnError::Unsupported("a path of no lambda has no answer"))
    }

    /// Fits for each λ of `lambdas` in turn, each from the answer of the one before: fastest where they descend. The
    /// kernel matrix is computed once; [`lambda`](Self::lambda) plays no part.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_path(
        &self,
        gram: &dyn Gram,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Coefficients>, LearnError> {
        self.validate(gram.nrows(), codes, classes, weights)?;
        lambdas.iter().try_for_each(|&lambda| check_lambda(lambda))?;
        let weights = self.class_weight.combine(codes, classes, weights)?;
        check_codes(gram.nrows(), codes, classes, Some(&weights))?;
        let labels = Labels::new(codes, classes, weights);
        let budget = session.memory();
        // Gradient steps accumulate what they are given: only Newton's can be worked out with a rounded matrix.
        let smallest = match self.solver {
            LogisticSolver::Newton => lambdas.iter().copied().fold(f64::INFINITY, f64::min),
            _ => 0.0,
        };
        let problem = LogisticProblem::new(gram, labels, smallest, budget, session)?;
        let mut answers: Vec<LogisticSolution> = Vec::with_capacity(lambdas.len());
        for &lambda in lambdas {
            let settings = LogisticSettings {
                lambda,
                intercept: self.intercept,
                solver: self.solver,
                tol: self.tol,
                max_iter: self.max_iter,
            };
            let answer = problem
                .solve(&settings, answers.last(), session)
                .map_err(|error| explain_failure(gram, error))?;
            answers.push(answer);
        }
        let coefficients = |answer: LogisticSolution| Coefficients {
            dual: answer.dual,
            intercepts: answer.intercepts,
            report: answer.report,
        };
        Ok(answers.into_iter().map(coefficients).collect())
    }

    fn validate(
        &self,
        rows: usize,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
    ) -> Result<(), LearnError> {
        if rows == 0 {
            return Err(LearnError::Length { what: "class labels", rows, found: codes.len() });
        }
        check_lambda(self.lambda)?;
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(outside("tol", self.tol, "a finite number, more than 0"));
        }
        if self.max_iter == 0 {
            return Err(outside("max_iter", 0.0, "1 or more"));
        }
        if let LogisticSolver::Gd { step: Some(step) } | LogisticSolver::Sgd { step: Some(step), .. } =
            self.solver
            && !(step > 0.0 && step.is_finite())
        {
            return Err(outside("step", step, "a finite number, more than 0"));
        }
        check_codes(rows, codes, classes, weights)
    }
}

fn check_lambda(lambda: f64) -> Result<(), LearnError> {
    if lambda.is_finite() && lambda >= 0.0 {
        return Ok(());
    }
    Err(outside("lambda", lambda, "a finite number, 0 or more"))
}

fn outside(parameter: &'static str, received: f64, allowed: &'static str) -> LearnError {
    LearnError::Parameter { parameter, received: received.to_string(), allowed }
}

/// Numbers that are not finite come from kernel values that are not: the first such pair is named.
fn explain_failure(gram: &dyn Gram, error: LogisticError) -> LearnError {
    match error {
        LogisticError::NotFinite | LogisticError::Solve(_) => explain(gram, error.into()),
        _ => error.into(),
    }
}
