//! Checks and centres targets.

use crate::data::Matrix;

use super::error::LearnError;

/// Checks that there is a row of finite targets for each of `rows` samples.
pub(super) fn check(rows: usize, targets: &Matrix<f64>) -> Result<(), LearnError> {
    if rows == 0 || targets.ncols() == 0 {
        return Err(LearnError::Length { what: "targets", rows, found: 0 });
    }
    if targets.nrows() != rows {
        return Err(LearnError::Length { what: "targets", rows, found: targets.nrows() });
    }
    for row in 0..rows {
        if let Some(&value) = targets.row(row).iter().find(|y| !y.is_finite()) {
            return Err(LearnError::NonFinite { what: "target", row, value });
        }
    }
    Ok(())
}

/// The targets without their weighted means, and the means.
pub(super) fn centred(targets: &Matrix<f64>, weights: Option<&[f64]>) -> (Matrix<f64>, Vec<f64>) {
    let means = row_means(targets, weights);
    (less(targets, &means), means)
}

/// The mean of each target.
pub(super) fn means(targets: &Matrix<f64>) -> Vec<f64> {
    row_means(targets, None)
}

fn row_means(targets: &Matrix<f64>, weights: Option<&[f64]>) -> Vec<f64> {
    weighted_means(targets.nrows(), targets.ncols(), weights, |i, row| row.copy_from_slice(targets.row(i)))
}

/// The weighted mean of each column of rows that `row_of` writes. Rows of weight 0 are left out.
pub(super) fn weighted_means(
    rows: usize,
    columns: usize,
    weights: Option<&[f64]>,
    row_of: impl Fn(usize, &mut [f64]),
) -> Vec<f64> {
    let (mut means, mut row, mut total) = (vec![0.0; columns], vec![0.0; columns], 0.0);
    for i in 0..rows {
        let weight = weights.map_or(1.0, |w| w[i]);
        if weight == 0.0 {
            continue;
        }
        // A running mean does not overflow where the sum would.
        total += weight;
        row_of(i, &mut row);
        for (mean, value) in means.iter_mut().zip(&row) {
            *mean += (value - *mean) * (weight / total);
        }
    }
    means
}

/// The targets minus one number for each of them.
pub(super) fn less(targets: &Matrix<f64>, means: &[f64]) -> Matrix<f64> {
    let mut centred = targets.clone();
    for i in 0..centred.nrows() {
        centred.row_mut(i).iter_mut().zip(means).for_each(|(y, mean)| *y -= mean);
    }
    centred
}
