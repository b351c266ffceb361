//! λ and the hyper-parameters of a kernel for ridge regression on approximate features, chosen from sums over each fold.

use crate::data::{AnySamples, Matrix};
use crate::design::{Approximation, DesignError};
use crate::kernel::Kernel;
use crate::learn::{Admission, ApproxFit, Digest, Intercept, LearnError, Prepared, Ridge, check_problem};
use crate::linalg::NormalEquations;
use crate::pool;
use crate::session::Session;
use crate::watch::Stopped;

use super::axis::{Axis, LambdaSpace};
use super::criterion::Criterion;
use super::fold_sums::{FoldSums, Judged, Parts, is_out_of_range};
use super::search::{Scorer, Search, Strategy};
use super::trials::Trials;
use super::tune_ridge::Tuned;

/// A search for the kernel's hyper-parameters and λ of ridge regression on approximate features.
///
/// For each kernel the samples are gone through once, into sums over the features of each fold. The fit without a fold is that
/// of all sums less its own, and its error on the fold follows from the fold's: one eigen-decomposition for each fold answers
/// for every λ, and the best model from the sums already there.
///
/// ```
/// use mercer::data::{AnySamples, Matrix, Samples};
/// use mercer::design::Approximation;
/// use mercer::select::TuneApproxRidge;
/// use mercer::session::Session;
/// let samples = AnySamples::F64(Samples::dense(200, 1, (0..200).map(|i| 0.05 * i as f64).collect::<Vec<_>>())?);
/// let targets = Matrix::from_entries(200, 1, (0..200).map(|i| (0.05 * i as f64).sin()).collect());
/// let tune = TuneApproxRidge::new("rbf(sigma=?0.5..4)".parse()?, Approximation::fourier(64));
/// let found = tune.run(&samples, &targets, None, None, &mut |_| {}, &Session::default())?;
/// assert!(found.tuned.score.sqrt() < 1e-2);
/// let fitted = found.fit.predictor.predict(&samples, &Session::default())?;
/// assert!((fitted.row(20)[0] - 1f64.sin()).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TuneApproxRidge {
    /// The kernel, with a `?` for what is searched; each `auto` comes from the samples.
    pub kernel: Kernel,
    /// The approximation of the kernel.
    pub approximation: Approximation,
    /// The values of λ.
    pub lambda: LambdaSpace,
    /// What is done about a constant: nothing, or an unpenalised intercept.
    pub bias: Intercept,
    /// What is minimised: the error on folds or on held-out rows.
    pub criterion: Criterion,
    /// The points that are tried; `None` for the default of the number of hyper-parameters.
    pub strategy: Option<Strategy>,
    /// Whether each kernel on landmarks must be proven to be one.
    pub admission: Admission,
}

/// What a search found, and the model with it.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedApproxRidge {
    /// The kernel, λ and the trials.
    pub tuned: Tuned,
    /// The fit on all samples.
    pub fit: ApproxFit,
}

/// Samples that are gone through in chunks, once for every kernel.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// Some of the samples: `auto`, the range of `?` and landmarks look at them.
    pub sample: &'a AnySamples<'a>,
    /// Samples in all.
    pub rows: u64,
    /// Targets of each.
    pub targets: usize,
    /// What, beside the sample, tells these data from others: trials of others are not gone on from.
    pub name: &'a str,
}

impl TuneApproxRidge {
    /// A search by five folds over λ's default range, with an unpenalised intercept.
    #[must_use]
    pub fn new(kernel: Kernel, approximation: Approximation) -> Self {
        Self {
            kernel,
            approximation,
            lambda: LambdaSpace::default(),
            bias: Intercept::Centred,
            criterion: Criterion::KFold { folds: 5, seed: 0 },
            strategy: None,
            admission: Admission::Check,
        }
    }

    /// Searches for the hyper-parameters with which `targets` (one row per sample, one column per target) are predicted
    /// best, and fits with them.
    ///
    /// O(nD(d + D) + folds·D³) time for each kernel and O(folds·D²) memory for D features. Trials in `resume` are not made
    /// again, and the answer is as if they had been; `on_trials` is shown all of them after each new kernel.
    ///
    /// # Errors
    /// Where the input does not line up, has nothing to choose by or is of another problem than `resume`; where the criterion
    /// needs a kernel matrix; where the kernel has no such features; where the sums do not fit the memory budget; where no
    /// trial has an answer; and where the session is stopped.
    pub fn run(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        session: &Session<'_>,
    ) -> Result<TunedApproxRidge, LearnError> {
        let rows = samples.nrows();
        // Memory is asked for below, with what sums need.
        check_problem(&[1.0], rows, targets, weights)?;
        let counted: Vec<usize> = (0..rows).filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).collect();
        if counted.len() < 3 {
            return Err(LearnError::TooFewRows { rows: counted.len(), needed: 3 });
        }
        let parts = Parts::of_rows(&self.criterion, rows, &counted)?;
        let mut digest = self.digest(samples, session);
        targets.entries().iter().for_each(|y| digest.number(*y));
        weights.into_iter().flatten().for_each(|w| digest.number(*w));
        let stream = Stream { sample: samples, rows: rows as u64, targets: targets.ncols(), name: "" };
        let pass =
            |sums: &mut FoldSums<'_>, session: &Session<'_>| sums.add(0, samples, targets, weights, session);
        self.search(stream, &parts, digest, resume, on_trials, pass, session)
    }

    /// As [`run`](Self::run), of samples that are not all held: `pass` adds every one of them to the sums it is given, in
    /// the same order each time. It is called once for each kernel tried, so once where the kernel has no `?`.
    ///
    /// Rows are left out by a hash of their number and the criterion's seed.
    ///
    /// # Errors
    /// As [`run`](Self::run), and those of `pass`.
    pub fn run_in_passes<E: From<LearnError>>(
        &self,
        stream: Stream<'_>,
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        pass: impl FnMut(&mut FoldSums<'_>, &Session<'_>) -> Result<(), E>,
        session: &Session<'_>,
    ) -> Result<TunedApproxRidge, E> {
        let parts = Parts::of_stream(&self.criterion)?;
        let mut digest = self.digest(stream.sample, session);
        digest.bytes(format!("{} {} {}", stream.rows, stream.targets, stream.name).as_bytes());
        self.search(stream, &parts, digest, resume, on_trials, pass, session)
    }

    /// Bytes of the sums over this number of features, targets and folds, and of their factors.
    #[must_use]
    pub fn bytes_needed(features: usize, targets: usize, folds: usize) -> u64 {
        Self::bytes(features, targets, (folds, folds))
    }

    fn bytes(features: usize, targets: usize, (parts, left_out): (usize, usize)) -> u64 {
        let d = features as u64;
        let matrix = 8u64.saturating_mul(d).saturating_mul(d);
        // Decompositions that are made at the same time: the matrix, its vectors and twice that of working memory.
        let at_once = pool::available().min(left_out) as u64;
        let sums = NormalEquations::bytes_needed(features, targets);
        sums.saturating_mul(parts as u64 + 2 + at_once)
            .saturating_add(matrix.saturating_mul(left_out as u64 + 4 * at_once))
            .saturating_add(8 * 1024 * d)
    }

    #[expect(clippy::too_many_arguments, reason = "the two public ways in, and what differs between them")]
    fn search<E: From<LearnError>>(
        &self,
        stream: Stream<'_>,
        parts: &Parts,
        digest: Digest,
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        pass: impl FnMut(&mut FoldSums<'_>, &Session<'_>) -> Result<(), E>,
        session: &Session<'_>,
    ) -> Result<TunedApproxRidge, E> {
        let (search, kernel) = self.space(stream, parts, session)?;
        let mut trials = Trials::starting(digest.finish(), &search, resume)?;
        let mut candidates = Candidates {
            tune: self,
            kernel: &kernel,
            stream,
            parts,
            pass,
            last: None,
            best: None,
            failure: None,
        };
        let best = match search.run(&mut candidates, &mut trials, on_trials, session) {
            Ok(best) => best,
            Err(error) => return Err(candidates.failure.unwrap_or_else(|| error.into())),
        };
        let (prepared, sums) = candidates.sums_at(&best.values, session)?;
        let kernel = kernel.with_values(&best.values).map_err(LearnError::from)?;
        let ridge = self.ridge(kernel.clone(), best.setting);
        let fit = ridge.fit_sums(prepared, sums, session)?;
        let mut warnings = search.edge_warnings(&best);
        warnings.extend(fit.prepared.warning.clone());
        let score = best.score.unwrap_or(f64::NAN);
        let tuned = Tuned { kernel, lambda: best.setting, score, trials, warnings };
        Ok(TunedApproxRidge { tuned, fit })
    }

    /// What is searched, and the kernel with each `auto` a number.
    fn space(
        &self,
        stream: Stream<'_>,
        parts: &Parts,
        session: &Session<'_>,
    ) -> Result<(Search, Kernel), LearnError> {
        let (sample, features) = (stream.sample, self.approximation.features());
        if sample.nrows() == 0 || sample.ncols() == 0 {
            return Err(LearnError::Empty { rows: sample.nrows(), columns: sample.ncols() });
        }
        if self.bias == Intercept::Column {
            let reason = "bias = column is not for approximate features; use centred or none";
            return Err(LearnError::Unsupported(reason));
        }
        self.kernel.check_columns(sample.ncols())?;
        let needed = Self::bytes(features, stream.targets, parts.count());
        let budget = session.memory();
        if needed > budget {
            let what = "the sums over the features of every fold and what is made of them";
            return Err(DesignError::Memory { what, needed, budget }.into());
        }
        let scales = session.scales(sample);
        let kernel = self.kernel.resolve_auto(&scales)?;
        let axes = Axis::of_kernel(&kernel, &scales)?;
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting: self.lambda.axis(),
            seed: session.seed(),
        };
        Ok((search, kernel))
    }

    fn ridge(&self, kernel: Kernel, lambda: f64) -> Ridge {
        Ridge::new((kernel, self.approximation)).lambda(lambda).intercept(self.bias).admission(self.admission)
    }

    fn digest(&self, samples: &AnySamples<'_>, session: &Session<'_>) -> Digest {
        let mut digest = Digest::new();
        let Self { kernel, approximation, bias, criterion, .. } = self;
        digest.bytes(
            format!("{kernel} {approximation:?} {bias:?} {criterion:?} {}", session.seed()).as_bytes(),
        );
        digest.samples(samples);
        digest
    }
}

/// Scores a kernel's hyper-parameters. The sums of the last kernel are kept, so that more values of λ take no other pass, and
/// those over all samples of the best one before it, for the fit.
struct Candidates<'a, P, E> {
    tune: &'a TuneApproxRidge,
    kernel: &'a Kernel,
    stream: Stream<'a>,
    parts: &'a Parts,
    pass: P,
    last: Option<Candidate<Judged>>,
    best: Option<Candidate<(Prepared, NormalEquations)>>,
    /// Why a pass failed.
    failure: Option<E>,
}

/// What is known at some hyper-parameters.
struct Candidate<T> {
    values: Vec<f64>,
    score: f64,
    known: T,
}

impl<P, E> Candidates<'_, P, E>
where
    E: From<LearnError>,
    P: FnMut(&mut FoldSums<'_>, &Session<'_>) -> Result<(), E>,
{
    /// One pass over the samples.
    fn judge(&mut self, values: &[f64], session: &Session<'_>) -> Result<Judged, LearnError> {
        let kernel = self.kernel.with_values(values)?;
        let ridge = self.tune.ridge(kernel, 0.0);
        let prepared = ridge.prepare((self.stream.sample, self.stream.rows), session)?;
        let features = prepared.features.count(self.stream.sample.ncols())?;
        let mut sums = FoldSums::new(prepared, features, self.parts, self.stream.targets);
        if let Err(failure) = (self.pass)(&mut sums, session) {
            return Err(sums.refused.take().unwrap_or_else(|| {
                self.failure = Some(failure);
                Stopped.into()
            }));
        }
        sums.finish(self.tune.bias, session)
    }

    /// Keeps the sums of the last kernel where it is the best so far.
    fn retire_last(&mut self) {
        let Some(Candidate { values, score, known }) = self.last.take() else { return };
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Candidate { values, score, known: (known.prepared, known.all) });
        }
    }

    /// The features and the sums over all samples; they are known, unless all trials at these values are of an earlier run.
    fn sums_at(mut self, values: &[f64], session: &Session<'_>) -> Result<(Prepared, NormalEquations), E> {
        if let Some(last) = self.last.take_if(|last| last.values == values) {
            return Ok((last.known.prepared, last.known.all));
        }
        if let Some(best) = self.best.take_if(|best| best.values == values) {
            return Ok(best.known);
        }
        match self.judge(values, session) {
            Ok(judged) => Ok((judged.prepared, judged.all)),
            Err(error) => Err(self.failure.unwrap_or_else(|| error.into())),
        }
    }
}

impl<P, E> Scorer for Candidates<'_, P, E>
where
    E: From<LearnError>,
    P: FnMut(&mut FoldSums<'_>, &Session<'_>) -> Result<(), E>,
{
    fn score(
        &mut self,
        values: &[f64],
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let session = &session.part();
        let mut last = match self.last.take_if(|last| last.values == values) {
            Some(last) => last,
            None => {
                // Before there is more than one kernel in memory.
                self.retire_last();
                match self.judge(values, session) {
                    Ok(known) => Candidate { values: values.to_vec(), score: f64::INFINITY, known },
                    // Some hyper-parameters may overflow where others do not.
                    Err(error) if is_out_of_range(&error) => {
                        return Ok(vec![None; settings.len()]);
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let scores = last.known.scores(settings, session)?;
        last.score = scores.iter().flatten().copied().fold(last.score, f64::min);
        self.last = Some(last);
        Ok(scores)
    }
}
