//! Hyper-parameters of kernel ridge regression, chosen by their error on rows that were left out.

use crate::data::{AnySamples, Matrix};
use crate::kernel::Kernel;
use crate::learn::{Admission, Digest, Intercept, LearnError, check_problem};
use crate::pool;
use crate::session::Session;
use crate::watch::Watch;

use super::axis::{Axis, LambdaSpace};
use super::criterion::Criterion;
use super::ridge_scores::RidgeScores;
use super::search::{Scorer, Search, Strategy};
use super::trials::Trials;

/// A search for the kernel's hyper-parameters and λ of ridge regression.
///
/// At each kernel one factorisation gives the scores of every λ; see [`RidgePath`](crate::solve::RidgePath).
#[derive(Debug, Clone, PartialEq)]
pub struct TuneRidge {
    /// The kernel, with a `?` for what is searched; each `auto` comes from the samples.
    pub kernel: Kernel,
    /// The values of λ.
    pub lambda: LambdaSpace,
    /// What is done about a constant: nothing, or an unpenalised intercept.
    pub bias: Intercept,
    /// What is minimised.
    pub criterion: Criterion,
    /// Where to look; `None` for what suits the number of hyper-parameters.
    pub strategy: Option<Strategy>,
    /// Whether each kernel must be proven to be one.
    pub admission: Admission,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The kernel with the best hyper-parameters.
    pub kernel: Kernel,
    /// The best λ.
    pub lambda: f64,
    /// Its mean squared error by the criterion.
    pub score: f64,
    /// All that was tried.
    pub trials: Trials,
    /// What a user should know, such as a best value at the end of its range.
    pub warnings: Vec<String>,
}

/// The scores of a grid of kernels and values of λ.
#[derive(Debug, Clone, PartialEq)]
pub struct GridScores {
    /// Mean squared errors by the criterion: one row per kernel, one entry per λ; none where K + λI is not positive
    /// definite.
    pub scores: Vec<Vec<Option<f64>>>,
    /// The places of the best kernel and the best λ, the first of equals.
    pub best: (usize, usize),
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl TuneRidge {
    /// A search by leave-one-out over λ's default range, with an unpenalised intercept.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            lambda: LambdaSpace::default(),
            bias: Intercept::Centred,
            criterion: Criterion::LeaveOneOut,
            strategy: None,
            admission: Admission::Check,
        }
    }

    /// Searches for the hyper-parameters with which `targets` (one row per sample, one column per target) are predicted
    /// best.
    ///
    /// A factorisation per kernel tried: O(n³) time, O(n²) memory. Trials in `resume` are not made again, and the
    /// answer is as if they had been; `on_trials` is shown all of them after each new kernel.
    ///
    /// # Errors
    /// Where the input does not line up, does not fit the memory budget, has nothing to choose by or is of another
    /// problem than `resume`; and where no trial has an answer.
    pub fn run(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        session: &Session<'_>,
    ) -> Result<Tuned, LearnError> {
        self.validate(samples, targets, weights, session)?;
        self.kernel.check_columns(samples.ncols())?;
        let scales = session.scales(samples);
        let kernel = self.kernel.resolve_auto(&scales)?;
        let axes = Axis::of_kernel(&kernel, &scales)?;
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting: self.lambda.axis(),
            seed: session.seed(),
        };
        let mut trials = self.trials(&search, samples, targets, weights, resume)?;
        let mut scorer =
            Kernels { tune: self, kernel: &kernel, scores: self.scores(samples, targets, weights, session)? };
        let best = search.run(&mut scorer, &mut trials, on_trials, session)?;
        let kernel = kernel.with_values(&best.values)?;
        let mut warnings = search.edge_warnings(&best);
        warnings.extend(self.admission.decide(&kernel, samples)?.warning);
        Ok(Tuned { kernel, lambda: best.setting, score: best.score.unwrap_or(f64::NAN), trials, warnings })
    }

    /// The scores of every one of `kernels`, none of whose hyper-parameters is open, with every one of `lambdas`.
    ///
    /// Of this search, `kernel`, `lambda`, `strategy` and `seed` are not used.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn grid(
        &self,
        kernels: &[Kernel],
        lambdas: &[f64],
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<GridScores, LearnError> {
        self.validate(samples, targets, weights, session)?;
        if let Some(lambda) = lambdas.iter().find(|l| !l.is_finite() || **l < 0.0) {
            return Err(LearnError::Parameter {
                parameter: "lambda",
                received: lambda.to_string(),
                allowed: "a finite number, 0 or more",
            });
        }
        let scorer = self.scores(samples, targets, weights, session)?;
        let mut best: Option<(f64, (usize, usize))> = None;
        let mut scores = Vec::with_capacity(kernels.len());
        session.begin("tune", kernels.len() as u64);
        for (row, kernel) in kernels.iter().enumerate() {
            kernel.check_columns(samples.ncols())?;
            let found = scorer.score(kernel, lambdas, self.admission, session)?;
            for (column, score) in found.iter().enumerate() {
                if let Some(score) = score
                    && best.is_none_or(|(least, _)| *score < least)
                {
                    session.note(&format!("best {score:.6} at {kernel}, lambda={:.4e}", lambdas[column]));
                    best = Some((*score, (row, column)));
                }
            }
            scores.push(found);
            session.advance(1);
        }
        let (_, best) = best.ok_or(LearnError::NoScore { trials: kernels.len() * lambdas.len() })?;
        let warnings = self.admission.decide(&kernels[best.0], samples)?.warning.into_iter().collect();
        Ok(GridScores { scores, best, warnings })
    }

    fn scores<'a>(
        &self,
        samples: &'a AnySamples<'a>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<RidgeScores<'a>, LearnError> {
        RidgeScores::new(samples, targets, weights, self.bias == Intercept::Centred, &self.criterion, session)
    }

    fn validate(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        if self.bias == Intercept::Column {
            return Err(LearnError::Unsupported(
                "bias = column centres the data by all of its rows, so no row can be left out; tune with centred or none",
            ));
        }
        // Memory is asked for below, with what a search needs.
        check_problem(&[1.0], rows, targets, weights)?;
        let counted = (0..rows).filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).collect::<Vec<_>>();
        if counted.len() < 3 {
            return Err(LearnError::TooFewRows { rows: counted.len(), needed: 3 });
        }
        let first = targets.row(counted[0]);
        if counted.iter().all(|&i| targets.row(i) == first) {
            return Err(LearnError::ConstantTargets { value: first[0] });
        }
        let needed = self.criterion.memory(counted.len(), pool::available());
        let budget = session.memory();
        if needed > budget { Err(LearnError::Memory { rows, needed, budget }) } else { Ok(()) }
    }

    /// The trials to start from: those to resume, or none.
    fn trials(
        &self,
        search: &Search,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        resume: Option<Trials>,
    ) -> Result<Trials, LearnError> {
        let mut digest = Digest::new();
        digest.bytes(format!("{} {:?} {:?}", self.kernel, self.bias, self.criterion).as_bytes());
        digest.samples(samples);
        targets.entries().iter().for_each(|y| digest.number(*y));
        weights.into_iter().flatten().for_each(|w| digest.number(*w));
        Trials::starting(digest.finish(), search, resume)
    }
}

/// Scores a kernel's hyper-parameters.
struct Kernels<'a> {
    tune: &'a TuneRidge,
    kernel: &'a Kernel,
    scores: RidgeScores<'a>,
}

impl Scorer for Kernels<'_> {
    fn score(
        &mut self,
        values: &[f64],
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let kernel = self.kernel.with_values(values)?;
        match self.scores.score(&kernel, settings, self.tune.admission, session) {
            // Some hyper-parameters may overflow where others do not.
            Err(LearnError::KernelValue { .. }) => Ok(vec![None; settings.len()]),
            other => other,
        }
    }
}
