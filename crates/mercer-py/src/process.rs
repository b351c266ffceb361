//! Gaussian processes on inducing points from sums over rows on other machines.

use mercer::learn::{
    AnyLearner, Gp, LearnError, Origin, Problem, ProcessRows, ProcessStart, RowBlocks, TargetMoments,
};
use mercer::session::Session;
use mercer::solve::{InducingSums, RowSlopes};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::remote::{Asker, Request};
use crate::rows::{Rows, from_samples, matrix};
use crate::settings::read;
use crate::work::Job;

/// A sample of the rows, and the moments of the targets of all rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SampleParts<'py> {
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    count: u64,
    means: Vec<f64>,
    squares: Vec<f64>,
}

impl SampleParts<'_> {
    /// The same as the library's type, with copies of the arrays.
    pub fn problem(&self, outputs: Vec<String>) -> PyResult<(Problem<'static>, TargetMoments)> {
        let weights = self.weights.as_ref().map(|w| w.as_slice().map(<[f64]>::to_vec));
        let weights = weights.transpose().map_err(value_error)?;
        let problem = Problem::new(self.rows.samples()?.into_owned(), matrix(&self.targets)?)
            .weighted(weights)
            .with_origin(Origin { outputs, ..Origin::default() });
        let moments =
            TargetMoments { rows: self.count, means: self.means.clone(), squares: self.squares.clone() };
        Ok((problem, moments))
    }
}

/// The quantities that rows need before summation, as returned by [`prepare_process`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ProcessParts<'py> {
    kernel: Py<NativeKernel>,
    points: Rows<'py>,
    means: Vec<f64>,
    scales: Vec<f64>,
}

/// A request of a solver: sums at values of the kernel's unknowns, or the gradient from slopes there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ProcessRequest<'py> {
    values: Vec<f64>,
    slopes: Option<SlopeParts<'py>>,
}

/// The derivatives of the bound in kernel values of rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SlopeParts<'py> {
    twice_by_products: PyReadonlyArray2<'py, f64>,
    by_cross: PyReadonlyArray2<'py, f64>,
    by_diagonal: f64,
}

/// The settings of a Gaussian process.
pub fn gp(settings: &Bound<'_, PyAny>) -> PyResult<Gp> {
    match read(settings)? {
        AnyLearner::Gp(gp) => Ok(gp),
        _ => Err(value_error("these are not the settings of a Gaussian process")),
    }
}

/// Chooses the inducing points among the rows of a sample; returns the form that [`ProcessParts`] reads.
#[pyfunction]
pub fn prepare_process<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    sample: SampleParts<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (gp, (problem, moments)) = (gp(settings)?, sample.problem(Vec::new())?);
    let start = job.run(py, |session| gp.process_start(&problem, &moments, session))?;
    let ProcessStart { kernel, points, means, scales } = start.map_err(learn_error)?;
    let dict = PyDict::new(py);
    dict.set_item("kernel", NativeKernel(kernel))?;
    dict.set_item("points", from_samples(py, points)?)?;
    dict.set_item("means", means)?;
    dict.set_item("scales", scales)?;
    Ok(dict)
}

/// The answer of some rows to a request of `RemoteFit.process`; answers are additive.
#[pyfunction]
pub fn sum_process<'py>(
    py: Python<'py>,
    process: ProcessParts<'py>,
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    request: ProcessRequest<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (samples, targets) = (rows.samples()?, matrix(&targets)?);
    let ProcessParts { kernel, points, means, scales } = process;
    if [means.len(), scales.len()] != [targets.ncols(); 2] {
        return Err(value_error("there must be a mean and a scale for each target"));
    }
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let ProcessRequest { values, slopes } = request;
    let slopes = slopes.as_ref().map(SlopeParts::slopes).transpose()?;
    let start = ProcessStart {
        kernel: kernel.get().0.clone(),
        points: points.samples()?.into_owned(),
        means,
        scales,
    };
    let answer = job.run(py, |session| {
        let targets = start.normalised(&targets);
        let rows = RowBlocks::new(&start.kernel, &start.points, &samples, &targets, weights, session)?;
        match &slopes {
            None => rows.sums(&values, session).map(|sums| sums.to_numbers()),
            Some(slopes) => rows.gradient(&values, slopes, session),
        }
    })?;
    Ok(PyArray1::from_vec(py, answer.map_err(learn_error)?))
}

impl SlopeParts<'_> {
    fn slopes(&self) -> PyResult<RowSlopes> {
        Ok(RowSlopes {
            twice_by_products: matrix(&self.twice_by_products)?,
            by_cross: matrix(&self.by_cross)?,
            by_diagonal: self.by_diagonal,
        })
    }
}

/// Rows whose sums Python computes.
pub struct RemoteProcess<'a> {
    /// The connection to Python.
    pub asker: &'a Asker,
    /// The number of inducing points.
    pub points: usize,
    /// The number of targets.
    pub outputs: usize,
}

impl ProcessRows for RemoteProcess<'_> {
    fn sums(&self, values: &[f64], _session: &Session<'_>) -> Result<InducingSums, LearnError> {
        let request = Request::Process { values: values.to_vec(), slopes: None };
        let answer = self.asker.ask(request, InducingSums::count(self.points, self.outputs))?;
        InducingSums::from_numbers(&answer, self.points, self.outputs)
            .ok_or(LearnError::Unsupported("sums of another number of inducing points"))
    }

    fn gradient(
        &self,
        values: &[f64],
        slopes: &RowSlopes,
        _session: &Session<'_>,
    ) -> Result<Vec<f64>, LearnError> {
        let request = Request::Process { values: values.to_vec(), slopes: Some(slopes.clone()) };
        Ok(self.asker.ask(request, values.len())?)
    }
}
