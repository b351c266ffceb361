//! Votes of a sequence of functions, each of which adds a few kernel terms to the one before it.

use crate::data::{AnySamples, Matrix};
use crate::gram::{GramError, Part};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::session::Session;
use crate::watch::Watch;

use super::domain::check_samples;
use super::error::ModelError;
use super::link::Link;

/// The voted perceptron: every function of training casts one vote for each visit that it survived.
///
/// Freund & Schapire, *Large margin classification using the perceptron algorithm* (1999).
#[derive(Debug, Clone, PartialEq)]
pub struct Voted {
    /// k, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// The domain on which k is proven to be positive semidefinite; `None` if that was assumed or is undecided.
    pub domain: Option<Domain>,
    /// The centres.
    pub centres: AnySamples<'static>,
    /// Classes, 2 or more. A function of two classes has one output, positive for the second; else one for each class.
    pub classes: usize,
    /// The kernel terms that lead from zero to the last function, in order.
    pub steps: Vec<VotedStep>,
}

/// One kernel term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VotedStep {
    /// Its centre.
    pub centre: u32,
    /// The output that it is added to.
    pub output: u32,
    /// Its coefficient.
    pub amount: f64,
    /// Votes of the function with this term; 0 if the next term belongs to the same function.
    pub votes: u64,
}

impl VotedStep {
    /// The steps as a matrix, one a row: the centre, the output, the amount and the votes.
    #[must_use]
    pub fn to_matrix(steps: &[Self]) -> Matrix<f64> {
        let numbers =
            |step: &Self| [f64::from(step.centre), f64::from(step.output), step.amount, step.votes as f64];
        Matrix::from_entries(steps.len(), 4, steps.iter().flat_map(numbers).collect())
    }

    /// The steps of a matrix that [`to_matrix`](Self::to_matrix) returned.
    ///
    /// # Errors
    /// If it does not have four columns, or if a centre, an output or a number of votes is not a whole number.
    pub fn from_matrix(numbers: &Matrix<f64>) -> Result<Vec<Self>, ModelError> {
        let inconsistent = |reason| ModelError::Inconsistent { reason };
        // The cast changes numbers that are not whole or too large.
        let place = |number: f64| match number as u32 {
            whole if f64::from(whole) == number => Ok(whole),
            _ => Err(inconsistent(format!("a step is at {number}, which is no place"))),
        };
        let votes = |number: f64| match number as u64 {
            whole if whole as f64 == number => Ok(whole),
            _ => Err(inconsistent(format!("a step has {number} votes"))),
        };
        let step = |row: usize| match numbers.row(row) {
            &[centre, output, amount, cast] => {
                Ok(Self { centre: place(centre)?, output: place(output)?, amount, votes: votes(cast)? })
            }
            _ => Err(inconsistent("its steps do not have four numbers each".to_owned())),
        };
        (0..numbers.nrows()).map(step).collect()
    }
}

/// Samples whose kernel values are in memory at a time.
const BATCH: usize = 256;

impl Voted {
    /// The share of the votes for each class: one row per sample, one column per class, each row adding up to one.
    ///
    /// O(nd + u) a sample for n centres and u steps.
    ///
    /// # Errors
    /// If the samples do not have the centres' columns or are outside of the kernel's domain, or if the session asks to
    /// stop.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        check_samples(samples, self.centres.ncols(), self.domain)?;
        let centres = session.load(&self.centres)?;
        let mut shares = Matrix::zeros(samples.nrows(), self.classes);
        for first in (0..samples.nrows()).step_by(BATCH) {
            let rows: Vec<usize> = (first..samples.nrows().min(first + BATCH)).collect();
            let queries = session.load(&samples.select(&rows))?;
            let mut values = vec![0.0; rows.len() * self.centres.nrows()];
            let cross = queries.cross(&self.kernel, &*centres)?;
            cross.fill(Part::Full, (&mut values).into(), session).map_err(GramError::from)?;
            for (&row, values) in rows.iter().zip(values.chunks_exact(self.centres.nrows())) {
                session.check().map_err(GramError::from)?;
                self.cast(values, shares.row_mut(row));
            }
        }
        Ok(shares)
    }

    /// The shares at a point with these kernel values.
    fn cast(&self, values: &[f64], shares: &mut [f64]) {
        let mut f = vec![0.0; if self.classes == 2 { 1 } else { self.classes }];
        let mut total = 0.0;
        for step in &self.steps {
            f[step.output as usize] += step.amount * values[step.centre as usize];
            if step.votes > 0 {
                shares[Link::Decisions.class(&f)] += step.votes as f64;
                total += step.votes as f64;
            }
        }
        shares.iter_mut().for_each(|share| *share /= total);
    }

    /// The problem with the parts, if any.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let outputs = if self.classes == 2 { 1 } else { self.classes };
        let fits = |step: &VotedStep| {
            (step.centre as usize) < self.centres.nrows()
                && (step.output as usize) < outputs
                && step.amount.is_finite()
        };
        match () {
            () if self.classes < 2 => Some("fewer than two classes"),
            () if !self.steps.iter().all(fits) => Some("a step with an invalid centre, output or amount"),
            () if self.steps.iter().all(|step| step.votes == 0) => Some("no votes"),
            () => None,
        }
    }
}
