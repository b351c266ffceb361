//! Scores of support vector machines for every C or ν at one kernel.

use crate::data::Matrix;
use crate::gram::{Gram, Resident};
use crate::kernel::{Kernel, SearchSpace};
use crate::learn::error::LearnError;
use crate::learn::kernel_check::KernelCheck;
use crate::learn::learner::{Learner, Requires};
use crate::learn::lift::Lift;
use crate::learn::problem::{Inputs, Problem};
use crate::learn::search::{
    Criterion, LeftOut, Measure, NO_KERNEL, Parts, Score, Scorer, Shared, Tally, Tunable,
};
use crate::model::Link;
use crate::session::Session;

use super::dual::Labels;
use super::machine::Machine;
use super::path::Predicted;
use super::training::Training;
use super::{FEASIBLE, Svm};

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
        self.machine.shared()
    }

    fn with_shared(self, value: f64) -> Self {
        Self { machine: self.machine.with_shared(value), ..self }
    }

    /// C of a regression in units of the targets' standard deviation; ν up to a little below the largest feasible one.
    fn usual_values(&self, problem: &Problem<'_>) -> Result<Option<SearchSpace>, LearnError> {
        Ok(match self.machine {
            Machine::Svr { .. } | Machine::NuSvr { .. } => {
                let targets = Labels::of(problem, &self.machine)?.targets;
                let mean = targets.iter().sum::<f64>() / targets.len() as f64;
                let squares: f64 = targets.iter().map(|y| (y - mean).powi(2)).sum();
                let deviation = (squares / targets.len() as f64).sqrt();
                (deviation > 0.0).then(|| SearchSpace::Between(deviation / 32.0, 128.0 * deviation))
            }
            Machine::NuSvc { .. } => self.largest_nu(problem)?.map(|largest| {
                let high = (FEASIBLE * largest).min(0.8);
                SearchSpace::Between((0.1 * high).min(0.01), high)
            }),
            Machine::Svc { .. } | Machine::OneClass { .. } => None,
        })
    }

    fn second(&self) -> Shared {
        self.machine.second()
    }

    fn with_second(self, value: f64) -> Self {
        Self { machine: self.machine.with_second(value), ..self }
    }

    fn usual_criterion(&self) -> Criterion {
        Criterion::Folds(5)
    }

    fn check_of_trials(&self) -> KernelCheck {
        self.kernel_check
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        if !matches!(self.lift, Lift::Kernel(_)) {
            return Err(LearnError::Unsupported(
                "support vector machines are tuned on a kernel itself, not on features",
            ));
        }
        let LeftOut::Parts(folds) = criterion.on(problem, session)? else {
            return Err(LearnError::Unsupported(
                "support vector machines are scored by folds or held-out rows",
            ));
        };
        Ok(Box::new(SvmScorer::new(self.clone().resolved(problem)?, problem, folds, measure, session)?))
    }
}

/// Samples and targets, prepared for any kernel.
///
/// Rows are in the order of their folds and, within these, of their classes: the training rows of a machine and the
/// test rows of a fold are then contiguous in the kernel matrix.
struct SvmScorer<'a> {
    svm: Svm,
    measure: Measure,
    rows: Rows<'a>,
    codes: Vec<usize>,
    classes: usize,
    targets: Vec<f64>,
    folds: Parts,
    weights: Option<Vec<f64>>,
}

enum Rows<'a> {
    Samples {
        resident: Box<dyn Resident>,
        /// The storage of kernel values.
        store: Vec<f32>,
    },
    Gram(&'a dyn Gram),
}

impl<'a> SvmScorer<'a> {
    fn new(
        svm: Svm,
        problem: &'a Problem<'a>,
        folds: Parts,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let labels = Labels::of(problem, &svm.machine)?;
        let mut order: Vec<usize> = (0..problem.nrows()).collect();
        let rows = match &problem.inputs {
            Inputs::Gram(gram) => Rows::Gram(*gram),
            _ => {
                let samples = problem.samples()?;
                order.sort_by_key(|&i| (folds.of_row[i], labels.codes.get(i)));
                Rows::Samples { resident: session.load(&samples.select(&order))?, store: Vec::new() }
            }
        };
        let of_row = order.iter().map(|&i| folds.of_row[i]).collect();
        Ok(Self {
            svm,
            measure,
            rows,
            codes: order.iter().filter_map(|&i| labels.codes.get(i).copied()).collect(),
            classes: labels.classes,
            targets: order.iter().filter_map(|&i| labels.targets.get(i).copied()).collect(),
            folds: Parts { of_row, ..folds },
            weights: labels.weights.map(|w| order.iter().map(|&i| w[i]).collect()),
        })
    }
}

impl Scorer for SvmScorer<'_> {
    fn set_second(&mut self, value: f64) {
        self.svm.machine = self.svm.machine.with_second(value);
    }

    /// Rows are weighted.
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        values: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        let session = &session.part();
        let Self { svm, measure, rows, codes, classes, targets, folds, weights } = self;
        let training = match rows {
            Rows::Gram(gram) => Training::precomputed(*gram),
            Rows::Samples { resident, store } => {
                let kernel = kernel.ok_or(NO_KERNEL)?;
                Training::stored(&**resident, kernel, session.memory(), store, session)?
            }
        };
        // Each C starts from the one below.
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let ascending: Vec<f64> = order.iter().map(|&k| values[k]).collect();
        let labels = Labels { codes, classes: *classes, targets, weights: weights.as_deref() };
        let found: Vec<Option<Score>> = match svm.requires() {
            Requires::Classes => {
                let found = svm.classes_left_out(&ascending, folds, &training, labels, session)?;
                found.iter().map(|found| class_score(*measure, found.as_ref()?, labels, folds)).collect()
            }
            Requires::Numbers | Requires::NumbersOrClasses => {
                let found = svm.outputs_left_out(&ascending, folds, &training, labels, session)?;
                found.iter().map(|found| number_score(*measure, found.as_ref()?, labels, folds)).collect()
            }
            Requires::Nothing => {
                let found = svm.outputs_left_out(&ascending, folds, &training, labels, session)?;
                let similarity = similarity(&training, session)?;
                let judged = |found: &Vec<f64>| consistency(svm.machine, found, labels, folds, similarity);
                found.iter().map(|found| Some(judged(found.as_ref()?))).collect()
            }
        };
        let mut scores = vec![None; values.len()];
        for (found, &place) in found.into_iter().zip(&order) {
            scores[place] = found;
        }
        Ok(scores)
    }
}

/// The weighted mean of `loss` over the held-out rows.
fn mean(labels: Labels<'_>, folds: &Parts, loss: impl Fn(usize) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for row in (0..folds.of_row.len()).filter(|&row| folds.of_row[row].is_some()) {
        let weight = labels.weights.map_or(1.0, |w| w[row]);
        total += weight;
        sum += weight * loss(row);
    }
    sum / total
}

/// The rows of every fold with their weights, tallied by `add`.
fn tallied(
    empty: &Tally,
    labels: Labels<'_>,
    folds: &Parts,
    add: impl Fn(&mut Tally, usize, f64),
) -> Vec<Tally> {
    let mut tallies = vec![empty.clone(); folds.count];
    for (row, fold) in folds.of_row.iter().enumerate() {
        if let Some(fold) = *fold {
            add(&mut tallies[fold], row, labels.weights.map_or(1.0, |w| w[row]));
        }
    }
    tallies
}

/// The score of a regression.
fn number_score(measure: Measure, found: &[f64], labels: Labels<'_>, folds: &Parts) -> Option<Score> {
    let add = |tally: &mut Tally, row: usize, weight: f64| {
        tally.add_numbers(&[found[row]], &[labels.targets[row]], weight);
    };
    Tally::score(&tallied(&Tally::of_numbers(measure, 1), labels, folds, add))
}

/// The score of one-class machines: the most complex one that is consistent is best (Tax and Müller 2004, A
/// consistency-based model selection for one-class classification).
///
/// A machine is consistent if it rejects at most a share ν of the held-out rows plus two standard deviations of such a
/// share. Among consistent machines the loss is the similarity of rows less 1: less similarity means a more complex
/// machine. The loss of other machines is the excess of that share.
fn consistency(machine: Machine, found: &[f64], labels: Labels<'_>, folds: &Parts, similarity: f64) -> Score {
    let nu = if let Machine::OneClass { nu } = machine { nu } else { 0.5 };
    let rows = folds.of_row.iter().flatten().count() as f64;
    let rejected = mean(labels, folds, |row| f64::from(u8::from(found[row] <= 0.0)));
    let excess = rejected - nu - 2.0 * (nu * (1.0 - nu) / rows).sqrt();
    if excess > 0.0 { excess.into() } else { (similarity - 1.0).min(0.0).into() }
}

/// The mean kernel value of two rows divided by that of a row with itself.
fn similarity(training: &Training<'_>, session: &Session<'_>) -> Result<f64, LearnError> {
    let rows = training.nrows();
    let mut sums = Matrix::zeros(rows, 1);
    training.rows().apply(&mut sums, &Matrix::from_entries(rows, 1, vec![1.0; rows]), session)?;
    let own: f64 = training.exact().diagonal().iter().sum();
    let others = sums.entries().iter().sum::<f64>() - own;
    Ok(others / ((rows.max(2) - 1) as f64 * own))
}

/// The score of a classification; the accuracy is the mean over the folds, as in scikit-learn.
fn class_score(measure: Measure, found: &Predicted, labels: Labels<'_>, folds: &Parts) -> Option<Score> {
    let add = |tally: &mut Tally, row: usize, weight: f64| match &found.decisions {
        Some(decisions) => {
            tally.add_outputs(labels.codes[row], Link::Votes, &decisions[row..=row], None, weight);
        }
        None => tally.add_class(labels.codes[row], found.classes[row], weight),
    };
    let score = Tally::score(&tallied(&Tally::of_classes(measure, labels.classes), labels, folds, add))?;
    let mean = score.folds.iter().sum::<f64>() / score.folds.len() as f64;
    Some(if measure == Measure::Wrong { Score { loss: mean, ..score } } else { score })
}
