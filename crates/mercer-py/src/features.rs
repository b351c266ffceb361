//! Features: explicit maps, and features of every kind as stored by the estimators.

use mercer::design::{FeatureMap, Features, Landmarks};
use mercer::kernel::Kernel;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{design_error, value_error};
use crate::random_features::{Drawn, drawn};
use crate::rows::{Rows, from_matrix, from_samples, square};
use crate::work::Job;

/// A feature map written as text.
#[pyclass(frozen, name = "FeatureMap", module = "mercer._native")]
#[derive(Debug)]
pub struct NativeFeatureMap(pub FeatureMap);

#[pymethods]
impl NativeFeatureMap {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(value_error)
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    /// The number of features of rows with this many columns.
    fn count(&self, columns: usize) -> PyResult<u64> {
        self.0.check_columns(columns).map_err(value_error)?;
        self.0.count(columns).map_err(value_error)
    }

    /// The name of each feature, from the names of the columns.
    fn names(&self, columns: Vec<String>) -> PyResult<Vec<String>> {
        self.0.names(&columns).map_err(design_error)
    }

    /// The features of each row.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        job: Job<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let samples = rows.samples()?;
        let out = job.run(py, |session| self.0.transform(&samples, session))?;
        from_matrix(py, out.map_err(design_error)?)
    }
}

/// Features as stored by the estimators. All parts can be pickled.
#[derive(FromPyObject)]
pub enum FeatureParts<'py> {
    /// The text of an explicit map.
    Text(String),
    /// Random features.
    Random(Drawn<'py>),
    /// Landmarks and the factor of their kernel matrix.
    #[pyo3(from_item_all)]
    Landmarks { kernel: String, landmarks: Rows<'py>, lower: PyReadonlyArray2<'py, f64> },
}

impl FeatureParts<'_> {
    /// The same as the library's type.
    ///
    /// # Errors
    /// If the parts are inconsistent.
    pub fn features(&self) -> PyResult<Features> {
        match self {
            Self::Text(text) => text.parse().map_err(value_error),
            Self::Random(drawn) => Ok(drawn.fourier()?.into()),
            Self::Landmarks { kernel, landmarks, lower } => {
                let kernel: Kernel = serde_json::from_value(json!(kernel)).map_err(value_error)?;
                let landmarks = landmarks.samples()?.into_owned();
                let (_, entries) = square(lower)?;
                let landmarks = Landmarks::from_parts(kernel, landmarks, entries.to_vec());
                landmarks.map(Features::from).map_err(design_error)
            }
        }
    }
}

/// The form that [`FeatureParts`] reads.
pub fn feature_parts<'py>(py: Python<'py>, features: &Features) -> PyResult<Bound<'py, PyAny>> {
    match features {
        Features::Map(map) => Ok(map.to_string().into_pyobject(py)?.into_any()),
        Features::Fourier(fourier) => Ok(drawn(py, fourier)?.into_any()),
        Features::Landmarks(landmarks) => {
            let order = landmarks.count();
            let dict = PyDict::new(py);
            dict.set_item("kernel", landmarks.kernel().to_string())?;
            dict.set_item("landmarks", from_samples(py, landmarks.landmarks().view())?)?;
            dict.set_item("lower", PyArray1::from_slice(py, landmarks.whitening()).reshape([order, order])?)?;
            Ok(dict.into_any())
        }
    }
}
