//! Hyper-parameters of support vector classification, chosen by accuracy on rows that were left out.

use crate::data::AnySamples;
use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::learn::svm::{Svc, Training};
use crate::learn::{Admission, Digest, LearnError};
use crate::session::Session;
use crate::solve::svm::{SvmError, SvmSettings};
use crate::watch::Watch;

use super::axis::{Axis, CostSpace};
use super::search::{Scorer, Search, Strategy};
use super::svc_scores::{Labels, SvcScores, accuracies};
use super::trials::Trials;

/// A search for the kernel's hyper-parameters and C of support vector classification, one machine per pair of classes.
///
/// Each kernel's matrix is computed once for all folds, pairs of classes and values of C; each machine goes on from the one with
/// the next smaller C.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneSvc {
    /// The kernel, with a `?` for what is searched; each `auto` comes from the samples.
    pub kernel: Kernel,
    /// The values of C.
    pub c: CostSpace,
    /// A factor of C for each class; none is 1.
    pub class_weight: Option<Vec<f64>>,
    /// Where to look; `None` for what suits the number of hyper-parameters.
    pub strategy: Option<Strategy>,
    /// Whether each kernel must be proven to be one.
    pub admission: Admission,
    /// How the problems are solved.
    pub settings: SvmSettings,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSvc {
    /// The kernel with the best hyper-parameters.
    pub kernel: Kernel,
    /// The best C.
    pub c: f64,
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
        Self {
            kernel,
            c: CostSpace::default(),
            class_weight: None,
            strategy: None,
            admission: Admission::Check,
            settings: SvmSettings::default(),
        }
    }

    /// Searches for the hyper-parameters with which classes, given by their codes 0, 1, …, `nclasses` − 1, are told best on each
    /// fold by machines trained on the others. `folds` has the fold of every row, as
    /// [`stratify_folds`](super::stratify_folds) deals them out.
    ///
    /// Rows of weight 0 count in no fit and in no score. Trials in `resume` are not made again, and the answer is as if they
    /// had been; `on_trials` is shown all of them after each new kernel.
    ///
    /// # Errors
    /// Where the input does not line up, there is nothing to choose by, or `resume` is of another problem; and where no trial
    /// has an answer.
    #[allow(clippy::too_many_arguments, reason = "the data, how it is cut, and what is told on the way")]
    pub fn run(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        nclasses: usize,
        folds: &[usize],
        weights: Option<&[f64]>,
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        session: &Session<'_>,
    ) -> Result<TunedSvc, LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let folds = checked_folds(samples.nrows(), samples.ncols(), codes, folds, weights)?;
        let labels = Labels { codes, nclasses, folds: &folds, weights };
        let scales = session.scales(samples);
        let kernel = self.kernel.resolve_auto(&scales)?;
        let axes = Axis::of_kernel(&kernel, &scales)?;
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting: self.c.axis(),
            seed: session.seed(),
        };
        let mut trials = Trials::starting(self.digest(samples, labels), &search, resume)?;
        let mut scorer =
            Kernels { tune: self, kernel: &kernel, samples, scores: self.scores(samples, labels, session)? };
        let best = search.run(&mut scorer, &mut trials, on_trials, session)?;
        let kernel = kernel.with_values(&best.values)?;
        let mut warnings = search.edge_warnings(&best);
        warnings.extend(self.admission.decide(&kernel, samples)?.warning);
        Ok(TunedSvc {
            kernel,
            c: best.setting,
            accuracy: 1.0 - best.score.unwrap_or(f64::NAN),
            trials,
            warnings,
        })
    }

    /// The accuracies of every one of `kernels`, none of whose hyper-parameters is open, with every one of `cs`.
    ///
    /// Of this search, `kernel`, `c`, `strategy` and `seed` are not used.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[allow(clippy::too_many_arguments, reason = "the data and how it is cut")]
    pub fn grid(
        &self,
        kernels: &[Kernel],
        cs: &[f64],
        samples: &AnySamples<'_>,
        codes: &[usize],
        nclasses: usize,
        folds: &[usize],
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<SvcGrid, LearnError> {
        let folds = checked_folds(samples.nrows(), samples.ncols(), codes, folds, weights)?;
        let mut scorer = self.scores(samples, Labels { codes, nclasses, folds: &folds, weights }, session)?;
        let mut scores = Vec::with_capacity(kernels.len());
        let mut best = Best::default();
        session.begin("tune", kernels.len() as u64);
        for (place, kernel) in kernels.iter().enumerate() {
            kernel.check_columns(samples.ncols())?;
            let found = self.score(&mut scorer, kernel, cs, samples, session)?;
            best.offer(place, found.as_deref(), |c, accuracy| {
                session.note(&format!("best {accuracy:.4} at {kernel}, C={:.4}", cs[c]));
            });
            scores.push(found);
            session.advance(1);
        }
        let best = best.place.ok_or(LearnError::NoScore { trials: kernels.len() * cs.len() })?;
        let warnings = self.admission.decide(&kernels[best.0], samples)?.warning.into_iter().collect();
        Ok(SvcGrid { scores, best, warnings })
    }

    /// As [`grid`](Self::grid) for one kernel matrix that is given, whatever its kernel.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[allow(clippy::too_many_arguments, reason = "the data and how it is cut")]
    pub fn grid_on(
        &self,
        gram: &dyn Gram,
        cs: &[f64],
        codes: &[usize],
        nclasses: usize,
        folds: &[usize],
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<SvcGrid, LearnError> {
        let folds = checked_folds(gram.nrows(), gram.nrows(), codes, folds, weights)?;
        session.begin("tune", 1);
        let labels = Labels { codes, nclasses, folds: &folds, weights };
        let machine = self.machine(self.kernel.clone());
        let found = accuracies(&machine, &Training::precomputed(gram), cs, labels, &session.part())?;
        session.advance(1);
        let mut best = Best::default();
        best.offer(0, Some(&found), |_, _| {});
        let best = best.place.ok_or(LearnError::NoScore { trials: cs.len() })?;
        Ok(SvcGrid { scores: vec![Some(found)], best, warnings: Vec::new() })
    }

    fn machine(&self, kernel: Kernel) -> Svc {
        Svc {
            class_weight: self.class_weight.clone(),
            admission: self.admission,
            settings: self.settings,
            ..Svc::new(kernel, 1.0)
        }
    }

    fn scores(
        &self,
        samples: &AnySamples<'_>,
        labels: Labels<'_>,
        session: &Session<'_>,
    ) -> Result<SvcScores, LearnError> {
        SvcScores::new(samples, labels, session)
    }

    fn score(
        &self,
        scores: &mut SvcScores,
        kernel: &Kernel,
        cs: &[f64],
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Option<Vec<Vec<f64>>>, LearnError> {
        self.admission.decide(kernel, samples)?;
        match scores.score(&self.machine(kernel.clone()), cs, &session.part()) {
            // Some hyper-parameters may overflow where others do not.
            Err(LearnError::Svm(SvmError::KernelValue { .. })) => Ok(None),
            other => other.map(Some),
        }
    }

    fn digest(&self, samples: &AnySamples<'_>, labels: Labels<'_>) -> String {
        let mut digest = Digest::new();
        digest
            .bytes(format!("svc {} {:?} {:?}", self.kernel, self.class_weight, self.settings.tol).as_bytes());
        digest.samples(samples);
        for numbers in [labels.codes, labels.folds] {
            numbers.iter().for_each(|&n| digest.bytes(&(n as u64).to_le_bytes()));
        }
        labels.weights.into_iter().flatten().for_each(|w| digest.number(*w));
        digest.finish()
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

/// The fold of every row, numbered without gaps in what counts.
fn checked_folds(
    rows: usize,
    columns: usize,
    codes: &[usize],
    folds: &[usize],
    weights: Option<&[f64]>,
) -> Result<Vec<usize>, LearnError> {
    if rows == 0 || columns == 0 {
        return Err(LearnError::Empty { rows, columns });
    }
    let lengths = [
        ("classes", codes.len()),
        ("fold numbers", folds.len()),
        ("weights", weights.map_or(rows, <[f64]>::len)),
    ];
    if let Some(&(what, found)) = lengths.iter().find(|(_, found)| *found != rows) {
        return Err(LearnError::Length { what, rows, found });
    }
    let mut names: Vec<usize> =
        (0..rows).filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).map(|i| folds[i]).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Err(LearnError::Parameter {
            parameter: "folds",
            received: format!("{} with rows of positive weight", names.len()),
            allowed: "2 or more",
        });
    }
    // Rows that do not count may go anywhere.
    Ok(folds.iter().map(|fold| names.partition_point(|name| name < fold).min(names.len() - 1)).collect())
}

/// Scores a kernel's hyper-parameters.
struct Kernels<'a> {
    tune: &'a TuneSvc,
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
        let kernel = self.kernel.with_values(values)?;
        let found = self.tune.score(&mut self.scores, &kernel, settings, self.samples, session)?;
        Ok(match found {
            Some(scores) => scores.iter().map(|folds| Some(1.0 - mean(folds))).collect(),
            None => vec![None; settings.len()],
        })
    }
}
