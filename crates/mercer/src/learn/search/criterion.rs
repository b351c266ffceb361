//! What a choice of hyper-parameters is judged by.

use crate::learn::LearnError;

use super::folds::assign_folds;
use super::split::Split;

/// The error that a search makes small. Each is a mean squared error, over the rows by their weights and over the targets.
#[derive(Debug, Clone, PartialEq)]
pub enum Criterion {
    /// Of every row when it alone is left out.
    LeaveOneOut,
    /// Generalised cross-validation: leave-one-out with every row's leverage replaced by their mean.
    Gcv,
    /// Of every row when its fold is left out: this many folds, chosen by a seed.
    KFold {
        /// Folds, 2 or more.
        folds: usize,
        /// What chooses the rows of each.
        seed: u64,
    },
    /// Of every row when its fold is left out, with the fold of every row given.
    Folds(Vec<usize>),
    /// Of rows that are held out, this fraction of all, chosen by a seed.
    HoldOut {
        /// More than 0 and less than 1.
        fraction: f64,
        /// What chooses the rows.
        seed: u64,
    },
}

/// A criterion on rows that are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Judgement {
    LeaveOneOut,
    Gcv,
    Folds(Vec<usize>),
    HoldOut(Split),
}

impl Criterion {
    /// The criterion on the rows `counted` of `rows`.
    ///
    /// # Errors
    /// Where they cannot be split like that.
    pub(super) fn on_rows(&self, rows: usize, counted: &[usize]) -> Result<Judgement, LearnError> {
        let n = counted.len();
        let parameter =
            |parameter, received: String, allowed| LearnError::Parameter { parameter, received, allowed };
        match self {
            Self::LeaveOneOut => Ok(Judgement::LeaveOneOut),
            Self::Gcv => Ok(Judgement::Gcv),
            Self::KFold { folds, seed } => {
                assign_folds(n, *folds, *seed).map(Judgement::Folds).map_err(|_| {
                    parameter("folds", folds.to_string(), "at least 2 and at most the number of rows")
                })
            }
            Self::Folds(folds) if folds.len() != rows => {
                Err(LearnError::Length { what: "fold numbers", rows, found: folds.len() })
            }
            Self::Folds(folds) => {
                // Numbered without gaps, so that huge numbers cost nothing.
                let chosen: Vec<usize> = counted.iter().map(|&i| folds[i]).collect();
                let mut names = chosen.clone();
                names.sort_unstable();
                names.dedup();
                if names.len() < 2 {
                    return Err(parameter("folds", names.len().to_string(), "2 or more"));
                }
                let place = |fold| names.partition_point(|name| *name < fold);
                Ok(Judgement::Folds(chosen.into_iter().map(place).collect()))
            }
            Self::HoldOut { fraction, seed } => match Split::hold_out(n, *fraction, *seed) {
                Ok(Some(split)) => Ok(Judgement::HoldOut(split)),
                _ => Err(parameter(
                    "the held-out fraction",
                    fraction.to_string(),
                    "more than 0 and less than 1, and hold out a row and leave two",
                )),
            },
        }
    }

    /// Bytes that scoring a kernel of `rows` rows takes on `threads` threads, at most.
    #[must_use]
    pub fn memory(&self, rows: usize, threads: usize) -> u64 {
        let (n, threads) = (rows as u64, threads as u64);
        // The matrix, and half of it once more for a low-rank factor and the reduction's partial sums; a refit has its
        // own matrix besides.
        let matrix = n.saturating_mul(n).saturating_mul(match self {
            Self::LeaveOneOut | Self::Gcv => 12,
            Self::KFold { .. } | Self::Folds(_) | Self::HoldOut { .. } => 20,
        });
        let fold = match self {
            Self::KFold { folds, .. } => n.div_ceil((*folds).max(1) as u64),
            Self::Folds(folds) => largest_fold(folds),
            _ => 0,
        };
        matrix.saturating_add((1 + threads).saturating_mul(fold).saturating_mul(n + fold).saturating_mul(8))
    }
}

fn largest_fold(folds: &[usize]) -> u64 {
    let mut sorted = folds.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(<[usize]>::len).max().unwrap_or(0) as u64
}
