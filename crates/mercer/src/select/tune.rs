//! The search for the hyper-parameters of any learner, by the error on held-out rows.

use std::borrow::Cow;

use crate::data::AnySamples;
use crate::design::DesignError;
use crate::kernel::{Kernel, SearchSpace};
use crate::learn::search::{
    Axis, Criterion, Measure, Score, Scorer, Search, Shared, Strategy, Trial, Trials, Tunable,
};
use crate::learn::{Digest, Fitted, Inputs, LearnError, Problem, Requires};
use crate::linalg::NormalEquationsError;
use crate::session::Session;
use crate::solve::SolveError;
use crate::watch::Watch;

use super::choose::baseline;

/// The fewest rows for a search.
const LEAST_ROWS: usize = 3;

/// A search for the hyper-parameters of a learner.
///
/// For each kernel, one factorisation, one path or one neighbour search gives the scores of all values of λ, C or k.
///
/// ```
/// use mercer::learn::{Problem, Ridge};
/// use mercer::kernel::Kernel;
/// use mercer::select::Tune;
/// use mercer::session::Session;
/// let x: Vec<[f64; 1]> = (0..60).map(|i| [0.1 * i as f64]).collect();
/// let y: Vec<f64> = x.iter().map(|x| x[0].sin()).collect();
/// let kernel: Kernel = "rbf(sigma=?0.2..4)".parse()?;
/// let found = Tune::new(Ridge::new(kernel)).run(&Problem::new(&x[..], &y), &Session::default())?;
/// assert!(found.score.sqrt() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tune<L> {
    /// The learner. Its kernel has a `?` for each hyper-parameter to search; `auto` is resolved from the samples.
    pub learner: L,
    /// The rows on which trials are scored.
    pub criterion: Criterion,
    /// The score to minimise; `None` for the default of the learner and the targets.
    pub measure: Option<Measure>,
    /// The points that are tried; `None` for the default of the number of hyper-parameters.
    pub strategy: Option<Strategy>,
    /// The values of λ, C or k; `None` for their default range.
    pub shared: Option<SearchSpace>,
    /// The values of the [second](Tunable::second) hyper-parameter; none to keep that of the learner.
    pub second: Option<Values>,
    /// Whether to select, at the best kernel, the strongest penalty within one standard error of the best score.
    pub one_standard_error: bool,
}

/// The values of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// The default range, in units derived from the targets.
    Usual,
    /// These.
    Within(SearchSpace),
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned<L> {
    /// The learner with the best hyper-parameters.
    pub learner: L,
    /// Its score, smaller is better.
    pub score: f64,
    /// All trials.
    pub trials: Trials,
    /// Warnings, such as a best value at the end of its range.
    pub warnings: Vec<String>,
    /// The model, if it follows from the sums used for scoring; otherwise the learner must be trained.
    pub fitted: Option<Fitted>,
}

/// The scores of a grid of kernels and values of λ, C or k.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// One row per kernel, one entry per value; `None` if there is no answer.
    pub scores: Vec<Vec<Option<Score>>>,
    /// The indices of the best kernel and the best value, the first of equals.
    pub best: (usize, usize),
    /// Warnings about the best kernel.
    pub warnings: Vec<String>,
}

impl<L: Tunable> Tune<L> {
    /// Creates a search over the default range of λ, C or k, scored by the learner's default: by folds for classifiers
    /// and approximate features, otherwise by leave-one-out.
    #[must_use]
    pub fn new(learner: L) -> Self {
        let criterion = learner.usual_criterion();
        Self {
            learner,
            criterion,
            measure: None,
            strategy: None,
            shared: None,
            second: None,
            one_standard_error: false,
        }
    }

    /// Searches for the hyper-parameters that predict the targets of held-out rows best.
    ///
    /// Trials in the checkpoint of the session are not repeated, with the same result as if they were; the checkpoint
    /// keeps all trials after each kernel. Rows of weight 0 enter no fit and no score. A stream is read once for
    /// each kernel; its rows are left out by a hash of their number and the seed of the session.
    ///
    /// # Errors
    /// If the problem does not line up, does not fit the memory budget, has nothing to choose by or is another than
    /// that of the checkpoint; if no trial has an answer; or if the session is stopped.
    pub fn run(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Tuned<L>, LearnError> {
        let samples = samples(problem)?;
        let measure = self.check(problem)?;
        let mut digest = self.digest(measure, session);
        if let Some(digest) = &mut digest {
            digest.problem(problem);
        }
        let mut scorer = self.learner.scorer(problem, &self.criterion, measure, session)?;
        let (second, setting) = (self.second_axis(problem)?, self.setting_axis(problem)?);
        self.search((samples, second, setting), digest, &mut *scorer, session)
    }

    /// The axis of λ, C, ν or k.
    fn setting_axis(&self, problem: &Problem<'_>) -> Result<Axis, LearnError> {
        let shared = self.learner.shared();
        let usual = if self.shared.is_none() { self.learner.usual_values(problem)? } else { None };
        shared.axis(self.shared.as_ref().or(usual.as_ref()), problem.nrows())
    }

    /// The axis of the second hyper-parameter, where it is searched for.
    fn second_axis(&self, problem: &Problem<'_>) -> Result<Option<Axis>, LearnError> {
        let Some(values) = &self.second else { return Ok(None) };
        let second = self.learner.second();
        if second == Shared::None {
            return Err(LearnError::Unsupported("this learner has no second hyper-parameter to search for"));
        }
        let space = match values {
            Values::Usual => second.usual(deviation(problem)),
            Values::Within(space) => space.clone(),
        };
        second.axis(Some(&space), problem.nrows()).map(Some)
    }

    /// The scores of every one of `kernels`, all of whose hyper-parameters are numbers, with every one of `shared`. Where the
    /// problem has a kernel matrix, that is the only kernel, and `kernels` is empty.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn grid(
        &self,
        kernels: &[Kernel],
        shared: &[f64],
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Grid, LearnError> {
        let measure = self.check(problem)?;
        self.learner.shared().check(shared)?;
        let samples = samples(problem)?;
        let kernels: Vec<Option<&Kernel>> = match samples {
            None => vec![None],
            Some(_) => kernels.iter().map(Some).collect(),
        };
        let mut scorer = self.learner.scorer(problem, &self.criterion, measure, session)?;
        let mut best: Option<(f64, (usize, usize))> = None;
        let mut scores = Vec::with_capacity(kernels.len());
        session.begin("tune", kernels.len() as u64);
        for (row, &kernel) in kernels.iter().enumerate() {
            let found = self.score(&mut *scorer, kernel, shared, samples, session)?;
            for (column, score) in found.iter().enumerate() {
                let loss = score.as_ref().map_or(f64::NAN, |score| score.loss);
                if !loss.is_nan() && best.is_none_or(|(least, _)| loss < least) {
                    let (kernel, name) = (kernel.map(Kernel::to_string), self.learner.shared().name());
                    let kernel = kernel.unwrap_or_default();
                    session.note(&format!("best {loss:.6} at {kernel}, {name}={:.4e}", shared[column]));
                    best = Some((loss, (row, column)));
                }
            }
            scores.push(found);
            session.advance(1);
        }
        let (_, best) = best.ok_or(LearnError::NoScore { trials: kernels.len() * shared.len() })?;
        let warnings = self.warning(kernels[best.0], samples)?.into_iter().collect();
        Ok(Grid { scores, best, warnings })
    }

    /// Checks that trials of the problem can be scored; returns the measure.
    fn check(&self, problem: &Problem<'_>) -> Result<Measure, LearnError> {
        let measure = self.measure.unwrap_or_else(|| Measure::of(&self.learner, &problem.targets));
        measure.check(&self.learner, &problem.targets)?;
        if measure == Measure::Auc && problem.weights().is_some() {
            return Err(LearnError::Unsupported("auc does not take weights of rows; use another score"));
        }
        if let Inputs::Stream(_) = problem.inputs {
            // Its targets are known after the first pass.
            return problem.unweighted().map(|()| measure);
        }
        let targets = match self.learner.requires() {
            Requires::Classes => {
                problem.codes()?;
                None
            }
            Requires::Numbers => Some(Cow::Borrowed(problem.numbers()?)),
            Requires::NumbersOrClasses => Some(problem.numbers_or_shares()?),
            Requires::Nothing => None,
        };
        let counted = problem.counted();
        if counted.len() < LEAST_ROWS {
            return Err(LearnError::TooFewRows { rows: counted.len(), needed: LEAST_ROWS });
        }
        if let Some(targets) = targets {
            let first = targets.row(counted[0]);
            if counted.iter().all(|&row| targets.row(row) == first) {
                return Err(LearnError::ConstantTargets { value: first[0] });
            }
        }
        Ok(measure)
    }

    /// The digest of everything except the data that a score depends on; `None` if trials are not saved.
    fn digest(&self, measure: Measure, session: &Session<'_>) -> Option<Digest> {
        let seed = session.seed();
        let identity = self.learner.identity(&self.criterion.key(seed), measure, seed)?;
        let mut digest = Digest::new();
        digest.bytes(identity.as_bytes());
        Some(digest)
    }

    /// The search, on rows of which `samples` are all or a part; `samples` is `None` if the kernel matrix is given.
    fn search(
        &self,
        (samples, second, setting): (Option<&AnySamples<'_>>, Option<Axis>, Axis),
        digest: Option<Digest>,
        scorer: &mut dyn Scorer,
        session: &Session<'_>,
    ) -> Result<Tuned<L>, LearnError> {
        let (mut kernel, mut axes) = (None, Vec::new());
        if let Some((open, samples)) = self.learner.open_kernel().zip(samples) {
            let scales = session.scales(samples);
            open.check_columns(samples.ncols())?;
            let resolved = open.resolve_auto(&scales)?;
            axes = Axis::of_kernel(&resolved, &scales)?;
            kernel = Some(resolved);
        }
        let of_kernel = axes.len();
        axes.extend(second);
        if self.one_standard_error && self.learner.shared() == Shared::None {
            return Err(LearnError::Unsupported(
                "the rule of one standard error chooses a penalty, which this learner does not have",
            ));
        }
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting,
            seed: session.seed(),
        };
        let mut trials = Trials::starting(digest.map(Digest::finish), &search, session)?;
        let at = |values: &[f64]| {
            kernel.as_ref().map(|kernel| kernel.with_values(&values[..of_kernel])).transpose()
        };
        let mut score = |values: &[f64], shared: &[f64], session: &Session<'_>| {
            values.get(of_kernel).iter().for_each(|&&second| scorer.set_second(second));
            self.score(scorer, at(values)?.as_ref(), shared, samples, session)
        };
        let mut best = search.run(&mut score, &mut trials, session)?;
        if self.one_standard_error {
            let stronger = |value, than| self.learner.shared().is_stronger(value, than);
            best = search.within_one_error(&best, stronger, &mut score, &mut trials, session)?;
        }
        let Trial { values, setting, score, .. } = &best;
        let (kernel, mut warnings) = (at(values)?, search.edge_warnings(&best));
        warnings.extend(self.warning(kernel.as_ref(), samples)?);
        let found = scorer.finish(kernel.as_ref(), *setting, session)?;
        warnings.extend(found.warnings);
        let mut learner = self.learner.clone().with_shared(*setting);
        if let Some(kernel) = kernel {
            learner = learner.with_kernel(kernel);
        }
        if let Some(second) = values.get(of_kernel) {
            learner = learner.with_second(*second);
        }
        Ok(Tuned { learner, score: score.unwrap_or(f64::NAN), trials, warnings, fitted: found.fitted })
    }

    /// The scores of one kernel; `None` if it has a value that is not finite, since other hyper-parameters may work.
    fn score(
        &self,
        scorer: &mut dyn Scorer,
        kernel: Option<&Kernel>,
        shared: &[f64],
        samples: Option<&AnySamples<'_>>,
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        self.warning(kernel, samples)?;
        match scorer.score(kernel, shared, session) {
            Err(error) if is_out_of_range(&error) => Ok(vec![None; shared.len()]),
            scores => scores,
        }
    }

    /// Checks a kernel on the samples; the warning where its check is undecided.
    fn warning(
        &self,
        kernel: Option<&Kernel>,
        samples: Option<&AnySamples<'_>>,
    ) -> Result<Option<String>, LearnError> {
        let Some((kernel, samples)) = kernel.zip(samples) else { return Ok(None) };
        kernel.check_columns(samples.ncols())?;
        Ok(self.learner.check_of_trials().decide(kernel, samples)?.warning)
    }
}

/// The standard deviation of the targets.
fn deviation(problem: &Problem<'_>) -> f64 {
    baseline(Measure::SquaredError, problem).map_or(1.0, f64::sqrt)
}

/// The samples of a problem, some of the rows for a stream; `None` if it has a kernel matrix instead.
fn samples<'p, 'a>(problem: &'p Problem<'a>) -> Result<Option<&'p AnySamples<'a>>, LearnError> {
    match problem.inputs {
        Inputs::Gram(_) => Ok(None),
        _ => problem.sample().map(|(samples, _)| Some(samples)),
    }
}

/// Whether a kernel has no value or no features with these hyper-parameters but may have with others.
fn is_out_of_range(error: &LearnError) -> bool {
    matches!(
        error,
        LearnError::KernelValue { .. }
            | LearnError::Solve(SolveError::KernelValue { .. })
            | LearnError::Design(DesignError::KernelValue { .. } | DesignError::NoRank)
            | LearnError::NormalEquations(NormalEquationsError::Value { what: "feature", .. })
    )
}
