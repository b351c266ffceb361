//! Accuracies of support vector classification for every C at one kernel.

use crate::data::AnySamples;
use crate::gram::Resident;
use crate::learn::LearnError;
use crate::learn::svm::{Labels, Svm, Training};
use crate::session::Session;

/// Samples and classes, ready for any kernel.
///
/// Rows are in the order of their folds and, within these, of their classes: what one machine trains on, or one fold is judged by,
/// is then contiguous in the kernel matrix.
pub(super) struct SvcScores {
    resident: Box<dyn Resident>,
    codes: Vec<usize>,
    classes: usize,
    folds: Vec<usize>,
    weights: Option<Vec<f64>>,
    store: Vec<f32>,
}

impl SvcScores {
    /// The scores of these labels and folds on `samples`; the input has been checked.
    pub fn new(
        samples: &AnySamples<'_>,
        labels: Labels<'_>,
        folds: &[usize],
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let mut order: Vec<usize> = (0..samples.nrows()).collect();
        order.sort_by_key(|&i| (folds[i], labels.codes[i]));
        let sorted = |values: &[usize]| order.iter().map(|&i| values[i]).collect::<Vec<usize>>();
        Ok(Self {
            codes: sorted(labels.codes),
            classes: labels.classes,
            folds: sorted(folds),
            weights: labels.weights.map(|w| order.iter().map(|&i| w[i]).collect()),
            resident: session.load(&samples.select(&order))?,
            store: Vec::new(),
        })
    }

    /// The accuracy on each fold, for each of `cs`.
    ///
    /// # Errors
    /// Where the kernel has a value that is not finite, and where the session is stopped.
    pub fn score(
        &mut self,
        svm: &Svm,
        cs: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Vec<f64>>, LearnError> {
        let Self { resident, codes, classes, folds, weights, store } = self;
        let training = Training::stored(&**resident, &svm.kernel, session.memory(), store, session)?;
        let labels = Labels { codes, classes: *classes, targets: &[], weights: weights.as_deref() };
        accuracies(svm, &training, cs, labels, folds, session)
    }
}

/// The accuracy on each fold of machines trained on the others, for each of `cs`, rows counting by their weights.
pub(super) fn accuracies(
    svm: &Svm,
    training: &Training<'_>,
    cs: &[f64],
    labels: Labels<'_>,
    folds: &[usize],
    session: &Session<'_>,
) -> Result<Vec<Vec<f64>>, LearnError> {
    // Each C starts from the one below.
    let mut order: Vec<usize> = (0..cs.len()).collect();
    order.sort_by(|&a, &b| cs[a].total_cmp(&cs[b]));
    let ascending: Vec<f64> = order.iter().map(|&k| cs[k]).collect();
    let found = svm.left_out(&ascending, folds, training, labels, session)?;
    let nfolds = folds.iter().max().map_or(0, |last| last + 1);
    let mut scores = vec![Vec::new(); cs.len()];
    for (found, &place) in found.iter().zip(&order) {
        let (mut right, mut all) = (vec![0.0; nfolds], vec![0.0; nfolds]);
        for (row, &fold) in folds.iter().enumerate() {
            let weight = labels.weights.map_or(1.0, |w| w[row]);
            all[fold] += weight;
            right[fold] += if found[row] == labels.codes[row] { weight } else { 0.0 };
        }
        scores[place] = right.iter().zip(&all).map(|(right, all)| right / all).collect();
    }
    Ok(scores)
}
