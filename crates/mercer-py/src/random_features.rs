//! Random Fourier features: frequencies as arrays, and features of rows.

use mercer::data::AnySamples;
use mercer::design::{DesignError, Fourier, RandomFeatures, RandomSpec, RowFeatures};
use mercer::gram::Values;
use mercer::session::Session;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{design_error, value_error};
use crate::rows::{Rows, from_matrix, matrix};
use crate::settings::read;
use crate::work::Job;

/// Random features as stored by the estimators: the settings, as JSON, and the numbers drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Drawn<'py> {
    spec: String,
    /// ω, one a row.
    frequencies: PyReadonlyArray2<'py, f64>,
    /// b, in turns; `None` for pairs.
    shifts: Option<PyReadonlyArray1<'py, f64>>,
    amplitudes: PyReadonlyArray1<'py, f64>,
}

impl Drawn<'_> {
    pub fn fourier(&self) -> PyResult<Fourier> {
        let spec = serde_json::from_str(&self.spec).map_err(value_error)?;
        Ok(Fourier { spec, features: waves(&self.frequencies, self.shifts.as_ref(), &self.amplitudes)? })
    }
}

fn waves(
    frequencies: &PyReadonlyArray2<'_, f64>,
    shifts: Option<&PyReadonlyArray1<'_, f64>>,
    amplitudes: &PyReadonlyArray1<'_, f64>,
) -> PyResult<RandomFeatures> {
    let shifts = shifts.map(|shifts| shifts.as_slice()).transpose().map_err(value_error)?;
    let amplitudes = amplitudes.as_slice().map_err(value_error)?.to_vec();
    RandomFeatures::from_matrices(matrix(frequencies)?, shifts.map(<[f64]>::to_vec), amplitudes)
        .map_err(design_error)
}

/// Draws random features for rows with this many columns; the settings are those of [`RandomSpec`].
#[pyfunction]
pub fn draw_features<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    columns: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let spec: RandomSpec = read(settings)?;
    let features = py.detach(|| spec.draw(columns)).map_err(design_error)?;
    drawn(py, &Fourier { spec, features })
}

/// The form that [`Drawn`] reads.
pub fn drawn<'py>(py: Python<'py>, fourier: &Fourier) -> PyResult<Bound<'py, PyDict>> {
    let Fourier { spec, features } = fourier;
    let dict = PyDict::new(py);
    dict.set_item("spec", serde_json::to_string(spec).map_err(value_error)?)?;
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
    let features = waves(&frequencies, shifts.as_ref(), &amplitudes)?;
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
