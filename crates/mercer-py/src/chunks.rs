//! Computations on a part of the rows: moments of the entries, sums of losses, and products with the kernel matrix.

use mercer::data::{Matrix, row_hash};
use mercer::design::{
    Approximation, DesignError, Labelled, LabelledDesign, LabelledRows, Loss, Recomputed, Rounding,
};
use mercer::gram::{EntryMoments, GramError, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::{LearnError, Lift};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{design_error, learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::rows::{Rows, from_matrix, matrix};
use crate::sums::PreparedParts;
use crate::work::Job;

/// (number, mean, sum of squared deviations) of the entries of rows.
type Moments = (f64, f64, f64);

/// The moments of the entries; with weights, a row of weight 2 counts as two rows.
#[pyfunction]
pub fn entry_moments<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Moments> {
    let samples = rows.samples()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(value_error)?;
    if weights.is_some_and(|weights| weights.len() != samples.nrows()) {
        return Err(value_error("there must be a weight for each row"));
    }
    let found = py.detach(|| EntryMoments::new(&samples, None, weights));
    Ok((found.count, found.mean, found.squares))
}

/// 1/(columns·variance); 1 if the entries are all the same, 0 if their variance overflows.
#[pyfunction]
pub fn inverse_variance(moments: Moments, columns: usize) -> f64 {
    let (count, mean, squares) = moments;
    EntryMoments { count, mean, squares }.inverse_variance(columns)
}

/// A request of a solver, as returned by `RemoteFit.next`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LossRequest<'py> {
    kind: String,
    numbers: Vec<f64>,
    weights: PyReadonlyArray2<'py, f64>,
    intercepts: Vec<f64>,
}

/// The answer of some labelled rows to a request of `RemoteFit.classes`; answers are additive.
#[pyfunction]
pub fn sum_losses<'py>(
    py: Python<'py>,
    prepared: PreparedParts<'py>,
    rows: Rows<'py>,
    codes: PyReadonlyArray1<'py, usize>,
    row_weights: PyReadonlyArray1<'py, f64>,
    request: LossRequest<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (samples, features) = (rows.samples()?, prepared.prepared()?.features);
    let (weights, intercepts) = (matrix(&request.weights)?, &request.intercepts);
    let codes = codes.as_slice().map_err(value_error)?;
    let row_weights = row_weights.as_slice().map_err(value_error)?;
    let outputs = intercepts.len();
    let classes = if outputs == 1 { 2 } else { outputs };
    let width = features.count(samples.ncols()).map_err(design_error)?;
    let n = samples.nrows();
    if codes.len() != n || row_weights.len() != n || codes.iter().any(|&code| code >= classes) {
        return Err(value_error("there must be a class and a weight for each row"));
    }
    if weights.nrows() != width || weights.ncols() != outputs {
        return Err(value_error("there must be a weight for each feature and output"));
    }
    let loss = match (&*request.kind, &*request.numbers) {
        ("logistic", []) => Some(Loss::Logistic),
        ("smooth hinge", &[width, share]) => Some(Loss::SmoothHinge { width, share }),
        ("rounding", [_]) => None,
        (kind, _) => return Err(value_error(format!("{kind} is not a sum over labelled rows"))),
    };
    let answer = job.run(py, |session| {
        let design = Recomputed::new(features.ready(samples.ncols(), None, session)?, &samples)?;
        let labels = Labelled { codes, outputs, weights: row_weights };
        let rows = LabelledDesign { design: &design, labels };
        let Some(loss) = loss else {
            let Rounding { taken, rounded } =
                rows.rounding(request.numbers[0], &weights, intercepts, session)?;
            return Ok(vec![taken, rounded as f64]);
        };
        let mut gradient = Matrix::zeros(width, outputs);
        let sums = rows.loss(loss, &weights, intercepts, &mut gradient, session)?;
        let mut answer = vec![sums.value, sums.curvature.unwrap_or(f64::NAN)];
        answer.extend(sums.pull);
        answer.extend(gradient.into_entries());
        Ok::<_, DesignError>(answer)
    })?;
    Ok(PyArray1::from_vec(py, answer.map_err(design_error)?))
}

/// The rows from `first` up to `last` of the kernel matrix of all `rows`, times `rhs`.
#[pyfunction]
pub fn product_rows<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    first: usize,
    last: usize,
    rhs: PyReadonlyArray2<'py, f64>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (samples, rhs) = (rows.samples()?, matrix(&rhs)?);
    let n = samples.nrows();
    if first > last || last > n || rhs.nrows() != n {
        return Err(value_error(format!("rows {first} to {last} and {} factors, of {n} rows", rhs.nrows())));
    }
    let out = job.run(py, |session| {
        let resident = session.load(&samples)?;
        let gram = resident.gram(&kernel.0, Wanted::Exact)?;
        let (some, all): (Vec<usize>, Vec<usize>) = ((first..last).collect(), (0..n).collect());
        let mut out = Matrix::zeros(last - first, rhs.ncols());
        gram.apply_part(&some, &all, &rhs, &mut out, session).map_err(GramError::from)?;
        Ok::<_, GramError>(out)
    })?;
    from_matrix(py, out.map_err(|error| learn_error(LearnError::from(error)))?)
}

/// Pseudo-random numbers, one for each row of a partition: a sample consists of the rows with the smallest ones.
#[pyfunction]
pub fn row_hashes(py: Python<'_>, seed: u64, partition: u64, rows: u64) -> Bound<'_, PyArray1<u64>> {
    let seed = row_hash(seed, partition);
    PyArray1::from_iter(py, (0..rows).map(|row| row_hash(seed, row)))
}

/// The number of rows of the sample that determines the features of an approximation.
#[pyfunction]
pub fn sample_rows(approximation: Option<&str>) -> PyResult<usize> {
    let kernel = Kernel::gaussian_auto();
    let lift = match approximation {
        None | Some("auto") => Lift::Auto(kernel),
        Some(text) => Lift::from((kernel, text.parse::<Approximation>().map_err(value_error)?)),
    };
    Ok(lift.sample_rows())
}
