//! Hyper-parameters of support vector classification, chosen by accuracy on rows that were left out.

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::learn::svm::{Labels, Machine, Svm, Training};
use crate::learn::{Digest, Inputs, LearnError, Problem};
use crate::session::Session;
use crate::solve::svm::SvmError;
use crate::watch::Watch;

use super::axis::{Axis, CostSpace};
use super::search::{Scorer, Search, Strategy};
use super::svc_scores::{SvcScores, accuracies};
use super::trials::Trials;

/// A search for the kernel's hyper-parameters and C of support vector classification, one machine per pair of classes.
///
/// Each kernel's matrix is computed once for all folds, pairs of classes and values of C; each machine starts from the one with
/// the next smaller C.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneSvc {
    /// The classifier. Its kernel has a `?` for what is searched; each `auto` is resolved from the samples. Its own C is not
    /// used.
    pub svm: Svm,
    /// The values of C.
    pub c: CostSpace,
    /// Where to look; `None` for what suits the number of hyper-parameters.
    pub strategy: Option<Strategy>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSvc {
    /// The classifier with the best kernel and C.
    pub svm: Svm,
    /// Its accuracy, the mean over the folds.
    pub accuracy: f64,
    /// All that was tried: the setting is C, the score the fraction of wrong answers, the mean over the folds.
    pub trials: Trials,
    /// What a user should know, such as a best value at the end of its range.
    pub warnings: Vec<String>,
}

/// The scores of a grid of kernels and values of C.
#[derive(Debug, Clone, PartialEq)]
pub struct SvcGrid {
    /// Accuracies: for each kernel, for each C, one for each fold. None for a kernel without a finite value somewhere.
    pub scores: Vec<Option<Vec<Vec<f64>>>>,
    /// The places of the best kernel and the best C by the mean over the folds, the first of equals.
    pub best: (usize, usize),
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl TuneSvc {
    /// A search over C's default range.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self { svm: Svm::new(kernel, Machine::Svc { c: 1.0 }), c: CostSpace::default(), strategy: None }
    }

    /// Searches for the hyper-parameters with which the classes of each fold are predicted best by machines trained on the
    /// others. `folds` has the fold of every row, as [`stratify_folds`](super::stratify_folds) makes them.
    ///
    /// Rows of weight 0 count in no fit and in no score. Trials in `resume` are not made again, and the answer is as if they
    /// had been; `on_trials` is called with all of them after each new kernel.
    ///
    /// # Errors
    /// Where the input does not line up, there is nothing to choose by, or `resume` is of another problem; and where no trial
    /// has an answer.
    pub fn run(
        &self,
        problem: &Problem<'_>,
        folds: &[usize],
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        session: &Session<'_>,
    ) -> Result<TunedSvc, LearnError> {
        let samples = problem.samples()?;
        self.svm.kernel.check_columns(samples.ncols())?;
        let labels = Labels::of(problem, &self.svm.machine)?;
        let folds = checked_folds(&labels, folds)?;
        let scales = session.scales(samples);
        let kernel = self.svm.kernel.resolve_auto(&scales)?;
        let axes = Axis::of_kernel(&kernel, &scales)?;
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting: self.c.axis(),
            seed: session.seed(),
        };
        let mut trials = Trials::starting(self.digest(samples, labels, &folds), &search, resume)?;
        let scores = SvcScores::new(samples, labels, &folds, session)?;
        let mut scorer = Kernels { svm: &self.svm, kernel: &kernel, samples, scores };
        let best = search.run(&mut scorer, &mut trials, on_trials, session)?;
        let kernel = kernel.with_values(&best.values)?;
        let mut warnings = search.edge_warnings(&best);
        warnings.extend(self.svm.check.decide(&kernel, samples)?.warning);
        let machine = Machine::Svc { c: best.setting };
        Ok(TunedSvc {
            svm: self.svm.clone().with(kernel, machine),
            accuracy: 1.0 - best.score.unwrap_or(f64::NAN),
            trials,
            warnings,
        })
    }

    /// The accuracies of every one of `kernels`, all of whose hyper-parameters are numbers, with every one of `cs`. Where the
    /// problem has a kernel matrix, that is the only kernel.
    ///
    /// Of this search, the kernel, `c` and `strategy` are not used.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn grid(
        &self,
        kernels: &[Kernel],
        cs: &[f64],
        problem: &Problem<'_>,
        folds: &[usize],
        session: &Session<'_>,
    ) -> Result<SvcGrid, LearnError> {
        let labels = Labels::of(problem, &self.svm.machine)?;
        let folds = checked_folds(&labels, folds)?;
        let mut best = Best::default();
        let none = |kernels: usize| LearnError::NoScore { trials: kernels * cs.len() };
        if let Inputs::Gram(gram) = &problem.inputs {
            session.begin("tune", 1);
            let training = Training::precomputed(*gram);
            let found = accuracies(&self.svm, &training, cs, labels, &folds, &session.part())?;
            session.advance(1);
            best.offer(0, Some(&found), |_, _| {});
            let best = best.place.ok_or_else(|| none(1))?;
            return Ok(SvcGrid { scores: vec![Some(found)], best, warnings: Vec::new() });
        }
        let samples = problem.samples()?;
        let mut scorer = SvcScores::new(samples, labels, &folds, session)?;
        let mut scores = Vec::with_capacity(kernels.len());
        session.begin("tune", kernels.len() as u64);
        for (place, kernel) in kernels.iter().enumerate() {
            kernel.check_columns(samples.ncols())?;
            let svm = self.svm.clone().with(kernel.clone(), self.svm.machine);
            let found = score(&svm, &mut scorer, cs, samples, session)?;
            best.offer(place, found.as_deref(), |c, accuracy| {
                session.note(&format!("best {accuracy:.4} at {kernel}, C={:.4}", cs[c]));
            });
            scores.push(found);
            session.advance(1);
        }
        let best = best.place.ok_or_else(|| none(kernels.len()))?;
        let warnings = self.svm.check.decide(&kernels[best.0], samples)?.warning.into_iter().collect();
        Ok(SvcGrid { scores, best, warnings })
    }

    fn digest(&self, samples: &AnySamples<'_>, labels: Labels<'_>, folds: &[usize]) -> String {
        let Svm { kernel, class_weight, solver, .. } = &self.svm;
        let mut digest = Digest::new();
        digest.bytes(format!("svc {kernel} {class_weight:?} {:?}", solver.tol).as_bytes());
        digest.samples(samples);
        for numbers in [labels.codes, folds] {
            numbers.iter().for_each(|&n| digest.bytes(&(n as u64).to_le_bytes()));
        }
        labels.weights.into_iter().flatten().for_each(|w| digest.number(*w));
        digest.finish()
    }
}

/// The accuracies of one kernel for each of `cs`; none where the kernel has a value that is not finite.
fn score(
    svm: &Svm,
    scores: &mut SvcScores,
    cs: &[f64],
    samples: &AnySamples<'_>,
    session: &Session<'_>,
) -> Result<Option<Vec<Vec<f64>>>, LearnError> {
    svm.check.decide(&svm.kernel, samples)?;
    match scores.score(svm, cs, &session.part()) {
        // Some hyper-parameters may overflow where others do not.
        Err(LearnError::Svm(SvmError::KernelValue { .. })) => Ok(None),
        other => other.map(Some),
    }
}

/// The best of a grid.
#[derive(Default)]
struct Best {
    accuracy: f64,
    place: Option<(usize, usize)>,
}

impl Best {
    fn offer(&mut self, kernel: usize, scores: Option<&[Vec<f64>]>, note: impl Fn(usize, f64)) {
        for (c, folds) in scores.unwrap_or_default().iter().enumerate() {
            let accuracy = mean(folds);
            if self.place.is_none() || accuracy > self.accuracy {
                (self.accuracy, self.place) = (accuracy, Some((kernel, c)));
                note(c, accuracy);
            }
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The fold of every row, numbered without gaps among the rows that count.
fn checked_folds(labels: &Labels<'_>, folds: &[usize]) -> Result<Vec<usize>, LearnError> {
    let rows = labels.codes.len();
    if folds.len() != rows {
        return Err(LearnError::Length { what: "fold numbers", rows, found: folds.len() });
    }
    let mut names: Vec<usize> = (0..rows).filter(|&i| labels.counts(i)).map(|i| folds[i]).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Err(LearnError::Parameter {
            parameter: "folds",
            received: format!("{} with rows of positive weight", names.len()),
            allowed: "2 or more",
        });
    }
    // The fold of a row that does not count is arbitrary.
    Ok(folds.iter().map(|fold| names.partition_point(|name| name < fold).min(names.len() - 1)).collect())
}

/// Scores a kernel's hyper-parameters.
struct Kernels<'a> {
    svm: &'a Svm,
    kernel: &'a Kernel,
    samples: &'a AnySamples<'a>,
    scores: SvcScores,
}

impl Scorer for Kernels<'_> {
    fn score(
        &mut self,
        values: &[f64],
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let svm = self.svm.clone().with(self.kernel.with_values(values)?, self.svm.machine);
        let found = score(&svm, &mut self.scores, settings, self.samples, session)?;
        Ok(match found {
            Some(scores) => scores.iter().map(|folds| Some(1.0 - mean(folds))).collect(),
            None => vec![None; settings.len()],
        })
    }
}
