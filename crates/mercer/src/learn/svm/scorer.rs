//! Accuracies of support vector classification for every C at one kernel.

use crate::gram::{Gram, Resident};
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::error::LearnError;
use crate::learn::lift::Lift;
use crate::learn::problem::{Inputs, Problem};
use crate::learn::search::{Criterion, LeftOut, Measure, NO_KERNEL, Parts, Score, Scorer, Shared, Tunable};
use crate::session::Session;

use super::Svm;
use super::dual::Labels;
use super::machine::Machine;
use super::training::Training;

/// Each kernel's matrix is computed once for all folds, pairs of classes and values of C; each machine starts from the one with
/// the next smaller C.
impl Tunable for Svm {
    fn open_kernel(&self) -> Option<&Kernel> {
        self.lift.kernel()
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        Self { lift: self.lift.with_kernel(kernel), ..self }
    }

    fn shared(&self) -> Shared {
        Shared::Cost
    }

    fn with_shared(self, c: f64) -> Self {
        Self { machine: Machine::Svc { c }, ..self }
    }

    fn kernel_admission(&self) -> Admission {
        self.admission
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        _: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        if !matches!((&self.lift, self.machine), (Lift::Kernel(_), Machine::Svc { .. })) {
            return Err(LearnError::Unsupported(
                "of support vector machines only C-classification on a kernel itself is tuned",
            ));
        }
        let LeftOut::Parts(folds) = criterion.on(problem, session)? else {
            return Err(LearnError::Unsupported("a classifier is judged by folds or held-out rows"));
        };
        Ok(Box::new(SvcScorer::new(self, problem, folds, session)?))
    }
}

/// Samples and classes, ready for any kernel.
///
/// Rows are in the order of their folds and, within these, of their classes: the rows that one machine trains on, or one fold is
/// judged by, are then contiguous in the kernel matrix.
struct SvcScorer<'a> {
    svm: &'a Svm,
    rows: Rows<'a>,
    codes: Vec<usize>,
    classes: usize,
    folds: Parts,
    weights: Option<Vec<f64>>,
}

enum Rows<'a> {
    Samples {
        resident: Box<dyn Resident>,
        /// What kernel values are stored in.
        store: Vec<f32>,
    },
    Gram(&'a dyn Gram),
}

impl<'a> SvcScorer<'a> {
    fn new(
        svm: &'a Svm,
        problem: &'a Problem<'a>,
        folds: Parts,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let labels = Labels::of(problem, &svm.machine)?;
        let mut order: Vec<usize> = (0..problem.nrows()).collect();
        let rows = match &problem.inputs {
            Inputs::Gram(gram) => Rows::Gram(*gram),
            _ => {
                let samples = problem.samples()?;
                order.sort_by_key(|&i| (folds.of_row[i], labels.codes[i]));
                Rows::Samples { resident: session.load(&samples.select(&order))?, store: Vec::new() }
            }
        };
        let of_row = order.iter().map(|&i| folds.of_row[i]).collect();
        Ok(Self {
            svm,
            rows,
            codes: order.iter().map(|&i| labels.codes[i]).collect(),
            classes: labels.classes,
            folds: Parts { of_row, ..folds },
            weights: labels.weights.map(|w| order.iter().map(|&i| w[i]).collect()),
        })
    }
}

impl Scorer for SvcScorer<'_> {
    /// Rows count by their weights.
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        cs: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        let session = &session.part();
        let Self { svm, rows, codes, classes, folds, weights } = self;
        let training = match rows {
            Rows::Gram(gram) => Training::precomputed(*gram),
            Rows::Samples { resident, store } => {
                let kernel = kernel.ok_or(NO_KERNEL)?;
                Training::stored(&**resident, kernel, session.memory(), store, session)?
            }
        };
        // Each C starts from the one below.
        let mut order: Vec<usize> = (0..cs.len()).collect();
        order.sort_by(|&a, &b| cs[a].total_cmp(&cs[b]));
        let ascending: Vec<f64> = order.iter().map(|&k| cs[k]).collect();
        let labels = Labels { codes, classes: *classes, targets: &[], weights: weights.as_deref() };
        let found = svm.left_out(&ascending, folds, &training, labels, session)?;
        let mut scores = vec![None; cs.len()];
        for (found, &place) in found.iter().zip(&order) {
            scores[place] = Some(score(found, labels, folds));
        }
        Ok(scores)
    }
}

/// The accuracy on each fold, and 1 less their mean.
fn score(found: &[usize], labels: Labels<'_>, folds: &Parts) -> Score {
    let (mut right, mut all) = (vec![0.0; folds.count], vec![0.0; folds.count]);
    for (row, fold) in folds.of_row.iter().enumerate() {
        let Some(fold) = *fold else { continue };
        let weight = labels.weights.map_or(1.0, |w| w[row]);
        all[fold] += weight;
        right[fold] += if found[row] == labels.codes[row] { weight } else { 0.0 };
    }
    let accuracies: Vec<f64> = right.iter().zip(&all).map(|(right, all)| right / all).collect();
    Score { loss: 1.0 - accuracies.iter().sum::<f64>() / accuracies.len() as f64, accuracies }
}
