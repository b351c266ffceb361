//! The distance a kernel induces.

use rayon::prelude::*;

/// Turns kernel values k(x,z) into feature-space distances √(k(x,x) − 2k(x,z) + k(z,z)), in place.
///
/// `rows` and `columns` are k(x,x) and k(z,z). Negative values from rounding become zero; NaN stays NaN.
///
/// # Panics
/// If `matrix` does not have `rows.len() · columns.len()` entries.
pub fn kernel_to_distance(matrix: &mut [f64], rows: &[f64], columns: &[f64]) {
    assert_eq!(matrix.len(), rows.len() * columns.len(), "a {} × {} matrix", rows.len(), columns.len());
    matrix.par_chunks_mut(columns.len().max(1)).zip(rows).for_each(|(row, kxx)| {
        for (entry, kzz) in row.iter_mut().zip(columns) {
            let squared = (kxx - *entry) + (kzz - *entry);
            *entry = if squared < 0.0 { 0.0 } else { squared.sqrt() };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_kernel_gives_the_euclidean_distance() {
        // x = (1, 2), (0, 0); z = (4, 6).
        let mut matrix = [16.0, 0.0];
        kernel_to_distance(&mut matrix, &[5.0, 0.0], &[52.0]);
        assert_eq!(matrix, [5.0, 52f64.sqrt()]);
    }

    #[test]
    fn rounding_below_zero_is_zero_and_nan_stays() {
        let mut matrix = [1.0 + f64::EPSILON, f64::NAN];
        kernel_to_distance(&mut matrix, &[1.0], &[1.0, 1.0]);
        assert_eq!(matrix[0], 0.0);
        assert!(matrix[1].is_nan());
    }
}
