//! Nearest neighbours.

use mercer::gram::Metric;
use mercer::session::Session;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::errors::gram_error;
use crate::rows::Rows;
use crate::settings::read;
use crate::work::Job;

/// (distances, numbers) of the `k` nearest rows of each query, nearest first.
type Found<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);

/// The nearest of `rows` to each query. A metric is its name, or `{"minkowski": {"p": p}}`.
#[pyfunction]
pub fn nearest<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    queries: Rows<'py>,
    k: usize,
    metric: &Bound<'py, PyAny>,
    job: Job<'py>,
) -> PyResult<Found<'py>> {
    let (samples, queries) = (rows.samples()?, queries.samples()?);
    let metric: Metric = read(metric)?;
    let search = |session: &Session<'_>| {
        session.load(&samples)?.nearest(&*session.load(&queries)?, k, metric, session)
    };
    let found = job.run(py, search)?.map_err(gram_error)?;
    let shape = [queries.nrows(), found.k];
    let numbers: Vec<i64> = found.rows.iter().map(|&row| row as i64).collect();
    Ok((
        PyArray1::from_vec(py, found.distances).reshape(shape)?,
        PyArray1::from_vec(py, numbers).reshape(shape)?,
    ))
}
