//! Least mean squares on a kernel.

use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::{Inputs, Lms, LmsSolver, Problem, Step};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use serde_json::Value;

use crate::kernel::NativeKernel;
use crate::logistic::admission;
use crate::ridge::{Fitted, intercept, matrix};
use crate::rows::{Rows, square};
use crate::train::{expanded, train};
use crate::work::Job;

/// What is descended on, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Descent<'py> {
    targets: PyReadonlyArray2<'py, f64>,
    /// None for an automatic step.
    step: Option<f64>,
    epochs: usize,
    tol: f64,
    /// The order of the rows, one at a time; None for all at once.
    seed: Option<u64>,
    intercept: bool,
    /// Whether the kernel must not be refuted.
    admit: bool,
}

impl Descent<'_> {
    fn settings(&self, kernel: Kernel) -> Lms {
        Lms::new(kernel)
            .step(self.step.map_or(Step::Auto, Step::Value))
            .epochs(self.epochs)
            .tol(self.tol)
            .solver(self.seed.map_or(LmsSolver::Batch, |_| LmsSolver::Sgd))
            .intercept(intercept(self.intercept))
            .admission(admission(self.admit))
    }

    fn fit<'py>(
        &self,
        py: Python<'py>,
        kernel: Kernel,
        inputs: Inputs<'_>,
        job: &Job<'py>,
    ) -> PyResult<Fitted<'py>> {
        let problem = Problem::new(inputs, matrix(&self.targets)?);
        let fitted = train(py, &self.settings(kernel), &problem, self.seed.unwrap_or_default(), job)?;
        let step = fitted.facts["step"].as_f64();
        let points = fitted.facts["curve"].as_array().into_iter().flatten();
        let number = |point: &Value, key: &str| point[key].as_f64().unwrap_or(f64::NAN);
        let curve: Vec<_> = points.map(|p| ["epoch", "mse", "gradient"].map(|key| number(p, key))).collect();
        let (dual, intercepts, report) = expanded(py, fitted, problem.nrows())?;
        report.set_item("step", step)?;
        report.set_item("curve", curve)?;
        Ok((dual, intercepts, report))
    }
}

/// Descends on `rows`.
#[pyfunction]
pub fn fit_lms<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: Descent<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    problem.fit(py, kernel.0.clone(), rows.samples()?.into(), &job)
}

/// Descends on a kernel matrix.
#[pyfunction]
pub fn fit_lms_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: Descent<'py>,
    job: Job<'py>,
) -> PyResult<Fitted<'py>> {
    let (rows, entries) = square(&gram)?;
    problem.fit(py, Kernel::linear(), Inputs::Gram(&DenseGram::new(rows, entries)), &job)
}
