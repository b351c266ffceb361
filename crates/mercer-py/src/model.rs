//! Models: the files that the command line and this package share.

use std::path::{Path, PathBuf};

use mercer::data::{Classes, Encoding, FeatureColumn, Features, Missing, Scaling, Schema};
use mercer::model::{Calibration, Facts, Link, Method, Model, ModelError};
use mercer::real::Precision;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Deserialize;

use crate::contents::contents;
use crate::errors::{model_error, value_error};
use crate::kernel::NativeKernel;
use crate::parts::Parts;
use crate::rows::{Rows, from_matrix, matrix};
use crate::settings::read;
use crate::work::Job;

/// A trained model with everything needed to predict from raw data.
#[pyclass(frozen, name = "Model", module = "mercer._native")]
#[derive(Debug)]
pub struct NativeModel(pub Model);

/// The contents of a model file in addition to its predictor.
#[derive(Deserialize)]
struct Words {
    method: Method,
    settings: Facts,
    report: Facts,
    outputs: Vec<String>,
    #[serde(default)]
    classes: Option<Classes>,
    #[serde(default)]
    label_type: Option<String>,
    #[serde(default)]
    calibration: Option<Calibration>,
    #[serde(default)]
    feature_names: Option<Vec<String>>,
}

/// The class of each row, and the probabilities.
type Reading<'py> = (Vec<usize>, Option<Bound<'py, PyArray2<f64>>>);

#[pymethods]
impl NativeModel {
    /// A model from its parts: `method`, `settings`, `report` and `outputs` of the words are those of training.
    #[staticmethod]
    fn of(parts: Parts<'_>, words: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Words { method, settings, report, outputs, classes, label_type, calibration, feature_names } =
            read(words)?;
        let predictor = parts.predictor()?;
        let schema = feature_names.map(|names| named_columns(names, predictor.dtype()));
        let scaling = Scaling::None;
        Ok(Self(Model {
            method,
            settings,
            predictor,
            schema,
            outputs,
            classes,
            label_type,
            calibration,
            scaling,
            report,
        }))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Model::load(&path)).map(Self).map_err(model_error)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path)).map_err(model_error)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Model::from_bytes(bytes, Path::new("pickled model"))).map(Self).map_err(model_error)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The outputs at raw rows, before scaling.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        job: Job<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let samples = rows.samples()?;
        let out: Result<_, ModelError> = job.run(py, |session| self.0.predict(&samples, session))?;
        from_matrix(py, out.map_err(model_error)?)
    }

    /// The standard deviations of the targets at raw rows, of a Gaussian process.
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        job: Job<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let samples = rows.samples()?;
        let out: Result<_, ModelError> = job.run(py, |session| self.0.deviations(&samples, session))?;
        from_matrix(py, out.map_err(model_error)?)
    }

    #[getter]
    fn kernel(&self) -> Option<NativeKernel> {
        self.0.predictor.kernel().map(|kernel| NativeKernel(kernel.clone()))
    }

    /// The probabilities, if the outputs of a classifier determine them; the class of each row is the largest output.
    fn read<'py>(&self, py: Python<'py>, outputs: PyReadonlyArray2<'py, f64>) -> PyResult<Reading<'py>> {
        let outputs = matrix(&outputs)?;
        let link = self.0.link();
        let codes = (0..outputs.nrows()).map(|i| link.class(outputs.row(i))).collect();
        let shares = self.0.probabilities(&outputs).map(|shares| from_matrix(py, shares)).transpose()?;
        Ok((codes, shares))
    }

    /// Whether the outputs are the decisions of pairs of classes, each positive for the first of its pair.
    #[getter]
    fn votes(&self) -> bool {
        self.0.link() == Link::Votes
    }

    /// The classes as JSON, of a classifier.
    #[getter]
    fn classes(&self) -> PyResult<Option<String>> {
        self.0.classes.as_ref().map(serde_json::to_string).transpose().map_err(value_error)
    }

    /// The original type of the labels, for a model saved by this package.
    #[getter]
    fn label_type(&self) -> Option<&str> {
        self.0.label_type.as_deref()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.0.outputs.clone()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.predictor.ncols()
    }

    /// The names of the features, if the model was trained on named columns.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.schema.as_ref().filter(|schema| schema.named).map(Schema::feature_names)
    }

    /// The numbers of the predictor by name.
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        contents(py, &self.0.predictor, &self.0.column_names())
    }

    /// The output of `mercer info --json`.
    fn info(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.description()).map_err(value_error)
    }
}

/// Numeric columns that a file's header names.
fn named_columns(names: Vec<String>, dtype: Precision) -> Schema {
    let column = |(position, name)| FeatureColumn { name, position, encoding: Encoding::NUMBER };
    Schema {
        features: Features::Columns(names.into_iter().enumerate().map(column).collect()),
        targets: Vec::new(),
        named: true,
        missing: Missing::Error,
        dtype,
        reading: Default::default(),
    }
}
