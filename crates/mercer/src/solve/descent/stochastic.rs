//! Steps on one sample at a time.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::vectors::{add_multiple, column_norms};
use crate::solve::error::SolveError;
use crate::solve::report::Status;
use crate::watch::Watch;

use super::coordinates::{Coordinates, Pull};
use super::curve::{Curve, largest_ratio};
use super::{Descended, Descent, Step, fresh_residual};

/// For a positive semidefinite matrix and an allowed step, the residual never exceeds this many times the targets.
const LOST: f64 = 1e8;

pub(super) fn descend(
    settings: &Descent,
    seed: u64,
    coordinates: &dyn Coordinates,
    targets: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<Descended, SolveError> {
    let step = choose_step(settings.step, coordinates)?;
    let mut unknown = Matrix::zeros(coordinates.ncoordinates(), targets.ncols());
    let mut residual = targets.clone();
    let mut image = Matrix::zeros(targets.nrows(), targets.ncols());
    Pull(coordinates).apply(&mut image, targets, watch)?;
    let at_start = column_norms(&image);
    if !at_start.iter().all(|norm| norm.is_finite()) {
        return Err(SolveError::NotFinite);
    }
    let most: Vec<f64> = column_norms(targets).iter().map(|norm| LOST * norm).collect();
    let mut order: Vec<usize> = (0..targets.nrows()).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut gradient = largest_ratio(&at_start, &at_start);
    let mut curve = Curve::new();
    curve.push(0, &residual, gradient);
    watch.begin("LMS", settings.epochs as u64);
    let mut epoch = 0;
    while epoch < settings.epochs && gradient > settings.tol {
        epoch += 1;
        order.shuffle(&mut random);
        let mut moved = residual.clone();
        coordinates.visit(&order, step, targets, &mut unknown, &mut residual, watch)?;
        if column_norms(&residual).iter().zip(&most).any(|(now, most)| now.is_nan() || now > most) {
            return Err(SolveError::NegativeEigenvalue { step });
        }
        // A pass adds αeᵢ to every βᵢ, with eᵢ the residual that it met, so f moves by αKe: ‖Ke‖ comes for free.
        add_multiple(&mut moved, -1.0, &residual);
        let norms: Vec<f64> = column_norms(&moved).iter().map(|norm| norm / step).collect();
        gradient = largest_ratio(&norms, &at_start);
        if gradient <= settings.tol {
            // Converged only if the gradient recomputed at the final point confirms it.
            residual = fresh_residual(coordinates, &unknown, targets, watch)?;
            Pull(coordinates).apply(&mut image, &residual, watch)?;
            gradient = largest_ratio(&column_norms(&image), &at_start);
        }
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

fn choose_step(step: Step, coordinates: &dyn Coordinates) -> Result<f64, SolveError> {
    let norms = coordinates.squared_norms();
    if !norms.iter().all(|k| k.is_finite()) {
        return Err(SolveError::NotFinite);
    }
    let largest = norms.into_iter().fold(0.0, f64::max);
    match step {
        Step::Auto if largest > 0.0 => Ok((1.0 / largest).min(f64::MAX)),
        // With K = 0 any step will do.
        Step::Auto => Ok(1.0),
        Step::Value(step) if step * largest >= 2.0 => {
            Err(SolveError::StepTooLarge { step, largest: 2.0 / largest })
        }
        Step::Value(step) => Ok(step),
    }
}
