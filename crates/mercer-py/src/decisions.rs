//! Votes and probabilities from the outputs of classifiers.

use mercer::data::Matrix;
use mercer::learn::ClassWeight;
use mercer::model::{Calibration, Sigmoid, classes_of_pairs, one_vs_rest_decisions, vote};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::rows::{from_matrix, matrix};

/// The weights of balanced classes of which this much was counted.
#[pyfunction]
pub fn balanced_class_weight(py: Python<'_>, counts: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, ClassWeight::balanced(&counts))
}

/// The class with most votes, for every row of decisions.
#[pyfunction]
pub fn vote_pairs<'py>(
    py: Python<'py>,
    decisions: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<usize>>> {
    let decisions = of_pairs(&decisions)?;
    Ok(PyArray1::from_vec(py, (0..decisions.nrows()).map(|row| vote(decisions.row(row))).collect()))
}

/// One number per class from decisions per pair: its votes, plus less than half a vote from the size of the decisions.
#[pyfunction]
pub fn rank_pairs<'py>(
    py: Python<'py>,
    decisions: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    from_matrix(py, one_vs_rest_decisions(&of_pairs(&decisions)?))
}

/// The probability of each class from decisions per pair, by the sigmoid 1/(1 + e^(af + b)) of each.
#[pyfunction]
pub fn couple_pairs<'py>(
    py: Python<'py>,
    decisions: PyReadonlyArray2<'py, f64>,
    a: Vec<f64>,
    b: Vec<f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let decisions = of_pairs(&decisions)?;
    let sigmoids: Vec<Sigmoid> = a.iter().zip(&b).map(|(&a, &b)| Sigmoid { a, b }).collect();
    if sigmoids.len() != decisions.ncols() {
        let (found, expected) = (sigmoids.len(), decisions.ncols());
        return Err(value_error(format!("{found} sigmoids for {expected} pairs of classes")));
    }
    let shares = Calibration::Sigmoids(sigmoids).probabilities(&decisions, true);
    from_matrix(py, shares.ok_or_else(|| value_error("sigmoids without probabilities"))?)
}

/// Decisions for all pairs of some number of classes.
fn of_pairs(decisions: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix<f64>> {
    let decisions = matrix(decisions)?;
    match classes_of_pairs(decisions.ncols()) {
        Some(_) => Ok(decisions),
        None => Err(value_error(format!("no number of classes has {} pairs", decisions.ncols()))),
    }
}

/// The probability of each class from logits: one column for two classes, else one per class.
#[pyfunction]
pub fn probabilities<'py>(
    py: Python<'py>,
    outputs: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    from_matrix(py, mercer::model::probabilities(&matrix(&outputs)?))
}
