//! Cross-validation of ridge regression for a path of penalties.

use mercer::data::Matrix;
use mercer::gram::{GramError, Part, Wanted};
use mercer::learn::{LearnError, check_matrix_memory};
use mercer::session::Session;
use mercer::solve::{PathProblem, RidgePath};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::rows::{Rows, from_matrix, matrix, square};
use crate::work::Job;

/// What is validated, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Validation<'py> {
    targets: PyReadonlyArray2<'py, f64>,
    alphas: Vec<f64>,
    /// Each more than 0.
    weights: Option<PyReadonlyArray1<'py, f64>>,
    intercept: bool,
    /// Generalised cross-validation, instead of residuals.
    gcv: bool,
    /// Each row's fold; None to leave one row out at a time.
    folds: Option<Vec<usize>>,
}

/// The residuals at each penalty, one row per sample and one column per target; with `gcv` the score of each target. NaN where
/// a penalty leaves the matrix indefinite.
type Scores<'py> = Vec<Bound<'py, PyArray2<f64>>>;

/// Validates on `rows`.
#[pyfunction]
pub fn ridge_path<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: Validation<'py>,
    job: Job<'py>,
) -> PyResult<Scores<'py>> {
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let parts = problem.parts()?;
    let found = job.run(py, |session| {
        let n = samples.nrows();
        check_matrix_memory(n, session)?;
        let mut gram = Matrix::zeros(n, n);
        let resident = session.load(&samples)?;
        resident
            .gram(&kernel.0, Wanted::Exact)?
            .fill(Part::Full, gram.entries_mut().into(), session)
            .map_err(GramError::from)?;
        parts.scores(gram, session)
    })?;
    hand_back(py, found)
}

/// Validates on a kernel matrix.
#[pyfunction]
pub fn ridge_path_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: Validation<'py>,
    job: Job<'py>,
) -> PyResult<Scores<'py>> {
    let (rows, entries) = square(&gram)?;
    let parts = problem.parts()?;
    let found =
        job.run(py, |session| parts.scores(Matrix::from_entries(rows, rows, entries.to_vec()), session))?;
    hand_back(py, found)
}

/// The problem in the library's terms.
struct Parts {
    targets: Matrix<f64>,
    alphas: Vec<f64>,
    roots: Option<Vec<f64>>,
    intercept: bool,
    gcv: bool,
    folds: Option<Vec<usize>>,
}

impl Validation<'_> {
    fn parts(&self) -> PyResult<Parts> {
        let weights = self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
        Ok(Parts {
            targets: matrix(&self.targets)?,
            alphas: self.alphas.clone(),
            roots: weights.map(|w| w.iter().map(|w| w.sqrt()).collect()),
            intercept: self.intercept,
            gcv: self.gcv,
            folds: self.folds.clone(),
        })
    }
}

impl Parts {
    fn scores(&self, gram: Matrix<f64>, session: &Session<'_>) -> Result<Vec<Matrix<f64>>, LearnError> {
        let (n, columns) = (self.targets.nrows(), self.targets.ncols());
        let problem = PathProblem {
            targets: &self.targets,
            root_weights: self.roots.as_deref(),
            intercept: self.intercept,
            lambdas: &self.alphas,
        };
        let mut path = RidgePath::factor(gram, problem, session)?;
        if self.gcv {
            let row = |scores: Option<Vec<f64>>| scores.unwrap_or_else(|| vec![f64::NAN; columns]);
            let scores = path.generalised(session)?.into_iter().map(row);
            return Ok(scores.map(|row| Matrix::from_entries(1, columns, row)).collect());
        }
        let found = match &self.folds {
            Some(folds) => path.k_fold(folds, session)?,
            None => path.leave_one_out(session)?,
        };
        let unknown = || Matrix::from_entries(n, columns, vec![f64::NAN; n * columns]);
        Ok(found.into_iter().map(|residuals| residuals.unwrap_or_else(unknown)).collect())
    }
}

fn hand_back(py: Python<'_>, found: Result<Vec<Matrix<f64>>, LearnError>) -> PyResult<Scores<'_>> {
    found.map_err(learn_error)?.into_iter().map(|matrix| from_matrix(py, matrix)).collect()
}
