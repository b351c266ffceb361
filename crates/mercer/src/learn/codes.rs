//! Checks class codes, once, before any work.

use super::error::LearnError;
use super::weights::check_weights;

/// Checks that `codes` are those of `classes` classes, two at least, each with a row of positive weight.
///
/// # Errors
/// If they do not match the rows or the weights in number, if a code or weight is out of range, if all rows that count
/// are of one class, or if a class has none.
pub(super) fn check_codes(
    rows: usize,
    codes: &[usize],
    classes: usize,
    weights: Option<&[f64]>,
) -> Result<(), LearnError> {
    check_range(rows, codes, classes)?;
    check_weights(rows, weights)?;
    let mut present = vec![false; classes];
    for (i, &code) in codes.iter().enumerate() {
        present[code] |= weights.is_none_or(|w| w[i] > 0.0);
    }
    let found = present.iter().filter(|p| **p).count();
    if found < 2 {
        return Err(LearnError::Classes { found });
    }
    match present.iter().position(|p| !p) {
        Some(class) => Err(LearnError::EmptyClass { class, classes }),
        None => Ok(()),
    }
}

/// Checks that there is a code of `classes` classes for each of `rows` rows.
pub(super) fn check_range(rows: usize, codes: &[usize], classes: usize) -> Result<(), LearnError> {
    if codes.len() != rows {
        return Err(LearnError::Length { what: "class labels", rows, found: codes.len() });
    }
    match codes.iter().position(|&code| code >= classes) {
        Some(row) => Err(LearnError::Code { row, code: codes[row], classes }),
        None => Ok(()),
    }
}
