//! The functions of a perceptron's history, each with the visits it survived.

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::model::{Voted, VotedStep};

use super::train::History;

/// Every function that stood, to vote as often as it survived a visit.
pub(super) fn voted(
    kernel: Kernel,
    domain: Option<Domain>,
    samples: &AnySamples<'_>,
    classes: usize,
    history: &History,
) -> Voted {
    let mut used = history.mistaken();
    used.sort_unstable();
    used.dedup();
    let ends = history.updates.iter().skip(1).map(|update| update.visit).chain([history.visits]);
    let steps = history.updates.iter().zip(ends).map(|(update, end)| VotedStep {
        centre: used.partition_point(|&row| row < update.row as usize) as u32,
        output: update.change.output,
        amount: update.change.amount,
        votes: end - update.visit,
    });
    Voted { kernel, domain, centres: samples.select(&used), classes, steps: steps.collect() }
}
