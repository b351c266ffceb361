//! Models: the files that the command line and this package share.

use std::path::{Path, PathBuf};

use mercer::data::{AnySamples, Classes, Dtype, Encoding, FeatureColumn, Features, Missing, Scaling, Schema};
use mercer::model::{Calibration, Expansion, Linear, Link, Method, Model, ModelError, Neighbours};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::errors::{model_error, value_error};
use crate::kernel::NativeKernel;
use crate::random_features::LiftParts;
use crate::ridge::{from_matrix, matrix};
use crate::rows::Rows;
use crate::svm::PairParts;
use crate::work::Job;

/// A trained model with all it needs to predict from raw data.
#[pyclass(frozen, name = "Model", module = "mercer._native")]
#[derive(Debug)]
pub struct NativeModel(pub Model);

/// f(x) = Σᵢ aᵢ k(cᵢ, x − s) + b, as the estimators hold it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Parts<'py> {
    kernel: Bound<'py, NativeKernel>,
    domain: Option<String>,
    centres: Rows<'py>,
    shift: Option<Vec<f64>>,
    coefficients: PyReadonlyArray2<'py, f64>,
    intercepts: Vec<f64>,
}

/// The class of each row, and the probabilities.
type Reading<'py> = (Vec<usize>, Option<Bound<'py, PyArray2<f64>>>);

#[pymethods]
impl NativeModel {
    /// A model of a method that expands in the kernel; `settings` and `report` are JSON objects.
    #[staticmethod]
    #[pyo3(signature = (parts, method, outputs, feature_names, settings, report, classes = None))]
    fn expansion(
        parts: Parts<'_>,
        method: &str,
        outputs: Vec<String>,
        feature_names: Option<Vec<String>>,
        settings: &str,
        report: &str,
        classes: Option<&str>,
    ) -> PyResult<Self> {
        let centres = parts.centres.samples()?;
        let schema = feature_names.map(|names| named_columns(names, dtype(&centres)));
        let expansion = Expansion {
            kernel: parts.kernel.get().0.clone(),
            domain: parts.domain.map(|domain| domain.parse()).transpose().map_err(value_error)?,
            centres: centres.into_owned(),
            shift: parts.shift,
            coefficients: matrix(&parts.coefficients)?,
            intercepts: parts.intercepts,
        };
        Ok(Self(Model {
            method: method_of(method)?,
            settings: serde_json::from_str(settings).map_err(value_error)?,
            predictor: expansion.into(),
            schema,
            outputs,
            classes: classes.map(serde_json::from_str).transpose().map_err(value_error)?,
            calibration: None,
            scaling: Scaling::None,
            report: serde_json::from_str(report).map_err(value_error)?,
        }))
    }

    /// A model that is linear in features; `settings` and `report` are JSON objects.
    #[staticmethod]
    #[pyo3(signature = (features, columns, shift, weights, intercepts, outputs, feature_names, settings, report, method = "ridge", classes = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a model, each of its own kind")]
    fn linear(
        features: LiftParts<'_>,
        columns: usize,
        shift: Option<Vec<f64>>,
        weights: PyReadonlyArray2<'_, f64>,
        intercepts: Vec<f64>,
        outputs: Vec<String>,
        feature_names: Option<Vec<String>>,
        settings: &str,
        report: &str,
        method: &str,
        classes: Option<&str>,
    ) -> PyResult<Self> {
        let map = features.lift()?;
        let schema = feature_names.map(|names| named_columns(names, Dtype::F64));
        Ok(Self(Model {
            method: method_of(method)?,
            settings: serde_json::from_str(settings).map_err(value_error)?,
            predictor: Linear { map, columns, shift, weights: matrix(&weights)?, intercepts }.into(),
            schema,
            outputs,
            classes: classes.map(serde_json::from_str).transpose().map_err(value_error)?,
            calibration: None,
            scaling: Scaling::None,
            report: serde_json::from_str(report).map_err(value_error)?,
        }))
    }

    /// A model of rows and their targets; `rule`, `classes`, `settings` and `report` are JSON.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the parts of a model, each of its own kind")]
    fn neighbours(
        rows: Rows<'_>,
        targets: PyReadonlyArray2<'_, f64>,
        rule: &str,
        method: &str,
        outputs: Vec<String>,
        classes: Option<&str>,
        feature_names: Option<Vec<String>>,
        settings: &str,
        report: &str,
    ) -> PyResult<Self> {
        let rows = rows.samples()?.into_owned();
        let schema = feature_names.map(|names| named_columns(names, dtype(&rows)));
        let rule = serde_json::from_str(rule).map_err(value_error)?;
        Ok(Self(Model {
            method: method_of(method)?,
            settings: serde_json::from_str(settings).map_err(value_error)?,
            predictor: Neighbours { rows, targets: matrix(&targets)?, rule }.into(),
            schema,
            outputs,
            classes: classes.map(serde_json::from_str).transpose().map_err(value_error)?,
            calibration: None,
            scaling: Scaling::None,
            report: serde_json::from_str(report).map_err(value_error)?,
        }))
    }

    /// A voted perceptron; `classes`, `settings` and `report` are JSON.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the parts of a model, each of its own kind")]
    fn voted(
        kernel: &NativeKernel,
        domain: Option<&str>,
        centres: Rows<'_>,
        steps: PyReadonlyArray2<'_, f64>,
        feature_names: Option<Vec<String>>,
        settings: &str,
        report: &str,
        classes: &str,
    ) -> PyResult<Self> {
        let centres = centres.samples()?;
        let schema = feature_names.map(|names| named_columns(names, dtype(&centres)));
        let classes: Classes = serde_json::from_str(classes).map_err(value_error)?;
        let voted = crate::perceptron::voted(kernel, domain, &centres, classes.len(), &steps)?;
        Ok(Self(Model {
            method: Method::Perceptron,
            settings: serde_json::from_str(settings).map_err(value_error)?,
            predictor: voted.into(),
            schema,
            outputs: vec!["0".to_owned()],
            classes: Some(classes),
            calibration: None,
            scaling: Scaling::None,
            report: serde_json::from_str(report).map_err(value_error)?,
        }))
    }

    /// A machine for every pair of classes; `sigmoids` are the lists of their numbers a and b, empty without probabilities;
    /// `classes`, `settings` and `report` are JSON.
    #[staticmethod]
    fn pairs(
        parts: PairParts<'_>,
        method: &str,
        sigmoids: (Vec<f64>, Vec<f64>),
        feature_names: Option<Vec<String>>,
        settings: &str,
        report: &str,
        classes: &str,
    ) -> PyResult<Self> {
        let pairs = parts.pairs()?;
        let schema = feature_names.map(|names| named_columns(names, dtype(&pairs.centres)));
        let sigmoids = crate::svm::sigmoids(&sigmoids.0, &sigmoids.1);
        Ok(Self(Model {
            method: method_of(method)?,
            settings: serde_json::from_str(settings).map_err(value_error)?,
            predictor: pairs.into(),
            schema,
            outputs: vec!["0".to_owned()],
            classes: Some(serde_json::from_str(classes).map_err(value_error)?),
            calibration: (!sigmoids.is_empty()).then_some(Calibration::Sigmoids(sigmoids)),
            scaling: Scaling::None,
            report: serde_json::from_str(report).map_err(value_error)?,
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

    #[getter]
    fn kernel(&self) -> Option<NativeKernel> {
        self.0.predictor.kernel().map(|kernel| NativeKernel(kernel.clone()))
    }

    /// The probabilities, where the outputs of a classifier say them; the class of each row is the largest output.
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

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.0.outputs.clone()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.predictor.ncols()
    }

    /// The names of the features, where the model was trained on named columns.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.schema.as_ref().filter(|schema| schema.named).map(Schema::feature_names)
    }

    /// What `mercer info --json` prints.
    fn info(&self) -> String {
        self.0.description().to_string()
    }
}

fn method_of(name: &str) -> PyResult<Method> {
    serde_json::from_value(json!(name)).map_err(value_error)
}

/// Numeric columns that a file's header names.
fn named_columns(names: Vec<String>, dtype: Dtype) -> Schema {
    let column =
        |(position, name)| FeatureColumn { name, position, encoding: Encoding::Number { mean: None } };
    Schema {
        features: Features::Columns(names.into_iter().enumerate().map(column).collect()),
        targets: Vec::new(),
        named: true,
        missing: Missing::Error,
        dtype,
    }
}

fn dtype(samples: &AnySamples<'_>) -> Dtype {
    match samples {
        AnySamples::F32(_) => Dtype::F32,
        AnySamples::F64(_) => Dtype::F64,
    }
}
