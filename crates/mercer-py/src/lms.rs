//! Least mean squares on a kernel.

use mercer::gram::DenseGram;
use mercer::kernel::{Expr, Kernel};
use mercer::learn::{Admission, Admitted, Bias, LearnError, Lms, LmsCoefficients, LmsReport};
use mercer::solve::descent::{Mode, Step};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::learn_error;
use crate::kernel::NativeKernel;
use crate::ridge::{Fitted, described, from_matrix, matrix};
use crate::rows::{Rows, square};
use crate::work::Job;

/// What is descended on, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Descent<'py> {
    targets: PyReadonlyArray2<'py, f64>,
    /// None for one chosen by itself.
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
        Lms {
            kernel,
            step: self.step.map_or(Step::Auto, Step::Value),
            epochs: self.epochs,
            tol: self.tol,
            mode: self.seed.map_or(Mode::Batch, |seed| Mode::Stochastic { seed }),
            bias: if self.intercept { Bias::Centred } else { Bias::None },
            admission: if self.admit { Admission::Check } else { Admission::Assume },
        }
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
    let samples = rows.samples()?;
    let (lms, targets) = (problem.settings(kernel.0.clone()), matrix(&problem.targets)?);
    let (expansion, report) =
        job.run(py, |session| lms.fit(&samples, &targets, session))?.map_err(learn_error)?;
    let found = LmsCoefficients { dual: expansion.coefficients, intercepts: expansion.intercepts, report };
    hand_back(py, found, Admitted { domain: expansion.domain, warning: None })
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
    let (lms, targets) = (problem.settings(Kernel::from_expr(Expr::Dot)), matrix(&problem.targets)?);
    let found: Result<_, LearnError> =
        job.run(py, |session| lms.fit_gram(&DenseGram::new(rows, entries), &targets, session))?;
    hand_back(py, found.map_err(learn_error)?, Admitted { domain: None, warning: None })
}

fn hand_back(py: Python<'_>, found: LmsCoefficients, admitted: Admitted) -> PyResult<Fitted<'_>> {
    let LmsCoefficients { dual, intercepts, report: LmsReport { report, step, curve, .. } } = found;
    let dict = described(py, &report)?;
    dict.set_item("domain", admitted.domain.map(|domain| domain.to_string()))?;
    dict.set_item("step", step)?;
    let points: Vec<(usize, f64, f64)> = curve.iter().map(|p| (p.epoch, p.mse, p.gradient)).collect();
    dict.set_item("curve", points)?;
    Ok((from_matrix(py, dual)?, PyArray1::from_vec(py, intercepts), dict))
}
