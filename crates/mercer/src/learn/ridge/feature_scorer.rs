//! Mean squared errors of ridge regression on approximate features for every λ, from sums over each fold.
//!
//! For each kernel the samples are read once, into sums over the features of each part. The fit without a part is that of
//! all sums less its own, and its error on the part follows from the part's: one eigen-decomposition for each part
//! gives the errors for every λ, and the best model follows from the same sums.

use rayon::prelude::*;

use crate::data::{AnySamples, HeldOut, Matrix, Number, fold_of_row};
use crate::design::{self, DesignError};
use crate::kernel::Kernel;
use crate::learn::cost;
use crate::learn::error::LearnError;
use crate::learn::lift::Prepared;
use crate::learn::problem::{Inputs, Problem};
use crate::learn::search::{
    Criterion, Found, LeftOut, NO_KERNEL, Parts, Score, Scorer, Tunable, standard_error,
};
use crate::linalg::normal_equations::RidgePath;
use crate::linalg::{Intercept, NormalEquations};
use crate::model::Facts;
use crate::session::Session;
use crate::watch::Watch;

use super::{Ridge, add_rows};

const NO_MATRIX: LearnError = LearnError::Unsupported(
    "leave-one-out and generalised cross-validation need the kernel matrix; on approximate features choose by folds or \
     held-out rows",
);

/// The part of each sample.
#[derive(Debug, Clone)]
enum Cut {
    /// The part of each sample, by the sample's number.
    Table(Parts),
    /// One of this many folds, by a hash of its number.
    Folds(usize, u64),
    /// Held out or not.
    HeldOut(HeldOut),
}

impl Cut {
    fn new(problem: &Problem<'_>, criterion: &Criterion, session: &Session<'_>) -> Result<Self, LearnError> {
        let Inputs::Stream(passes) = problem.inputs else {
            return match criterion.on(problem, session)? {
                LeftOut::EachRow | LeftOut::Generalised => Err(NO_MATRIX),
                LeftOut::Parts(parts) => Ok(Self::Table(parts)),
            };
        };
        // The seed itself draws the rows held out of the search; folds within the search use another seed.
        let seed = session.seed().wrapping_add(u64::from(passes.survey().held_out.count() > 0));
        match *criterion {
            Criterion::Folds(folds) if folds >= 2 => Ok(Self::Folds(folds, seed)),
            Criterion::Folds(folds) => Err(LearnError::parameter("folds", folds, "2 or more")),
            Criterion::HoldOut(fraction) if fraction > 0.0 && fraction < 1.0 => {
                Ok(Self::HeldOut(HeldOut::new(problem.nrows() as u64, fraction, seed)))
            }
            Criterion::HoldOut(fraction) => {
                Err(LearnError::parameter("the held-out fraction", fraction, "more than 0 and less than 1"))
            }
            Criterion::Given(_) => {
                Err(LearnError::Unsupported("folds given row by row are for samples in memory"))
            }
            Criterion::LeaveOneOut | Criterion::Gcv => Err(NO_MATRIX),
        }
    }

    /// The number of parts that are left out in turn.
    fn left_out(&self) -> usize {
        match self {
            Self::Table(parts) => parts.count,
            Self::Folds(folds, _) => *folds,
            Self::HeldOut(..) => 1,
        }
    }

    /// The number of parts; if some rows are never left out, they are the last part.
    fn parts(&self) -> usize {
        let others = match self {
            Self::Table(parts) => parts.others,
            Self::Folds(..) => false,
            Self::HeldOut(..) => true,
        };
        self.left_out() + usize::from(others)
    }

    fn of_row(&self, row: u64) -> usize {
        let part = match self {
            Self::Table(parts) => parts.of_row[row as usize],
            Self::Folds(folds, seed) => Some(fold_of_row(*seed, row, *folds)),
            Self::HeldOut(held_out) => held_out.contains(row).then_some(0),
        };
        part.unwrap_or(self.left_out())
    }
}

/// Sums over the features of one kernel, one for each part of the samples.
///
/// Every sample is added once, in chunks of any size, and is not stored.
#[derive(Debug)]
struct FoldSums {
    prepared: Prepared,
    cut: Cut,
    /// Rows that enter no sum.
    held_out: Option<HeldOut>,
    sums: Vec<NormalEquations>,
    /// The targets of the first sample, and whether others differ.
    first: Option<Vec<f64>>,
    varies: bool,
}

impl FoldSums {
    fn new(
        prepared: Prepared,
        cut: &Cut,
        held_out: Option<HeldOut>,
        (targets, columns): (usize, usize),
    ) -> Result<Self, LearnError> {
        let features = prepared.features.count(columns)?;
        let sums = vec![NormalEquations::new(features, targets); cut.parts()];
        Ok(Self { prepared, cut: cut.clone(), held_out, sums, first: None, varies: false })
    }

    /// Adds samples, the first of which is row `first` of all. Those of weight 0 are left out.
    ///
    /// O(nDd + nD²/2) time for n samples of d columns and D features.
    fn add(
        &mut self,
        first: u64,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let mut table = vec![None; samples.nrows()];
        let counts = |row: usize| {
            let held_out = self.held_out.as_ref().is_some_and(|held| held.contains(first + row as u64));
            !held_out && weights.is_none_or(|w| w[row] != 0.0)
        };
        for row in (0..samples.nrows()).filter(|&row| counts(row)) {
            table[row] = Some(self.cut.of_row(first + row as u64));
            let known = self.first.get_or_insert_with(|| targets.row(row).to_vec());
            self.varies |= known != targets.row(row);
        }
        let into = (&design::Parts::Table(&table), &mut self.sums[..]);
        add_rows(&self.prepared.features, samples, targets, weights, into, session)
    }

    /// Adds every row of a problem, a chunk of a stream at a time.
    fn add_all(&mut self, problem: &Problem<'_>, session: &Session<'_>) -> Result<(), LearnError> {
        let Inputs::Stream(passes) = problem.inputs else {
            return self.add(0, problem.samples()?, problem.numbers()?, problem.weights(), session);
        };
        let rows = passes.survey().rows;
        passes.for_each(|chunk| {
            session.check()?;
            self.add(chunk.first, &chunk.samples, &chunk.targets, None, session)?;
            session.note(&format!("{} of {rows} rows", chunk.first + chunk.samples.nrows() as u64));
            Ok(())
        })
    }

    /// The fits without each part.
    ///
    /// # Errors
    /// If there is nothing to choose by.
    fn finish(mut self, intercept: Intercept, session: &Session<'_>) -> Result<Judged, LearnError> {
        let rows: u64 = self.sums.iter().map(NormalEquations::rows).sum();
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
        // With very few rows the hash may leave a part empty.
        self.sums.truncate(self.cut.left_out());
        self.sums.retain(|sums| sums.rows() > 0);
        if self.sums.is_empty() || self.sums.iter().any(|sums| sums.rows() == rows) {
            return Err(LearnError::parameter(
                "the number of rows",
                rows,
                "large enough that some rows are left out and others remain",
            ));
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
struct Judged {
    prepared: Prepared,
    /// Over all samples.
    all: NormalEquations,
    /// Over those of each part that is left out.
    left_out: Vec<NormalEquations>,
    paths: Vec<RidgePath>,
}

impl Judged {
    /// The mean squared error at each λ, over the samples left out by their weights and over the targets; `None` if a
    /// fit does not exist.
    ///
    /// # Errors
    /// If the session asks to stop.
    fn scores(&self, lambdas: &[f64], session: &Session<'_>) -> Result<Vec<Option<Score>>, LearnError> {
        let targets = self.all.targets() as f64;
        let weight: f64 = self.left_out.iter().map(NormalEquations::weight).sum();
        let mut sums = vec![Some(0.0); lambdas.len()];
        let mut folds = vec![Vec::new(); lambdas.len()];
        for (path, left_out) in self.paths.iter().zip(&self.left_out) {
            let errors = path.squared_errors(left_out, lambdas, session)?;
            for ((sum, folds), squares) in sums.iter_mut().zip(&mut folds).zip(errors) {
                let squares = squares.map(|squares| squares.iter().sum::<f64>() / targets);
                folds.extend(squares.map(|squares| squares / left_out.weight()));
                *sum = sum.zip(squares).map(|(sum, squares)| sum + squares / weight);
            }
        }
        let score = |(loss, folds): (Option<f64>, Vec<f64>)| {
            Some(Score { loss: loss?, error: standard_error(&folds), folds })
        };
        Ok(sums.into_iter().zip(folds).map(score).collect())
    }
}

/// Scores kernels. It stores the sums of the last kernel, so that more values of λ need no further pass, and the sums
/// over all samples of the best kernel before it, for the fit.
pub(super) struct FeatureScorer<'a> {
    ridge: &'a Ridge,
    problem: &'a Problem<'a>,
    /// Targets of each row.
    targets: usize,
    cut: Cut,
    last: Option<Candidate<Judged>>,
    best: Option<Candidate<(Prepared, NormalEquations)>>,
}

/// The results for a kernel.
struct Candidate<T> {
    kernel: Kernel,
    score: f64,
    known: T,
}

impl<'a> FeatureScorer<'a> {
    /// On samples in memory or on a stream, whose rows are left out by a hash of their number and the seed of the session.
    ///
    /// # Errors
    /// If the criterion does not suit the rows, or if the sums do not fit the memory budget.
    pub fn new(
        ridge: &'a Ridge,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let targets = match problem.inputs {
            Inputs::Stream(passes) => passes.survey().targets.len(),
            _ => problem.numbers()?.ncols(),
        };
        let cut = Cut::new(problem, criterion, session)?;
        let features = ridge.approximation()?.1.features();
        let needed = cost::fold_sums_bytes(features, targets, (cut.parts(), cut.left_out()));
        let budget = session.memory();
        if needed > budget {
            let what = "the sums over the features of every fold and their decompositions";
            return Err(DesignError::Memory { what, needed, budget }.into());
        }
        Ok(Self { ridge, problem, targets, cut, last: None, best: None })
    }

    /// The rows of a stream that are held out of the search; `None` if there are none.
    fn held_out(&self) -> Option<HeldOut> {
        match self.problem.inputs {
            Inputs::Stream(passes) => Some(passes.survey().held_out).filter(|held| held.count() > 0),
            _ => None,
        }
    }

    /// One pass over the samples.
    fn judge(&self, kernel: &Kernel, session: &Session<'_>) -> Result<Judged, LearnError> {
        let (sample, rows) = self.problem.sample()?;
        let ridge = self.ridge.clone().with_kernel(kernel.clone());
        let prepared = ridge.prepare((sample, rows), session)?;
        let shape = (self.targets, sample.ncols());
        let mut sums = FoldSums::new(prepared, &self.cut, self.held_out(), shape)?;
        sums.add_all(self.problem, session)?;
        sums.finish(ridge.intercept, session)
    }

    /// Stores the sums of the last kernel if it is the best so far.
    fn retire_last(&mut self) {
        let Some(Candidate { kernel, score, known }) = self.last.take() else { return };
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Candidate { kernel, score, known: (known.prepared, known.all) });
        }
    }

    /// The features and the sums over all samples; they are known, unless all trials of this kernel are of an earlier run.
    fn sums_of(
        &mut self,
        kernel: &Kernel,
        session: &Session<'_>,
    ) -> Result<(Prepared, NormalEquations), LearnError> {
        if let Some(last) = self.last.take_if(|last| last.kernel == *kernel) {
            return Ok((last.known.prepared, last.known.all));
        }
        if let Some(best) = self.best.take_if(|best| best.kernel == *kernel) {
            return Ok(best.known);
        }
        self.judge(kernel, session).map(|judged| (judged.prepared, judged.all))
    }
}

impl Scorer for FeatureScorer<'_> {
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        let (kernel, session) = (kernel.ok_or(NO_KERNEL)?, &session.part());
        let mut last = match self.last.take_if(|last| last.kernel == *kernel) {
            Some(last) => last,
            None => {
                // Releases the sums of the last kernel before those of the next are allocated.
                self.retire_last();
                let known = self.judge(kernel, session)?;
                Candidate { kernel: kernel.clone(), score: f64::INFINITY, known }
            }
        };
        let scores = last.known.scores(lambdas, session)?;
        last.score = scores.iter().flatten().map(|score| score.loss).fold(last.score, f64::min);
        self.last = Some(last);
        Ok(scores)
    }

    /// The fit from the sums of the best kernel.
    fn finish(
        &mut self,
        kernel: Option<&Kernel>,
        lambda: f64,
        session: &Session<'_>,
    ) -> Result<Found, LearnError> {
        let kernel = kernel.ok_or(NO_KERNEL)?;
        // The sums lack the held-out rows, which the fit must include.
        if self.held_out().is_some() {
            return Ok(Found::default());
        }
        let (prepared, sums) = self.sums_of(kernel, session)?;
        let ridge = self.ridge.clone().with_kernel(kernel.clone()).with_shared(lambda);
        let solution = ridge.solve(&sums, session)?;
        let error = ridge.kernel_error(&prepared, self.problem.sample()?.0, session)?;
        let facts = Facts::new()
            .with("kernel_error", Number(error.relative))
            .with("effective_dimension", Number(solution.effective_dimension));
        let rows = (self.problem.nrows() as u64, self.problem.origin.clone());
        let fitted = ridge.fitted(&prepared, &solution, rows, facts, session)?;
        Ok(Found { fitted: Some(fitted), warnings: prepared.warning.into_iter().collect() })
    }
}
