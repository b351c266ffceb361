//! Random Fourier features: frequencies as arrays, and the features they make.

use mercer::data::AnySamples;
use mercer::design::{
    DesignError, Features, Form, Fourier, RandomFeatures, RandomSpec, RowFeatures, Sampling,
};
use mercer::gram::Values;
use mercer::kernel::Kernel;
use mercer::session::Session;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{design_error, value_error};
use crate::kernel::NativeKernel;
use crate::ridge::{from_matrix, matrix};
use crate::rows::Rows;
use crate::work::Job;

/// Random features as the estimators hold them: what they were drawn from, and what was drawn. All of it pickles.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Drawn<'py> {
    kernel: String,
    sampling: String,
    form: String,
    seed: u64,
    /// ω, one a row.
    frequencies: PyReadonlyArray2<'py, f64>,
    /// b in turns; none for pairs.
    shifts: Option<PyReadonlyArray1<'py, f64>>,
    amplitudes: PyReadonlyArray1<'py, f64>,
}

impl Drawn<'_> {
    pub fn fourier(&self) -> PyResult<Fourier> {
        let shifts = self.shifts.as_ref().map(|shifts| shifts.as_slice()).transpose().map_err(value_error)?;
        let amplitudes = self.amplitudes.as_slice().map_err(value_error)?.to_vec();
        let features = RandomFeatures::from_matrices(
            matrix(&self.frequencies)?,
            shifts.map(<[f64]>::to_vec),
            amplitudes,
        )
        .map_err(design_error)?;
        let kernel: Kernel = serde_json::from_value(json!(self.kernel)).map_err(value_error)?;
        let (sampling, form) = (sampling(&self.sampling)?, form(&self.form)?);
        let spec = RandomSpec { kernel, features: features.count(), sampling, form, seed: self.seed };
        Ok(Fourier { spec, features })
    }
}

/// The features of a linear model: a map as text, or random ones.
#[derive(FromPyObject)]
pub enum LiftParts<'py> {
    /// The text of a finite map.
    Text(String),
    /// Random features.
    Random(Drawn<'py>),
}

impl LiftParts<'_> {
    pub fn lift(&self) -> PyResult<Features> {
        match self {
            Self::Text(text) => text.parse().map_err(value_error),
            Self::Random(drawn) => Ok(drawn.fourier()?.into()),
        }
    }
}

fn sampling(name: &str) -> PyResult<Sampling> {
    serde_json::from_value(json!(name)).map_err(value_error)
}

fn form(name: &str) -> PyResult<Form> {
    serde_json::from_value(json!(name)).map_err(value_error)
}

/// Draws the frequencies of a kernel for rows with so many columns.
#[pyfunction]
#[pyo3(signature = (kernel, columns, features, sampling, form, seed))]
pub fn draw_features<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    columns: usize,
    features: usize,
    sampling: &str,
    form: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (sampling, form) = (self::sampling(sampling)?, self::form(form)?);
    let spec = RandomSpec { kernel: kernel.0.clone(), features, sampling, form, seed };
    let features = py.detach(|| spec.draw(columns)).map_err(design_error)?;
    drawn(py, &Fourier { spec, features })
}

/// What [`Drawn`] reads.
pub fn drawn<'py>(py: Python<'py>, fourier: &Fourier) -> PyResult<Bound<'py, PyDict>> {
    let Fourier { spec, features } = fourier;
    let word = |value: serde_json::Value| value.as_str().map(str::to_owned);
    let dict = PyDict::new(py);
    dict.set_item("kernel", spec.kernel.to_string())?;
    dict.set_item("sampling", word(json!(spec.sampling)))?;
    dict.set_item("form", word(json!(spec.form)))?;
    dict.set_item("seed", spec.seed)?;
    dict.set_item("frequencies", from_matrix(py, features.frequencies().clone())?)?;
    dict.set_item("shifts", features.shifts().map(|shifts| PyArray1::from_slice(py, shifts)))?;
    dict.set_item("amplitudes", PyArray1::from_slice(py, features.amplitudes()))?;
    Ok(dict)
}

/// The random features of each row, in the precision of the rows.
#[pyfunction]
pub fn random_features<'py>(
    py: Python<'py>,
    frequencies: PyReadonlyArray2<'py, f64>,
    shifts: Option<PyReadonlyArray1<'py, f64>>,
    amplitudes: PyReadonlyArray1<'py, f64>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let shifts = shifts.as_ref().map(|shifts| shifts.as_slice()).transpose().map_err(value_error)?;
    let amplitudes = amplitudes.as_slice().map_err(value_error)?.to_vec();
    let features =
        RandomFeatures::from_matrices(matrix(&frequencies)?, shifts.map(<[f64]>::to_vec), amplitudes)
            .map_err(design_error)?;
    features_of(py, &rows, &job, |samples, session| {
        let features = RowFeatures::from(&features);
        features.transform(samples, features.precision(samples), session)
    })
}

/// The features of each row, in the precision of the rows.
pub fn features_of<'py>(
    py: Python<'py>,
    rows: &Rows<'py>,
    job: &Job<'py>,
    features: impl FnOnce(&AnySamples<'_>, &Session<'_>) -> Result<Values, DesignError> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let samples = rows.samples()?;
    let out = job.run(py, |session| features(&samples, session))?;
    match out.map_err(design_error)? {
        Values::F32(out) => Ok(from_matrix(py, out)?.into_any()),
        Values::F64(out) => Ok(from_matrix(py, out)?.into_any()),
    }
}
