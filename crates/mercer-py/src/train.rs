//! Training through the library's learners.

use mercer::data::{Classes, Matrix};
use mercer::learn::{self, Learner, Problem, Targets};
use mercer::model::Predictor;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::ridge::{Fitted, described, from_matrix};
use crate::work::Job;

/// Trains with this seed.
pub fn train(
    py: Python<'_>,
    learner: &dyn Learner,
    problem: &Problem<'_>,
    seed: u64,
    job: &Job<'_>,
) -> PyResult<learn::Fitted> {
    job.run(py, |session| learner.train(problem, &session.with_seed(seed)))?.map_err(learn_error)
}

/// The coefficients of all `rows` rows, zero where a row is no centre; the intercepts; the report.
pub fn expanded(py: Python<'_>, fitted: learn::Fitted, rows: usize) -> PyResult<Fitted<'_>> {
    let report = fitted.report.ok_or_else(|| value_error("nothing was solved"))?;
    let Predictor::Expansion(expansion) = fitted.model.predictor else {
        return Err(value_error("the model is no expansion in the kernel"));
    };
    let dict = described(py, &report)?;
    dict.set_item("domain", expansion.domain.map(|domain| domain.to_string()))?;
    let dual = match fitted.centres {
        None => expansion.coefficients,
        Some(centres) => {
            let mut dual = Matrix::zeros(rows, expansion.coefficients.ncols());
            for (place, row) in centres.into_iter().enumerate() {
                dual.row_mut(row).copy_from_slice(expansion.coefficients.row(place));
            }
            dual
        }
    };
    Ok((from_matrix(py, dual)?, PyArray1::from_vec(py, expansion.intercepts), dict))
}

/// Classes 0, 1, …, `classes` − 1 by their codes.
pub fn coded<'a>(codes: &'a PyReadonlyArray1<'_, usize>, classes: usize) -> PyResult<Targets<'a>> {
    let codes = codes.as_slice().map_err(value_error)?.into();
    Ok(Targets::Classes { codes, classes: Classes::Numbers((0..classes).map(|code| code as f64).collect()) })
}
