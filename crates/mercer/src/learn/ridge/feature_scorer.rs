//! Sums over features for each part of the samples: what every fold's error follows from.

use rayon::prelude::*;

use crate::data::{AnySamples, Matrix, fold_of_row, is_held_out};
use crate::design::{self, DesignError};
use crate::learn::{LearnError, Prepared, add_rows};
use crate::linalg::normal_equations::RidgePath;
use crate::linalg::{Intercept, NormalEquations, NormalEquationsError};
use crate::session::Session;
use crate::watch::Watch;

use super::criterion::{Criterion, Judgement};

/// The parts that samples are split into, the first of which are each left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parts {
    /// Folds, by a hash of the row's number.
    Folds { folds: usize, seed: u64 },
    /// Rows held out, then the others, by a hash of the row's number.
    HeldOut { fraction: f64, seed: u64 },
    /// The part of every row.
    Table { of_row: Vec<usize>, parts: usize, left_out: usize },
}

impl Parts {
    /// The parts of rows that are seen once each and in no known number.
    ///
    /// # Errors
    /// Where the criterion is not one that sums over parts answer.
    pub fn of_stream(criterion: &Criterion) -> Result<Self, LearnError> {
        match *criterion {
            Criterion::KFold { folds, seed } if folds >= 2 => Ok(Self::Folds { folds, seed }),
            Criterion::KFold { folds, .. } => Err(LearnError::Parameter {
                parameter: "folds",
                received: folds.to_string(),
                allowed: "2 or more",
            }),
            Criterion::HoldOut { fraction, seed } if fraction > 0.0 && fraction < 1.0 => {
                Ok(Self::HeldOut { fraction, seed })
            }
            Criterion::HoldOut { fraction, .. } => Err(LearnError::Parameter {
                parameter: "the held-out fraction",
                received: fraction.to_string(),
                allowed: "more than 0 and less than 1",
            }),
            Criterion::Folds(_) => {
                Err(LearnError::Unsupported("folds given row by row are for samples in memory"))
            }
            Criterion::LeaveOneOut | Criterion::Gcv => Err(NO_MATRIX),
        }
    }

    /// The parts of rows in memory of which those in `counted` have a weight above 0.
    ///
    /// # Errors
    /// As [`of_stream`](Self::of_stream), and where the rows cannot be split like that.
    pub fn of_rows(criterion: &Criterion, rows: usize, counted: &[usize]) -> Result<Self, LearnError> {
        let mut of_row = vec![0; rows];
        let (parts, left_out) = match criterion.on_rows(rows, counted)? {
            Judgement::LeaveOneOut | Judgement::Gcv => return Err(NO_MATRIX),
            Judgement::Folds(folds) => {
                counted.iter().zip(&folds).for_each(|(&row, fold)| of_row[row] = *fold);
                let parts = folds.iter().max().map_or(0, |last| last + 1);
                (parts, parts)
            }
            Judgement::HoldOut(split) => {
                split.train.iter().for_each(|&place| of_row[counted[place]] = 1);
                (2, 1)
            }
        };
        Ok(Self::Table { of_row, parts, left_out })
    }

    /// How many parts there are, and how many of them are left out in turn.
    pub fn count(&self) -> (usize, usize) {
        match *self {
            Self::Folds { folds, .. } => (folds, folds),
            Self::HeldOut { .. } => (2, 1),
            Self::Table { parts, left_out, .. } => (parts, left_out),
        }
    }

    fn of_row(&self, row: u64) -> usize {
        match self {
            Self::Folds { folds, seed } => fold_of_row(*seed, row, *folds),
            Self::HeldOut { fraction, seed } => usize::from(!is_held_out(*seed, row, *fraction)),
            Self::Table { of_row, .. } => of_row[row as usize],
        }
    }
}

const NO_MATRIX: LearnError = LearnError::Unsupported(
    "leave-one-out and generalised cross-validation need the kernel matrix; on approximate features choose by folds or \
     held-out rows",
);

/// Sums over the features of one kernel, one for each part of the samples.
///
/// Every sample is added once, in chunks of any size; nothing else is kept of it.
#[derive(Debug)]
pub struct FoldSums<'a> {
    prepared: Prepared,
    parts: &'a Parts,
    sums: Vec<NormalEquations>,
    /// The targets of the first sample, and whether others differ.
    first: Option<Vec<f64>>,
    varies: bool,
    /// Why the kernel's features were refused, where other hyper-parameters may do.
    pub(super) refused: Option<LearnError>,
}

impl<'a> FoldSums<'a> {
    pub(super) fn new(prepared: Prepared, features: usize, parts: &'a Parts, targets: usize) -> Self {
        let sums = vec![NormalEquations::new(features, targets); parts.count().0];
        Self { prepared, parts, sums, first: None, varies: false, refused: None }
    }

    /// Adds samples, the first of which is row `first` of all. Those of weight 0 are left out.
    ///
    /// O(nDd + nD²/2) time for n samples of d columns and D features.
    ///
    /// # Errors
    /// Where the samples, targets and weights do not line up or hold something else than finite numbers, and where the session
    /// asks to stop.
    pub fn add(
        &mut self,
        first: u64,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let n = samples.nrows();
        for (what, found) in
            [("rows of targets", targets.nrows()), ("weights", weights.map_or(n, <[f64]>::len))]
        {
            if found != n {
                return Err(LearnError::Length { what, rows: n, found });
            }
        }
        let mut table = vec![None; n];
        for row in (0..n).filter(|&row| weights.is_none_or(|w| w[row] != 0.0)) {
            table[row] = Some(self.parts.of_row(first + row as u64));
            let known = self.first.get_or_insert_with(|| targets.row(row).to_vec());
            self.varies |= known != targets.row(row);
        }
        let into = (&design::Parts::Table(&table), &mut self.sums[..]);
        add_rows(&self.prepared.features, samples, targets, weights, into, session).inspect_err(|error| {
            self.refused = is_out_of_range(error).then(|| error.clone());
        })
    }

    /// Samples added so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.sums.iter().map(NormalEquations::rows).sum()
    }

    /// What the errors follow from.
    ///
    /// # Errors
    /// Where there is nothing to choose by.
    pub(super) fn finish(
        mut self,
        intercept: Intercept,
        session: &Session<'_>,
    ) -> Result<Judged, LearnError> {
        let rows = self.rows();
        if rows < 3 {
            return Err(LearnError::TooFewRows { rows: rows as usize, needed: 3 });
        }
        if !self.varies {
            let value = self.first.and_then(|first| first.first().copied()).unwrap_or(f64::NAN);
            return Err(LearnError::ConstantTargets { value });
        }
        let mut all = NormalEquations::new(self.sums[0].features(), self.sums[0].targets());
        for sums in &self.sums {
            all.merge(sums)?;
        }
        // Of very few rows the hash may leave a part without any.
        self.sums.truncate(self.parts.count().1);
        self.sums.retain(|sums| sums.rows() > 0);
        if self.sums.is_empty() || self.sums.iter().any(|sums| sums.rows() == rows) {
            return Err(LearnError::Parameter {
                parameter: "the number of rows",
                received: rows.to_string(),
                allowed: "enough for some to be left out and others to be left to train on",
            });
        }
        let path = |left_out: &NormalEquations| {
            session.check()?;
            Ok(all.path_without(left_out, intercept)?)
        };
        let paths: Result<Vec<RidgePath>, LearnError> = self.sums.par_iter().map(path).collect();
        let paths = paths?;
        Ok(Judged { prepared: self.prepared, all, left_out: self.sums, paths })
    }
}

/// A kernel's features, their sums, and the fits without each part.
#[derive(Debug)]
pub(super) struct Judged {
    pub prepared: Prepared,
    /// Over all samples.
    pub all: NormalEquations,
    /// Over those of each part that is left out.
    left_out: Vec<NormalEquations>,
    paths: Vec<RidgePath>,
}

impl Judged {
    /// The mean squared error at each λ, over the samples left out by their weights and over the targets; none where a fit
    /// does not exist.
    ///
    /// # Errors
    /// Where the session asks to stop.
    pub fn scores(&self, lambdas: &[f64], session: &Session<'_>) -> Result<Vec<Option<f64>>, LearnError> {
        let weight: f64 = self.left_out.iter().map(NormalEquations::weight).sum();
        let entries = weight * self.all.targets() as f64;
        let mut scores = vec![Some(0.0); lambdas.len()];
        for (path, left_out) in self.paths.iter().zip(&self.left_out) {
            let errors = path.squared_errors(left_out, lambdas, session)?;
            for (score, squares) in scores.iter_mut().zip(errors) {
                let squares = squares.map(|squares| squares.iter().sum::<f64>() / entries);
                *score = score.zip(squares).map(|(sum, squares)| sum + squares);
            }
        }
        Ok(scores)
    }
}

/// Whether a kernel has no features with these hyper-parameters but may have with others.
pub(super) fn is_out_of_range(error: &LearnError) -> bool {
    matches!(
        error,
        LearnError::KernelValue { .. }
            | LearnError::Design(DesignError::KernelValue { .. } | DesignError::NoRank)
            | LearnError::NormalEquations(NormalEquationsError::Value { what: "feature", .. })
    )
}
