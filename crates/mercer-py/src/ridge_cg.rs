//! Ridge regression by conjugate gradients: all rows as centres, or landmarks alone.

use mercer::design::{Approximation, LandmarkChoice};
use mercer::learn::{LearnError, Learner, Lift, Problem, Ridge, RidgeSolver};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::landmarks::kept;
use crate::logistic::admission;
use crate::ridge::{Fitted, expansion_parts, intercept, matrix};
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
    let (kernel, choice) = (&kernel.0, LandmarkChoice::default());
    let lift = match problem.landmarks {
        None => Lift::from(kernel.clone()),
        Some(landmarks) => (kernel.clone(), Approximation::Nystrom { landmarks, choice }).into(),
    };
    let ridge = Ridge::new(lift)
        .lambda(problem.alpha)
        .intercept(intercept(problem.intercept))
        .admission(admission(problem.admit))
        .solver(RidgeSolver::Cg)
        .tol(problem.tol)
        .max_iter(problem.max_iter);
    let targets = matrix(&problem.targets)?;
    let weights = problem.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let (landmarks, seed) = (problem.landmarks, problem.seed);
    let (fitted, indices) = job
        .run(py, |session| {
            let session = &session.with_seed(seed);
            let problem = Problem::new(samples.view(), &targets).weighted(weights);
            let fitted = ridge.train(&problem, session)?;
            let (Some(landmarks), Some(expansion)) = (landmarks, fitted.model.predictor.expansion()) else {
                return Ok::<_, LearnError>((fitted, None));
            };
            // The same seed chooses the same landmarks: here for their places, there for the fit.
            let chosen = choice.choose(kernel, &samples, landmarks, session)?;
            let places = kept(&samples.select(&chosen), &expansion.centres);
            let indices: Vec<usize> = places.into_iter().map(|place| chosen[place]).collect();
            Ok((fitted, Some(indices)))
        })?
        .map_err(learn_error)?;
    let (coefficients, intercepts, described) = expansion_parts(py, fitted)?;
    described.set_item("indices", indices)?;
    Ok((coefficients, intercepts, described))
}
