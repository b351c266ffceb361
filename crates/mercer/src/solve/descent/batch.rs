//! Batch steps, on all samples.

use crate::data::Matrix;
use crate::linalg::vectors::{add_multiple, column_norms};
use crate::solve::error::SolveError;
use crate::solve::report::Status;
use crate::watch::Watch;

use super::coordinates::{Coordinates, Pull};
use super::curve::{Curve, largest_ratio};
use super::{Descended, Descent, Step, fresh_residual, largest_eigenvalue};

/// ‖r‖ never grows where the step is small enough and K positive semidefinite; more than this is not rounding.
const GROWTH: f64 = 1.01;

/// Residuals below this fraction of the targets are rounding errors and are not checked.
const NOISE: f64 = 1e-9;

pub(super) fn descend(
    settings: &Descent,
    coordinates: &dyn Coordinates,
    targets: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<Descended, SolveError> {
    let step = match settings.step {
        Step::Value(step) => step,
        Step::Auto => auto(coordinates, watch)?,
    };
    let mut unknown = Matrix::zeros(coordinates.ncoordinates(), targets.ncols());
    let mut direction = unknown.clone();
    let mut residual = targets.clone();
    let mut image = Matrix::zeros(targets.nrows(), targets.ncols());
    coordinates.pull(&residual, &mut direction, &mut image, watch)?;
    let at_start = column_norms(&image);
    if !at_start.iter().all(|norm| norm.is_finite()) {
        return Err(SolveError::NotFinite);
    }
    let allowed: Vec<f64> = column_norms(targets).iter().map(|norm| norm * NOISE).collect();
    let mut smallest = column_norms(targets);
    let mut gradient = largest_ratio(&at_start, &at_start);
    let mut curve = Curve::new();
    curve.push(0, &residual, gradient);
    watch.begin("LMS", settings.epochs as u64);
    let mut epoch = 0;
    while epoch < settings.epochs && gradient > settings.tol {
        epoch += 1;
        add_multiple(&mut unknown, step, &direction);
        add_multiple(&mut residual, -step, &image);
        for ((now, least), noise) in column_norms(&residual).iter().zip(&mut smallest).zip(&allowed) {
            if now.is_nan() || *now > GROWTH * *least + noise {
                return Err(explain_growth(step, coordinates, watch)?);
            }
            *least = least.min(*now);
        }
        coordinates.pull(&residual, &mut direction, &mut image, watch)?;
        gradient = largest_ratio(&column_norms(&image), &at_start);
        if gradient.is_nan() {
            return Err(SolveError::NotFinite);
        }
        curve.push(epoch, &residual, gradient);
        watch.advance(1);
    }
    let status = if gradient <= settings.tol { Status::Converged } else { Status::OutOfIterations };
    let residual = fresh_residual(coordinates, &unknown, targets, watch)?;
    Ok(Descended { unknown, residual, status, step, epochs: epoch, curve: curve.into_points() })
}

/// 1/λ̄.
fn auto(coordinates: &dyn Coordinates, watch: &dyn Watch) -> Result<f64, SolveError> {
    let bound = largest_eigenvalue(&Pull(coordinates), watch)?;
    if bound.upper.is_nan() {
        return Err(SolveError::NotFinite);
    }
    // With K = 0 any step will do.
    Ok(if bound.upper > 0.0 { (1.0 / bound.upper).min(f64::MAX) } else { 1.0 })
}

/// The reason for a growing ‖r‖: the step, or a negative eigenvalue.
fn explain_growth(
    step: f64,
    coordinates: &dyn Coordinates,
    watch: &dyn Watch,
) -> Result<SolveError, SolveError> {
    let bound = largest_eigenvalue(&Pull(coordinates), watch)?;
    Ok(match bound.upper {
        upper if upper.is_nan() => SolveError::NotFinite,
        upper if step * upper >= 2.0 => SolveError::StepTooLarge { step, largest: 2.0 / upper },
        _ => SolveError::NegativeEigenvalue { step },
    })
}
