//! Kernel logistic regression.

use mercer::gram::{CpuEngine, DenseGram, Engine};
use mercer::kernel::{Expr, Kernel};
use mercer::learn::{Admission, Admitted, ClassWeight, LearnError, Logistic};
use mercer::solve::LogisticSolver;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::ridge::{Fitted, from_matrix, hand_back, matrix};
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
            memory: None,
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
        .run(py, |watch| {
            let admitted = logistic.admission.decide(&logistic.kernel, &samples)?;
            let resident = CpuEngine.load(&samples);
            let gram = resident.gram(&logistic.kernel)?;
            Ok::<_, LearnError>((admitted, logistic.fit_gram(&*gram, codes, classes, weights, watch)?))
        })?
        .map_err(learn_error)?;
    hand_back(py, found, admitted)
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
    let found = job.run(py, |watch| {
        logistic.fit_gram(&DenseGram::new(order, entries), codes, classes, weights, watch)
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
