//! Kernel ridge regression and the expansions it fits.

use mercer::data::{AnySamples, Matrix};
use mercer::gram::{DenseGram, GramError};
use mercer::kernel::Kernel;
use mercer::kernel::check::Domain;
use mercer::learn::{self, Fitted as Trained, Inputs, Intercept, Learner, Ridge, RidgeSolver};
use mercer::memory;
use mercer::model::{Linear, ModelError, Predictor, first_outside};
use mercer::real::Real;
use mercer::session::Session;
use mercer::solve::Report;
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{gram_error, learn_error, model_error, value_error};
use crate::kernel::NativeKernel;
use crate::logistic::admission;
use crate::random_features::LiftParts;
use crate::rows::{Rows, entries, square};
use crate::work::Job;

/// (dual coefficients, intercepts, report).
pub type Fitted<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyDict>);

/// What is solved for: targets, penalties, weights, whether there is an unpenalised intercept; and by which solver.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem<'py> {
    targets: PyReadonlyArray2<'py, f64>,
    alpha: Vec<f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    intercept: bool,
    /// Whether the kernel must not be refuted.
    admit: bool,
    solver: String,
}

impl Problem<'_> {
    fn ridge(&self, kernel: Kernel) -> PyResult<Ridge> {
        let method = match self.solver.as_str() {
            "auto" => RidgeSolver::Dual,
            "cholesky" => RidgeSolver::Cholesky,
            "mixed" => RidgeSolver::Mixed,
            "primal" => RidgeSolver::Primal,
            other => {
                return Err(value_error(format!(
                    "the solver is auto, cholesky, mixed or primal, but this one is {other}"
                )));
            }
        };
        Ok(Ridge::new(kernel)
            .lambdas(self.alpha.clone())
            .intercept(intercept(self.intercept))
            .admission(admission(self.admit))
            .solver(method))
    }

    fn weights(&self) -> PyResult<Option<&[f64]>> {
        self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)
    }

    /// Trains on samples or on a kernel matrix.
    fn train(&self, py: Python<'_>, kernel: Kernel, inputs: Inputs<'_>, job: &Job<'_>) -> PyResult<Trained> {
        let (ridge, targets) = (self.ridge(kernel)?, matrix(&self.targets)?);
        let problem = learn::Problem::new(inputs, targets).weighted(self.weights()?);
        job.run(py, |session| ridge.train(&problem, session))?.map_err(learn_error)
    }
}

/// What is done about a constant.
pub fn intercept(wanted: bool) -> Intercept {
    if wanted { Intercept::Centred } else { Intercept::None }
}

/// Fits ridge regression on `rows`.
#[pyfunction]
pub fn fit_ridge<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: Problem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    expansion_parts(py, problem.train(py, kernel.0.clone(), rows.samples()?.into(), &job)?)
}

/// Fits ridge regression in the kernel's features: the coefficients (y − f)/α of the samples, and the linear model as
/// `features`, `weights` and `intercepts` of the report.
#[pyfunction]
pub fn fit_ridge_primal<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: Problem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    let samples = rows.samples()?;
    let ridge = problem.ridge(kernel.0.clone())?.solver(RidgeSolver::Primal);
    let (targets, weights) = (matrix(&problem.targets)?, problem.weights()?);
    let (fitted, mut dual) = job
        .run(py, |session| {
            let problem = learn::Problem::new(samples.view(), &targets).weighted(weights);
            let fitted = ridge.train(&problem, session)?;
            let values = fitted.model.predictor.predict(&samples, session)?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((fitted, values))
        })?
        .map_err(value_error)?;
    let columns = dual.ncols();
    for i in 0..dual.nrows() {
        let weight = weights.map_or(1.0, |w| w[i]);
        for (column, value) in dual.row_mut(i).iter_mut().enumerate() {
            let alpha = ridge.lambda[if ridge.lambda.len() == columns { column } else { 0 }];
            *value = weight * (targets.row(i)[column] - *value) / alpha;
        }
    }
    let (Predictor::Linear(linear), Some(report)) = (fitted.model.predictor, fitted.report) else {
        return Err(value_error("the primal form is linear in the features"));
    };
    let described = described(py, &report)?;
    described.set_item("domain", "all")?;
    described.set_item("features", linear.map.to_string())?;
    described.set_item("weights", from_matrix(py, linear.weights)?)?;
    Ok((from_matrix(py, dual)?, PyArray1::from_vec(py, linear.intercepts), described))
}

/// ⟨w, φ(x)⟩ at every row x, one column per column of `weights`.
#[pyfunction]
pub fn linear<'py>(
    py: Python<'py>,
    features: LiftParts<'py>,
    weights: PyReadonlyArray2<'py, f64>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let samples = rows.samples()?;
    let linear = Linear {
        map: features.lift()?,
        columns: samples.ncols(),
        shift: None,
        intercepts: vec![0.0; weights.shape()[1]],
        weights: matrix(&weights)?,
    };
    let out = job.run(py, |session| linear.predict(&samples, session))?;
    from_matrix(py, out.map_err(model_error)?)
}

/// Whether the features of the kernel are so few that solving in them is several times cheaper.
#[pyfunction]
pub fn prefers_primal(kernel: &NativeKernel, rows: usize, columns: usize) -> bool {
    let choice = RidgeSolver::Auto.choose(&kernel.0, rows, columns, memory::default_budget());
    choice.primal.is_some() && choice.primal_cost.is_some_and(|cost| 4.0 * cost < choice.dual_cost)
}

/// Fits ridge regression on a kernel matrix.
#[pyfunction]
pub fn fit_ridge_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: Problem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    let (rows, entries) = square(&gram)?;
    // A kernel matrix says all about its kernel that the fit needs.
    let gram = DenseGram::new(rows, entries);
    expansion_parts(py, problem.train(py, Kernel::linear(), Inputs::Gram(&gram), &job)?)
}

/// Σᵢ aᵢ k(cᵢ, x) at every row x of the kernel's domain, one column per column of `coefficients`.
#[pyfunction]
pub fn expand<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    domain: Option<&str>,
    centres: Rows<'py>,
    coefficients: PyReadonlyArray2<'py, f64>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (samples, centres) = (rows.samples()?, centres.samples()?);
    let coefficients = matrix(&coefficients)?;
    if coefficients.nrows() != centres.nrows() {
        let (found, expected) = (coefficients.nrows(), centres.nrows());
        return Err(value_error(format!("{found} rows of coefficients for {expected} centres")));
    }
    let domain: Option<Domain> = domain.map(str::parse).transpose().map_err(value_error)?;
    if let Some((row, reason)) = domain.and_then(|domain| first_outside(domain, &samples)) {
        return Err(model_error(ModelError::OutsideDomain { row, reason }));
    }
    let out = job.run(py, |session| apply(&kernel.0, &samples, &centres, &coefficients, session))?;
    from_matrix(py, out.map_err(gram_error)?)
}

fn apply(
    kernel: &Kernel,
    samples: &AnySamples<'_>,
    centres: &AnySamples<'_>,
    coefficients: &Matrix<f64>,
    session: &Session<'_>,
) -> Result<Matrix<f64>, GramError> {
    let (samples, centres) = (session.load(samples)?, session.load(centres)?);
    let mut out = Matrix::zeros(samples.nrows(), coefficients.ncols());
    samples.cross(kernel, &*centres)?.apply(&mut out, coefficients, session)?;
    Ok(out)
}

/// A copy in the library's form.
pub fn matrix(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix<f64>> {
    let entries = entries(array)?.to_vec();
    Ok(Matrix::from_entries(array.shape()[0], array.shape()[1], entries))
}

/// The matrix as an array, without a copy.
pub fn from_matrix<T: Real + Element>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Bound<'_, PyArray2<T>>> {
    let shape = [matrix.nrows(), matrix.ncols()];
    PyArray1::from_vec(py, matrix.into_entries()).reshape(shape)
}

/// What the estimators keep of an expansion.
pub fn expansion_parts(py: Python<'_>, fitted: Trained) -> PyResult<Fitted<'_>> {
    let (Predictor::Expansion(expansion), Some(report)) = (fitted.model.predictor, fitted.report) else {
        return Err(value_error("the model is not an expansion in the samples"));
    };
    let described = described(py, &report)?;
    described.set_item("domain", expansion.domain.map(|domain| domain.to_string()))?;
    Ok((from_matrix(py, expansion.coefficients)?, PyArray1::from_vec(py, expansion.intercepts), described))
}

pub fn described<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let status = serde_json::to_value(report.status).map_err(value_error)?;
    let dict = PyDict::new(py);
    dict.set_item("status", status.as_str().unwrap_or_default())?;
    dict.set_item("solver", &report.solver)?;
    dict.set_item("iterations", report.iterations)?;
    dict.set_item("residual", report.residual)?;
    dict.set_item("warnings", &report.warnings)?;
    Ok(dict)
}
