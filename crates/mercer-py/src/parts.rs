//! Predictors as stored by the estimators: the words and arrays of a model file.

use mercer::data::{AnySamples, Matrix};
use mercer::gram::GramError;
use mercer::kernel::Kernel;
use mercer::model::{self, Array, Arrays, Expansion, ModelError, Predictor, Words, first_outside};
use mercer::session::Session;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{model_error, value_error};
use crate::kernel::NativeKernel;
use crate::rows::{Rows, from_matrix, from_samples, matrix};
use crate::settings::read;
use crate::work::Job;

/// A predictor as stored by the estimators: a dictionary of its kind, `expansion` where none is given, and of the words and arrays
/// of its model file.
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub struct Parts<'py>(Bound<'py, PyDict>);

impl<'py> Parts<'py> {
    /// The same as the library's type, with copies of the arrays.
    ///
    /// # Errors
    /// If the parts are inconsistent.
    pub fn predictor(&self) -> PyResult<Predictor> {
        Predictor::from_parts(&[self.kind()?], &self.words()?, self)
            .map_err(|reason| model_error(ModelError::Inconsistent { reason }))
    }

    fn kind(&self) -> PyResult<String> {
        self.0.get_item("kind")?.map_or_else(|| Ok("expansion".to_owned()), |kind| kind.extract())
    }

    fn words(&self) -> PyResult<Words> {
        let words = PyDict::new(self.0.py());
        for name in Words::NAMES {
            if let Some(word) = self.0.get_item(name)? {
                words.set_item(name, word)?;
            }
        }
        read(&words)
    }

    fn item(&self, name: &str) -> Result<Bound<'py, PyAny>, String> {
        let found = self.0.get_item(name).map_err(text)?.filter(|item| !item.is_none());
        found.ok_or_else(|| format!("it has no array `{name}`"))
    }
}

impl Arrays for Parts<'_> {
    fn has(&self, name: &str) -> bool {
        self.item(name).is_ok()
    }

    fn samples(&self, name: &str) -> Result<AnySamples<'static>, String> {
        let rows: Rows<'_> = self.item(name)?.extract().map_err(text)?;
        Ok(rows.samples().map_err(text)?.into_owned())
    }

    fn matrix(&self, name: &str) -> Result<Matrix<f64>, String> {
        matrix(&self.item(name)?.extract().map_err(text)?).map_err(text)
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let item = self.item(name)?;
        match item.extract::<PyReadonlyArray1<'_, f64>>() {
            Ok(array) => Ok(array.as_array().to_vec()),
            Err(_) => item.extract().map_err(text),
        }
    }

    fn counts(&self, name: &str) -> Result<Vec<usize>, String> {
        self.item(name)?.extract().map_err(text)
    }
}

fn text(error: impl Into<PyErr>) -> String {
    error.into().to_string()
}

/// The form that [`Parts`] reads, without copies. `domain` and `shift` are `None` where there is none.
pub fn parts_of(py: Python<'_>, predictor: Predictor) -> PyResult<Bound<'_, PyDict>> {
    let model::Parts { kind, words, arrays } = predictor.into_parts();
    let entries = serde_json::to_string(&words).map_err(value_error)?;
    let parts = py.import("json")?.call_method1("loads", (entries,))?.cast_into::<PyDict>()?;
    parts.set_item("kind", kind)?;
    if let Some(kernel) = words.kernel {
        parts.set_item("kernel", NativeKernel(kernel))?;
    }
    parts.set_item("domain", words.domain)?;
    parts.set_item("shift", py.None())?;
    for (name, array) in arrays {
        parts.set_item(name, from_array(py, array)?)?;
    }
    Ok(parts)
}

/// An array of a predictor, without a copy if it is owned.
pub fn from_array<'py>(py: Python<'py>, array: Array<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match array {
        Array::Samples(samples) => from_samples(py, samples)?,
        Array::Matrix(matrix) => from_matrix(py, matrix.into_owned())?.into_any(),
        Array::Numbers(numbers) => PyArray1::from_vec(py, numbers.into_owned()).into_any(),
        Array::Counts(counts) => PyArray1::from_vec(py, counts.into_owned()).into_any(),
    })
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
    let out = if parts.kind()? == "expansion" && !parts.has("shift") {
        // The centres of an expansion are borrowed, since there may be many.
        let inconsistent = |reason| model_error(ModelError::Inconsistent { reason });
        let centres: Rows<'_> = parts.item("centres").map_err(inconsistent)?.extract()?;
        let (centres, words) = (centres.samples()?, parts.words()?);
        let coefficients = parts.matrix("coefficients").map_err(inconsistent)?;
        let intercepts = parts.numbers("intercepts").map_err(inconsistent)?;
        let (kernel, domain) = (words.kernel().map_err(inconsistent)?, words.domain().map_err(inconsistent)?);
        Expansion::check(&kernel, &centres, None, &coefficients, &intercepts).map_err(model_error)?;
        if let Some((row, reason)) = domain.and_then(|domain| first_outside(domain, &samples)) {
            return Err(model_error(ModelError::OutsideDomain { row, reason }));
        }
        job.run(py, |session| expand(&kernel, &centres, &coefficients, &intercepts, &samples, session))?
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
