//! Errors of classifiers, and the quality of their probabilities.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::Classes;
use crate::model::{Link, Ranks};

/// Bins of the calibration table.
const BINS: usize = 10;

/// The lower bound of probabilities: the loss of a class predicted to be impossible is −log of this.
const LEAST: f64 = 1e-15;

/// −log max(p, [`LEAST`]) for the probability p of the true class; `None` counts as 0.
pub(crate) fn log_loss(probability: Option<f64>) -> f64 {
    -probability.unwrap_or(LEAST).max(LEAST).ln()
}

/// The weight of rows by their true class, then by the predicted one.
#[derive(Debug, Clone)]
pub(crate) struct Confusion {
    known: Vec<Vec<f64>>,
    /// Rows of classes without training rows.
    unseen: BTreeMap<String, Vec<f64>>,
}

/// The rows of a class, those predicted to be of it, and those that are both.
struct OfClass {
    rows: f64,
    predicted: f64,
    right: f64,
}

impl Confusion {
    /// No rows of this many classes.
    pub fn new(classes: usize) -> Self {
        Self { known: vec![vec![0.0; classes]; classes], unseen: BTreeMap::new() }
    }

    /// Adds a row of a class, or of one without training rows by its name.
    pub fn add(&mut self, truth: Result<usize, String>, predicted: usize, weight: f64) {
        let row = match truth {
            Ok(code) => &mut self.known[code],
            Err(name) => self.unseen.entry(name).or_insert_with(|| vec![0.0; self.known.len()]),
        };
        row[predicted] += weight;
    }

    /// Adds the rows of the same classes.
    pub fn merge(&mut self, other: &Self) {
        let rows = self.known.iter_mut().flatten().zip(other.known.iter().flatten());
        rows.for_each(|(own, other)| *own += other);
    }

    /// The mean over the classes of the rows of the share of rows predicted correctly.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        mean(self.present().map(|of| of.right / of.rows))
    }

    /// The mean over the classes of the rows of 2·right/(rows + predictions) (F1, macro average).
    pub fn f1(&self) -> Option<f64> {
        mean(self.present().map(|of| 2.0 * of.right / (of.rows + of.predicted)))
    }

    /// The rows of every class by the predicted one, the classes without training rows last.
    fn by_class(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.known.iter().chain(self.unseen.values())
    }

    /// The sums of each class that some row has.
    fn present(&self) -> impl Iterator<Item = OfClass> {
        let of_class = |(class, row): (usize, &Vec<f64>)| OfClass {
            rows: row.iter().sum(),
            predicted: self.by_class().filter_map(|row| row.get(class)).sum(),
            right: row.get(class).copied().unwrap_or(0.0),
        };
        self.by_class().enumerate().map(of_class).filter(|of| of.rows > 0.0)
    }
}

/// The errors of a classifier, accumulated row by row.
#[derive(Debug, Clone)]
pub struct ClassSums {
    names: Vec<String>,
    link: Link,
    confusion: Confusion,
    /// Rows that came with probabilities.
    probable: u64,
    log_loss: f64,
    /// Rows, the sum of probabilities and the number of correct ones, by the probability of the predicted class.
    bins: [(u64, f64, u64); BINS],
    ranks: Ranks,
}

/// The errors of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassErrors {
    /// The target's name.
    pub target: String,
    /// Rows scored.
    pub rows: u64,
    /// The share of rows whose class was predicted correctly.
    pub accuracy: f64,
    /// The accuracy of predicting the most frequent class of these rows everywhere.
    pub baseline_accuracy: f64,
    /// The mean over the classes of the rows of the share of rows predicted correctly.
    pub balanced_accuracy: Option<f64>,
    /// The mean over the classes of 2·right/(rows + predictions) (F1, macro average).
    pub f1: Option<f64>,
    /// The area under the ROC curve: of the second of two classes, else the mean over the classes against all others;
    /// `None` if pairs of several classes vote without probabilities.
    pub auc: Option<f64>,
    /// Mean of −log of the probability of the true class; `None` for decisions without probabilities.
    pub log_loss: Option<f64>,
    /// Rows of classes without training rows: wrong in every measure.
    pub unseen: u64,
    /// The same by their true class, then by the predicted one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unseen_classes: BTreeMap<String, Vec<u64>>,
    /// The classes, in the order of the tables.
    pub classes: Vec<String>,
    /// Rows by their true class, then by the predicted one.
    pub confusion: Vec<Vec<u64>>,
    /// The accuracy by the probability of the predicted class; empty for decisions without probabilities.
    pub calibration: Vec<CalibrationLine>,
}

/// One line of the calibration table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationLine {
    /// The range of probabilities of this line.
    pub between: (f64, f64),
    /// The number of rows with a probability in the range.
    pub rows: u64,
    /// The mean of those probabilities.
    pub predicted: f64,
    /// The share of those rows that were right.
    pub observed: f64,
}

impl ClassSums {
    /// Empty sums.
    #[must_use]
    pub fn new(classes: &Classes, link: Link) -> Self {
        let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
        let (confusion, ranks) = (Confusion::new(names.len()), Ranks::new(names.len()));
        Self { names, link, confusion, probable: 0, log_loss: 0.0, bins: [(0, 0.0, 0); BINS], ranks }
    }

    /// Adds a row: its class or the name of a class without training rows, the outputs, and the probabilities, if any.
    pub fn add(&mut self, truth: Result<usize, String>, outputs: &[f64], probabilities: Option<&[f64]>) {
        let predicted = self.link.class(outputs);
        // No class has this number, so that the row is wrong and ranks as one of the others.
        let code = *truth.as_ref().unwrap_or(&usize::MAX);
        self.confusion.add(truth, predicted, 1.0);
        self.ranks.add(code, self.link, outputs, probabilities);
        if let Some(shares) = probabilities {
            self.probable += 1;
            self.log_loss += log_loss(shares.get(code).copied());
            let sure = shares[predicted];
            let bin = &mut self.bins[((sure * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + sure, bin.2 + u64::from(predicted == code));
        }
    }

    /// The errors, if any row was scored.
    #[must_use]
    pub fn errors(&self, target: &str) -> Option<ClassErrors> {
        let Confusion { known, unseen } = &self.confusion;
        let of_class: Vec<f64> = self.confusion.by_class().map(|row| row.iter().sum()).collect();
        let rows: f64 = of_class.iter().sum();
        let right: f64 = (0..known.len()).map(|code| known[code][code]).sum();
        let most = of_class.iter().copied().fold(0.0, f64::max);
        let counts = |row: &Vec<f64>| row.iter().map(|&count| count as u64).collect::<Vec<u64>>();
        let probable = self.probable > 0;
        let line = |(place, &(count, sure, right)): (usize, &(u64, f64, u64))| CalibrationLine {
            between: (place as f64 / BINS as f64, (place + 1) as f64 / BINS as f64),
            rows: count,
            predicted: sure / count as f64,
            observed: right as f64 / count as f64,
        };
        let filled = self.bins.iter().enumerate().filter(|(_, bin)| bin.0 > 0);
        (rows > 0.0).then(|| ClassErrors {
            target: target.to_owned(),
            rows: rows as u64,
            accuracy: right / rows,
            baseline_accuracy: most / rows,
            balanced_accuracy: self.confusion.balanced_accuracy(),
            f1: self.confusion.f1(),
            auc: self.ranks.auc(),
            log_loss: probable.then(|| self.log_loss / self.probable as f64),
            unseen: unseen.values().flatten().sum::<f64>() as u64,
            unseen_classes: unseen.iter().map(|(name, row)| (name.clone(), counts(row))).collect(),
            classes: self.names.clone(),
            confusion: known.iter().map(counts).collect(),
            calibration: if probable { filled.map(line).collect() } else { Vec::new() },
        })
    }
}

/// The mean of some numbers, if there are any.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum) = (0, 0.0);
    numbers.for_each(|number| (count, sum) = (count + 1, sum + number));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::TargetValues;

    fn classes() -> Classes {
        Classes::of(&TargetValues::Numbers(vec![1.0, 2.0])).0
    }

    #[test]
    fn a_class_that_was_never_seen_is_wrong() {
        let mut sums = ClassSums::new(&classes(), Link::Shares);
        sums.add(Ok(1), &[0.4, 0.6], Some(&[0.4, 0.6]));
        sums.add(Ok(0), &[0.4, 0.6], Some(&[0.4, 0.6]));
        sums.add(Ok(0), &[0.5, 0.5], Some(&[0.5, 0.5]));
        let known = sums.errors("y").unwrap();
        // Recalls ½ and 1; F1 of 2·1/(2 + 1) and 2·1/(1 + 2); scores 0.6, 0.5 below and beside 0.6.
        assert_eq!((known.balanced_accuracy, known.f1, known.auc), (Some(0.75), Some(2.0 / 3.0), Some(0.75)));
        let expected = -(0.6f64.ln() + 0.4f64.ln() + 0.5f64.ln()) / 3.0;
        assert!((known.log_loss.unwrap() - expected).abs() < 1e-15);

        sums.add(Err("3".into()), &[0.4, 0.6], Some(&[0.4, 0.6]));
        let errors = sums.errors("y").unwrap();
        assert_eq!((errors.rows, errors.accuracy, errors.unseen), (4, 0.5, 1));
        assert_eq!(errors.confusion, [[1, 1], [0, 1]]);
        assert_eq!(errors.unseen_classes["3"], [0, 1]);
        // Recalls ½, 1 and 0; F1 of 2·1/(2 + 1), 2·1/(1 + 3) and 0; scores 0.6, 0.5, 0.6 below and beside 0.6.
        assert_eq!((errors.balanced_accuracy, errors.baseline_accuracy), (Some(0.5), 0.5));
        assert!((errors.f1.unwrap() - (2.0 / 3.0 + 0.5) / 3.0).abs() < 1e-15);
        assert_eq!(errors.auc, Some(2.0 / 3.0));
        let expected = (3.0 * expected - LEAST.ln()) / 4.0;
        assert!((errors.log_loss.unwrap() - expected).abs() < 1e-14);
        assert_eq!(errors.calibration.len(), 2);
        assert_eq!((errors.calibration[1].rows, errors.calibration[1].observed), (3, 1.0 / 3.0));
    }

    #[test]
    fn a_decision_has_no_loss() {
        let mut sums = ClassSums::new(&classes(), Link::Decisions);
        sums.add(Ok(1), &[0.3], None);
        sums.add(Ok(1), &[-0.3], None);
        let errors = sums.errors("y").unwrap();
        assert_eq!((errors.accuracy, errors.log_loss), (0.5, None));
        assert!(errors.calibration.is_empty());
    }
}
