//! Explicit feature maps.

use mercer::design::FeatureMap;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::errors::{design_error, value_error};
use crate::ridge::from_matrix;
use crate::rows::Rows;
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
