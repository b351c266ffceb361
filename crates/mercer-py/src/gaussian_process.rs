//! Gaussian processes: likelihoods with their gradients, factors for variances, probabilities of classes.

use mercer::data::{AnySamples, Matrix};
use mercer::gram::{GramError, Part, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::{GpObjective, LearnError, log_likelihood};
use mercer::linalg::{Cholesky, CholeskyError, mirror_lower};
use mercer::session::Session;
use mercer::solve::{ClassRule, Laplace, Latent};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::rows::{Rows, from_matrix, matrix, square};
use crate::work::Job;

/// The prior covariance of the training rows.
#[derive(FromPyObject)]
pub enum Covariance<'py> {
    /// A matrix, as `{"gram": matrix}`.
    #[pyo3(from_item_all)]
    Gram { gram: PyReadonlyArray2<'py, f64> },
    /// A kernel with numbers for its unknowns, as `{"kernel": kernel, "values": values, "rows": rows}`.
    #[pyo3(from_item_all)]
    Kernel { kernel: Py<NativeKernel>, values: Vec<f64>, rows: Rows<'py> },
}

/// The same kernel, with borrowed arrays.
enum Prior<'a> {
    Gram { order: usize, entries: &'a [f64] },
    Kernel { kernel: &'a Kernel, values: &'a [f64], samples: AnySamples<'a> },
}

/// The derivative of a likelihood.
enum Derivative {
    /// In the logarithm of each unknown of a kernel.
    Gradient(Vec<f64>),
    /// W, where it is Σᵢⱼ Wᵢⱼ ∂Kᵢⱼ/∂θ.
    Weights(Matrix<f64>),
}

impl Covariance<'_> {
    fn prior(&self) -> PyResult<Prior<'_>> {
        Ok(match self {
            Self::Gram { gram } => {
                let (order, entries) = square(gram)?;
                Prior::Gram { order, entries }
            }
            Self::Kernel { kernel, values, rows } => {
                Prior::Kernel { kernel: &kernel.get().0, values, samples: rows.samples()? }
            }
        })
    }
}

impl Prior<'_> {
    fn order(&self) -> usize {
        match self {
            Self::Gram { order, .. } => *order,
            Self::Kernel { samples, .. } => samples.nrows(),
        }
    }

    /// Raises `MemoryError` if this many matrices of the prior's order do not fit.
    fn check_memory(&self, matrices: usize) -> PyResult<()> {
        let needed = (self.order() as u64).saturating_pow(2).saturating_mul(8 * matrices as u64);
        let budget = Session::default().memory();
        LearnError::check_memory(self.order(), "kernel matrices", needed, budget).map_err(learn_error)
    }

    /// This part of K.
    fn matrix(&self, part: Part, session: &Session<'_>) -> Result<Matrix<f64>, LearnError> {
        let n = self.order();
        match self {
            Self::Gram { entries, .. } => Ok(Matrix::from_entries(n, n, entries.to_vec())),
            Self::Kernel { kernel, values, samples } => {
                let mut k = Matrix::zeros(n, n);
                let resident = session.load(&samples.widened())?;
                let kernel = kernel.with_values(values)?;
                let gram = resident.gram(&kernel, Wanted::Double)?;
                gram.fill(part, k.entries_mut().into(), session).map_err(GramError::from)?;
                Ok(k)
            }
        }
    }

    /// The derivative from the lower triangle of its weights.
    fn derivative(&self, mut weights: Matrix<f64>, session: &Session<'_>) -> Result<Derivative, LearnError> {
        let Self::Kernel { kernel, values, samples } = self else {
            mirror_lower(&mut weights);
            return Ok(Derivative::Weights(weights));
        };
        let resident = session.load(&samples.widened())?;
        let derivatives = kernel.gradient(values, samples.ncols())?;
        let gradient = resident.gradient(&derivatives, None)?;
        if gradient.reads_both_triangles() {
            mirror_lower(&mut weights);
        }
        let sums = gradient.contract(weights.entries(), session).map_err(GramError::from)?;
        Ok(Derivative::Gradient(sums))
    }
}

/// Gaussian process regression: the log marginal likelihood of targets whose covariance is K plus `noise` on the
/// diagonal.
///
/// `wanted` is `value`; `factor` for L with LLᵀ = K + noise and (K + noise)⁻¹·targets as well; or the name of an objective, whose
/// value then comes with its derivative. `None` if the matrix is not positive definite.
#[pyfunction]
pub fn gp_regression<'py>(
    py: Python<'py>,
    covariance: Covariance<'py>,
    noise: PyReadonlyArray1<'py, f64>,
    targets: PyReadonlyArray2<'py, f64>,
    wanted: &str,
    job: Job<'py>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let objective = match wanted {
        "value" | "factor" => None,
        "likelihood" => Some(GpObjective::Likelihood),
        "loo" => Some(GpObjective::LeaveOneOut),
        other => {
            return Err(value_error(format!("the objective is {other:?}; it must be 'likelihood' or 'loo'")));
        }
    };
    let prior = covariance.prior()?;
    let n = prior.order();
    let (noise, y) = (noise.as_slice().map_err(value_error)?, matrix(&targets)?);
    if noise.len() != n || y.nrows() != n {
        return Err(value_error(format!("{n} rows, but {} targets and {} noises", y.nrows(), noise.len())));
    }
    prior.check_memory(if objective == Some(GpObjective::LeaveOneOut) { 4 } else { 2 })?;
    let found = job.run(py, |session| -> Result<_, LearnError> {
        let mut k = prior.matrix(Part::Lower, session)?;
        noise.iter().enumerate().for_each(|(i, noise)| k.row_mut(i)[i] += noise);
        let cholesky = match Cholesky::factor(n, k.into_entries(), session) {
            Ok(cholesky) => cholesky,
            Err(CholeskyError::Stopped(stopped)) => return Err(GramError::from(stopped).into()),
            Err(_) => return Ok(None),
        };
        let mut coefficients = y.clone();
        cholesky.solve(&mut coefficients, session).map_err(GramError::from)?;
        let Some(objective) = objective else {
            let value = log_likelihood(&y, &coefficients, &cholesky);
            let lower = (wanted == "factor").then(|| lower(cholesky));
            return Ok(Some((value, None, lower, coefficients)));
        };
        let found = objective.with_weights(&y, &coefficients, Box::new(cholesky), session);
        let (value, weights) = found.map_err(GramError::from)?;
        Ok(Some((value, Some(prior.derivative(weights, session)?), None, coefficients)))
    })?;
    let Some((value, derivative, lower, coefficients)) = found.map_err(learn_error)? else { return Ok(None) };
    let out = described(py, value, derivative)?;
    if let Some(lower) = lower {
        out.set_item("lower", from_matrix(py, lower)?)?;
        out.set_item("coefficients", from_matrix(py, coefficients)?)?;
    }
    Ok(Some(out))
}

/// Gaussian process classification by Laplace's approximation.
///
/// Returns the approximate log marginal likelihood and the coefficients of the latent functions' mean; on request also the
/// derivative and the factors that variances need. `classes` are the codes and the number of classes; `start` has the
/// coefficients to start from, if any, and the most Newton steps.
#[pyfunction]
pub fn gp_classification<'py>(
    py: Python<'py>,
    covariance: Covariance<'py>,
    classes: (PyReadonlyArray1<'py, usize>, usize),
    start: (Option<PyReadonlyArray2<'py, f64>>, usize),
    derivative: bool,
    factor: bool,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let prior = covariance.prior()?;
    let ((codes, classes), (start, max_steps)) = (classes, start);
    let codes = codes.as_slice().map_err(value_error)?;
    let start = start.as_ref().map(matrix).transpose()?;
    prior.check_memory(if classes == 2 { 4 } else { classes + 4 })?;
    let found = job.run(py, |session| -> Result<_, LearnError> {
        let k = prior.matrix(Part::Full, session)?;
        let laplace = Laplace::at_mode(&k, codes, classes, start.as_ref(), max_steps, session)?;
        let derivative = if derivative {
            let weights = laplace.gradient_weights(&k, session).map_err(GramError::from)?;
            Some(prior.derivative(weights, session)?)
        } else {
            None
        };
        Ok((laplace, derivative))
    })?;
    let (laplace, derivative) = found.map_err(learn_error)?;
    let out = described(py, laplace.log_likelihood(), derivative)?;
    out.set_item("converged", laplace.converged())?;
    out.set_item("iterations", laplace.iterations())?;
    out.set_item("coefficients", from_matrix(py, laplace.coefficients().clone())?)?;
    if factor {
        match laplace.into_latent() {
            Latent::Single { factor } => out.set_item("lower", from_matrix(py, lower(factor))?)?,
            Latent::PerClass { inverses, pooled } => {
                let inverses: PyResult<Vec<_>> = inverses.into_iter().map(|e| from_matrix(py, e)).collect();
                out.set_item("inverses", inverses?)?;
                out.set_item("pooled", from_matrix(py, lower(pooled))?)?;
            }
        }
    }
    Ok(out)
}

/// L⁻¹B for a lower triangle L.
#[pyfunction]
pub fn solve_lower<'py>(
    py: Python<'py>,
    lower: PyReadonlyArray2<'py, f64>,
    rhs: PyReadonlyArray2<'py, f64>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (order, l) = square(&lower)?;
    let mut rhs = matrix(&rhs)?;
    if rhs.nrows() != order {
        return Err(value_error(format!("a triangle of order {order}, but {} rows", rhs.nrows())));
    }
    let factor = Cholesky::from_lower(order, l.to_vec());
    job.run(py, |session| factor.solve_lower(&mut rhs, session))?.map_err(value_error)?;
    from_matrix(py, rhs)
}

/// The covariances of the latent functions of several classes at new rows: one row of classes² numbers for each. `cross` are their
/// kernel values with the training rows, `own` with themselves.
#[pyfunction]
pub fn gp_class_covariances<'py>(
    py: Python<'py>,
    inverses: Vec<PyReadonlyArray2<'py, f64>>,
    pooled: PyReadonlyArray2<'py, f64>,
    cross: PyReadonlyArray2<'py, f64>,
    own: PyReadonlyArray1<'py, f64>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let inverses: Vec<Matrix<f64>> = inverses.iter().map(matrix).collect::<PyResult<_>>()?;
    let n = square(&pooled)?.0;
    let pooled = Cholesky::from_lower(n, matrix(&pooled)?.into_entries());
    let latent = Latent::PerClass { inverses, pooled };
    let (cross, own) = (matrix(&cross)?, own.as_slice().map_err(value_error)?);
    if cross.ncols() != n || own.len() != cross.nrows() {
        return Err(value_error("the kernel values do not fit the training rows"));
    }
    from_matrix(py, job.run(py, |session| latent.covariances(&cross, own, session))?.map_err(value_error)?)
}

/// The probabilities of the classes where the latent functions have these means (one column for two classes, else one for each)
/// and covariances (one row of entries for each row).
#[pyfunction]
pub fn gp_probabilities<'py>(
    py: Python<'py>,
    means: PyReadonlyArray2<'py, f64>,
    covariances: PyReadonlyArray2<'py, f64>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (means, covariances) = (matrix(&means)?, matrix(&covariances)?);
    let (rows, functions) = (means.nrows(), means.ncols());
    if functions == 0 || covariances.nrows() != rows || covariances.ncols() != functions * functions {
        return Err(value_error("one covariance matrix is needed for each row"));
    }
    let rule = ClassRule::new(functions.max(2));
    from_matrix(py, job.run(py, |_| rule.all(&means, &covariances))?)
}

fn described<'py>(
    py: Python<'py>,
    value: f64,
    derivative: Option<Derivative>,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("value", value)?;
    match derivative {
        Some(Derivative::Gradient(gradient)) => out.set_item("gradient", PyArray1::from_vec(py, gradient))?,
        Some(Derivative::Weights(weights)) => out.set_item("weights", from_matrix(py, weights)?)?,
        None => {}
    }
    Ok(out)
}

/// L with zeros above the diagonal.
fn lower(factor: Cholesky<f64>) -> Matrix<f64> {
    let n = factor.order();
    let mut entries = factor.into_lower();
    for (i, row) in entries.chunks_exact_mut(n.max(1)).enumerate() {
        row[i + 1..].fill(0.0);
    }
    Matrix::from_entries(n, n, entries)
}
