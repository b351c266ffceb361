//! Accuracies of support vector classification over a grid of kernels and values of C.

use mercer::gram::DenseGram;
use mercer::kernel::{Expr, Kernel};
use mercer::select::{SvcGrid, TuneSvc, stratify_folds};
use mercer::solve::svm::SvmSettings;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::logistic::admission;
use crate::rows::{Rows, square};
use crate::work::Job;

/// What is told apart, how the rows are cut, and how the machines are trained.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GridProblem<'py> {
    codes: PyReadonlyArray1<'py, usize>,
    classes: usize,
    /// The fold of every row.
    folds: PyReadonlyArray1<'py, usize>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// A factor of C for each class, which no score looks at.
    class_weight: Option<Vec<f64>>,
    cs: Vec<f64>,
    tol: f64,
    cache: Option<u64>,
    shrinking: bool,
    max_iter: Option<u64>,
    /// Whether the kernels must not be refuted.
    admit: bool,
}

/// (for each kernel, for each C, the accuracy on each fold, or none where the kernel has no finite values; warnings).
type Scores = (Vec<Option<Vec<Vec<f64>>>>, Vec<String>);

/// (class codes, folds, weights), one per row.
type Labels<'a> = (&'a [usize], &'a [usize], Option<&'a [f64]>);

impl GridProblem<'_> {
    fn tune(&self, kernel: Kernel) -> TuneSvc {
        TuneSvc {
            class_weight: self.class_weight.clone(),
            admission: admission(self.admit),
            settings: SvmSettings {
                tol: self.tol,
                cache: self.cache,
                shrinking: self.shrinking,
                max_iter: self.max_iter,
            },
            ..TuneSvc::new(kernel)
        }
    }

    fn rows(&self) -> PyResult<Labels<'_>> {
        Ok((
            self.codes.as_slice().map_err(value_error)?,
            self.folds.as_slice().map_err(value_error)?,
            self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?,
        ))
    }
}

/// The accuracies of every kernel with every C on `rows`.
#[pyfunction]
pub fn svc_grid<'py>(
    py: Python<'py>,
    kernels: Vec<Bound<'py, NativeKernel>>,
    rows: Rows<'py>,
    problem: GridProblem<'py>,
    job: Job<'py>,
) -> PyResult<Scores> {
    let samples = rows.samples()?;
    let kernels: Vec<Kernel> = kernels.iter().map(|kernel| kernel.get().0.clone()).collect();
    let tune = problem.tune(Kernel::from_expr(Expr::Dot));
    let (codes, folds, weights) = problem.rows()?;
    let (cs, classes) = (&problem.cs, problem.classes);
    let found =
        job.run(py, |session| tune.grid(&kernels, cs, &samples, codes, classes, folds, weights, session))?;
    Ok(scores(found.map_err(learn_error)?))
}

/// The accuracies of every C on a kernel matrix.
#[pyfunction]
pub fn svc_grid_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: GridProblem<'py>,
    job: Job<'py>,
) -> PyResult<Scores> {
    let (order, entries) = square(&gram)?;
    let tune = problem.tune(Kernel::from_expr(Expr::Dot));
    let (codes, folds, weights) = problem.rows()?;
    let (cs, classes) = (&problem.cs, problem.classes);
    let found = job.run(py, |session| {
        tune.grid_on(&DenseGram::new(order, entries), cs, codes, classes, folds, weights, session)
    })?;
    Ok(scores(found.map_err(learn_error)?))
}

fn scores(grid: SvcGrid) -> Scores {
    (grid.scores, grid.warnings)
}

/// The fold of every row as scikit-learn's `StratifiedKFold` deals them out.
#[pyfunction]
pub fn stratified_folds<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, usize>,
    folds: usize,
) -> PyResult<Bound<'py, PyArray1<usize>>> {
    let codes = codes.as_slice().map_err(value_error)?;
    Ok(PyArray1::from_vec(py, stratify_folds(codes, folds, None).map_err(value_error)?))
}
