//! Kernel logistic regression.

use mercer::data::AnySamples;
use mercer::design::{Approximation, Features};
use mercer::gram::{DenseGram, Wanted};
use mercer::kernel::{Expr, Kernel};
use mercer::learn::{Admission, Admitted, ApproxClassifier, ClassLoss, ClassWeight, LearnError, Logistic};
use mercer::model::{Expansion, Linear, Predictor};
use mercer::solve::LogisticSolver;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::landmarks::kept;
use crate::random_features::drawn;
use crate::ridge::{Fitted, described, from_matrix, hand_back, matrix};
use crate::rows::{Rows, square};
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
    fn settings(&self, kernel: Kernel) -> PyResult<Logistic> {
        Ok(Logistic {
            kernel,
            lambda: self.lambda,
            intercept: self.intercept,
            class_weight: ClassWeight::Uniform,
            solver: match self.solver.as_str() {
                "newton" => LogisticSolver::Newton,
                "gd" => LogisticSolver::Gd { step: None },
                "sgd" => LogisticSolver::Sgd { step: None, seed: self.seed },
                other => {
                    return Err(value_error(format!(
                        "the solver is newton, gd or sgd, but this one is {other}"
                    )));
                }
            },
            tol: self.tol,
            max_iter: self.max_iter,
            admission: admission(self.admit),
        })
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
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let logistic = problem.settings(kernel.0.clone())?;
    let (codes, classes) = (problem.codes.as_slice().map_err(value_error)?, problem.classes);
    let weights = problem.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let (admitted, found) = job
        .run(py, |session| {
            let admitted = logistic.admission.decide(&logistic.kernel, &samples)?;
            let resident = session.load(&samples)?;
            let gram = resident.gram(&logistic.kernel, Wanted::Exact)?;
            Ok::<_, LearnError>((admitted, logistic.fit_gram(&*gram, codes, classes, weights, session)?))
        })?
        .map_err(learn_error)?;
    hand_back(py, found, admitted)
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
    let loss = match loss.as_str() {
        "logistic" => ClassLoss::Logistic,
        "hinge" => ClassLoss::Hinge,
        other => return Err(value_error(format!("the loss is logistic or hinge, but this one is {other}"))),
    };
    let (tol, max_iter) = (problem.tol, problem.max_iter);
    let machine = ApproxClassifier {
        intercept: problem.intercept,
        tol,
        max_iter,
        admission: admission(problem.admit),
        ..ApproxClassifier::new(loss, kernel.0.clone(), approximation, 1.0 / problem.lambda)
    };
    let (codes, classes) = (problem.codes.as_slice().map_err(value_error)?, problem.classes);
    let weights = problem.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    fit_approx(py, &machine, problem.seed, &rows.samples()?, (codes, classes, weights), &job)
}

/// Fits a classifier on features and hands it back as [`fit_classes_approx`] does.
fn fit_approx<'py>(
    py: Python<'py>,
    machine: &ApproxClassifier,
    seed: u64,
    samples: &AnySamples<'_>,
    (codes, classes, weights): (&[usize], usize, Option<&[f64]>),
    job: &Job<'py>,
) -> PyResult<Fitted<'py>> {
    machine.kernel.check_columns(samples.ncols()).map_err(value_error)?;
    let (predictor, report, chosen) = job
        .run(py, |session| {
            let session = &session.with_seed(seed);
            let (predictor, report) = machine.fit(samples, codes, classes, weights, session)?;
            // The same seed chooses the same landmarks: once more, for their places.
            let chosen = match machine.approximation {
                Approximation::Nystrom { landmarks, choice } => {
                    choice.choose(&machine.kernel, samples, landmarks, session)?
                }
                Approximation::Fourier { .. } => Vec::new(),
            };
            Ok::<_, LearnError>((predictor, report, chosen))
        })?
        .map_err(learn_error)?;
    let dict = described(py, &report)?;
    let (weights, intercepts) = match predictor {
        Predictor::Linear(Linear { map: Features::Fourier(fourier), weights, intercepts, .. }) => {
            dict.set_item("domain", "all")?;
            dict.set_item("features", drawn(py, &fourier)?)?;
            (weights, intercepts)
        }
        Predictor::Expansion(Expansion { centres, domain, coefficients, intercepts, .. }) => {
            let places = kept(&samples.select(&chosen), &centres);
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
    let logistic = problem.settings(Kernel::from_expr(Expr::Dot))?;
    let (codes, classes) = (problem.codes.as_slice().map_err(value_error)?, problem.classes);
    let weights = problem.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let found = job.run(py, |session| {
        logistic.fit_gram(&DenseGram::new(order, entries), codes, classes, weights, session)
    })?;
    hand_back(py, found.map_err(learn_error)?, Admitted { domain: None, warning: None })
}

/// The probability of each class from logits: one column for two classes, else one per class.
#[pyfunction]
pub fn probabilities<'py>(
    py: Python<'py>,
    outputs: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    from_matrix(py, mercer::model::probabilities(&matrix(&outputs)?))
}
