//! The arrays of a model, by name.

use mercer::design::Features;
use mercer::model::{Array, Linear, Predictor};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::design_error;
use crate::parts::from_array;
use crate::rows::from_matrix;

/// The arrays of a predictor, copied. `columns` are the names of the columns, for the names of explicit features.
pub fn contents<'py>(
    py: Python<'py>,
    predictor: &Predictor,
    columns: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, array) in predictor.parts().arrays {
        match (name, array) {
            ("factor" | "posterior_factor" | "projection" | "rho", _) => {}
            ("noise", Array::Numbers(noise)) => found.set_item(name, noise[0])?,
            ("weights", weights) => found.set_item("coefficients", from_array(py, weights)?)?,
            ("per_class", counts) => found.set_item("n_support", from_array(py, counts)?)?,
            (name, array) => found.set_item(name, from_array(py, array)?)?,
        }
    }
    match predictor {
        Predictor::Pairs(pairs) => {
            found.set_item("coefficients", from_matrix(py, pairs.by_pair())?)?;
            found.set_item("intercepts", PyArray1::from_iter(py, pairs.rho.iter().map(|rho| -rho)))?;
        }
        Predictor::Linear(Linear { map: Features::Map(map), .. }) => {
            found.set_item("terms", map.names(columns).map_err(design_error)?)?;
        }
        _ => {}
    }
    Ok(found)
}
