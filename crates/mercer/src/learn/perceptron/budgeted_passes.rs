//! Passes over rows in memory with a limit on the centres.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::learn::basis::Basis;
use crate::learn::error::LearnError;
use crate::learn::fitted::Answer;
use crate::learn::problem::Problem;
use crate::model::Expansion;
use crate::session::Session;
use crate::watch::Watch;

use super::report::Outcome;
use super::{BudgetedPerceptron, Perceptron, radius};

impl Perceptron {
    /// The fit with at most `budget` centres.
    pub(super) fn within_budget(
        &self,
        basis: Basis<'_>,
        budget: usize,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (samples, (codes, classes)) = (problem.samples()?, problem.codes()?);
        let (rows, columns) = (samples.nrows(), samples.ncols());
        let mut machine = BudgetedPerceptron::new(basis.kernel.clone(), columns, classes, self.rule, budget)?;
        let mut order: Vec<usize> = (0..rows).collect();
        let mut random = self.shuffle.then(|| Xoshiro256PlusPlus::seed_from_u64(session.seed()));
        let mut row = vec![0.0; columns];
        let (mut passes, mut separated) = (0, false);
        session.begin("perceptron", (self.passes as u64).saturating_mul(rows as u64));
        while passes < self.passes && !separated {
            if let Some(random) = &mut random {
                order.shuffle(random);
            }
            separated = true;
            for &i in &order {
                session.check()?;
                samples.copy_row(i, &mut row);
                if machine.update(&row, codes[i])? {
                    separated = false;
                }
                session.advance(1);
            }
            passes += 1;
        }
        let mut squares = Vec::with_capacity(rows);
        for i in 0..rows {
            samples.copy_row(i, &mut row);
            squares.push(basis.kernel.eval(&row, &row)?);
        }
        let outcome = Outcome {
            separated,
            passes,
            mistakes: machine.mistakes() as usize,
            radius: radius(squares.into_iter()),
            margin: None,
            bound: None,
        };
        let mut report = outcome.report();
        report.warnings.extend(basis.warning());
        let expansion = Expansion { domain: basis.domain, ..machine.expansion()? };
        Ok(Answer { facts: outcome.facts(), ..Answer::new(expansion, report) })
    }
}
