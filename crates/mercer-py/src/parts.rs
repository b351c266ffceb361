//! Predictors as stored by the estimators: arrays, numbers and texts.

use mercer::data::{AnySamples, Matrix};
use mercer::gram::GramError;
use mercer::kernel::Kernel;
use mercer::kernel::check::Domain;
use mercer::model::{
    Expansion, GaussianClasses, GaussianProcess, Linear, ModelError, Neighbours, Pairs, Predictor, Voted,
    VotedStep, first_outside,
};
use mercer::session::Session;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{model_error, value_error};
use crate::features::{FeatureParts, feature_parts};
use crate::kernel::NativeKernel;
use crate::rows::{Rows, from_matrix, from_samples, matrix};
use crate::work::Job;

/// A predictor as stored by the estimators: arrays, numbers and texts. `shift` has been subtracted from the centres.
#[derive(FromPyObject)]
pub enum Parts<'py> {
    /// f(x) = ⟨w, φ(x − s)⟩ + b.
    #[pyo3(from_item_all)]
    Linear {
        features: FeatureParts<'py>,
        columns: usize,
        shift: Option<Vec<f64>>,
        weights: PyReadonlyArray2<'py, f64>,
        intercepts: Vec<f64>,
    },
    /// The votes of many functions; a step is its centre's index, its output, its amount and its votes.
    #[pyo3(from_item_all)]
    Voted {
        kernel: Bound<'py, NativeKernel>,
        domain: Option<String>,
        centres: Rows<'py>,
        classes: usize,
        steps: PyReadonlyArray2<'py, f64>,
    },
    /// A machine for every pair of classes, with a row of coefficients per support vector.
    #[pyo3(from_item_all)]
    Pairs {
        kernel: Bound<'py, NativeKernel>,
        domain: Option<String>,
        centres: Rows<'py>,
        per_class: Vec<usize>,
        coefficients: PyReadonlyArray2<'py, f64>,
        rho: Vec<f64>,
    },
    /// Classes by a Gaussian process, by the coefficients of its latent functions.
    #[pyo3(from_item_all)]
    GaussianClasses {
        kernel: Bound<'py, NativeKernel>,
        domain: Option<String>,
        centres: Rows<'py>,
        latent: PyReadonlyArray2<'py, f64>,
    },
    /// A mean of the targets of rows, by a rule in JSON.
    #[pyo3(from_item_all)]
    Neighbours { rows: Rows<'py>, targets: PyReadonlyArray2<'py, f64>, rule: String },
    /// A mean with a variance; triangles are stored by rows up to the diagonal.
    #[pyo3(from_item_all)]
    GaussianProcess {
        kernel: Bound<'py, NativeKernel>,
        domain: Option<String>,
        centres: Rows<'py>,
        coefficients: PyReadonlyArray2<'py, f64>,
        intercepts: Vec<f64>,
        scales: Vec<f64>,
        noise: f64,
        factor: Option<PyReadonlyArray1<'py, f64>>,
        posterior_factor: Option<PyReadonlyArray1<'py, f64>>,
    },
    /// f(x) = Σᵢ aᵢ k(cᵢ, x − s) + b.
    #[pyo3(from_item_all)]
    Expansion {
        kernel: Bound<'py, NativeKernel>,
        domain: Option<String>,
        centres: Rows<'py>,
        shift: Option<Vec<f64>>,
        coefficients: PyReadonlyArray2<'py, f64>,
        intercepts: Vec<f64>,
    },
}

fn parsed(domain: Option<&String>) -> PyResult<Option<Domain>> {
    domain.map(|domain| domain.parse()).transpose().map_err(value_error)
}

impl Parts<'_> {
    /// The same as the library's type, with copies of the arrays.
    ///
    /// # Errors
    /// If the parts are inconsistent.
    pub fn predictor(&self) -> PyResult<Predictor> {
        let predictor: Predictor = match self {
            Self::Linear { features, columns, shift, weights, intercepts } => Linear {
                map: features.features()?,
                columns: *columns,
                shift: shift.clone(),
                weights: matrix(weights)?,
                intercepts: intercepts.clone(),
            }
            .into(),
            Self::Voted { kernel, domain, centres, classes, steps } => Voted {
                kernel: kernel.get().0.clone(),
                domain: parsed(domain.as_ref())?,
                centres: centres.samples()?.into_owned(),
                classes: *classes,
                steps: VotedStep::from_matrix(&matrix(steps)?).map_err(model_error)?,
            }
            .into(),
            Self::Pairs { kernel, domain, centres, per_class, coefficients, rho } => Pairs {
                kernel: kernel.get().0.clone(),
                domain: parsed(domain.as_ref())?,
                centres: centres.samples()?.into_owned(),
                per_class: per_class.clone(),
                coefficients: matrix(coefficients)?,
                rho: rho.clone(),
            }
            .into(),
            Self::Neighbours { rows, targets, rule } => Neighbours {
                rows: rows.samples()?.into_owned(),
                targets: matrix(targets)?,
                rule: serde_json::from_str(rule).map_err(value_error)?,
            }
            .into(),
            Self::GaussianProcess {
                kernel,
                domain,
                centres,
                coefficients,
                intercepts,
                scales,
                noise,
                factor,
                posterior_factor,
            } => {
                let copied = |triangle: &Option<PyReadonlyArray1<'_, f64>>| {
                    triangle
                        .as_ref()
                        .map(|t| t.as_slice().map(<[f64]>::to_vec))
                        .transpose()
                        .map_err(value_error)
                };
                GaussianProcess {
                    mean: Expansion {
                        kernel: kernel.get().0.clone(),
                        domain: parsed(domain.as_ref())?,
                        centres: centres.samples()?.into_owned(),
                        shift: None,
                        coefficients: matrix(coefficients)?,
                        intercepts: intercepts.clone(),
                    },
                    scales: scales.clone(),
                    noise: *noise,
                    factor: copied(factor)?,
                    posterior_factor: copied(posterior_factor)?,
                    projection: None,
                }
                .into()
            }
            Self::GaussianClasses { kernel, domain, centres, latent } => {
                let coefficients = matrix(latent)?;
                let latent = Expansion {
                    kernel: kernel.get().0.clone(),
                    domain: parsed(domain.as_ref())?,
                    centres: centres.samples()?.into_owned(),
                    shift: None,
                    intercepts: vec![0.0; coefficients.ncols()],
                    coefficients,
                };
                GaussianClasses { latent }.into()
            }
            Self::Expansion { kernel, domain, centres, shift, coefficients, intercepts } => Expansion {
                kernel: kernel.get().0.clone(),
                domain: parsed(domain.as_ref())?,
                centres: centres.samples()?.into_owned(),
                shift: shift.clone(),
                coefficients: matrix(coefficients)?,
                intercepts: intercepts.clone(),
            }
            .into(),
        };
        predictor.checked().map_err(model_error)
    }
}

/// The form that [`Parts`] reads, without copies.
pub fn parts_of(py: Python<'_>, predictor: Predictor) -> PyResult<Bound<'_, PyDict>> {
    let parts = PyDict::new(py);
    let on_kernel = |kernel: Kernel, domain: Option<Domain>, centres| -> PyResult<()> {
        parts.set_item("kernel", NativeKernel(kernel))?;
        parts.set_item("domain", domain.map(|domain| domain.to_string()))?;
        parts.set_item("centres", from_samples(py, centres)?)
    };
    match predictor {
        Predictor::Expansion(Expansion { kernel, domain, centres, shift, coefficients, intercepts }) => {
            on_kernel(kernel, domain, centres)?;
            parts.set_item("shift", shift.map(|shift| PyArray1::from_vec(py, shift)))?;
            parts.set_item("coefficients", from_matrix(py, coefficients)?)?;
            parts.set_item("intercepts", PyArray1::from_vec(py, intercepts))?;
        }
        Predictor::Linear(Linear { map, columns, shift, weights, intercepts }) => {
            parts.set_item("features", feature_parts(py, &map)?)?;
            parts.set_item("columns", columns)?;
            parts.set_item("shift", shift.map(|shift| PyArray1::from_vec(py, shift)))?;
            parts.set_item("weights", from_matrix(py, weights)?)?;
            parts.set_item("intercepts", PyArray1::from_vec(py, intercepts))?;
        }
        Predictor::Voted(Voted { kernel, domain, centres, classes, steps }) => {
            on_kernel(kernel, domain, centres)?;
            parts.set_item("classes", classes)?;
            parts.set_item("steps", from_matrix(py, VotedStep::to_matrix(&steps))?)?;
        }
        Predictor::Pairs(Pairs { kernel, domain, centres, per_class, coefficients, rho }) => {
            on_kernel(kernel, domain, centres)?;
            parts.set_item("per_class", PyArray1::from_vec(py, per_class))?;
            parts.set_item("coefficients", from_matrix(py, coefficients)?)?;
            parts.set_item("rho", PyArray1::from_vec(py, rho))?;
        }
        Predictor::GaussianClasses(classes) => {
            let Expansion { kernel, domain, centres, coefficients, .. } = classes.latent;
            on_kernel(kernel, domain, centres)?;
            parts.set_item("latent", from_matrix(py, coefficients)?)?;
        }
        Predictor::GaussianProcess(process) => {
            let Expansion { kernel, domain, centres, coefficients, intercepts, .. } = process.mean;
            on_kernel(kernel, domain, centres)?;
            parts.set_item("coefficients", from_matrix(py, coefficients)?)?;
            parts.set_item("intercepts", PyArray1::from_vec(py, intercepts))?;
            parts.set_item("scales", PyArray1::from_vec(py, process.scales))?;
            parts.set_item("noise", process.noise)?;
            parts.set_item("factor", process.factor.map(|factor| PyArray1::from_vec(py, factor)))?;
            let posterior = process.posterior_factor;
            parts.set_item("posterior_factor", posterior.map(|factor| PyArray1::from_vec(py, factor)))?;
        }
        Predictor::Neighbours(Neighbours { rows, targets, rule }) => {
            parts.set_item("rows", from_samples(py, rows)?)?;
            parts.set_item("targets", from_matrix(py, targets)?)?;
            parts.set_item("rule", serde_json::to_string(&rule).map_err(value_error)?)?;
        }
    }
    Ok(parts)
}

/// The outputs of a predictor at every row, one column each.
#[pyfunction]
pub fn predict<'py>(
    py: Python<'py>,
    parts: Parts<'py>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let samples = rows.samples()?;
    let out =
        if let Parts::Expansion { kernel, domain, centres, shift: None, coefficients, intercepts } = &parts {
            // The centres of an expansion are borrowed, since there may be many.
            let (centres, coefficients) = (centres.samples()?, matrix(coefficients)?);
            let (kernel, domain) = (&kernel.get().0, parsed(domain.as_ref())?);
            Expansion::check(kernel, &centres, None, &coefficients, intercepts).map_err(model_error)?;
            if let Some((row, reason)) = domain.and_then(|domain| first_outside(domain, &samples)) {
                return Err(model_error(ModelError::OutsideDomain { row, reason }));
            }
            job.run(py, |session| expand(kernel, &centres, &coefficients, intercepts, &samples, session))?
        } else {
            let predictor = parts.predictor()?;
            job.run(py, |session| predictor.predict(&samples, session))?
        };
    from_matrix(py, out.map_err(model_error)?)
}

/// The standard deviation of a new target at every row, one column for each output of a Gaussian process.
#[pyfunction]
pub fn deviations<'py>(
    py: Python<'py>,
    parts: Parts<'py>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let samples = rows.samples()?;
    let Predictor::GaussianProcess(process) = parts.predictor()? else {
        return Err(value_error("only a Gaussian process has standard deviations"));
    };
    let out = job.run(py, |session| process.deviations(&samples, true, session))?;
    from_matrix(py, out.map_err(model_error)?)
}

fn expand(
    kernel: &Kernel,
    centres: &AnySamples<'_>,
    coefficients: &Matrix<f64>,
    intercepts: &[f64],
    samples: &AnySamples<'_>,
    session: &Session<'_>,
) -> Result<Matrix<f64>, ModelError> {
    let (queries, centres) = (session.load(samples)?, session.load(centres)?);
    let mut out = Matrix::zeros(samples.nrows(), coefficients.ncols());
    queries.cross(kernel, &*centres)?.apply(&mut out, coefficients, session).map_err(GramError::from)?;
    for i in 0..out.nrows() {
        out.row_mut(i).iter_mut().zip(intercepts).for_each(|(f, b)| *f += b);
    }
    Ok(out)
}
