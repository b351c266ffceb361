//! Errors of classifiers, and the quality of their probabilities.

use std::collections::BTreeMap;

use mercer::data::{Classes, counted, listed};
use mercer::model::{Link, Ranks};
use serde::Serialize;

/// Bins of the calibration table.
const BINS: usize = 10;

/// The lower bound of probabilities: the loss of a class predicted to be impossible is −log of this.
const LEAST: f64 = 1e-15;

/// Counts for the errors of a classifier.
#[derive(Debug, Clone)]
pub struct Hits {
    names: Vec<String>,
    link: Link,
    /// By the true class, then by the predicted one.
    confusion: Vec<Vec<u64>>,
    /// Rows of classes without training rows: by the class, then by the predicted one.
    unseen: BTreeMap<String, Vec<u64>>,
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
    pub calibration: Vec<Calibration>,
}

/// One line of the calibration table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The range of probabilities of this line.
    pub between: (f64, f64),
    /// The number of rows with a probability in the range.
    pub rows: u64,
    /// The mean of those probabilities.
    pub predicted: f64,
    /// The share of those rows that were right.
    pub observed: f64,
}

impl Hits {
    /// Empty counts.
    pub fn new(classes: &Classes, link: Link) -> Self {
        let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
        let confusion = vec![vec![0; names.len()]; names.len()];
        let (bins, ranks) = ([(0, 0.0, 0); BINS], Ranks::new(names.len()));
        Self { names, link, confusion, unseen: BTreeMap::new(), probable: 0, log_loss: 0.0, bins, ranks }
    }

    /// Adds a row: its class or the name of a class without training rows, the outputs, and the probabilities, if any.
    pub fn add(&mut self, truth: Result<usize, String>, outputs: &[f64], probabilities: Option<&[f64]>) {
        let predicted = self.link.class(outputs);
        // No class has this number, so that the row is wrong and ranks as one of the others.
        let code = *truth.as_ref().unwrap_or(&usize::MAX);
        let row = match truth {
            Ok(code) => &mut self.confusion[code],
            Err(name) => self.unseen.entry(name).or_insert_with(|| vec![0; self.names.len()]),
        };
        row[predicted] += 1;
        self.ranks.add(code, self.link, outputs, probabilities);
        if let Some(shares) = probabilities {
            self.probable += 1;
            self.log_loss -= shares.get(code).unwrap_or(&0.0).max(LEAST).ln();
            let sure = shares[predicted];
            let bin = &mut self.bins[((sure * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + sure, bin.2 + u64::from(predicted == code));
        }
    }

    /// The errors, if any row was scored.
    pub fn errors(&self, target: &str) -> Option<ClassErrors> {
        let of_class: Vec<u64> = self.by_class().map(|row| row.iter().sum()).collect();
        let rows: u64 = of_class.iter().sum();
        let right: u64 = (0..self.names.len()).map(|code| self.confusion[code][code]).sum();
        let present = self.present();
        let most = of_class.iter().copied().max().unwrap_or(0);
        let probable = self.probable > 0;
        let line = |(place, &(count, sure, right)): (usize, &(u64, f64, u64))| Calibration {
            between: (place as f64 / BINS as f64, (place + 1) as f64 / BINS as f64),
            rows: count,
            predicted: sure / count as f64,
            observed: right as f64 / count as f64,
        };
        let filled = self.bins.iter().enumerate().filter(|(_, bin)| bin.0 > 0);
        (rows > 0).then(|| ClassErrors {
            target: target.to_owned(),
            rows,
            accuracy: right as f64 / rows as f64,
            baseline_accuracy: most as f64 / rows as f64,
            balanced_accuracy: mean(present.iter().map(|&(rows, _, right)| right / rows)),
            f1: mean(present.iter().map(|&(rows, predicted, right)| 2.0 * right / (rows + predicted))),
            auc: self.ranks.auc(),
            log_loss: probable.then(|| self.log_loss / self.probable as f64),
            unseen: self.unseen.values().flatten().sum(),
            unseen_classes: self.unseen.clone(),
            classes: self.names.clone(),
            confusion: self.confusion.clone(),
            calibration: if probable { filled.map(line).collect() } else { Vec::new() },
        })
    }
}

impl Hits {
    /// The rows of every class by the predicted one, the classes without training rows last.
    fn by_class(&self) -> impl Iterator<Item = &Vec<u64>> {
        self.confusion.iter().chain(self.unseen.values())
    }

    /// The rows, predictions and right ones of each class that some row has.
    fn present(&self) -> Vec<(f64, f64, f64)> {
        let of_class = |(class, row): (usize, &Vec<u64>)| {
            let predicted: u64 = self.by_class().filter_map(|row| row.get(class)).sum();
            (row.iter().sum::<u64>() as f64, predicted as f64, row.get(class).copied().unwrap_or(0) as f64)
        };
        self.by_class().enumerate().map(of_class).filter(|(rows, ..)| *rows > 0.0).collect()
    }
}

/// The mean of some numbers, if there are any.
fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = numbers.len();
    (count > 0).then(|| numbers.sum::<f64>() / count as f64)
}

impl ClassErrors {
    /// The warning that every row was predicted to be of one class although the rows are of several.
    pub fn warning(&self) -> Option<String> {
        let columns = 0..self.classes.len();
        let used: Vec<usize> =
            columns.filter(|&class| self.confusion.iter().any(|row| row[class] > 0)).collect();
        let present = self.confusion.iter().filter(|row| row.iter().any(|&count| count > 0)).count();
        match used.as_slice() {
            [class] if present > 1 => Some(format!(
                "every row is predicted to be `{}`: no better than a majority vote (accuracy {:.4})",
                self.classes[*class], self.baseline_accuracy
            )),
            _ => None,
        }
    }

    /// One line of text.
    pub fn line(&self) -> String {
        let loss = self.log_loss.map(|loss| format!(", log-loss {loss:.4}")).unwrap_or_default();
        let more = [("balanced accuracy", self.balanced_accuracy), ("F1", self.f1), ("AUC", self.auc)];
        let more: String =
            more.iter().filter_map(|(name, value)| Some(format!(", {name} {:.4}", (*value)?))).collect();
        let names: Vec<&String> = self.unseen_classes.keys().collect();
        let unseen = match names.len() {
            0 => String::new(),
            1 => format!(", {} of a class not in the training data, {}", self.unseen, listed(&names)),
            _ => format!(", {} of classes not in the training data, {}", self.unseen, listed(&names)),
        };
        format!(
            "accuracy {:.4}{more}{loss} on {}{unseen}; predicting the most frequent class: {:.4}",
            self.accuracy,
            counted(self.rows, "row"),
            self.baseline_accuracy
        )
    }

    /// The confusion matrix and the calibration table as text; the first only for few classes.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.classes.len() <= 12 && self.unseen_classes.len() <= 12 {
            let names = || self.classes.iter().chain(self.unseen_classes.keys());
            let width = names().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, 14);
            let cell = |text: &str| {
                let plain = |c: char| if c.is_control() { ' ' } else { c };
                let text: String = text.chars().take(width).map(plain).collect();
                format!("{text:>width$} ")
            };
            let head: String = self.classes.iter().map(|name| cell(name)).collect();
            lines.push(("confusion", "rows are true classes, columns are predicted classes".to_owned()));
            lines.push(("", format!("{}{head}", cell(""))));
            for (name, row) in names().zip(self.confusion.iter().chain(self.unseen_classes.values())) {
                let counts: String = row.iter().map(|count| cell(&count.to_string())).collect();
                lines.push(("", format!("{}{counts}", cell(name))));
            }
        }
        for (place, line) in self.calibration.iter().enumerate() {
            let label = if place == 0 { "calibration" } else { "" };
            let Calibration { between: (low, high), rows, predicted, observed } = line;
            let text = format!(
                "confidence {low:.1}–{high:.1}: predicted {predicted:.2}, observed {observed:.2} ({})",
                counted(*rows, "row")
            );
            lines.push((label, text));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::TargetValues;

    fn classes() -> Classes {
        Classes::of(&TargetValues::Numbers(vec![1.0, 2.0])).0
    }

    #[test]
    fn a_class_that_was_never_seen_is_wrong() {
        let mut hits = Hits::new(&classes(), Link::Shares);
        hits.add(Ok(1), &[0.4, 0.6], Some(&[0.4, 0.6]));
        hits.add(Ok(0), &[0.4, 0.6], Some(&[0.4, 0.6]));
        hits.add(Ok(0), &[0.5, 0.5], Some(&[0.5, 0.5]));
        let known = hits.errors("y").unwrap();
        // Recalls ½ and 1; F1 of 2·1/(2 + 1) and 2·1/(1 + 2); scores 0.6, 0.5 below and beside 0.6.
        assert_eq!((known.balanced_accuracy, known.f1, known.auc), (Some(0.75), Some(2.0 / 3.0), Some(0.75)));
        let expected = -(0.6f64.ln() + 0.4f64.ln() + 0.5f64.ln()) / 3.0;
        assert!((known.log_loss.unwrap() - expected).abs() < 1e-15);

        hits.add(Err("3".into()), &[0.4, 0.6], Some(&[0.4, 0.6]));
        let errors = hits.errors("y").unwrap();
        assert_eq!((errors.rows, errors.accuracy, errors.unseen), (4, 0.5, 1));
        assert_eq!(errors.confusion, [[1, 1], [0, 1]]);
        assert_eq!(errors.unseen_classes["3"], [0, 1]);
        // Recalls ½, 1 and 0; F1 of 2·1/(2 + 1), 2·1/(1 + 3) and 0; scores 0.6, 0.5, 0.6 below and beside 0.6.
        assert_eq!((errors.balanced_accuracy, errors.baseline_accuracy), (Some(0.5), 0.5));
        assert!((errors.f1.unwrap() - (2.0 / 3.0 + 0.5) / 3.0).abs() < 1e-15);
        assert_eq!(errors.auc, Some(2.0 / 3.0));
        assert_eq!(errors.warning(), None);
        let expected = (3.0 * expected - LEAST.ln()) / 4.0;
        assert!((errors.log_loss.unwrap() - expected).abs() < 1e-14);
        assert_eq!(errors.calibration.len(), 2);
        assert_eq!((errors.calibration[1].rows, errors.calibration[1].observed), (3, 1.0 / 3.0));
        assert!(errors.line().contains("on 4 rows, 1 of a class not in the training data, `3`"));
        let tables = errors.tables();
        assert!(tables.iter().any(|(_, line)| line.trim_start().starts_with("3 ")), "a row of the matrix");
    }

    #[test]
    fn a_decision_has_no_loss() {
        let mut hits = Hits::new(&classes(), Link::Decisions);
        hits.add(Ok(1), &[0.3], None);
        hits.add(Ok(1), &[-0.3], None);
        let errors = hits.errors("y").unwrap();
        assert_eq!((errors.accuracy, errors.log_loss), (0.5, None));
        hits.add(Ok(0), &[0.3], None);
        assert_eq!(hits.errors("y").unwrap().warning(), None);
        assert!(errors.calibration.is_empty());
    }

    #[test]
    fn one_class_for_every_row_is_a_majority_vote() {
        let mut hits = Hits::new(&classes(), Link::Decisions);
        [0, 0, 1].into_iter().for_each(|truth| hits.add(Ok(truth), &[-0.3], None));
        let errors = hits.errors("y").unwrap();
        let warning = errors.warning().unwrap();
        assert!(warning.contains("`1`") && warning.contains("majority vote"), "{warning}");
        assert!(errors.line().ends_with("predicting the most frequent class: 0.6667"), "{}", errors.line());
    }
}
