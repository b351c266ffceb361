//! The rows on which hyper-parameters are scored.

use crate::learn::error::LearnError;
use crate::learn::problem::{Inputs, Problem, Targets};
use crate::session::Session;

use super::folds::{assign_folds, stratify_folds};
use super::split::Split;

/// The held-out rows on which trials are scored. The seed of the session chooses folds and held-out rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Criterion {
    /// Leave-one-out.
    LeaveOneOut,
    /// Generalised cross-validation: leave-one-out with every row's leverage replaced by their mean.
    Gcv,
    /// Cross-validation with this many folds, 2 or more. Each class is spread over the folds as evenly as possible.
    Folds(usize),
    /// Cross-validation with the fold of every row given; `None` for rows that are always trained on.
    Given(Vec<Option<usize>>),
    /// This fraction of the rows, held out once; more than 0 and less than 1.
    HoldOut(f64),
}

impl Criterion {
    /// The customary name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::LeaveOneOut => "leave-one-out",
            Self::Gcv => "generalised cross-validation",
            Self::Folds(_) | Self::Given(_) => "folds",
            Self::HoldOut(_) => "held-out rows",
        }
    }
}

/// A criterion on the rows of a problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LeftOut {
    EachRow,
    Generalised,
    Parts(Parts),
}

/// The parts of the rows that are left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parts {
    /// The part of each row, numbered without gaps; `None` for rows that are never left out, including all rows of
    /// weight 0.
    pub of_row: Vec<Option<usize>>,
    /// The number of parts.
    pub count: usize,
    /// Whether some rows of positive weight are never left out.
    pub others: bool,
}

impl Parts {
    /// The rows of each part.
    pub fn rows(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.count];
        for (row, part) in self.of_row.iter().enumerate() {
            part.iter().for_each(|&part| rows[part].push(row));
        }
        rows
    }

    /// The rows of the largest part.
    pub fn largest(&self) -> usize {
        self.rows().iter().map(Vec::len).max().unwrap_or(0)
    }
}

impl Criterion {
    /// The parts of the rows of a problem.
    ///
    /// # Errors
    /// If the rows cannot be split like that or are a stream.
    pub(crate) fn on(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<LeftOut, LearnError> {
        if let Inputs::Stream(_) = problem.inputs {
            problem.samples()?;
        }
        let (rows, counted) = (problem.nrows(), problem.counted());
        let scattered = |parts: Vec<Option<usize>>| {
            let mut of_row = vec![None; rows];
            counted.iter().zip(parts).for_each(|(&row, part)| of_row[row] = part);
            of_row
        };
        let of_row = match self {
            Self::LeaveOneOut => return Ok(LeftOut::EachRow),
            Self::Gcv => return Ok(LeftOut::Generalised),
            Self::Folds(folds) => {
                let assigned = match &problem.targets {
                    Targets::Classes { codes, .. } => stratify_folds(codes, *folds, Some(session.seed()))
                        .map(|all| counted.iter().map(|&row| all[row]).collect()),
                    _ => assign_folds(counted.len(), *folds, session.seed()),
                };
                let assigned: Vec<usize> = assigned.map_err(|_| {
                    LearnError::parameter("folds", folds, "at least 2 and at most the number of rows")
                })?;
                scattered(assigned.into_iter().map(Some).collect())
            }
            Self::Given(folds) if folds.len() != rows => {
                return Err(LearnError::Length { what: "fold numbers", rows, found: folds.len() });
            }
            Self::Given(folds) => scattered(counted.iter().map(|&row| folds[row]).collect()),
            Self::HoldOut(fraction) => match Split::hold_out(counted.len(), *fraction, session.seed()) {
                Ok(Some(split)) => {
                    let mut held = vec![None; counted.len()];
                    split.held_out.iter().for_each(|&place| held[place] = Some(0));
                    scattered(held)
                }
                _ => {
                    let allowed =
                        "more than 0 and less than 1, such that at least one row is held out and two are not";
                    return Err(LearnError::parameter("the held-out fraction", fraction, allowed));
                }
            },
        };
        // Numbered without gaps, so that huge numbers cost nothing.
        let mut names: Vec<usize> = of_row.iter().copied().flatten().collect();
        names.sort_unstable();
        names.dedup();
        let others = counted.iter().any(|&row| of_row[row].is_none());
        if names.is_empty() || (names.len() == 1 && !others) {
            let received = format!("{} with rows of positive weight", names.len());
            return Err(LearnError::parameter("folds", received, "2 or more"));
        }
        let place = |fold: Option<usize>| fold.map(|fold| names.partition_point(|name| *name < fold));
        let of_row = of_row.into_iter().map(place).collect();
        Ok(LeftOut::Parts(Parts { of_row, count: names.len(), others }))
    }

    /// The text that identifies the criterion for stored trials.
    pub(crate) fn key(&self, seed: u64) -> String {
        match self {
            Self::LeaveOneOut => "LeaveOneOut".to_owned(),
            Self::Gcv => "Gcv".to_owned(),
            Self::Folds(folds) => format!("KFold {{ folds: {folds}, seed: {seed} }}"),
            Self::Given(folds) => format!("Folds({folds:?})"),
            Self::HoldOut(fraction) => format!("HoldOut {{ fraction: {fraction:?}, seed: {seed} }}"),
        }
    }
}
