//! Cross-validation: residuals of ridge regression along a path of penalties, which Python scores by any metric, and accuracies of
//! support vector classification over a grid of kernels and values of C.

use mercer::data::Matrix;
use mercer::gram::{DenseGram, GramError, Part, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::search::{Criterion, Score, stratify_folds};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{ClassWeight, Inputs, KernelCheck, LearnError, Problem, Targets, check_matrix_memory};
use mercer::select::Tune;
use mercer::session::Session;
use mercer::solve::svm::SvmSettings;
use mercer::solve::{PathProblem, RidgePath};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::rows::{from_matrix, matrix, square};
use crate::train::InputParts;
use crate::work::Job;

/// The problem and the method of validation.
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
    /// Each row's fold; `None` for leave-one-out.
    folds: Option<Vec<usize>>,
}

/// The residuals at each penalty, one row per sample and one column per target; with `gcv` the score of each target.
/// NaN for penalties with which the matrix is indefinite.
type Residuals<'py> = Vec<Bound<'py, PyArray2<f64>>>;

/// Validates a kernel on rows, or a kernel matrix.
#[pyfunction]
pub fn ridge_path<'py>(
    py: Python<'py>,
    kernel: Option<&NativeKernel>,
    inputs: InputParts<'py>,
    problem: Validation<'py>,
    job: Job<'py>,
) -> PyResult<Residuals<'py>> {
    let parts = problem.parts()?;
    let found = match &inputs {
        InputParts::Gram { gram } => {
            let (n, entries) = square(gram)?;
            job.run(py, |session| parts.scores(Matrix::from_entries(n, n, entries.to_vec()), session))?
        }
        InputParts::Rows(rows) => {
            let samples = rows.samples()?;
            let NativeKernel(kernel) = kernel.ok_or_else(|| value_error("rows need a kernel"))?;
            kernel.check_columns(samples.ncols()).map_err(value_error)?;
            job.run(py, |session| {
                let n = samples.nrows();
                check_matrix_memory(n, session)?;
                let mut gram = Matrix::zeros(n, n);
                let resident = session.load(&samples)?;
                resident
                    .gram(kernel, Wanted::Exact)?
                    .fill(Part::Full, gram.entries_mut().into(), session)
                    .map_err(GramError::from)?;
                parts.scores(gram, session)
            })?
        }
    };
    found.map_err(learn_error)?.into_iter().map(|matrix| from_matrix(py, matrix)).collect()
}

/// The problem as the library's type.
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

/// Classes, folds, and the settings of the machines.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GridProblem<'py> {
    codes: PyReadonlyArray1<'py, usize>,
    classes: usize,
    /// The fold of every row.
    folds: PyReadonlyArray1<'py, usize>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// A factor of C for each class, which does not affect scores otherwise.
    class_weight: Option<Vec<f64>>,
    cs: Vec<f64>,
    tol: f64,
    cache: Option<u64>,
    shrinking: bool,
    max_iter: Option<u64>,
    /// Whether the kernels must not be refuted.
    check: bool,
}

/// (for each kernel, for each C, the accuracy on each fold, or `None` if the kernel has values that are not finite;
/// warnings).
type Accuracies = (Vec<Option<Vec<Vec<f64>>>>, Vec<String>);

impl GridProblem<'_> {
    fn grid<'py>(
        &self,
        py: Python<'py>,
        kernels: &[Kernel],
        inputs: Inputs<'_>,
        job: &Job<'py>,
    ) -> PyResult<Accuracies> {
        let Self { tol, cache, shrinking, max_iter, .. } = *self;
        let class_weight = self.class_weight.clone().map_or(ClassWeight::Uniform, ClassWeight::Each);
        let svm = Svm::new(Kernel::linear(), Machine::Svc { c: 1.0 })
            .class_weight(class_weight)
            .kernel_check(if self.check { KernelCheck::Check } else { KernelCheck::Assume })
            .solver(SvmSettings { tol, cache, shrinking, max_iter });
        let folds = self.folds.as_slice().map_err(value_error)?;
        let criterion = Criterion::Given(folds.iter().copied().map(Some).collect());
        let tune = Tune { criterion, ..Tune::new(svm) };
        let codes = self.codes.as_slice().map_err(value_error)?;
        let weights = self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
        let problem = Problem::new(inputs, Targets::codes(codes, self.classes)).weighted(weights);
        let cs = &self.cs;
        let found = job.run(py, |session| tune.grid(kernels, cs, &problem, session))?;
        let found = found.map_err(learn_error)?;
        let accuracies = |score: Option<Score>| {
            score.map(|score| score.folds.iter().map(|wrong| 1.0 - wrong).collect::<Vec<f64>>())
        };
        let scores = found.scores.into_iter().map(|row| row.into_iter().map(accuracies).collect());
        Ok((scores.collect(), found.warnings))
    }
}

/// The accuracies of every C with every kernel on rows, or on a kernel matrix.
#[pyfunction]
pub fn svc_grid<'py>(
    py: Python<'py>,
    kernels: Vec<Bound<'py, NativeKernel>>,
    inputs: InputParts<'py>,
    problem: GridProblem<'py>,
    job: Job<'py>,
) -> PyResult<Accuracies> {
    let kernels: Vec<Kernel> = kernels.iter().map(|kernel| kernel.get().0.clone()).collect();
    match &inputs {
        InputParts::Rows(rows) => problem.grid(py, &kernels, rows.samples()?.into(), &job),
        InputParts::Gram { gram } => {
            let (order, entries) = square(gram)?;
            problem.grid(py, &kernels, Inputs::Gram(&DenseGram::new(order, entries)), &job)
        }
    }
}

/// The fold of every row, as in scikit-learn's `StratifiedKFold`.
#[pyfunction]
pub fn stratified_folds<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, usize>,
    folds: usize,
) -> PyResult<Bound<'py, PyArray1<usize>>> {
    let codes = codes.as_slice().map_err(value_error)?;
    Ok(PyArray1::from_vec(py, stratify_folds(codes, folds, None).map_err(value_error)?))
}
