//! Nyström features: landmarks among rows, and the factor that whitens the kernel with them.

use mercer::data::AnySamples;
use mercer::design::{DesignError, LandmarkChoice, Landmarks, RowFeatures};
use mercer::learn::KernelCheck;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{design_error, value_error};
use crate::kernel::NativeKernel;
use crate::random_features::features_of;
use crate::rows::{Rows, square};
use crate::settings::read;
use crate::work::Job;

/// The numbers of the rows that are chosen as landmarks.
#[pyfunction]
pub fn choose_landmarks<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    count: usize,
    choice: &Bound<'py, PyAny>,
    job: Job<'py>,
) -> PyResult<Vec<usize>> {
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let choice: LandmarkChoice = read(choice)?;
    job.run(py, |session| choice.choose(&kernel.0, &samples, count, session))?.map_err(design_error)
}

/// (numbers of the landmarks that are kept, the factor L of their kernel matrix); `None` if the kernel is not
/// known to be positive semidefinite on the landmarks.
type Whitening<'py> = Option<(Vec<usize>, Bound<'py, PyArray2<f64>>)>;

/// Factors the kernel matrix of landmarks.
#[pyfunction]
pub fn whiten<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    landmarks: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Whitening<'py>> {
    let samples = landmarks.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let found = job.run(py, |session| {
        if !KernelCheck::Check.decide(&kernel.0, &samples).is_ok_and(|checked| checked.domain.is_some()) {
            return Ok(None);
        }
        match Landmarks::with_landmarks(&kernel.0, &samples, None, session) {
            Ok(whitened) => Ok(Some(whitened)),
            // A kernel that is zero on all landmarks is not an error.
            Err(DesignError::NoRank) => Ok(None),
            Err(error) => Err(error),
        }
    })?;
    let Some(whitened) = found.map_err(design_error)? else { return Ok(None) };
    let order = whitened.count();
    let lower = PyArray1::from_slice(py, whitened.whitening()).reshape([order, order])?;
    Ok(Some((kept(&samples, whitened.landmarks()), lower)))
}

/// The indices in `all` of the rows of `part`, a subset in the same order.
fn kept(all: &AnySamples<'_>, part: &AnySamples<'_>) -> Vec<usize> {
    if all.nrows() == part.nrows() {
        return (0..all.nrows()).collect();
    }
    let (mut x, mut z) = (vec![0.0; all.ncols()], vec![0.0; all.ncols()]);
    let mut candidates = 0..all.nrows();
    (0..part.nrows())
        .filter_map(|row| {
            part.copy_row(row, &mut x);
            candidates.find(|&candidate| {
                all.copy_row(candidate, &mut z);
                x == z
            })
        })
        .collect()
}

/// L⁻¹k(x) for each row x, in the precision of the rows.
#[pyfunction]
pub fn landmark_features<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    landmarks: Rows<'py>,
    lower: PyReadonlyArray2<'py, f64>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (_, entries) = square(&lower)?;
    let landmarks = landmarks.samples()?.into_owned();
    let whitened =
        Landmarks::from_parts(kernel.0.clone(), landmarks, entries.to_vec()).map_err(design_error)?;
    features_of(py, &rows, &job, |samples, session| {
        let features = RowFeatures::Landmarks(&whitened, session);
        features.transform(samples, features.precision(samples), session)
    })
}
