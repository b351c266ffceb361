//! Passes over rows at hand with a limit on the centres.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::AnySamples;
use crate::learn::error::LearnError;
use crate::model::Expansion;
use crate::session::Session;
use crate::solve::Status;
use crate::watch::Watch;

use super::{BudgetedPerceptron, Perceptron, PerceptronReport, radius};

impl Perceptron {
    /// As [`fit`](Self::fit), with at most `budget` centres: see [`BudgetedPerceptron`], which also learns from rows that come
    /// one by one. The last function is taken, whatever [`standing`](Self::standing) says, and no margin is known.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and where the budget is 0.
    pub fn fit_budgeted(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        budget: usize,
        session: &Session<'_>,
    ) -> Result<(Expansion, PerceptronReport), LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        self.validate(rows, columns, codes, classes)?;
        let admitted = self.admission.decide(&self.kernel, samples)?;
        let mut machine = BudgetedPerceptron::new(self.kernel.clone(), columns, classes, self.rule, budget)?;
        let mut order: Vec<usize> = (0..rows).collect();
        let mut random = self.shuffle.map(Xoshiro256PlusPlus::seed_from_u64);
        let mut row = vec![0.0; columns];
        let (mut passes, mut mistaken, mut separated) = (0, Vec::new(), false);
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
                    mistaken.push(i);
                }
                session.advance(1);
            }
            passes += 1;
        }
        let mut squares = Vec::with_capacity(rows);
        for i in 0..rows {
            samples.copy_row(i, &mut row);
            squares.push(self.kernel.eval(&row, &row)?);
        }
        let report = PerceptronReport {
            status: if separated { Status::Converged } else { Status::OutOfIterations },
            passes,
            mistakes: mistaken.len(),
            mistaken,
            radius: radius(squares.into_iter()),
            margin: None,
            bound: None,
            warnings: admitted.warning.into_iter().collect(),
        };
        Ok((Expansion { domain: admitted.domain, ..machine.expansion()? }, report))
    }
}
