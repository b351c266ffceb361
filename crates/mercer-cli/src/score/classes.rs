//! Errors of classifiers, and the quality of their probabilities.

use mercer::data::Classes;
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
    unseen: u64,
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
    /// The mean over the classes of the share of their rows predicted correctly; `None` if no row is of a known class.
    pub balanced_accuracy: Option<f64>,
    /// The mean over the classes of 2·right/(rows + predictions) (F1, macro average).
    pub f1: Option<f64>,
    /// The area under the ROC curve: of the second of two classes, else the mean over the classes against all others;
    /// `None` if pairs of several classes vote without probabilities.
    pub auc: Option<f64>,
    /// Mean of −log of the probability of the true class; `None` for decisions without probabilities.
    pub log_loss: Option<f64>,
    /// Rows of a class without training rows: necessarily wrong, and not in the tables.
    pub unseen: u64,
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
        Self { names, link, confusion, unseen: 0, probable: 0, log_loss: 0.0, bins, ranks }
    }

    /// Adds a row: its class, the outputs, and the probabilities, if any.
    pub fn add(&mut self, truth: usize, outputs: &[f64], probabilities: Option<&[f64]>) {
        let predicted = self.link.class(outputs);
        self.confusion[truth][predicted] += 1;
        self.ranks.add(truth, self.link, outputs, probabilities);
        if let Some(shares) = probabilities {
            self.probable += 1;
            self.log_loss -= shares[truth].max(LEAST).ln();
            let sure = shares[predicted];
            let bin = &mut self.bins[((sure * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + sure, bin.2 + u64::from(predicted == truth));
        }
    }

    /// Adds a row of a class without training rows.
    pub fn add_unseen(&mut self) {
        self.unseen += 1;
    }

    /// The errors, if any row was scored.
    pub fn errors(&self, target: &str) -> Option<ClassErrors> {
        let seen: u64 = self.confusion.iter().flatten().sum();
        let rows = seen + self.unseen;
        let right: u64 = (0..self.names.len()).map(|code| self.confusion[code][code]).sum();
        let present = self.present();
        let most = self.confusion.iter().map(|row| row.iter().sum::<u64>()).max().unwrap_or(0);
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
            balanced_accuracy: mean(present.iter().map(|&(_, rows, _, right)| right / rows)),
            f1: mean(present.iter().map(|&(_, rows, predicted, right)| 2.0 * right / (rows + predicted))),
            auc: self.ranks.auc(),
            log_loss: probable.then(|| self.log_loss / self.probable as f64),
            unseen: self.unseen,
            classes: self.names.clone(),
            confusion: self.confusion.clone(),
            calibration: if probable { filled.map(line).collect() } else { Vec::new() },
        })
    }
}

impl Hits {
    /// The classes that some row has or was predicted to have: name, rows, predictions and right ones.
    fn present(&self) -> Vec<(usize, f64, f64, f64)> {
        let of_class = |class: usize| {
            let rows: u64 = self.confusion[class].iter().sum();
            let predicted: u64 = self.confusion.iter().map(|row| row[class]).sum();
            (class, rows as f64, predicted as f64, self.confusion[class][class] as f64)
        };
        (0..self.names.len()).map(of_class).filter(|(_, rows, ..)| *rows > 0.0).collect()
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
        let unseen = match self.unseen {
            0 => String::new(),
            1 => ", 1 of a class not in the training data".into(),
            n => format!(", {n} of classes not in the training data"),
        };
        format!(
            "accuracy {:.4}{more}{loss} on {} rows{unseen}; predicting the most frequent class: {:.4}",
            self.accuracy, self.rows, self.baseline_accuracy
        )
    }

    /// The confusion matrix and the calibration table as text; the first only for few classes.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.classes.len() <= 12 {
            let width = self.classes.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, 14);
            let cell = |text: &str| {
                let text: String = text.chars().take(width).collect();
                format!("{text:>width$} ")
            };
            let head: String = self.classes.iter().map(|name| cell(name)).collect();
            lines.push(("confusion", "rows are true classes, columns are predicted classes".to_owned()));
            lines.push(("", format!("{}{head}", cell(""))));
            for (name, row) in self.classes.iter().zip(&self.confusion) {
                let counts: String = row.iter().map(|count| cell(&count.to_string())).collect();
                lines.push(("", format!("{}{counts}", cell(name))));
            }
        }
        for (place, line) in self.calibration.iter().enumerate() {
            let label = if place == 0 { "calibration" } else { "" };
            let Calibration { between: (low, high), rows, predicted, observed } = line;
            let unit = if *rows == 1 { "row" } else { "rows" };
            let text = format!(
                "confidence {low:.1}–{high:.1}: predicted {predicted:.2}, observed {observed:.2} ({rows} {unit})"
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
        hits.add(1, &[0.4, 0.6], Some(&[0.4, 0.6]));
        hits.add(0, &[0.4, 0.6], Some(&[0.4, 0.6]));
        hits.add(0, &[0.5, 0.5], Some(&[0.5, 0.5]));
        hits.add_unseen();
        let errors = hits.errors("y").unwrap();
        assert_eq!((errors.rows, errors.accuracy, errors.unseen), (4, 0.5, 1));
        assert_eq!(errors.confusion, [[1, 1], [0, 1]]);
        // Recalls ½ and 1; F1 of 2·1/(2 + 1) and 2·1/(1 + 2); scores 0.6, 0.5 below and beside 0.6.
        assert_eq!((errors.balanced_accuracy, errors.baseline_accuracy), (Some(0.75), 0.5));
        assert_eq!((errors.f1, errors.auc), (Some(2.0 / 3.0), Some(0.75)));
        assert_eq!(errors.warning(), None);
        let expected = -(0.6f64.ln() + 0.4f64.ln() + 0.5f64.ln()) / 3.0;
        assert!((errors.log_loss.unwrap() - expected).abs() < 1e-15);
        assert_eq!(errors.calibration.len(), 2);
        assert_eq!((errors.calibration[1].rows, errors.calibration[1].observed), (2, 0.5));
    }

    #[test]
    fn a_decision_has_no_loss() {
        let mut hits = Hits::new(&classes(), Link::Decisions);
        hits.add(1, &[0.3], None);
        hits.add(1, &[-0.3], None);
        let errors = hits.errors("y").unwrap();
        assert_eq!((errors.accuracy, errors.log_loss), (0.5, None));
        hits.add(0, &[0.3], None);
        assert_eq!(hits.errors("y").unwrap().warning(), None);
        assert!(errors.calibration.is_empty());
    }

    #[test]
    fn one_class_for_every_row_is_a_majority_vote() {
        let mut hits = Hits::new(&classes(), Link::Decisions);
        [0, 0, 1].into_iter().for_each(|truth| hits.add(truth, &[-0.3], None));
        let errors = hits.errors("y").unwrap();
        let warning = errors.warning().unwrap();
        assert!(warning.contains("`1`") && warning.contains("majority vote"), "{warning}");
        assert!(errors.line().ends_with("predicting the most frequent class: 0.6667"), "{}", errors.line());
    }
}
