//! k nearest neighbours.

use rayon::prelude::*;

use crate::data::{AnySamples, Matrix};
use crate::gram::Metric;
use crate::model::{Mean, Neighbours, Rule, Weights, queries_at_once};
use crate::session::Session;
use crate::watch::Watch;

use super::error::LearnError;
use super::loss::Loss;

/// k nearest neighbours: the mean of the targets of the k rows nearest to a sample (Fix and Hodges, 1951).
///
/// For classes give one column of targets per class, 1 for a row's own and 0 for the others: the outputs are then shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knn {
    /// How many rows count: from 1 to as many as there are.
    pub k: usize,
    /// How they count.
    pub weights: Weights,
    /// What nearest means.
    pub metric: Metric,
}

impl Knn {
    /// The `k` nearest rows by Euclidean distance, all counting the same.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, weights: Weights::Uniform, metric: Metric::Euclidean }
    }

    /// Keeps the samples and `targets` (one row per sample, one column per target). O(nd).
    ///
    /// # Errors
    /// Where the input does not line up, is not finite, or has fewer than k rows.
    pub fn fit(&self, samples: &AnySamples<'_>, targets: &Matrix<f64>) -> Result<Neighbours, LearnError> {
        validate(samples, targets)?;
        self.check_k(self.k, samples.nrows())?;
        let rule = Rule::Nearest { k: self.k, weights: self.weights, metric: self.metric };
        Ok(Neighbours { rows: samples.view().into_owned(), targets: targets.clone(), rule })
    }

    /// The mean loss of predicting each row from its k nearest other rows, for every k from 1 to `kmax`, whatever
    /// [`k`](Self::k) is: entry k − 1 is that of k.
    ///
    /// One search for the kmax + 1 nearest serves all k: O(n²d + n·kmax·outputs) time, no n² memory.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), with `kmax` from 1 to n − 1; and where the session is stopped.
    pub fn leave_one_out(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        kmax: usize,
        loss: Loss,
        session: &Session<'_>,
    ) -> Result<Vec<f64>, LearnError> {
        validate(samples, targets)?;
        self.check_k(kmax, samples.nrows() - 1)?;
        let mut losses = vec![0.0; kmax];
        let all: Vec<usize> = (0..samples.nrows()).collect();
        let resident = session.load(samples)?;
        for rows in all.chunks(queries_at_once(kmax + 1)) {
            let nearest = resident.nearest(&*resident.select(rows), kmax + 1, self.metric, session)?;
            let of_row = |(query, &i): (usize, &usize)| {
                let mut mean = Mean::new(self.weights, targets.ncols());
                let others = nearest.of(query).filter(|(row, _)| *row != i).take(kmax);
                others
                    .map(|(row, distance)| {
                        mean.add(targets.row(row), distance);
                        loss.of(mean.value(), targets.row(i))
                    })
                    .collect::<Vec<f64>>()
            };
            // A thousand rows at a time, so that their losses at every k take little memory.
            for (block, rows) in rows.chunks(1_000).enumerate() {
                session.check()?;
                let numbered = rows.par_iter().enumerate().map(|(r, i)| (block * 1_000 + r, i));
                let of_rows: Vec<Vec<f64>> = numbered.map(of_row).collect();
                for of_row in of_rows {
                    losses.iter_mut().zip(of_row).for_each(|(sum, loss)| *sum += loss);
                }
            }
        }
        losses.iter_mut().for_each(|sum| *sum /= samples.nrows() as f64);
        Ok(losses)
    }

    fn check_k(&self, k: usize, rows: usize) -> Result<(), LearnError> {
        if k == 0 {
            return Err(LearnError::Parameter { parameter: "k", received: "0".into(), allowed: "1 or more" });
        }
        if k > rows { Err(LearnError::TooManyNeighbours { k, rows }) } else { Ok(()) }
    }
}

/// Rows and targets that line up and are finite.
pub(super) fn validate(samples: &AnySamples<'_>, targets: &Matrix<f64>) -> Result<(), LearnError> {
    let (rows, columns) = (samples.nrows(), samples.ncols());
    if rows == 0 || columns == 0 {
        return Err(LearnError::Empty { rows, columns });
    }
    if targets.nrows() != rows || targets.ncols() == 0 {
        let found = if targets.ncols() == 0 { 0 } else { targets.nrows() };
        return Err(LearnError::Length { what: "targets", rows, found });
    }
    for row in 0..rows {
        if let Some(&value) = targets.row(row).iter().find(|y| !y.is_finite()) {
            return Err(LearnError::NonFinite { what: "target", row, value });
        }
        let mut wrong = None;
        samples.visit_row(row, |_, value| {
            if !value.is_finite() {
                wrong = Some(value);
            }
        });
        if let Some(value) = wrong {
            return Err(LearnError::NonFinite { what: "feature", row, value });
        }
    }
    Ok(())
}
