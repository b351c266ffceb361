//! The interpretation of a classifier's outputs.

use crate::data::Matrix;
use crate::design::{sigmoid, softmax};

use super::{Method, Predictor, vote};

/// The meaning of a classifier's outputs. One output belongs to the second of two classes; several belong to as many
/// classes, or to pairs of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The probability of each class.
    Shares,
    /// Logits: p = 1/(1 + e^(−f)) for one, p ∝ e^f for several.
    Logits,
    /// Decisions without a probability: one is positive for the second class, of several the largest wins.
    Decisions,
    /// Decisions of pairs of classes without a probability: one is positive for the first class of its pair.
    Votes,
}

impl Link {
    /// The link of a method's predictor.
    #[must_use]
    pub fn of(method: Method, predictor: &Predictor) -> Self {
        match (method, predictor) {
            (_, Predictor::Voted(_)) => Self::Shares,
            (_, Predictor::Pairs(_)) => Self::Votes,
            (Method::Logistic, _) => Self::Logits,
            (Method::Perceptron | Method::Svc | Method::NuSvc | Method::OneClass, _) => Self::Decisions,
            _ => Self::Shares,
        }
    }

    /// The class predicted by one row of outputs; of equal ones the first.
    #[must_use]
    pub fn class(self, outputs: &[f64]) -> usize {
        match outputs {
            pairs if self == Self::Votes => vote(pairs),
            [decision] => usize::from(*decision > 0.0),
            several => (1..several.len())
                .fold(0, |best, code| if several[code] > several[best] { code } else { best }),
        }
    }

    /// The probability of each class, if the outputs determine it: one row per sample, one column per class.
    #[must_use]
    pub fn probabilities(self, outputs: &Matrix<f64>) -> Option<Matrix<f64>> {
        match self {
            Self::Shares => Some(outputs.clone()),
            Self::Logits => Some(probabilities(outputs)),
            Self::Decisions | Self::Votes => None,
        }
    }
}

/// The probability of each class, from the outputs of a logistic model: one row per sample, one column per class.
///
/// One output is the logit of the second of two classes; several are the logits of as many. Every row sums to one, for
/// logits of any size.
///
/// ```
/// use mercer::data::Matrix;
/// use mercer::model::probabilities;
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
