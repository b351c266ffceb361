//! The passes of a perceptron over its rows, on a kernel matrix or on features.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::learn::error::LearnError;
use crate::session::Session;
use crate::watch::Watch;

use super::Rule;

/// Decision values that corrections change.
pub(super) trait Decisions {
    /// f(xᵢ) into `out`, one entry per output.
    fn at(&self, i: usize, out: &mut [f64]);

    /// Adds `amount`·k(xᵢ, ·) to each of these outputs of f.
    fn correct(&mut self, i: usize, changes: &[Change]) -> Result<(), LearnError>;

    /// ‖f_c‖² of every output, in the kernel's feature space.
    fn squared_norms(&self) -> Vec<f64>;
}

/// The change of one output by a correction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub output: u32,
    /// +1 or −1.
    pub amount: f64,
}

/// A change, the row that caused it, and the number of visits before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Update {
    pub row: u32,
    pub change: Change,
    pub visit: u64,
}

/// The history of the passes, from which the last, averaged and voted forms are computed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct History {
    pub updates: Vec<Update>,
    /// Rows visited, with repetition.
    pub visits: u64,
    pub passes: usize,
    /// Whether the last pass made no mistake.
    pub separated: bool,
}

impl History {
    /// The rows with mistakes, in order.
    pub fn mistaken(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = Vec::new();
        let mut last = None;
        for update in &self.updates {
            if last != Some(update.visit) {
                rows.push(update.row as usize);
                last = Some(update.visit);
            }
        }
        rows
    }

    /// The weight of each update in the average of the functions after each visit.
    pub fn share(&self, update: &Update) -> f64 {
        (self.visits - update.visit) as f64 / self.visits as f64
    }
}

/// The passes to make.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course<'a> {
    pub codes: &'a [usize],
    pub outputs: usize,
    pub rule: Rule,
    pub passes: usize,
    pub shuffle: Option<u64>,
}

/// Visits between two checks of the watch.
const PATIENCE: usize = 64;

/// Makes passes over the rows until one has no mistake, or all passes are made.
pub(super) fn train(
    course: &Course<'_>,
    decisions: &mut dyn Decisions,
    session: &Session<'_>,
) -> Result<History, LearnError> {
    let mut order: Vec<usize> = (0..course.codes.len()).collect();
    let mut random = course.shuffle.map(Xoshiro256PlusPlus::seed_from_u64);
    let mut values = vec![0.0; course.outputs];
    let mut changes = Vec::new();
    let mut history = History { updates: Vec::new(), visits: 0, passes: 0, separated: false };
    session.begin("perceptron", course.passes as u64);
    while history.passes < course.passes && !history.separated {
        if let Some(random) = &mut random {
            order.shuffle(random);
        }
        history.separated = true;
        for (place, &i) in order.iter().enumerate() {
            if place % PATIENCE == 0 {
                session.check()?;
            }
            decisions.at(i, &mut values);
            changes.clear();
            course.rule.corrections(&values, course.codes[i], &mut changes);
            if !changes.is_empty() {
                session.check()?;
                history.separated = false;
                decisions.correct(i, &changes)?;
                let visit = history.visits;
                history.updates.extend(changes.iter().map(|&change| Update { row: i as u32, change, visit }));
            }
            history.visits += 1;
        }
        history.passes += 1;
        session.advance(1);
    }
    Ok(history)
}

impl Rule {
    /// The correction for a row of class `own` with these decision values: none if it is on the right side.
    pub(super) fn corrections(self, values: &[f64], own: usize, changes: &mut Vec<Change>) {
        if let [value] = values {
            let y = if own == 1 { 1.0 } else { -1.0 };
            // A value of exactly 0 is a mistake too: otherwise a perceptron that starts at zero would never change.
            if y * value <= 0.0 {
                changes.push(Change { output: 0, amount: y });
            }
            return;
        }
        match self {
            Self::OneVsRest => {
                for (k, value) in values.iter().enumerate() {
                    let y = if k == own { 1.0 } else { -1.0 };
                    if y * value <= 0.0 {
                        changes.push(Change { output: k as u32, amount: y });
                    }
                }
            }
            Self::Direct => {
                let rival = rival(values, own);
                if values[own] <= values[rival] {
                    changes.push(Change { output: own as u32, amount: 1.0 });
                    changes.push(Change { output: rival as u32, amount: -1.0 });
                }
            }
        }
    }
}

/// The class with the largest value among all but `own`; the first of equals.
pub(super) fn rival(values: &[f64], own: usize) -> usize {
    let others = (0..values.len()).filter(|&k| k != own);
    others.fold(usize::from(own == 0), |best, k| if values[k] > values[best] { k } else { best })
}
