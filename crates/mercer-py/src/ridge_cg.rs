//! Ridge regression by conjugate gradients: all rows as centres, or landmarks alone.

use mercer::design::LandmarkChoice;
use mercer::learn::{Bias, IterativeRidge, LearnError, RestrictedRidge};
use mercer::solve::ConjugateGradient;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::landmarks::kept;
use crate::logistic::admission;
use crate::ridge::{Fitted, described, from_matrix, matrix};
use crate::rows::Rows;
use crate::work::Job;

/// What is solved for, and when it is solved.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct IterativeProblem<'py> {
    targets: PyReadonlyArray2<'py, f64>,
    alpha: f64,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    intercept: bool,
    /// Whether the kernel must not be refuted.
    admit: bool,
    tol: f64,
    max_iter: u64,
    seed: u64,
    /// Landmarks that the answer is restricted to; none for all rows.
    landmarks: Option<usize>,
}

/// Fits ridge regression by conjugate gradients, without n² memory; `indices` of the report are those of the rows that
/// the coefficients are of.
#[pyfunction]
pub fn fit_ridge_cg<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: IterativeProblem<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    let samples = rows.samples()?;
    let kernel = &kernel.0;
    kernel.check_columns(samples.ncols()).map_err(value_error)?;
    let targets = matrix(&problem.targets)?;
    let weights = problem.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let (lambda, seed, admission) = (problem.alpha, problem.seed, admission(problem.admit));
    let bias = if problem.intercept { Bias::Centred } else { Bias::None };
    let solver =
        ConjugateGradient { tolerance: problem.tol, iterations: problem.max_iter, ..Default::default() };
    let (landmarks, choice) = (problem.landmarks, LandmarkChoice::default());
    let (expansion, report, indices) = job
        .run(py, |session| {
            let (kernel, session) = (kernel.clone(), &session.with_seed(seed));
            let Some(landmarks) = landmarks else {
                let ridge = IterativeRidge { kernel, lambda, bias, admission, solver, rank: None };
                let (expansion, report) = ridge.fit(&samples, &targets, weights, session)?;
                return Ok::<_, LearnError>((expansion, report, None));
            };
            // The same seed chooses the same landmarks: here for their places, there for the fit.
            let chosen = choice.choose(&kernel, &samples, landmarks, session)?;
            let ridge = RestrictedRidge { kernel, lambda, landmarks, choice, bias, admission, solver };
            let (expansion, report) = ridge.fit(&samples, &targets, weights, session)?;
            let places = kept(&samples.select(&chosen), &expansion.centres);
            let indices: Vec<usize> = places.into_iter().map(|place| chosen[place]).collect();
            Ok((expansion, report, Some(indices)))
        })?
        .map_err(learn_error)?;
    let described = described(py, &report)?;
    described.set_item("domain", expansion.domain.map(|domain| domain.to_string()))?;
    described.set_item("indices", indices)?;
    Ok((from_matrix(py, expansion.coefficients)?, PyArray1::from_vec(py, expansion.intercepts), described))
}
