//! Samples into sums over their features, without ever holding the features of all.

use crate::data::{AnySamples, Matrix};
use crate::linalg::NormalEquations;
use crate::tile::Element;
use crate::watch::Watch;

use super::approximation::{ApproximationError, KernelFeatures};

/// Samples whose features are held at a time.
const CHUNK: usize = 1024;

/// Adds samples to the sums over their features: single-precision samples by features in single precision, double by double.
///
/// Call it for every chunk of the data; sums of several parts are merged by [`NormalEquations::merge`]. O(nDd + nD²/2) time,
/// 1,024 rows of features in memory.
///
/// # Errors
/// Where the samples, targets and weights do not have the shape of the features and sums or hold something else than
/// finite numbers, and where `watch` asks to stop.
pub fn add_samples(
    equations: &mut NormalEquations,
    features: &dyn KernelFeatures,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    watch: &dyn Watch,
) -> Result<(), ApproximationError> {
    let rows = samples.nrows();
    for (what, found) in [
        ("the number of rows of targets", Some(targets.nrows())),
        ("the number of weights", weights.map(<[f64]>::len)),
    ] {
        if let Some(found) = found.filter(|found| *found != rows) {
            return Err(ApproximationError::parameter(what, found, format!("{rows}, one for each sample")));
        }
    }
    watch.begin("features", rows as u64);
    match samples {
        AnySamples::F32(_) => add(
            equations,
            samples,
            targets,
            weights,
            watch,
            |rows, out| features.fill_f32(samples, rows, out, watch),
            features.features(),
        ),
        AnySamples::F64(_) => add(
            equations,
            samples,
            targets,
            weights,
            watch,
            |rows, out| features.fill_f64(samples, rows, out, watch),
            features.features(),
        ),
    }
}

fn add<T: Element>(
    equations: &mut NormalEquations,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    watch: &dyn Watch,
    fill: impl Fn(std::ops::Range<usize>, &mut [T]) -> Result<(), ApproximationError>,
    width: usize,
) -> Result<(), ApproximationError> {
    let mut chunk = Matrix::zeros(CHUNK.min(samples.nrows()), width);
    for first in (0..samples.nrows()).step_by(CHUNK) {
        let rows = first..samples.nrows().min(first + CHUNK);
        if rows.len() != chunk.nrows() {
            chunk = Matrix::zeros(rows.len(), width);
        }
        fill(rows.clone(), chunk.entries_mut())?;
        let outputs = targets.ncols();
        let of_chunk = targets.entries()[rows.start * outputs..rows.end * outputs].to_vec();
        let of_chunk = Matrix::from_entries(rows.len(), outputs, of_chunk);
        equations.add(&chunk, &of_chunk, weights.map(|w| &w[rows.clone()]), watch)?;
        watch.advance(rows.len() as u64);
    }
    Ok(())
}
