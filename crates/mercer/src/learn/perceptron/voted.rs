//! The functions of a perceptron's history, each with the visits it survived.

use crate::learn::basis::Basis;
use crate::learn::fitted::Answer;
use crate::model::{Voted, VotedStep};
use crate::solve::Report;

use super::train::History;

/// All functions of training, each with one vote per visit that it survived.
pub(super) fn voted(basis: Basis<'_>, classes: usize, history: &History, mut report: Report) -> Answer {
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
    report.warnings.extend(basis.warning());
    let (steps, centres) = (steps.collect(), basis.centres.select(&used));
    let voted = Voted { kernel: basis.kernel, domain: basis.domain, centres, classes, steps };
    Answer { centres: Some(used), ..Answer::new(voted, report) }
}
