//! The collapsed variational bound of a Gaussian process on inducing points, in passes over blocks of rows.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{AnySamples, Number};
use crate::design::LandmarkChoice;
use crate::gram::{GramError, Resident};
use crate::kernel::Kernel;
use crate::model::{Expansion, Facts, GaussianProcess};
use crate::session::Session;
use crate::solve::{Bound, MinimiseOptions, MinimiseStart, Minimum, Report, SolveError};
use crate::watch::Watch;

use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::learner::{Learner, Shape};
use super::super::problem::Problem;
use super::optimum::Optimum;
use super::prepared::Prepared;
use super::rows::{ProcessRows, ProcessStart, RowBlocks, TargetMoments, factor_points};
use super::{Gp, GpObjective, has_noise, unknowns};

/// A step that raises the bound by less than this fraction is the last: rounding errors of the bound are some
/// hundredths of that.
const GAIN: f64 = 1e-7;

/// Rows per inducing point in the first stage of learning.
const PART: usize = 10;

/// The bound over some rows.
pub(super) struct Inducing<'a> {
    rows: &'a dyn ProcessRows,
    points: Box<dyn Resident>,
    /// The kernel with its unknowns.
    kernel: &'a Kernel,
    /// σ² if it is given; otherwise the last unknown.
    noise: Option<f64>,
}

/// The bound and the kernel that it was computed with.
pub(super) struct Bounded {
    pub kernel: Kernel,
    pub noise: f64,
    pub bound: Bound,
}

impl<'a> Inducing<'a> {
    pub fn new(
        prepared: &'a Prepared,
        points: &AnySamples<'_>,
        rows: &'a dyn ProcessRows,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let points = session.load(&points.widened())?;
        Ok(Self { rows, points, kernel: &prepared.kernel, noise: prepared.noise })
    }

    /// The values encoded by `theta`: the unknowns of the kernel, and σ².
    fn split(&self, theta: &[f64]) -> (Vec<f64>, f64) {
        let mut values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        let noise = self.noise.unwrap_or_else(|| values.pop().unwrap_or(0.0));
        (values, noise)
    }

    /// The bound at `theta`; `None` if a matrix is not positive definite there.
    ///
    /// nM² multiply-adds in one pass over the rows, O(M²) memory in addition to the rows.
    pub fn bound(&self, theta: &[f64], session: &Session<'_>) -> Result<Option<Bounded>, LearnError> {
        let (values, noise) = self.split(theta);
        let kernel = self.kernel.with_values(&values)?;
        let factor = match factor_points(&*self.points, &kernel, session) {
            Err(LearnError::Solve(SolveError::NegativePivot { .. })) => return Ok(None),
            factor => factor?,
        };
        let sums = self.rows.sums(&values, session)?;
        match Bound::at(factor, &sums, noise, &session.part()) {
            Ok(bound) => Ok(Some(Bounded { kernel, noise, bound })),
            Err(SolveError::NegativePivot { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The bound at `theta` and its gradient; `None` if a matrix is not positive definite there.
    ///
    /// About 2nM² multiply-adds in two passes over the rows.
    pub fn evaluate(
        &self,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        let Some(Bounded { noise, bound, .. }) = self.bound(theta, session)? else { return Ok(None) };
        let (values, _) = self.split(theta);
        let derivatives = self.kernel.gradient(&values, self.points.ncols())?;
        let of_points = self.points.gradient(&derivatives, None)?;
        let by_inducing = bound.by_inducing.entries();
        let mut gradient = of_points.contract(by_inducing, &session.part()).map_err(GramError::from)?;
        let of_rows = self.rows.gradient(&values, &bound.slopes, session)?;
        gradient.iter_mut().zip(of_rows).for_each(|(sum, part)| *sum += part);
        if self.noise.is_none() {
            gradient.push(bound.by_noise * noise);
        }
        Ok(Some((bound.value, gradient)))
    }
}

/// The rows of the first stage of learning.
struct FirstPart {
    rows: usize,
    steps: usize,
}

impl Prepared {
    /// The rows in memory, for these inducing points.
    pub(super) fn blocks(
        &self,
        points: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<RowBlocks<'_>, LearnError> {
        let weights = self.weights.as_deref();
        RowBlocks::new(&self.kernel, points, &self.samples, &self.targets, weights, session)
    }

    /// A seeded part of the rows to learn on first; `None` if all rows, `count` of them, are not several times as many.
    fn part(&self, points: usize, count: u64, session: &Session<'_>) -> Option<Self> {
        let (some, here) = ((PART * points).min(self.samples.nrows()), self.samples.nrows());
        if 2 * some as u64 > count {
            return None;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let mut rows = index::sample(&mut random, here, some).into_vec();
        rows.sort_unstable();
        Some(Self {
            samples: self.samples.select(&rows),
            kernel: self.kernel.clone(),
            targets: self.targets.select(&rows),
            means: self.means.clone(),
            scales: self.scales.clone(),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            noise: self.noise,
            unknowns: self.unknowns.clone(),
            is_constant: self.is_constant,
            checked: self.checked.clone(),
            columns: self.columns.clone(),
        })
    }
}

impl Gp {
    /// Chooses inducing points among the rows: their numbers, and the rows.
    pub(super) fn inducing_points(
        &self,
        count: usize,
        prepared: &Prepared,
        session: &Session<'_>,
    ) -> Result<(Vec<usize>, AnySamples<'static>), LearnError> {
        if self.objective != GpObjective::Likelihood {
            return Err(LearnError::Unsupported("a process on inducing points maximises its likelihood"));
        }
        if has_noise(prepared.kernel.expr()) {
            return Err(LearnError::Unsupported(
                "a process on inducing points has its noise outside the kernel: leave noise(…) out of the kernel, or give --noise",
            ));
        }
        if prepared.noise == Some(0.0) {
            return Err(LearnError::Unsupported(
                "a process on inducing points needs noise above 0: give a larger --noise, or leave it to be learnt",
            ));
        }
        let samples = &prepared.samples;
        let chosen = LandmarkChoice::KMeansPlusPlus.choose(&prepared.kernel, samples, count, session)?;
        let points = samples.select(&chosen);
        Ok((chosen, points))
    }

    /// Trains on inducing points among the rows.
    pub(super) fn train_inducing(
        &self,
        count: usize,
        prepared: &Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let chosen = self.inducing_points(count, prepared, session)?;
        let blocks = prepared.blocks(&chosen.1, session)?;
        let rows = prepared.samples.nrows() as u64;
        let answer = self.fit_inducing(prepared, chosen, (&blocks, rows), session)?;
        Ok(Fitted::new(self, problem, session, answer))
    }

    /// The quantities that rows summed elsewhere need first. `sample` holds some of these rows, or all; `moments` are
    /// those of all rows.
    ///
    /// # Errors
    /// As [`train`](Learner::train), and if the settings ask for no inducing points.
    pub fn process_start(
        &self,
        sample: &Problem<'_>,
        moments: &TargetMoments,
        session: &Session<'_>,
    ) -> Result<ProcessStart, LearnError> {
        let prepared = self.prepare(sample, Some(moments), session)?;
        let (_, points) = self.inducing_points(self.points()?, &prepared, session)?;
        let Prepared { kernel, means, scales, .. } = prepared;
        Ok(ProcessStart { kernel, points, means, scales })
    }

    /// Trains on rows that are summed elsewhere; `sample` and `moments` are those of
    /// [`process_start`](Self::process_start).
    ///
    /// # Errors
    /// As [`process_start`](Self::process_start), and those of `rows`.
    pub fn train_on_sums(
        &self,
        sample: &Problem<'_>,
        moments: &TargetMoments,
        rows: &dyn ProcessRows,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let prepared = self.prepare(sample, Some(moments), session)?;
        let shape = Shape {
            rows: prepared.samples.nrows(),
            columns: prepared.samples.ncols(),
            targets: prepared.targets.ncols(),
        };
        self.check(shape, session)?;
        let chosen = self.inducing_points(self.points()?, &prepared, session)?;
        let mut answer = self.fit_inducing(&prepared, chosen, (rows, moments.rows), session)?;
        // The numbers are indices in the sample.
        answer.centres = None;
        Ok(Fitted::of_rows(self, (moments.rows, sample.origin.clone()), None, session, answer))
    }

    fn points(&self) -> Result<usize, LearnError> {
        self.inducing.ok_or(LearnError::Unsupported(
            "a Gaussian process on rows that are not in memory needs inducing points",
        ))
    }

    /// Learns on a part of the rows first, then on all of them from that result.
    ///
    /// The optimum of a part is close to that of all rows, and the curvature there is proportional to the number of
    /// rows, so that few steps on all rows remain.
    fn learn_inducing(
        &self,
        prepared: &Prepared,
        points: &AnySamples<'_>,
        (rows, count): (&dyn ProcessRows, u64),
        session: &Session<'_>,
    ) -> Result<(Option<Minimum>, Option<FirstPart>), LearnError> {
        let process = Inducing::new(prepared, points, rows, session)?;
        let mut evaluate = |theta: &[f64]| process.evaluate(theta, session);
        let options =
            MinimiseOptions { max_steps: self.max_iter, decrease: GAIN, ..MinimiseOptions::default() };
        if let Some(part) = prepared.part(points.nrows(), count, session) {
            let blocks = part.blocks(points, session)?;
            let first = Inducing::new(&part, points, &blocks, session)?;
            let mut on_part = |theta: &[f64]| first.evaluate(theta, session);
            let found = self.learnt(options, &mut on_part, &part.unknowns, session)?;
            if let Some(Minimum { at, curvature, steps, .. }) = found {
                let some = part.samples.nrows();
                let curvature = curvature.times(count as f64 / some as f64);
                session.begin("Gaussian process, all rows", self.max_iter as u64);
                let start = MinimiseStart { at, curvature };
                let found = self.minimised(options, &mut evaluate, &prepared.unknowns, start, "", session)?;
                if found.value.is_finite() {
                    return Ok((Some(found), Some(FirstPart { rows: some, steps })));
                }
            }
        }
        Ok((self.learnt(options, &mut evaluate, &prepared.unknowns, session)?, None))
    }

    fn fit_inducing(
        &self,
        prepared: &Prepared,
        (chosen, points): (Vec<usize>, AnySamples<'static>),
        rows: (&dyn ProcessRows, u64),
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let unknowns = &prepared.unknowns;
        let tried = prepared.is_learnt(self);
        let (found, part) =
            if tried { self.learn_inducing(prepared, &points, rows, session)? } else { (None, None) };
        let learnt = Optimum::new(found, unknowns, tried);
        let process = Inducing::new(prepared, &points, rows.0, session)?;
        let Some(Bounded { kernel, noise, bound }) = process.bound(&learnt.theta, session)? else {
            return Err(LearnError::Unsupported(
                "the kernel matrix of the inducing points is not positive definite; give fewer of them, or check that the kernel \
                 is one",
            ));
        };
        let checked = prepared.settled(&kernel);
        let report = Report {
            status: learnt.status(),
            solver: "inducing points".to_owned(),
            iterations: learnt.steps(),
            residual: 0.0,
            reasons: Vec::new(),
            warnings: prepared.warnings(self, &learnt, &checked),
        };
        let mut facts = Facts::new()
            .with("log_likelihood", Number(bound.value))
            .with("noise", Number(noise))
            .with("inducing_points", points.nrows())
            .with("parameters", unknowns::table(unknowns, &learnt.theta));
        if let Some(FirstPart { rows, steps }) = part {
            facts.set("learnt_first", Facts::new().with("rows", rows).with("steps", steps));
        }
        let mut coefficients = bound.coefficients.clone();
        for i in 0..coefficients.nrows() {
            coefficients.row_mut(i).iter_mut().zip(&prepared.scales).for_each(|(a, scale)| *a *= scale);
        }
        let factors = if self.variance { Some(bound.into_factors(&session.part())?) } else { None };
        let (factor, posterior_factor) =
            factors.map(|(prior, posterior)| (prior.into_triangle(), posterior.into_triangle())).unzip();
        let model = GaussianProcess {
            mean: Expansion {
                kernel,
                domain: checked.domain,
                centres: points,
                shift: None,
                coefficients,
                intercepts: prepared.means.clone(),
            },
            scales: prepared.scales.clone(),
            noise,
            factor,
            posterior_factor,
            projection: None,
        };
        Ok(Answer { facts, centres: Some(chosen), ..Answer::new(model, report) })
    }
}
