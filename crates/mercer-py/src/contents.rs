//! The arrays of a model, by name.

use mercer::design::Features;
use mercer::model::{Expansion, GaussianProcess, Linear, Neighbours, Predictor, Voted, VotedStep};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::design_error;
use crate::rows::{from_matrix, from_samples};

/// The arrays of a predictor, copied. `columns` are the names of the columns, for the names of explicit features.
pub fn contents<'py>(
    py: Python<'py>,
    predictor: &Predictor,
    columns: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    match predictor {
        Predictor::Expansion(expansion) => of_expansion(&found, expansion)?,
        Predictor::GaussianClasses(classes) => of_expansion(&found, &classes.latent)?,
        Predictor::GaussianProcess(GaussianProcess { mean, scales, noise, .. }) => {
            of_expansion(&found, mean)?;
            found.set_item("scales", PyArray1::from_slice(py, scales))?;
            found.set_item("noise", noise)?;
        }
        Predictor::Linear(linear) => of_linear(&found, linear, columns)?,
        Predictor::Pairs(pairs) => {
            found.set_item("centres", from_samples(py, pairs.centres.view())?)?;
            found.set_item("coefficients", from_matrix(py, pairs.by_pair())?)?;
            found.set_item("intercepts", PyArray1::from_iter(py, pairs.rho.iter().map(|rho| -rho)))?;
            found.set_item("n_support", PyArray1::from_slice(py, &pairs.per_class))?;
        }
        Predictor::Voted(Voted { centres, steps, .. }) => {
            found.set_item("centres", from_samples(py, centres.view())?)?;
            found.set_item("steps", from_matrix(py, VotedStep::to_matrix(steps))?)?;
        }
        Predictor::Neighbours(Neighbours { rows, targets, .. }) => {
            found.set_item("centres", from_samples(py, rows.view())?)?;
            found.set_item("targets", from_matrix(py, targets.clone())?)?;
        }
    }
    Ok(found)
}

fn of_expansion(found: &Bound<'_, PyDict>, expansion: &Expansion) -> PyResult<()> {
    let py = found.py();
    found.set_item("centres", from_samples(py, expansion.centres.view())?)?;
    found.set_item("coefficients", from_matrix(py, expansion.coefficients.clone())?)?;
    found.set_item("intercepts", PyArray1::from_slice(py, &expansion.intercepts))?;
    found.set_item("shift", expansion.shift.as_ref().map(|shift| PyArray1::from_slice(py, shift)))
}

fn of_linear(found: &Bound<'_, PyDict>, linear: &Linear, columns: &[String]) -> PyResult<()> {
    let py = found.py();
    found.set_item("coefficients", from_matrix(py, linear.weights.clone())?)?;
    found.set_item("intercepts", PyArray1::from_slice(py, &linear.intercepts))?;
    found.set_item("shift", linear.shift.as_ref().map(|shift| PyArray1::from_slice(py, shift)))?;
    match &linear.map {
        Features::Map(map) => found.set_item("terms", map.names(columns).map_err(design_error)?),
        Features::Fourier(fourier) => {
            let features = &fourier.features;
            found.set_item("frequencies", from_matrix(py, features.frequencies().clone())?)?;
            found.set_item("phases", features.shifts().map(|shifts| PyArray1::from_slice(py, shifts)))?;
            found.set_item("amplitudes", PyArray1::from_slice(py, features.amplitudes()))
        }
        Features::Landmarks(landmarks) => {
            let order = landmarks.count();
            found.set_item("landmarks", from_samples(py, landmarks.landmarks().view())?)?;
            found.set_item("factor", PyArray1::from_slice(py, landmarks.whitening()).reshape([order, order])?)
        }
    }
}
