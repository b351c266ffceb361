//! k nearest neighbours.

use std::slice;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix};
use crate::gram::Metric;
use crate::kernel::Kernel;
use crate::model::{Facts, Mean, Method, Neighbours, Rule, Weights, queries_at_once};
use crate::session::Session;
use crate::watch::Watch;

use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::learner::{Learner, Requires};
use super::problem::Problem;
use super::search::{Criterion, LeftOut, Measure, Score, Scorer, Shared, Tally, Tunable};
use super::settings::{builder, kept};
use super::targets;

/// k nearest neighbours: the mean of the targets of the k rows nearest to a sample (Fix and Hodges, 1951).
///
/// For classes the outputs are the share of each class. Training keeps the samples: O(nd).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Knn {
    /// The number of neighbours, from 1 to the number of rows.
    pub k: usize,
    /// The weights of the neighbours.
    pub weights: Weights,
    /// The distance.
    pub metric: Metric,
    /// Whether numeric targets are classes.
    pub classify: bool,
}

/// The five nearest rows by Euclidean distance, with equal weights.
impl Default for Knn {
    fn default() -> Self {
        Self::new(5)
    }
}

impl Knn {
    /// The `k` nearest rows by Euclidean distance, with equal weights.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, weights: Weights::Uniform, metric: Metric::Euclidean, classify: false }
    }

    builder! {
        k: usize,
        weights: Weights,
        metric: Metric,
        classify: bool,
    }

    /// The mean error of predicting each row from its k nearest other rows, for every k from 1 to `kmax`, independent
    /// of [`k`](Self::k): entry k − 1 is that of k.
    ///
    /// One search for the kmax + 1 nearest serves all k: O(n²d + n·kmax·outputs) time, no n² memory.
    ///
    /// # Errors
    /// As [`train`](Learner::train), with `kmax` from 1 to n − 1; and if the session is stopped.
    pub fn leave_one_out(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        kmax: usize,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Vec<f64>, LearnError> {
        let scores = self.left_out(samples, targets, kmax, measure, session)?;
        Ok(scores.into_iter().map(|score| score.map_or(f64::NAN, |score| score.loss)).collect())
    }

    /// The score of every k from 1 to `kmax`.
    fn left_out(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        kmax: usize,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        targets::check(samples.nrows(), targets)?;
        check_features(samples)?;
        self.check_k(kmax, samples.nrows() - 1)?;
        let mut tallies = vec![Tally::of_targets(measure, targets.ncols()); kmax];
        let all: Vec<usize> = (0..samples.nrows()).collect();
        let resident = session.load(samples)?;
        for rows in all.chunks(queries_at_once(kmax + 1)) {
            let nearest = resident.nearest(&*resident.select(rows), kmax + 1, self.metric, session)?;
            let of_row = |(query, &i): (usize, &usize)| {
                let mut mean = Mean::new(self.weights, targets.ncols());
                let others = nearest.of(query).filter(|(row, _)| *row != i).take(kmax);
                others
                    .flat_map(|(row, distance)| {
                        mean.add(targets.row(row), distance);
                        mean.value().to_vec()
                    })
                    .collect::<Vec<f64>>()
            };
            // A thousand rows at a time, so that their predictions at every k take little memory.
            for (block, rows) in rows.chunks(1_000).enumerate() {
                session.check()?;
                let numbered = rows.par_iter().enumerate().map(|(r, i)| (block * 1_000 + r, i));
                let of_rows: Vec<Vec<f64>> = numbered.map(of_row).collect();
                for (&row, predicted) in rows.iter().zip(&of_rows) {
                    for (tally, predicted) in tallies.iter_mut().zip(predicted.chunks(targets.ncols())) {
                        tally.add_predicted(predicted, targets.row(row));
                    }
                }
            }
        }
        Ok(tallies.iter().map(|tally| Tally::score(slice::from_ref(tally))).collect())
    }

    fn check_k(&self, k: usize, rows: usize) -> Result<(), LearnError> {
        if k == 0 {
            return Err(LearnError::parameter("k", 0, "1 or more"));
        }
        if k > rows { Err(LearnError::TooManyNeighbours { k, rows }) } else { Ok(()) }
    }
}

impl Learner for Knn {
    fn method(&self) -> Method {
        Method::Knn
    }

    fn requires(&self) -> Requires {
        if self.classify { Requires::Classes } else { Requires::NumbersOrClasses }
    }

    fn settings(&self, _: &Session<'_>) -> Facts {
        kept(self, &["k"], None)
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        let rule = Rule::Nearest { k: self.k, weights: self.weights, metric: self.metric };
        let neighbours = neighbours(problem, rule)?;
        self.check_k(self.k, problem.nrows())?;
        Ok(Fitted::new(self, problem, session, Answer::kept(neighbours)))
    }
}

/// One search for neighbours scores every k.
impl Tunable for Knn {
    fn open_kernel(&self) -> Option<&Kernel> {
        None
    }

    fn with_kernel(self, _: Kernel) -> Self {
        self
    }

    fn shared(&self) -> Shared {
        Shared::Neighbours
    }

    fn with_shared(self, k: f64) -> Self {
        Self { k: k as usize, ..self }
    }

    fn identity(&self, _: &str, _: Measure, _: u64) -> Option<String> {
        None
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        only_leave_one_out(problem, criterion, session)?;
        let (samples, targets) = (problem.samples()?, problem.numbers_or_shares()?);
        Ok(Box::new(move |_: Option<&Kernel>, ks: &[f64], session: &Session<'_>| {
            let largest = ks.iter().copied().fold(1.0, f64::max) as usize;
            let scores = self.left_out(samples, &targets, largest, measure, session)?;
            Ok(ks.iter().map(|&k| scores[k as usize - 1].clone()).collect())
        }))
    }
}

/// Rejects any criterion except leave-one-out.
pub(super) fn only_leave_one_out(
    problem: &Problem<'_>,
    criterion: &Criterion,
    session: &Session<'_>,
) -> Result<(), LearnError> {
    problem.unweighted()?;
    match criterion.on(problem, session)? {
        LeftOut::EachRow => Ok(()),
        _ => Err(LearnError::Unsupported("smoothers and neighbours are scored by leave-one-out")),
    }
}

/// Checks the samples and targets of a problem and stores them as a model.
pub(super) fn neighbours(problem: &Problem<'_>, rule: Rule) -> Result<Neighbours, LearnError> {
    problem.unweighted()?;
    let samples = problem.samples()?;
    let targets = problem.numbers_or_shares()?.into_owned();
    check_features(samples)?;
    Ok(Neighbours { rows: samples.view().into_owned(), targets, rule })
}

/// Checks that every feature is a finite number.
pub(super) fn check_features(samples: &AnySamples<'_>) -> Result<(), LearnError> {
    for row in 0..samples.nrows() {
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
