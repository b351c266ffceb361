//! From logits to probabilities.

use crate::data::Matrix;
use crate::solve::{sigmoid, softmax};

/// The probability of each class, from the outputs of a logistic model: one row per sample, one column per class.
///
/// One output is the logit of the second of two classes; several are the logits of as many. Every row adds up to one, and no
/// logit is too large for it.
///
/// ```
/// use mercer::data::Matrix;
/// use mercer::learn::probabilities;
///
/// let certain = probabilities(&Matrix::from_entries(2, 1, vec![0.0, 1e4]));
/// assert_eq!(certain.entries(), [0.5, 0.5, 0.0, 1.0]);
/// ```
#[must_use]
pub fn probabilities(outputs: &Matrix<f64>) -> Matrix<f64> {
    if outputs.ncols() == 1 {
        let pairs = outputs.entries().iter().flat_map(|&f| [sigmoid(-f), sigmoid(f)]).collect();
        return Matrix::from_entries(outputs.nrows(), 2, pairs);
    }
    let mut probabilities = outputs.clone();
    for i in 0..outputs.nrows() {
        softmax(probabilities.row_mut(i));
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_to_one_whatever_the_logits() {
        let extremes = [-1e4, -50.0, -1.0, 0.0, 1e-9, 3.0, 700.0, 1e4, 1e300];
        for &f in &extremes {
            let p = probabilities(&Matrix::from_entries(1, 1, vec![f]));
            assert!((p.entries().iter().sum::<f64>() - 1.0).abs() <= f64::EPSILON, "{f}");
            for &g in &extremes {
                let p = probabilities(&Matrix::from_entries(1, 3, vec![f, g, 0.5]));
                assert!((p.entries().iter().sum::<f64>() - 1.0).abs() <= 3.0 * f64::EPSILON, "{f} {g}");
                assert!(p.entries().iter().all(|p| (0.0..=1.0).contains(p)), "{f} {g}");
            }
        }
    }

    #[test]
    fn small_probabilities_keep_their_digits() {
        let p = probabilities(&Matrix::from_entries(1, 1, vec![-700.0]));
        assert!((p.entries()[1] / (-700f64).exp() - 1.0).abs() < 1e-14);
    }
}
