//! The number that a trial is judged by.

use crate::data::Matrix;
use crate::learn::error::LearnError;
use crate::learn::learner::Learner;
use crate::learn::problem::Targets;
use crate::model::{Link, Method};

/// The least probability that counts: a class that was predicted to be impossible costs no more than −log of this.
const LEAST: f64 = 1e-15;

/// The error of predictions; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// (ŷ − y)², averaged over rows and outputs.
    SquaredError,
    /// 1 for a wrong class, averaged over rows.
    Wrong,
    /// −log of the probability of the right class, averaged over rows.
    LogLoss,
    /// How much one-class estimation rejects beyond ν of the rows left out; of machines that do not, the similarity of rows less 1.
    Consistency,
}

impl Measure {
    /// The measure of a learner where none is asked for: the squared error of numbers, the log-loss of logistic regression, the
    /// share of wrong classes of other classifiers.
    #[must_use]
    pub fn of(learner: &dyn Learner, targets: &Targets<'_>) -> Self {
        match (targets, learner.method()) {
            (Targets::Classes { .. }, Method::Logistic) => Self::LogLoss,
            (Targets::Classes { .. }, _) => Self::Wrong,
            (Targets::None, Method::OneClass) => Self::Consistency,
            (Targets::None | Targets::Numbers(_), _) => Self::SquaredError,
        }
    }

    /// Refuses a measure that does not suit the learner or the targets.
    ///
    /// # Errors
    /// [`LearnError::Unsupported`].
    pub(crate) fn check(self, learner: &dyn Learner, targets: &Targets<'_>) -> Result<(), LearnError> {
        let classes = matches!(targets, Targets::Classes { .. });
        Err(LearnError::Unsupported(match (self, learner.method()) {
            (Self::Consistency, Method::OneClass) => return Ok(()),
            (Self::Consistency, _) | (_, Method::OneClass) => {
                "consistency is the measure of one-class estimation, and its only one"
            }
            (Self::SquaredError, _) if classes => "classes are judged by accuracy or log-loss",
            (Self::Wrong | Self::LogLoss, _) if !classes => "numbers are judged by their squared error",
            (Self::LogLoss, Method::Logistic | Method::Knn | Method::Smoother) => return Ok(()),
            (Self::LogLoss, _) => {
                "this learner has no probabilities to judge it by; judge it by its accuracy"
            }
            (Self::SquaredError | Self::Wrong, _) => return Ok(()),
        }))
    }

    /// The error of one row of numbers or of shares of the classes; for classes the target is 1 in one column and 0 in others.
    pub(crate) fn of_row(self, predicted: &[f64], target: &[f64]) -> f64 {
        match self {
            Self::SquaredError => {
                let squares = predicted.iter().zip(target).map(|(p, y)| (p - y) * (p - y));
                squares.sum::<f64>() / target.len() as f64
            }
            // Of classes with equal shares the first.
            Self::Wrong => f64::from(u8::from(Link::Shares.class(predicted) != Link::Shares.class(target))),
            Self::LogLoss => Self::log_loss(Some(predicted[Link::Shares.class(target)])),
            Self::Consistency => f64::NAN,
        }
    }

    /// −log p, for the probability of the right class; none where it cannot be predicted.
    pub(crate) fn log_loss(probability: Option<f64>) -> f64 {
        -probability.unwrap_or(LEAST).max(LEAST).ln()
    }

    /// The mean error of all rows, summed in their order.
    pub(crate) fn mean(self, predicted: &Matrix<f64>, targets: &Matrix<f64>) -> f64 {
        let errors = (0..targets.nrows()).map(|i| self.of_row(predicted.row(i), targets.row(i)));
        errors.sum::<f64>() / targets.nrows() as f64
    }

    /// Its name; the squared error is read as its root.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SquaredError => "RMSE",
            Self::Wrong => "share of wrong classes",
            Self::LogLoss => "log-loss",
            Self::Consistency => "inconsistency",
        }
    }

    /// A score in the units of [`name`](Self::name).
    #[must_use]
    pub fn readable(self, score: f64) -> f64 {
        if self == Self::SquaredError { score.sqrt() } else { score }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_class() {
        assert_eq!(Measure::Wrong.of_row(&[0.5, 0.5], &[1.0, 0.0]), 0.0);
        assert_eq!(Measure::Wrong.of_row(&[0.5, 0.5], &[0.0, 1.0]), 1.0);
        assert_eq!(Measure::SquaredError.of_row(&[1.0, 3.0], &[0.0, 0.0]), 5.0);
        assert_eq!(Measure::LogLoss.of_row(&[0.0, 1.0], &[1.0, 0.0]), -(1e-15f64.ln()));
    }
}
