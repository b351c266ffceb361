//! Ridge regression by passes over features in memory: conjugate gradients in place of sums.

use std::borrow::Cow;

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{AnySamples, Matrix, Passes};
use crate::design::{Design, Held, Parts, RowFeatures};
use crate::linalg::{LinearFit, NormalEquations};
use crate::model::{Errors, Facts, Score};
use crate::session::Session;
use crate::solve::{NormalCg, NormalCgFit, Report, affordable_passes};
use crate::watch::Watch;

use super::super::cost;
use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::held_out::score_rows;
use super::super::lift::Prepared;
use super::super::problem::Problem;
use super::incremental::{Solution, empty_sums, predictor};
use super::quality::AllRows;
use super::stream::Sums;
use super::{Ridge, targets_by_lambda};

/// The number of rows per feature from which passes over the features are cheaper than the sums of their products.
const ROWS_PER_FEATURE: usize = 8;

/// The number of entries of Φ below which the sums are fast enough.
const ENTRIES: usize = 1 << 22;

/// Rows of the sample for each feature.
const SAMPLE_PER_FEATURE: usize = 4;

/// The most values of λ for which each has its own passes.
const LAMBDAS: usize = 4;

/// The result of a fit by passes.
pub(super) enum Outcome {
    /// The fit.
    Fitted(Box<Answer>),
    /// The sums over all rows, because passes would have cost more.
    Summed(NormalEquations),
}

/// Rows with their features in memory.
pub(super) struct HeldRows<'a> {
    design: Held<'a>,
    targets: Cow<'a, Matrix<f64>>,
    /// The most passes for one fit.
    passes: u64,
}

impl<'a> HeldRows<'a> {
    /// The rows of a stream, from one pass over it.
    pub fn of_stream(
        features: &RowFeatures<'a>,
        stream: &dyn Passes,
        passes: u64,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let survey = stream.survey();
        let (rows, width) = (survey.rows as usize, survey.targets.len());
        let mut design = Held::empty(features, rows, features.precision(&survey.sample), session)?;
        let mut targets = Matrix::zeros(rows, width);
        session.begin("features", survey.rows);
        stream.for_each::<LearnError>(|chunk| {
            session.check()?;
            let first = chunk.first as usize;
            let of_chunk = chunk.targets.entries();
            targets.entries_mut()[first * width..][..of_chunk.len()].copy_from_slice(of_chunk);
            Ok(design.set(first, features, &chunk.samples, session)?)
        })?;
        Ok(Self { design, targets: Cow::Owned(targets), passes })
    }

    /// Part 0 for a sample of some rows, no part for others.
    fn sample(&self, some: &[usize], session: &Session<'_>) -> Vec<Option<usize>> {
        let mut parts = vec![None; self.design.nrows()];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let places = index::sample(&mut rng, some.len(), SAMPLE_PER_FEATURE * self.design.ncols());
        places.into_iter().for_each(|place| parts[some[place]] = Some(0));
        parts
    }

    fn add(
        &self,
        weights: Option<&[f64]>,
        parts: &[Option<usize>],
        into: &mut [NormalEquations],
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        Ok(self.design.normal_equations(&self.targets, weights, &Parts::Table(parts), into, session)?)
    }
}

/// A fit by passes, and that on a sample of the rows.
struct Passed {
    fit: LinearFit,
    report: Report,
    of_sample: Solution,
    errors: AllRows,
}

impl Ridge {
    /// The most passes for each of `fits` fits to `fitted` of `samples`' rows or of `rows` rows; `None` if the sums cost less,
    /// or if the features of all rows do not fit the memory beside `taken` bytes.
    pub(super) fn affordable(
        &self,
        prepared: &Prepared,
        samples: &AnySamples<'_>,
        (rows, fitted, targets): (usize, usize, usize),
        (fits, taken): (u64, u64),
        session: &Session<'_>,
    ) -> Result<Option<u64>, LearnError> {
        let ready = prepared.features.ready(samples.ncols(), None, session)?;
        let (d, precision) = (ready.count(), ready.precision(samples));
        let needed = (rows as u64)
            .saturating_mul(d as u64)
            .saturating_mul(precision.bytes())
            .saturating_add(cost::sums_bytes(d, targets))
            .saturating_add(taken);
        let groups = targets_by_lambda(&self.lambda, targets);
        Ok(affordable_passes(d, precision, fits).filter(|_| {
            !prepared.features.engine_adds(session)
                && rows.saturating_mul(d) >= ENTRIES
                && fitted >= ROWS_PER_FEATURE * d
                && groups.len() <= LAMBDAS
                && groups.iter().all(|(lambda, _)| *lambda > 0.0)
                && needed <= session.memory()
        }))
    }

    /// The fit by passes if these are cheaper, the features fit the memory, and the sample represents the other rows;
    /// otherwise the sums over the features.
    pub(super) fn passes_or_sums(
        &self,
        prepared: &Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Outcome, LearnError> {
        let (samples, targets, weights) = (problem.samples()?, problem.numbers()?, problem.weights());
        let ready = prepared.features.ready(samples.ncols(), None, session)?;
        let (n, t) = (samples.nrows(), targets.ncols());
        let mut sums = [empty_sums(ready.count(), t, session)?];
        let Some(passes) = self.affordable(prepared, samples, (n, n, t), (1, 0), session)? else {
            prepared.features.add_sums(samples, (targets, weights), &Parts::All, &mut sums, session)?;
            let [sums] = sums;
            return Ok(Outcome::Summed(sums));
        };
        let design = Held::for_passes(&ready, samples, session)?;
        let rows = HeldRows { design, targets: Cow::Borrowed(targets), passes };
        let mut parts = rows.sample(&(0..n).collect::<Vec<_>>(), session);
        rows.add(weights, &parts, &mut sums, session)?;
        if let Some(passed) = self.passes_over(&rows, weights, &sums[0], session)? {
            let names = &problem.origin.outputs;
            let quality = self.quality_by_sample(
                prepared,
                (&sums[0], &passed.of_sample),
                &passed.errors,
                samples,
                session,
            )?;
            let answer = self.answer_by_passes(prepared, passed, quality.facts(names))?;
            return Ok(Outcome::Fitted(Box::new(answer)));
        }
        // The sums over the sample are a part of those over all rows.
        parts.iter_mut().for_each(|part| *part = if part.is_none() { Some(0) } else { None });
        rows.add(weights, &parts, &mut sums, session)?;
        let [sums] = sums;
        Ok(Outcome::Summed(sums))
    }

    /// The fit to the rows of a stream by passes, with the errors on held-out rows of a fit to the others; `None` if the
    /// sample does not represent the other rows, and then `sums` are over all rows.
    pub(super) fn on_held_rows(
        &self,
        prepared: &Prepared,
        rows: &HeldRows<'_>,
        sums: &mut Sums,
        stream: &dyn Passes,
        session: &Session<'_>,
    ) -> Result<Option<Answer>, LearnError> {
        let survey = stream.survey();
        let is_held_out = |row: usize| survey.held_out.contains(row as u64);
        let n = rows.design.nrows();
        let others: Vec<usize> = (0..n).filter(|&row| !is_held_out(row)).collect();
        let mut parts = rows.sample(&others, session);
        rows.add(None, &parts, &mut sums.parts, session)?;
        let sample = sums.rest();
        let fitted = || -> Result<Option<Answer>, LearnError> {
            let mut held_out = None;
            if others.len() < n {
                let weights: Vec<f64> = (0..n).map(|row| f64::from(u8::from(!is_held_out(row)))).collect();
                let Some(passed) = self.passes_over(rows, Some(&weights), sample, session)? else {
                    return Ok(None);
                };
                let mut score = Score::of_numbers(survey.targets.len());
                let others = predictor(prepared, passed.fit);
                score_rows((stream, &is_held_out), &mut score, &others, None, session)?;
                let errors = score.errors(&survey.targets);
                held_out =
                    Some((AllRows { errors: squared(&errors), ..passed.errors }, passed.of_sample, errors));
            }
            let Some(passed) = self.passes_over(rows, None, sample, session)? else { return Ok(None) };
            let (judged, of_sample) = match &held_out {
                Some((judged, of_sample, _)) => (judged, of_sample),
                None => (&passed.errors, &passed.of_sample),
            };
            let quality =
                self.quality_by_sample(prepared, (sample, of_sample), judged, &survey.sample, session)?;
            let answer = self.answer_by_passes(prepared, passed, quality.facts(&survey.targets))?;
            Ok(Some(Answer { held_out: held_out.map(|(_, _, errors)| errors), ..answer }))
        };
        let answer = fitted()?;
        if answer.is_none() {
            // The sums over the sample are a part of those over all rows.
            for (row, part) in parts.iter_mut().enumerate() {
                *part = match part {
                    Some(_) => None,
                    None => Some(usize::from(is_held_out(row))),
                };
            }
            rows.add(None, &parts, &mut sums.parts, session)?;
        }
        Ok(answer)
    }

    /// The fit of each λ, by a limited number of passes.
    fn passes_over(
        &self,
        HeldRows { design, targets, passes }: &HeldRows<'_>,
        weights: Option<&[f64]>,
        sample: &NormalEquations,
        session: &Session<'_>,
    ) -> Result<Option<Passed>, LearnError> {
        let (d, t) = (design.ncols(), targets.ncols());
        let mut all = LinearFit { weights: Matrix::zeros(d, t), intercepts: vec![0.0; t] };
        let mut of_sample = Solution { fit: all.clone(), residual: 0.0, effective_dimension: f64::INFINITY };
        let (mut errors, mut last) = (vec![0.0; t], None::<Report>);
        let total = weights.map_or(design.nrows() as f64, |w| w.iter().sum());
        for (lambda, group) in &targets_by_lambda(&self.lambda, t) {
            let of_row = |row: usize| group.iter().map(move |&o| targets.row(row)[o]);
            let entries = (0..targets.nrows()).flat_map(of_row).collect();
            let of_group = Matrix::from_entries(targets.nrows(), group.len(), entries);
            let (intercept, passes) = (self.intercept, *passes);
            let system = NormalCg { design, targets: &of_group, weights, intercept, passes };
            let Some(found) = system.solve(*lambda, sample, session)? else { return Ok(None) };
            let NormalCgFit { fit, squared_errors, report, of_sample: own, effective_dimension } = found;
            of_sample.take(&own, effective_dimension, group);
            for (place, &o) in group.iter().enumerate() {
                all.intercepts[o] = fit.intercepts[place];
                errors[o] = squared_errors[place] / total;
                (0..d).for_each(|k| all.weights.row_mut(k)[o] = fit.weights.row(k)[place]);
            }
            last = Some(match last {
                None => report,
                Some(before) => Report {
                    iterations: before.iterations + report.iterations,
                    residual: before.residual.max(report.residual),
                    ..report
                },
            });
        }
        let errors = AllRows { share: sample.weight() / total, errors };
        Ok(last.map(|report| Passed { fit: all, report, of_sample, errors }))
    }

    /// The answer of a fit by passes.
    fn answer_by_passes(
        &self,
        prepared: &Prepared,
        Passed { fit, mut report, .. }: Passed,
        facts: Facts,
    ) -> Result<Answer, LearnError> {
        report.solver = format!("conjugate gradients on {}", self.approximation()?.1);
        report.warnings.extend(prepared.warning.clone());
        Ok(Answer { facts, ..Answer::new(predictor(prepared, fit), report) })
    }
}

/// The mean squared error of each target.
fn squared(errors: &[Errors]) -> Vec<f64> {
    let of_target = |errors: &Errors| match errors {
        Errors::Numbers(errors) => errors.rmse * errors.rmse,
        _ => f64::NAN,
    };
    errors.iter().map(of_target).collect()
}
