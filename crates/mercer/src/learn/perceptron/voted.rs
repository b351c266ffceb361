//! The voted perceptron: every function that stood during training keeps its vote.

use crate::data::{AnySamples, Matrix};
use crate::gram::{CpuEngine, Engine, GramError, Part};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::model::{ModelError, first_outside};
use crate::watch::Watch;

use super::outputs;
use super::train::{Change, History};

/// A sequence of functions, each the one before it with a few bumps added, and the visits that each survived.
///
/// Freund & Schapire, *Large margin classification using the perceptron algorithm* (1999).
#[derive(Debug, Clone, PartialEq)]
pub struct VotedPerceptron {
    kernel: Kernel,
    domain: Option<Domain>,
    centres: AnySamples<'static>,
    classes: usize,
    steps: Vec<Step>,
}

/// One change on the way, by the centre's place.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    centre: u32,
    change: Change,
    /// Visits that the function with this change survived; 0 where the next change belongs to the same mistake.
    survived: u64,
}

/// Samples whose kernel values are held at a time.
const TOGETHER: usize = 256;

impl VotedPerceptron {
    pub(super) fn new(
        kernel: Kernel,
        domain: Option<Domain>,
        samples: &AnySamples<'_>,
        classes: usize,
        history: &History,
    ) -> Self {
        let mut used = history.mistaken();
        used.sort_unstable();
        used.dedup();
        let ends = history.updates.iter().skip(1).map(|u| u.visit).chain([history.visits]);
        let steps = history.updates.iter().zip(ends).map(|(update, end)| Step {
            centre: used.partition_point(|&row| row < update.row as usize) as u32,
            change: update.change,
            survived: end - update.visit,
        });
        Self { kernel, domain, centres: samples.select(&used), classes, steps: steps.collect() }
    }

    /// The share of the votes for each class: one row per sample, one column per class, each row adding up to one.
    ///
    /// O(nd + u) a sample for n centres and u corrections.
    ///
    /// # Errors
    /// Where the samples do not have the centres' columns or are outside of the kernel's domain, and where `watch` asks to
    /// stop.
    pub fn votes(&self, samples: &AnySamples<'_>, watch: &dyn Watch) -> Result<Matrix<f64>, ModelError> {
        let (found, expected) = (samples.ncols(), self.centres.ncols());
        if found != expected {
            return Err(ModelError::Columns { found, expected });
        }
        if let Some((row, reason)) = self.domain.and_then(|domain| first_outside(domain, samples)) {
            return Err(ModelError::OutsideDomain { row, reason });
        }
        let centres = CpuEngine.load(&self.centres);
        let mut votes = Matrix::zeros(samples.nrows(), self.classes);
        for first in (0..samples.nrows()).step_by(TOGETHER) {
            let rows: Vec<usize> = (first..samples.nrows().min(first + TOGETHER)).collect();
            let queries = CpuEngine.load(&samples.select(&rows));
            let mut values = vec![0.0; rows.len() * self.centres.nrows()];
            let cross = queries.cross(&self.kernel, &*centres)?;
            cross.fill_f64(Part::Full, &mut values, watch).map_err(GramError::from)?;
            for (&row, values) in rows.iter().zip(values.chunks_exact(self.centres.nrows())) {
                watch.check().map_err(GramError::from)?;
                self.cast(values, votes.row_mut(row));
            }
        }
        Ok(votes)
    }

    /// The votes at a point with these kernel values.
    fn cast(&self, values: &[f64], votes: &mut [f64]) {
        let mut f = vec![0.0; outputs(self.classes)];
        let mut total = 0.0;
        for step in &self.steps {
            f[step.change.output as usize] += step.change.amount * values[step.centre as usize];
            if step.survived > 0 {
                votes[winner(&f)] += step.survived as f64;
                total += step.survived as f64;
            }
        }
        votes.iter_mut().for_each(|v| *v /= total);
    }
}

/// The class that decision values stand for; the first of equals.
fn winner(f: &[f64]) -> usize {
    match f {
        [value] => usize::from(*value > 0.0),
        _ => (1..f.len()).fold(0, |best, k| if f[k] > f[best] { k } else { best }),
    }
}
