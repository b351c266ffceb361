//! Ridge regression by passes over features in memory: conjugate gradients in place of sums.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Matrix;
use crate::design::{Design, Held, Parts};
use crate::linalg::{LinearFit, NormalEquations};
use crate::session::Session;
use crate::solve::{NormalCg, NormalCgFit, Report, affordable_passes};

use super::super::cost;
use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::lift::Prepared;
use super::super::problem::Problem;
use super::incremental::{Solution, empty_sums, predictor};
use super::quality::AllRows;
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

impl Ridge {
    /// The fit by passes if these are cheaper, the features fit the memory, and the sample represents the other rows;
    /// otherwise the sums over the features.
    pub(super) fn passes_or_sums(
        &self,
        prepared: &Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Outcome, LearnError> {
        let (samples, targets) = (problem.samples()?, problem.numbers()?);
        let ready = prepared.features.ready(samples.ncols(), None, session)?;
        let (n, d) = (samples.nrows(), ready.count());
        let needed = (n as u64)
            .saturating_mul(d as u64)
            .saturating_mul(ready.precision(samples).bytes())
            .saturating_add(cost::sums_bytes(d, targets.ncols()));
        let groups = targets_by_lambda(&self.lambda, targets.ncols());
        let mut sums = [empty_sums(d, targets.ncols(), session)?];
        let passes = affordable_passes(d, ready.precision(samples)).filter(|_| {
            !prepared.features.engine_adds(session)
                && n.saturating_mul(d) >= ENTRIES
                && n >= ROWS_PER_FEATURE * d
                && groups.len() <= LAMBDAS
                && groups.iter().all(|(lambda, _)| *lambda > 0.0)
                && needed <= session.memory()
        });
        let Some(passes) = passes else {
            let labels = (targets, problem.weights());
            prepared.features.add_sums(samples, labels, &Parts::All, &mut sums, session)?;
            let [sums] = sums;
            return Ok(Outcome::Summed(sums));
        };
        let design = Held::for_passes(&ready, samples, session)?;
        let mut parts = vec![None; n];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        index::sample(&mut rng, n, SAMPLE_PER_FEATURE * d).into_iter().for_each(|row| parts[row] = Some(0));
        design.normal_equations(targets, problem.weights(), &Parts::Table(&parts), &mut sums, session)?;
        if let Some(answer) = self.passes_over((&design, passes), prepared, problem, &sums[0], session)? {
            return Ok(Outcome::Fitted(Box::new(answer)));
        }
        // The sums over the sample are a part of those over all rows.
        parts.iter_mut().for_each(|part| *part = if part.is_none() { Some(0) } else { None });
        design.normal_equations(targets, problem.weights(), &Parts::Table(&parts), &mut sums, session)?;
        let [sums] = sums;
        Ok(Outcome::Summed(sums))
    }

    /// The fit of each λ, by a limited number of passes.
    fn passes_over(
        &self,
        (design, passes): (&dyn Design, u64),
        prepared: &Prepared,
        problem: &Problem<'_>,
        sample: &NormalEquations,
        session: &Session<'_>,
    ) -> Result<Option<Answer>, LearnError> {
        let (targets, weights) = (problem.numbers()?, problem.weights());
        let (d, t) = (design.ncols(), targets.ncols());
        let mut all = LinearFit { weights: Matrix::zeros(d, t), intercepts: vec![0.0; t] };
        let mut solution = Solution { fit: all.clone(), residual: 0.0, effective_dimension: f64::INFINITY };
        let (mut errors, mut last) = (vec![0.0; t], None::<Report>);
        let total = weights.map_or(design.nrows() as f64, |w| w.iter().sum());
        for (lambda, group) in &targets_by_lambda(&self.lambda, t) {
            let of_row = |row: usize| group.iter().map(move |&o| targets.row(row)[o]);
            let entries = (0..targets.nrows()).flat_map(of_row).collect();
            let of_group = Matrix::from_entries(targets.nrows(), group.len(), entries);
            let system = NormalCg { design, targets: &of_group, weights, intercept: self.intercept, passes };
            let Some(found) = system.solve(*lambda, sample, session)? else { return Ok(None) };
            let NormalCgFit { fit, squared_errors, report, of_sample, effective_dimension } = found;
            solution.take(&of_sample, effective_dimension, group);
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
        let Some(mut report) = last else { return Ok(None) };
        report.solver = format!("conjugate gradients on {}", self.approximation()?.1);
        report.warnings.extend(prepared.warning.clone());
        let all_rows = AllRows { share: sample.weight() / total, errors };
        let quality =
            self.quality_by_sample(prepared, (sample, &solution), &all_rows, problem.samples()?, session)?;
        let facts = quality.facts(&problem.origin.outputs);
        Ok(Some(Answer { facts, ..Answer::new(predictor(prepared, all), report) }))
    }
}
