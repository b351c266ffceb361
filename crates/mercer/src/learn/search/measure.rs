//! How wrong predictions are.

use crate::data::Matrix;
use crate::model::Link;

/// What a wrong prediction costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// (ŷ − y)², averaged over rows and outputs.
    #[default]
    Squared,
    /// 1 where the class with the largest share is not the row's own, of several such classes the first; targets are 0 or 1
    /// in one column per class. Averaged over rows.
    Misclassified,
}

impl Loss {
    /// The loss of one row.
    pub(super) fn of(self, predicted: &[f64], target: &[f64]) -> f64 {
        match self {
            Self::Squared => {
                let squares = predicted.iter().zip(target).map(|(p, y)| (p - y) * (p - y));
                squares.sum::<f64>() / target.len() as f64
            }
            Self::Misclassified => {
                f64::from(u8::from(Link::Shares.class(predicted) != Link::Shares.class(target)))
            }
        }
    }

    /// The mean loss of all rows, summed in their order.
    pub(super) fn mean(self, predicted: &Matrix<f64>, targets: &Matrix<f64>) -> f64 {
        let losses = (0..targets.nrows()).map(|i| self.of(predicted.row(i), targets.row(i)));
        losses.sum::<f64>() / targets.nrows() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_class() {
        assert_eq!(Loss::Misclassified.of(&[0.5, 0.5], &[1.0, 0.0]), 0.0);
        assert_eq!(Loss::Misclassified.of(&[0.5, 0.5], &[0.0, 1.0]), 1.0);
        assert_eq!(Loss::Squared.of(&[1.0, 3.0], &[0.0, 0.0]), 5.0);
    }
}
