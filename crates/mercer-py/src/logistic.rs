//! Kernel logistic regression.

use mercer::data::AnySamples;
use mercer::design::{Approximation, Features};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{self, Admission, Inputs, Learner, Lift, Logistic, LogisticSolver, Problem};
use mercer::model::{Expansion, Linear, Predictor};
use mercer::solve::svm::SvmSettings;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::landmarks::kept;
use crate::random_features::drawn;
use crate::ridge::{Fitted, described, from_matrix, intercept, matrix};
use crate::rows::{Rows, square};
use crate::train::{coded, expanded, train};
use crate::work::Job;

/// What logistic regression is fitted to, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LogisticProblem<'py> {
    codes: PyReadonlyArray1<'py, usize>,
    classes: usize,
    lambda: f64,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    intercept: bool,
    solver: String,
    tol: f64,
    max_iter: usize,
    seed: u64,
    /// Whether the kernel must not be refuted.
    admit: bool,
}

impl LogisticProblem<'_> {
    fn settings(&self, lift: impl Into<Lift>) -> PyResult<Logistic> {
        let method = match self.solver.as_str() {
            "newton" => LogisticSolver::Newton,
            "gd" => LogisticSolver::Gd,
            "sgd" => LogisticSolver::Sgd,
            other => {
                return Err(value_error(format!("the solver is newton, gd or sgd, but this one is {other}")));
            }
        };
        Ok(Logistic::new(lift)
            .lambda(self.lambda)
            .intercept(intercept(self.intercept))
            .solver(method)
            .tol(self.tol)
            .max_iter(Some(self.max_iter))
            .admission(admission(self.admit)))
    }

    fn problem<'a>(&'a self, inputs: Inputs<'a>) -> PyResult<Problem<'a>> {
        let weights = self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
        Ok(Problem::new(inputs, coded(&self.codes, self.classes)?).weighted(weights))
    }

    fn fit<'py>(
        &self,
        py: Python<'py>,
        kernel: Kernel,
        inputs: Inputs<'_>,
        job: &Job<'py>,
    ) -> PyResult<Fitted<'py>> {
        let problem = self.problem(inputs)?;
        let fitted = train(py, &self.settings(kernel)?, &problem, self.seed, job)?;
        expanded(py, fitted, problem.nrows())
    }
}

pub fn admission(admit: bool) -> Admission {
    if admit { Admission::Check } else { Admission::Assume }
}

/// Fits logistic regression on `rows`.
#[pyfunction]
pub fn fit_logistic<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: LogisticProblem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    problem.fit(py, kernel.0.clone(), rows.samples()?.into(), &job)
}

/// Fits a classifier of loss "logistic" or "hinge" on features that stand in for the kernel: their weights and `features` of
/// the report for random ones, the dual coefficients of landmarks and their `indices` else.
#[pyfunction]
pub fn fit_classes_approx<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    approx: (String, String),
    problem: LogisticProblem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    let (approx, loss) = approx;
    let approximation: Approximation = approx.parse().map_err(value_error)?;
    let samples = rows.samples()?;
    let learner: Box<dyn Learner> = match loss.as_str() {
        "logistic" => Box::new(problem.settings((kernel.0.clone(), approximation))?),
        "hinge" => {
            let machine = Machine::Svc { c: 1.0 / problem.lambda };
            let (tol, max_iter) = (problem.tol, Some(problem.max_iter as u64));
            Box::new(
                Svm::new((kernel.0.clone(), approximation), machine)
                    .solver(SvmSettings { tol, max_iter, ..SvmSettings::default() })
                    .admission(admission(problem.admit)),
            )
        }
        other => return Err(value_error(format!("the loss is logistic or hinge, but this one is {other}"))),
    };
    let fitted = train(py, &*learner, &problem.problem((&samples).into())?, problem.seed, &job)?;
    // The same seed chooses the same landmarks: once more, for their places.
    let chosen = match approximation {
        Approximation::Nystrom { landmarks, choice } => job
            .run(py, |session| {
                choice.choose(&kernel.0, &samples, landmarks, &session.with_seed(problem.seed))
            })?
            .map_err(|error| learn_error(error.into()))?,
        Approximation::Fourier { .. } => Vec::new(),
    };
    on_features(py, fitted, &samples, &chosen)
}

/// The weights of random features or the coefficients of landmarks, the intercepts, and the report.
fn on_features<'py>(
    py: Python<'py>,
    fitted: learn::Fitted,
    samples: &AnySamples<'_>,
    chosen: &[usize],
) -> PyResult<Fitted<'py>> {
    let report = fitted.report.ok_or_else(|| value_error("nothing was solved"))?;
    let dict = described(py, &report)?;
    let (weights, intercepts) = match fitted.model.predictor {
        Predictor::Linear(Linear { map: Features::Fourier(fourier), weights, intercepts, .. }) => {
            dict.set_item("domain", "all")?;
            dict.set_item("features", drawn(py, &fourier)?)?;
            (weights, intercepts)
        }
        Predictor::Expansion(Expansion { centres, domain, coefficients, intercepts, .. }) => {
            let places = kept(&samples.select(chosen), &centres);
            dict.set_item("domain", domain.map(|domain| domain.to_string()))?;
            dict.set_item("indices", places.into_iter().map(|place| chosen[place]).collect::<Vec<_>>())?;
            (coefficients, intercepts)
        }
        _ => return Err(value_error("a classifier on features is linear in them")),
    };
    Ok((from_matrix(py, weights)?, PyArray1::from_vec(py, intercepts), dict))
}

/// Fits logistic regression on a kernel matrix.
#[pyfunction]
pub fn fit_logistic_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: LogisticProblem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    let (order, entries) = square(&gram)?;
    problem.fit(py, Kernel::linear(), Inputs::Gram(&DenseGram::new(order, entries)), &job)
}

/// The probability of each class from logits: one column for two classes, else one per class.
#[pyfunction]
pub fn probabilities<'py>(
    py: Python<'py>,
    outputs: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    from_matrix(py, mercer::model::probabilities(&matrix(&outputs)?))
}
