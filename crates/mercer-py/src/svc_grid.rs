//! Accuracies of support vector classification over a grid of kernels and values of C.

use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{ClassWeight, Inputs, Problem, Targets};
use mercer::select::{TuneSvc, stratify_folds};
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

impl GridProblem<'_> {
    fn grid<'py>(
        &self,
        py: Python<'py>,
        kernels: &[Kernel],
        inputs: Inputs<'_>,
        job: &Job<'py>,
    ) -> PyResult<Scores> {
        let Self { tol, cache, shrinking, max_iter, .. } = *self;
        let class_weight = self.class_weight.clone().map_or(ClassWeight::Uniform, ClassWeight::Each);
        let svm = Svm::new(Kernel::linear(), Machine::Svc { c: 1.0 })
            .class_weight(class_weight)
            .admission(admission(self.admit))
            .solver(SvmSettings { tol, cache, shrinking, max_iter });
        let tune = TuneSvc { svm, ..TuneSvc::new(Kernel::linear()) };
        let codes = self.codes.as_slice().map_err(value_error)?;
        let folds = self.folds.as_slice().map_err(value_error)?;
        let weights = self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
        let problem = Problem::new(inputs, Targets::codes(codes, self.classes)).weighted(weights);
        let cs = &self.cs;
        let found = job.run(py, |session| tune.grid(kernels, cs, &problem, folds, session))?;
        let found = found.map_err(learn_error)?;
        Ok((found.scores, found.warnings))
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
    let kernels: Vec<Kernel> = kernels.iter().map(|kernel| kernel.get().0.clone()).collect();
    problem.grid(py, &kernels, rows.samples()?.into(), &job)
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
    problem.grid(py, &[], Inputs::Gram(&DenseGram::new(order, entries)), &job)
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
