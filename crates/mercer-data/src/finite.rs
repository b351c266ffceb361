//! Checks that values in memory are finite; readers check the values that they read.

use super::{AnySamples, DataError, Samples, Storage};
use crate::real::Real;
use crate::with_samples;

/// Checks that every feature is a finite number. O(stored entries).
///
/// # Errors
/// Names the row and column of the first entry that is infinite or NaN.
pub fn check_features(samples: &AnySamples<'_>) -> Result<(), DataError> {
    with_samples!(samples, samples => match first_non_finite(samples) {
        None => Ok(()),
        Some((row, column, value)) => {
            Err(DataError::NonFiniteEntry { what: "features".to_owned(), row, column, value })
        }
    })
}

/// Checks that every value of the target `name` is a finite number.
///
/// # Errors
/// Names the row of the first value that is infinite or NaN.
pub fn check_target(name: &str, values: &[f64]) -> Result<(), DataError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(row) => {
            let what = format!("target `{name}`");
            Err(DataError::NonFiniteEntry { what, row, column: 0, value: values[row] })
        }
    }
}

fn first_non_finite<T: Real>(samples: &Samples<'_, T>) -> Option<(usize, usize, f64)> {
    let values = samples.stored_values();
    let at = values.iter().position(|value| !value.to_f64().is_finite())?;
    let value = values[at].to_f64();
    Some(match samples.storage() {
        Storage::Dense(_) => (at / samples.ncols(), at % samples.ncols(), value),
        Storage::Sparse { indptr, indices, .. } => {
            (indptr.partition_point(|&start| start <= at) - 1, indices[at] as usize, value)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_entry_is_named_in_dense_and_sparse_rows() {
        let dense = Samples::dense(2, 2, vec![1.0, 2.0, 3.0, f64::NAN]).unwrap();
        let error = check_features(&AnySamples::F64(dense)).unwrap_err().to_string();
        assert!(error.contains("row 1, column 1"), "{error}");
        let sparse =
            Samples::sparse(9, vec![0, 0, 1, 3], vec![0, 4, 7], vec![1.0f32, 2.0, f32::INFINITY]).unwrap();
        let error = check_features(&AnySamples::F32(sparse)).unwrap_err().to_string();
        assert!(error.contains("row 2, column 7") && error.contains("inf"), "{error}");
        let error = check_target("y", &[0.0, f64::NEG_INFINITY]).unwrap_err().to_string();
        assert!(error.contains("target `y`, row 1"), "{error}");
    }
}
