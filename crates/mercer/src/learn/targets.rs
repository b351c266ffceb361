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

/// The targets without their means, and the means.
pub(super) fn centred(targets: &Matrix<f64>) -> (Matrix<f64>, Vec<f64>) {
    let means = means(targets);
    (less(targets, &means), means)
}

/// The mean of each target.
pub(super) fn means(targets: &Matrix<f64>) -> Vec<f64> {
    let mut means = vec![0.0; targets.ncols()];
    for i in 0..targets.nrows() {
        // A running mean does not overflow where the sum would.
        let share = 1.0 / (i + 1) as f64;
        means.iter_mut().zip(targets.row(i)).for_each(|(mean, y)| *mean += (y - *mean) * share);
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
