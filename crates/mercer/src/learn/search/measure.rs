//! The score of a trial.

use crate::learn::error::LearnError;
use crate::learn::learner::Learner;
use crate::learn::problem::Targets;
use crate::model::Method;

/// The error of predictions; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// (ŷ − y)², averaged over rows and outputs.
    SquaredError,
    /// |ŷ − y|, averaged over rows and outputs.
    AbsoluteError,
    /// Σ(ŷ − y)²/Σ(y − ȳ)², which is 1 − R², averaged over outputs.
    Unexplained,
    /// 1 for a wrong class, averaged over rows.
    Wrong,
    /// 1 less the balanced accuracy: the share of wrong rows of each class, averaged over the classes.
    WrongPerClass,
    /// 1 less F1, averaged over the classes.
    F1,
    /// 1 less the area under the ROC curve: of the second of two classes, else averaged over the classes.
    Auc,
    /// −log of the probability of the right class, averaged over rows.
    LogLoss,
    /// The share of held-out rows beyond ν that one-class estimation rejects; for machines that reject no more than ν,
    /// the similarity of rows less 1.
    Consistency,
}

impl Measure {
    /// The default measure of a learner: the squared error of numbers, the log-loss of logistic regression, the
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

    /// Whether the measure is for numbers, not for classes.
    pub(super) fn is_of_numbers(self) -> bool {
        matches!(self, Self::SquaredError | Self::AbsoluteError | Self::Unexplained)
    }

    /// Rejects a measure that does not suit the learner or the targets.
    ///
    /// # Errors
    /// [`LearnError::Unsupported`].
    pub(crate) fn check(self, learner: &dyn Learner, targets: &Targets<'_>) -> Result<(), LearnError> {
        let classes = match targets {
            Targets::Classes { classes, .. } => Some(classes.len()),
            _ => None,
        };
        Err(LearnError::Unsupported(match (self, learner.method()) {
            (Self::Consistency, Method::OneClass) => return Ok(()),
            (Self::Consistency, _) | (_, Method::OneClass) => {
                "one-class estimation is scored by consistency, and only one-class estimation is"
            }
            _ if self.is_of_numbers() && classes.is_some() => {
                "classes are scored by accuracy, balanced-accuracy, f1, auc or log-loss"
            }
            _ if !self.is_of_numbers() && classes.is_none() => "numbers are scored by rmse, mae or r2",
            (Self::LogLoss, Method::Logistic | Method::Knn | Method::Smoother) => return Ok(()),
            (Self::LogLoss, _) => {
                "log-loss needs probabilities, which this method does not have in a search; use accuracy, balanced-accuracy, \
                 f1 or auc"
            }
            (Self::Auc, Method::Svc | Method::NuSvc) if classes > Some(2) => {
                "with more than two classes pairs of them vote, which gives no scores for auc; use accuracy, \
                 balanced-accuracy or f1"
            }
            _ => return Ok(()),
        }))
    }

    /// The mean error over the outputs of one row; NaN for measures other than squared and absolute errors.
    pub(super) fn of_residuals(self, residuals: &[f64]) -> f64 {
        let sum: f64 = match self {
            Self::SquaredError => residuals.iter().map(|e| e * e).sum(),
            Self::AbsoluteError => residuals.iter().map(|e| e.abs()).sum(),
            _ => f64::NAN,
        };
        sum / residuals.len() as f64
    }

    /// The name of the error; the squared error is reported as its root.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SquaredError => "RMSE",
            Self::AbsoluteError => "MAE",
            Self::Unexplained => "1 − R²",
            Self::Wrong => "share of wrong classes",
            Self::WrongPerClass => "1 − balanced accuracy",
            Self::F1 => "1 − F1",
            Self::Auc => "1 − AUC",
            Self::LogLoss => "log-loss",
            Self::Consistency => "inconsistency",
        }
    }

    /// A score in the units of [`name`](Self::name).
    #[must_use]
    pub fn readable(self, score: f64) -> f64 {
        if self == Self::SquaredError { score.sqrt() } else { score }
    }

    /// The customary name of the result of [`figure`](Self::figure): `accuracy`, `F1`, `R²`.
    #[must_use]
    pub fn figure_name(self) -> &'static str {
        match self {
            Self::Unexplained => "R²",
            Self::Wrong => "accuracy",
            Self::WrongPerClass => "balanced accuracy",
            Self::F1 => "F1",
            Self::Auc => "AUC",
            other => other.name(),
        }
    }

    /// A score as the customary figure: the accuracy, not the error rate.
    #[must_use]
    pub fn figure(self, score: f64) -> f64 {
        match self {
            Self::Unexplained | Self::Wrong | Self::WrongPerClass | Self::F1 | Self::Auc => 1.0 - score,
            other => other.readable(score),
        }
    }
}
