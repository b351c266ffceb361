//! Ridge regression by passes over features in memory: conjugate gradients in place of sums.

use std::slice;

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Matrix;
use crate::design::{Design, Held, Parts};
use crate::linalg::{LinearFit, NormalEquations};
use crate::session::Session;
use crate::solve::{NormalCg, NormalCgFit, Report};

use super::super::cost;
use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::lift::Prepared;
use super::super::problem::Problem;
use super::incremental::{Solution, add_rows, empty_sums, predictor};
use super::quality::AllRows;
use super::{Ridge, targets_by_lambda};

/// Rows for each feature from which passes over the features are cheaper than the sums of their products.
const ROWS_PER_FEATURE: usize = 8;

/// Features of all rows below which the sums take no time worth saving.
const ENTRIES: usize = 1 << 22;

/// Rows of the sample for each feature.
const SAMPLE_PER_FEATURE: usize = 4;

/// Values of λ up to which each has passes of its own.
const LAMBDAS: usize = 4;

impl Ridge {
    /// The fit where passes are cheaper, the features fit the memory, and the rows of a sample are like the others.
    pub(super) fn passes(
        &self,
        prepared: &Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Option<Answer>, LearnError> {
        let (samples, targets) = (problem.samples()?, problem.numbers()?);
        let ready = prepared.features.ready(samples.ncols(), None, session)?;
        let (n, d) = (samples.nrows(), ready.count());
        let needed = (n as u64)
            .saturating_mul(d as u64)
            .saturating_mul(ready.precision(samples).bytes())
            .saturating_add(cost::sums_bytes(d, targets.ncols()));
        let groups = targets_by_lambda(&self.lambda, targets.ncols());
        if n.saturating_mul(d) < ENTRIES
            || n < ROWS_PER_FEATURE * d
            || groups.len() > LAMBDAS
            || groups.iter().any(|(lambda, _)| *lambda <= 0.0)
            || needed > session.memory()
        {
            return Ok(None);
        }
        let sample = self.sample(prepared, problem, session)?;
        let design = Held::for_passes(&ready, samples, session)?;
        self.passes_over(&design, prepared, problem, &sample, session)
    }

    /// The sums over random rows.
    fn sample(
        &self,
        prepared: &Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<NormalEquations, LearnError> {
        let (samples, targets, weights) = (problem.samples()?, problem.numbers()?, problem.weights());
        let (n, d) = (samples.nrows(), prepared.features.count(samples.ncols())?);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let mut rows = index::sample(&mut rng, n, SAMPLE_PER_FEATURE * d).into_vec();
        rows.sort_unstable();
        let weights: Option<Vec<f64>> = weights.map(|w| rows.iter().map(|&row| w[row]).collect());
        let mut sums = empty_sums(d, targets.ncols(), session)?;
        let (samples, targets) = (samples.select(&rows), targets.select(&rows));
        let into = (&Parts::All, slice::from_mut(&mut sums));
        add_rows(&prepared.features, &samples, &targets, weights.as_deref(), into, session)?;
        Ok(sums)
    }

    /// The fit of each λ.
    fn passes_over(
        &self,
        design: &dyn Design,
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
            let passes = NormalCg { design, targets: &of_group, weights, intercept: self.intercept };
            let Some(found) = passes.fit(*lambda, sample, session)? else { return Ok(None) };
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
