//! Accuracies of support vector classification for every C at one kernel.

use crate::data::AnySamples;
use crate::gram::Resident;
use crate::learn::LearnError;
use crate::learn::svm::{Svc, Training};
use crate::session::Session;

/// The classes of some rows, their folds and weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labels<'a> {
    pub codes: &'a [usize],
    pub nclasses: usize,
    pub folds: &'a [usize],
    pub weights: Option<&'a [f64]>,
}

/// Samples and classes, ready for any kernel.
///
/// Rows are in the order of their folds and, within these, of their classes: what one machine trains on, or one fold is judged by,
/// then lies side by side in the kernel matrix.
pub(super) struct SvcScores {
    rows: Rows,
    store: Vec<f32>,
}

/// What [`Labels`] are, owned.
struct Rows {
    resident: Box<dyn Resident>,
    codes: Vec<usize>,
    nclasses: usize,
    folds: Vec<usize>,
    weights: Option<Vec<f64>>,
}

impl SvcScores {
    /// The scores of these labels on `samples`; the input has been checked.
    pub fn new(
        samples: &AnySamples<'_>,
        labels: Labels<'_>,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let mut order: Vec<usize> = (0..samples.nrows()).collect();
        order.sort_by_key(|&i| (labels.folds[i], labels.codes[i]));
        let sorted = |values: &[usize]| order.iter().map(|&i| values[i]).collect::<Vec<usize>>();
        let rows = Rows {
            codes: sorted(labels.codes),
            nclasses: labels.nclasses,
            folds: sorted(labels.folds),
            weights: labels.weights.map(|w| order.iter().map(|&i| w[i]).collect()),
            resident: session.load(&samples.select(&order))?,
        };
        Ok(Self { rows, store: Vec::new() })
    }

    /// The accuracy on each fold, for each of `cs`.
    ///
    /// # Errors
    /// Where the kernel is not one or has a value that is not finite, and where the session is stopped.
    pub fn score(
        &mut self,
        machine: &Svc,
        cs: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Vec<f64>>, LearnError> {
        let rows = &self.rows;
        let training =
            Training::stored(&*rows.resident, &machine.kernel, session.memory(), &mut self.store, session)?;
        let labels = Labels {
            codes: &rows.codes,
            nclasses: rows.nclasses,
            folds: &rows.folds,
            weights: rows.weights.as_deref(),
        };
        accuracies(machine, &training, cs, labels, session)
    }
}

/// The accuracy on each fold of machines trained on the others, for each of `cs`, rows counting by their weights.
pub(super) fn accuracies(
    machine: &Svc,
    training: &Training<'_>,
    cs: &[f64],
    labels: Labels<'_>,
    session: &Session<'_>,
) -> Result<Vec<Vec<f64>>, LearnError> {
    // Each C starts from the one below.
    let mut order: Vec<usize> = (0..cs.len()).collect();
    order.sort_by(|&a, &b| cs[a].total_cmp(&cs[b]));
    let ascending: Vec<f64> = order.iter().map(|&k| cs[k]).collect();
    let Labels { codes, nclasses, folds, weights } = labels;
    let said = machine.left_out_on(&ascending, folds, training, codes, nclasses, weights, session)?;
    let nfolds = folds.iter().max().map_or(0, |last| last + 1);
    let mut scores = vec![Vec::new(); cs.len()];
    for (said, &place) in said.iter().zip(&order) {
        let (mut right, mut all) = (vec![0.0; nfolds], vec![0.0; nfolds]);
        for (row, &fold) in folds.iter().enumerate() {
            let weight = weights.map_or(1.0, |w| w[row]);
            all[fold] += weight;
            right[fold] += if said[row] == codes[row] { weight } else { 0.0 };
        }
        scores[place] = right.iter().zip(&all).map(|(right, all)| right / all).collect();
    }
    Ok(scores)
}
