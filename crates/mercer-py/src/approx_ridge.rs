//! Ridge regression on features that approximate a kernel: sums over rows, and their solutions.

use std::slice;

use mercer::data::{AnySamples, Matrix};
use mercer::design::{Approximation, DesignError, Features, Fourier, Landmarks, Parts, RandomSpec};
use mercer::kernel::Kernel;
use mercer::kernel::check::Domain;
use mercer::learn::{
    Admission, LearnError, Prepared, Quality, Ridge, Sizes, SolvedSums, add_rows,
    choose_approximation as choose, cost, empty_sums,
};
use mercer::linalg::{NormalEquations, normal_equations};
use mercer::model::{Expansion, Linear, Predictor};
use mercer::solve::Report;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

use crate::errors::{design_error, learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::landmarks::kept;
use crate::logistic::admission;
use crate::random_features::{Drawn, drawn};
use crate::ridge::{Fitted, described, from_matrix, intercept, matrix};
use crate::rows::{Rows, square};
use crate::work::Job;

/// Features as the estimators hold them.
#[derive(FromPyObject)]
pub enum FeatureParts<'py> {
    /// Random ones.
    Random(Drawn<'py>),
    /// Landmarks and the factor of their kernel matrix.
    Landmarks(Whitened<'py>),
}

/// Landmarks and the factor of their kernel matrix.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Whitened<'py> {
    kernel: String,
    landmarks: Rows<'py>,
    lower: PyReadonlyArray2<'py, f64>,
}

impl FeatureParts<'_> {
    fn features(&self) -> PyResult<Features> {
        match self {
            Self::Random(drawn) => drawn.fourier().map(Features::from),
            Self::Landmarks(Whitened { kernel, landmarks, lower }) => {
                let kernel: Kernel = serde_json::from_value(json!(kernel)).map_err(value_error)?;
                let landmarks = landmarks.samples()?.into_owned();
                let (_, entries) = square(lower)?;
                Landmarks::from_parts(kernel, landmarks, entries.to_vec())
                    .map(Features::from)
                    .map_err(design_error)
            }
        }
    }
}

/// Draws random features, or chooses landmarks among the rows: what [`FeatureParts`] reads, with `indices` of landmarks in
/// the place of the landmarks themselves; `domain` and `warning` say where the kernel is known to be one.
#[pyfunction]
#[pyo3(signature = (kernel, rows, approx, seed, admit, job))]
pub fn prepare_features<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    approx: &str,
    seed: u64,
    admit: bool,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let approximation: Approximation = approx.parse().map_err(value_error)?;
    match approximation {
        Approximation::Fourier { features, sampling, form } => {
            let spec = RandomSpec { kernel: kernel.0.clone(), features, sampling, form, seed };
            let features = py.detach(|| spec.draw(samples.ncols())).map_err(design_error)?;
            let dict = drawn(py, &Fourier { spec, features })?;
            // A spectral density is a proof (Bochner).
            dict.set_item("domain", Domain::All.to_string())?;
            dict.set_item("warning", py.None())?;
            Ok(dict)
        }
        Approximation::Nystrom { landmarks, choice } => {
            let admission = admission(admit);
            let (indices, whitened, admitted) = job
                .run(py, |session| {
                    let admitted = admission.decide(&kernel.0, &samples)?;
                    let chosen = choice.choose(&kernel.0, &samples, landmarks, &session.with_seed(seed))?;
                    let rows = samples.select(&chosen);
                    let whitened = Landmarks::with_landmarks(&kernel.0, &rows, None, session)?;
                    let places = kept(&rows, whitened.landmarks());
                    let indices: Vec<usize> = places.into_iter().map(|place| chosen[place]).collect();
                    Ok::<_, LearnError>((indices, whitened, admitted))
                })?
                .map_err(learn_error)?;
            let order = whitened.count();
            let dict = PyDict::new(py);
            dict.set_item("kernel", kernel.0.to_string())?;
            dict.set_item("indices", indices)?;
            dict.set_item("lower", PyArray1::from_slice(py, whitened.whitening()).reshape([order, order])?)?;
            dict.set_item("domain", admitted.domain.map(|domain| domain.to_string()))?;
            dict.set_item("warning", admitted.warning)?;
            Ok(dict)
        }
    }
}

/// The approximation that so many rows ask for, as text; none where the kernel matrix is small enough.
#[pyfunction]
pub fn choose_approximation<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    seed: u64,
    job: Job<'py>,
) -> PyResult<Option<String>> {
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let count = samples.nrows() as u64;
    let chosen = job.run(py, |session| choose(&kernel.0, &samples, count, &session.with_seed(seed)))?;
    Ok(chosen.map_err(learn_error)?.map(|(approximation, _)| approximation.to_string()))
}

/// Sums over rows from which ridge regression on features is solved. They add up, and pickle.
#[pyclass(name = "Sums", module = "mercer._native")]
#[derive(Debug)]
pub struct NativeSums(NormalEquations);

#[pymethods]
impl NativeSums {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| NormalEquations::from_bytes(bytes)).map(Self).map_err(value_error)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((slf.get_type().getattr("from_bytes")?, (slf.borrow().to_bytes(py),)))
    }

    /// Rows that were added.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn targets(&self) -> usize {
        self.0.targets()
    }

    /// Adds the sums over other rows.
    fn merge(&mut self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other =
            other.try_borrow().map_err(|_| PyTypeError::new_err("sums cannot be added to themselves"))?;
        let (ours, theirs) = (&mut self.0, &other.0);
        py.detach(|| ours.merge(theirs)).map_err(value_error)
    }
}

/// The sums over rows.
#[pyfunction]
pub fn sum_features<'py>(
    py: Python<'py>,
    features: FeatureParts<'py>,
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    job: Job<'py>,
) -> PyResult<NativeSums> {
    let samples = rows.samples()?;
    let (features, targets) = (features.features()?, matrix(&targets)?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let sums = job.run(py, |session| {
        let mut sums = empty_sums(features.count(samples.ncols())?, targets.ncols(), session)?;
        let into = (&Parts::All, slice::from_mut(&mut sums));
        add_rows(&features, &samples, &targets, weights, into, session)?;
        Ok::<_, LearnError>(sums)
    })?;
    sums.map(NativeSums).map_err(learn_error)
}

/// The sums over the rows of each of `count` folds.
#[pyfunction]
#[pyo3(signature = (features, rows, targets, weights, folds, count, job))]
#[expect(clippy::too_many_arguments, reason = "a call from Python has the arrays and what they mean")]
pub fn sum_folds<'py>(
    py: Python<'py>,
    features: FeatureParts<'py>,
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    folds: Vec<usize>,
    count: usize,
    job: Job<'py>,
) -> PyResult<Vec<NativeSums>> {
    let samples = rows.samples()?;
    let (features, targets) = (features.features()?, matrix(&targets)?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let lengths = [folds.len(), targets.nrows(), weights.map_or(folds.len(), <[f64]>::len)];
    if lengths.iter().any(|length| *length != samples.nrows()) || folds.iter().any(|fold| *fold >= count) {
        return Err(value_error("folds, targets and weights must be one for each row"));
    }
    let sums = job.run(py, |session| {
        let features_count = features.count(samples.ncols())?;
        let needed = cost::fold_sums_bytes(features_count, targets.ncols(), (count, count));
        let budget = session.memory();
        if needed > budget {
            let what = "the sums over the features of every fold and what is made of them";
            return Err(DesignError::Memory { what, needed, budget }.into());
        }
        let mut sums = vec![NormalEquations::new(features_count, targets.ncols()); count];
        let table: Vec<Option<usize>> = folds.into_iter().map(Some).collect();
        let into = (&Parts::Table(&table), &mut sums[..]);
        add_rows(&features, &samples, &targets, weights, into, session)?;
        Ok::<_, LearnError>(sums)
    })?;
    Ok(sums.map_err(learn_error)?.into_iter().map(NativeSums).collect())
}

/// Σw(y − f)² over each fold, by a fit on the others: one matrix for each fold, one row per penalty, one column per target; not
/// a number where there is no fit.
#[pyfunction]
pub fn fold_errors<'py>(
    py: Python<'py>,
    folds: Vec<PyRef<'py, NativeSums>>,
    alphas: Vec<f64>,
    intercept: bool,
    job: Job<'py>,
) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
    let sums: Vec<NormalEquations> = folds.iter().map(|fold| fold.0.clone()).collect();
    let targets = sums.first().map_or(0, NormalEquations::targets);
    let intercept = crate::ridge::intercept(intercept);
    let found = job.run(py, |session| normal_equations::fold_errors(&sums, &alphas, intercept, session))?;
    let unknown = |row: Option<Vec<f64>>| row.unwrap_or_else(|| vec![f64::NAN; targets]);
    found
        .map_err(|error| learn_error(error.into()))?
        .into_iter()
        .map(|rows| {
            let entries = rows.into_iter().flat_map(unknown).collect();
            from_matrix(py, Matrix::from_entries(alphas.len(), targets, entries))
        })
        .collect()
}

/// What is solved for: penalties, and whether there is an unpenalised intercept.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SumsProblem {
    alpha: Vec<f64>,
    intercept: bool,
    seed: u64,
}

impl SumsProblem {
    /// Ridge regression on features whose kernel was checked when they were made, and the features.
    fn on(self, features: Features) -> PyResult<(Ridge, Prepared)> {
        let (kernel, approximation, columns) = match &features {
            Features::Fourier(fourier) => {
                let Fourier { spec, features } = &**fourier;
                (spec.kernel.clone(), Approximation::fourier(features.count()), features.columns())
            }
            Features::Landmarks(landmarks) => {
                let approximation = Approximation::nystrom(landmarks.count());
                (landmarks.kernel().clone(), approximation, landmarks.columns())
            }
            Features::Map(_) => return Err(value_error("these features approximate no kernel")),
        };
        let ridge = Ridge::new((kernel, approximation))
            .lambdas(self.alpha)
            .intercept(intercept(self.intercept))
            .admission(Admission::Assume);
        Ok((ridge, Prepared { features, columns, domain: None, warning: None }))
    }
}

/// Solves ridge regression from sums: the weights of random features, or the dual coefficients of landmarks; and how well the
/// features do, where there are rows to tell by.
#[pyfunction]
pub fn fit_ridge_sums<'py>(
    py: Python<'py>,
    features: FeatureParts<'py>,
    sums: &NativeSums,
    rows: Option<Rows<'py>>,
    problem: SumsProblem,
    job: Job<'py>,
) -> PyResult<(Fitted<'py>, Option<Bound<'py, PyDict>>)> {
    let samples = rows.as_ref().map(Rows::samples).transpose()?;
    let seed = problem.seed;
    let (ridge, prepared) = problem.on(features.features()?)?;
    let equations = &sums.0;
    let (predictor, report, quality) = job
        .run(py, |session| {
            let session = &session.with_seed(seed);
            let solution = ridge.solve(equations, session)?;
            let summed = SolvedSums { sums: equations, solution: &solution, held_out: None };
            let measured = samples.map(|samples| ridge.quality(&prepared, summed, &some(&samples), session));
            let (predictor, report) = ridge.finish(&prepared, &solution)?;
            Ok::<_, LearnError>((predictor, report, measured.transpose()?))
        })?
        .map_err(learn_error)?;
    let quality = quality.map(|quality| told(py, &quality)).transpose()?;
    Ok((linear_parts(py, predictor, &report)?, quality))
}

fn linear_parts<'py>(py: Python<'py>, predictor: Predictor, report: &Report) -> PyResult<Fitted<'py>> {
    let (weights, intercepts) = match predictor {
        Predictor::Linear(Linear { weights, intercepts, .. }) => (weights, intercepts),
        Predictor::Expansion(Expansion { coefficients, intercepts, .. }) => (coefficients, intercepts),
        _ => return Err(value_error("ridge regression on features is linear in them")),
    };
    Ok((from_matrix(py, weights)?, PyArray1::from_vec(py, intercepts), described(py, report)?))
}

/// Fits ridge regression on features of all rows at once: as [`fit_ridge_sums`], and how well the features do.
#[pyfunction]
pub fn fit_ridge_features<'py>(
    py: Python<'py>,
    features: FeatureParts<'py>,
    rows: Rows<'py>,
    targets: (PyReadonlyArray2<'py, f64>, Option<PyReadonlyArray1<'py, f64>>),
    problem: SumsProblem,
    job: Job<'py>,
) -> PyResult<(Fitted<'py>, Bound<'py, PyDict>)> {
    let samples = rows.samples()?;
    let seed = problem.seed;
    let (ridge, prepared) = problem.on(features.features()?)?;
    let (targets, weights) = targets;
    let targets = matrix(&targets)?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let (fit, quality) = job
        .run(py, |session| {
            let session = &session.with_seed(seed);
            let fit = ridge.fit_prepared(prepared, &samples, &targets, weights, session)?;
            let quality = ridge.quality_of(&fit, &some(&samples), session)?;
            Ok::<_, LearnError>((fit, quality))
        })?
        .map_err(learn_error)?;
    Ok((linear_parts(py, fit.predictor, &fit.report)?, told(py, &quality)?))
}

/// Rows that the error of the kernel is measured on, at most.
const QUALITY_ROWS: usize = 10_000;

/// So many rows, evenly spread.
fn some(samples: &AnySamples<'_>) -> AnySamples<'static> {
    let step = samples.nrows() / QUALITY_ROWS + 1;
    samples.select(&(0..samples.nrows()).step_by(step).collect::<Vec<_>>())
}

/// kernel_error, effective_dimension, and the mean squared error of each target with half of the features, all and twice as many.
fn told<'py>(py: Python<'py>, quality: &Quality) -> PyResult<Bound<'py, PyDict>> {
    let Quality { kernel, effective_dimension, sizes } = quality;
    let dict = PyDict::new(py);
    dict.set_item("kernel_error", kernel.relative)?;
    dict.set_item("effective_dimension", effective_dimension)?;
    for (name, of) in
        [("mse_half", (|s| s.half) as fn(&Sizes) -> f64), ("mse", |s| s.all), ("mse_doubled", |s| s.doubled)]
    {
        dict.set_item(name, sizes.iter().map(of).collect::<Vec<f64>>())?;
    }
    Ok(dict)
}
