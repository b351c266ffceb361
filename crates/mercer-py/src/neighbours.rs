//! Nearest neighbours, and means weighted by a kernel.

use mercer::data::AnySamples;
use mercer::gram::Metric;
use mercer::learn::Smoother;
use mercer::model::{Neighbours, Rule};
use mercer::session::Session;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{gram_error, learn_error, model_error, value_error};
use crate::kernel::NativeKernel;
use crate::ridge::{from_matrix, matrix};
use crate::rows::Rows;
use crate::work::Job;

/// (distances, numbers) of the `k` nearest rows of each query, nearest first.
type Found<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);

/// The nearest of `rows` to each query.
#[pyfunction]
pub fn nearest<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    queries: Rows<'py>,
    k: usize,
    metric: &str,
    job: Job<'py>,
) -> PyResult<Found<'py>> {
    let (samples, queries) = (rows.samples()?, queries.samples()?);
    let metric = match metric {
        "euclidean" => Metric::Euclidean,
        "manhattan" => Metric::Manhattan,
        other => {
            return Err(value_error(format!("the metric is euclidean or manhattan, but this is {other}")));
        }
    };
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

/// Whether the smoother can weigh these rows by this kernel.
#[pyfunction]
pub fn check_smoother(kernel: &NativeKernel, rows: Rows<'_>) -> PyResult<()> {
    Smoother::new(kernel.0.clone()).check_kernel(&rows.samples()?, &Session::default()).map_err(learn_error)
}

/// The mean of the targets weighted by the kernel, at each query.
#[pyfunction]
pub fn smooth<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    queries: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (samples, queries) = (rows.samples()?, queries.samples()?);
    let (targets, rule) = (matrix(&targets)?, Rule::Smoother { kernel: kernel.0.clone() });
    let out = job.run(py, |session| {
        let rows: AnySamples<'static> = samples.into_owned();
        Neighbours { rows, targets, rule }.predict(&queries, session)
    })?;
    from_matrix(py, out.map_err(model_error)?)
}
