//! Ridge regression on features that approximate a kernel, from sums over rows.

use mercer::data::Matrix;
use mercer::design::{DesignError, Parts};
use mercer::learn::{
    AnyLearner, LearnError, Origin, Prepared, Ridge, SolvedSums, add_rows, choose_approximation as choose,
    cost,
};
use mercer::linalg::{Intercept, NormalEquations, normal_equations};
use mercer::model::Facts;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{learn_error, value_error};
use crate::features::{FeatureParts, feature_parts};
use crate::kernel::NativeKernel;
use crate::rows::{Rows, from_matrix, matrix};
use crate::settings::read;
use crate::train::{Trained, trained};
use crate::work::Job;

/// Features for rows of a number of columns, and the domain on which their kernel is known to be positive semidefinite.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PreparedParts<'py> {
    features: FeatureParts<'py>,
    columns: usize,
    domain: Option<String>,
    warning: Option<String>,
}

impl PreparedParts<'_> {
    /// The same as the library's type.
    pub fn prepared(&self) -> PyResult<Prepared> {
        Ok(Prepared {
            features: self.features.features()?,
            columns: self.columns,
            domain: self.domain.as_deref().map(str::parse).transpose().map_err(value_error)?,
            warning: self.warning.clone(),
        })
    }
}

/// The settings of ridge regression.
pub fn ridge(settings: &Bound<'_, PyAny>) -> PyResult<Ridge> {
    match read(settings)? {
        AnyLearner::Ridge(ridge) => Ok(ridge),
        _ => Err(value_error("these are not the settings of ridge regression")),
    }
}

/// Draws random features, or chooses landmarks among the rows; returns the form that [`PreparedParts`] reads. The rows
/// are all of `total` rows or a sample of them.
#[pyfunction]
pub fn prepare_features<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    rows: Rows<'py>,
    total: u64,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (learner, samples) = (read::<AnyLearner>(settings)?, rows.samples()?);
    let prepared = job.run(py, |session| learner.prepare((&samples, total), session))?;
    let Prepared { features, columns, domain, warning } = prepared.map_err(learn_error)?;
    let dict = PyDict::new(py);
    dict.set_item("features", feature_parts(py, &features)?)?;
    dict.set_item("columns", columns)?;
    dict.set_item("domain", domain.map(|domain| domain.to_string()))?;
    dict.set_item("warning", warning)?;
    Ok(dict)
}

/// The approximation for `total` rows, as text; `None` if the kernel matrix is small enough. The rows are all of them
/// or a sample.
#[pyfunction]
pub fn choose_approximation<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    total: u64,
    job: Job<'py>,
) -> PyResult<Option<String>> {
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let chosen = job.run(py, |session| choose(&kernel.0, &samples, total, session))?;
    Ok(chosen.map_err(learn_error)?.map(|(approximation, _)| approximation.to_string()))
}

/// Sums over rows from which ridge regression on features is solved. They can be added and pickled.
#[pyclass(name = "Sums", module = "mercer._native")]
#[derive(Debug)]
pub struct NativeSums(pub NormalEquations);

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

    /// The number of rows added.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn targets(&self) -> usize {
        self.0.targets()
    }

    /// Σw.
    #[getter]
    fn weight(&self) -> f64 {
        self.0.weight()
    }

    /// Σw(y − ȳ)² of each target.
    fn spreads<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.0.target_spreads())
    }

    fn __sizeof__(&self) -> u64 {
        NormalEquations::bytes_needed(self.0.features(), self.0.targets())
    }

    /// The total of several sums, added in their order.
    #[staticmethod]
    fn total(py: Python<'_>, parts: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let parts: Vec<&NormalEquations> = parts.iter().map(|part| &part.0).collect();
        let Some((first, others)) = parts.split_first() else {
            return Err(value_error("the total of no sums"));
        };
        let total = py.detach(|| {
            let mut total = (*first).clone();
            others.iter().try_for_each(|other| total.merge(other)).map(|()| total)
        });
        total.map(Self).map_err(value_error)
    }

    /// Adds the sums over other rows.
    fn merge(&mut self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other =
            other.try_borrow().map_err(|_| PyTypeError::new_err("sums cannot be added to themselves"))?;
        let (ours, theirs) = (&mut self.0, &other.0);
        py.detach(|| ours.merge(theirs)).map_err(value_error)
    }
}

/// The sums over the rows of each part; `parts` has the part of each row and how many parts there are; `None` means a single one.
#[pyfunction]
pub fn sum_features<'py>(
    py: Python<'py>,
    prepared: PreparedParts<'py>,
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    parts: Option<(Vec<usize>, usize)>,
    job: Job<'py>,
) -> PyResult<Vec<NativeSums>> {
    let samples = rows.samples()?;
    let (features, targets) = (prepared.features.features()?, matrix(&targets)?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let count = parts.as_ref().map_or(1, |(_, count)| *count);
    let table: Option<Vec<_>> = parts.map(|(parts, _)| parts.into_iter().map(Some).collect());
    let outside = |part: &Option<usize>| part.is_none_or(|part| part >= count);
    if table.as_ref().is_some_and(|table| table.len() != samples.nrows() || table.iter().any(outside)) {
        return Err(value_error("parts must be one for each row"));
    }
    let sums = job.run(py, |session| {
        let features_count = features.count(samples.ncols())?;
        let needed = cost::fold_sums_bytes(features_count, targets.ncols(), (count, count));
        let budget = session.memory();
        if needed > budget {
            let what = "the sums over the features and the factor of them";
            return Err(DesignError::Memory { what, needed, budget }.into());
        }
        let mut sums = vec![NormalEquations::new(features_count, targets.ncols()); count];
        let parts = table.as_deref().map_or(Parts::All, Parts::Table);
        add_rows(&features, &samples, &targets, weights, (&parts, &mut sums), session)?;
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
    let intercept = if intercept { Intercept::Centred } else { Intercept::None };
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

/// Solves ridge regression from sums; if rows are given, the facts include the quality of the features on them.
#[pyfunction]
pub fn solve_sums<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    prepared: PreparedParts<'py>,
    sums: &NativeSums,
    rows: Option<Rows<'py>>,
    outputs: Vec<String>,
    job: Job<'py>,
) -> PyResult<Trained<'py>> {
    let samples = rows.as_ref().map(Rows::samples).transpose()?;
    let (ridge, prepared, sums) = (ridge(settings)?, prepared.prepared()?, &sums.0);
    let fitted = job.run(py, |session| {
        let solution = ridge.solve(sums, session)?;
        let summed = SolvedSums { sums, solution: &solution, held_out: None };
        let quality =
            samples.map(|samples| ridge.quality(&prepared, summed, &samples, session)).transpose()?;
        let facts = quality.map_or_else(Facts::new, |quality| quality.facts(&outputs));
        let origin = Origin { outputs, ..Origin::default() };
        ridge.fitted(&prepared, &solution, (sums.rows(), origin), facts, session)
    })?;
    trained(py, fitted.map_err(learn_error)?)
}
