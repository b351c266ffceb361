//! What the score of a trial is, and how people read it.

use crate::args::{Method, Score, Tune};

/// What a score is; the smaller the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A mean squared error, read as its root.
    SquaredError,
    /// A share of wrong classes.
    Wrong,
    /// A mean of −log p.
    LogLoss,
}

impl Measure {
    /// What the command line asks for.
    pub fn of(arguments: &Tune, classify: bool) -> Self {
        match (arguments.score, arguments.method) {
            _ if !classify => Self::SquaredError,
            (Some(Score::LogLoss), _) | (None, Method::Logistic) => Self::LogLoss,
            _ => Self::Wrong,
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SquaredError => "RMSE",
            Self::Wrong => "share of wrong classes",
            Self::LogLoss => "log-loss",
        }
    }

    /// The head of its column.
    pub fn head(self) -> &'static str {
        match self {
            Self::SquaredError => "RMSE",
            Self::Wrong => "wrong",
            Self::LogLoss => "log-loss",
        }
    }

    /// A score as people read it.
    pub fn readable(self, score: f64) -> f64 {
        if self == Self::SquaredError { score.sqrt() } else { score }
    }
}
