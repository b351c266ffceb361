//! Checks sample and class weights, once, before any work.

use super::error::LearnError;

/// Checks that `weights` has a number for each of `rows` samples, finite, not negative, and not all zero. `None` means
/// ones.
///
/// # Errors
/// If they are not; the error names the row if there is one.
pub(super) fn check_weights(rows: usize, weights: Option<&[f64]>) -> Result<(), LearnError> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != rows {
        return Err(LearnError::Length { what: "weights", rows, found: weights.len() });
    }
    let outside = |received: String, allowed| LearnError::parameter("sample weight", received, allowed);
    if let Some(row) = weights.iter().position(|w| !w.is_finite()) {
        return Err(LearnError::NonFinite { what: "weight", row, value: weights[row] });
    }
    if let Some(row) = weights.iter().position(|w| *w < 0.0) {
        return Err(outside(format!("{} in row {row}", weights[row]), "0 or more"));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(outside("0 in every row".to_owned(), "more than 0 for at least one row"));
    }
    Ok(())
}
