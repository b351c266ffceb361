//! Right and wrong classes, and how good the probabilities are.

use mercer::data::Classes;
use mercer::model::Link;
use serde::Serialize;

/// Bins of the calibration table.
const BINS: usize = 10;

/// The least probability that counts: a class that was held to be impossible costs no more than this.
const LEAST: f64 = 1e-15;

/// Counts from which the errors of a classifier follow.
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
    /// Rows, how sure they were and how many were right, by the probability of the class that won.
    bins: [(u64, f64, u64); BINS],
}

/// The errors of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassErrors {
    /// The target's name.
    pub target: String,
    /// Rows scored.
    pub rows: u64,
    /// Share of the rows whose class was predicted.
    pub accuracy: f64,
    /// Mean of −log of the probability of the true class; none for decisions without probabilities.
    pub log_loss: Option<f64>,
    /// Rows of a class that no training row had: wrong by necessity, and not in the tables.
    pub unseen: u64,
    /// The classes, in the order of the tables.
    pub classes: Vec<String>,
    /// Rows by their true class, then by the predicted one.
    pub confusion: Vec<Vec<u64>>,
    /// How often the class that won was right, by how sure it was; empty for decisions without probabilities.
    pub calibration: Vec<Calibration>,
}

/// One line of the calibration table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The probabilities of this line: from the first up to the second.
    pub between: (f64, f64),
    /// Rows whose winning probability was there.
    pub rows: u64,
    /// The mean of those probabilities.
    pub predicted: f64,
    /// The share of those rows that were right.
    pub observed: f64,
}

impl Hits {
    /// No rows yet.
    pub fn new(classes: &Classes, link: Link) -> Self {
        let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
        let confusion = vec![vec![0; names.len()]; names.len()];
        Self { names, link, confusion, unseen: 0, probable: 0, log_loss: 0.0, bins: [(0, 0.0, 0); BINS] }
    }

    /// Takes in a row: its class, the outputs, and the probabilities where there are any.
    pub fn add(&mut self, truth: usize, outputs: &[f64], probabilities: Option<&[f64]>) {
        let predicted = self.link.class(outputs);
        self.confusion[truth][predicted] += 1;
        if let Some(shares) = probabilities {
            self.probable += 1;
            self.log_loss -= shares[truth].max(LEAST).ln();
            let sure = shares[predicted];
            let bin = &mut self.bins[((sure * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + sure, bin.2 + u64::from(predicted == truth));
        }
    }

    /// Takes in a row of a class that no training row had.
    pub fn add_unseen(&mut self) {
        self.unseen += 1;
    }

    /// The errors, where any row was scored.
    pub fn errors(&self, target: &str) -> Option<ClassErrors> {
        let seen: u64 = self.confusion.iter().flatten().sum();
        let rows = seen + self.unseen;
        let right: u64 = (0..self.names.len()).map(|code| self.confusion[code][code]).sum();
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
            log_loss: probable.then(|| self.log_loss / self.probable as f64),
            unseen: self.unseen,
            classes: self.names.clone(),
            confusion: self.confusion.clone(),
            calibration: if probable { filled.map(line).collect() } else { Vec::new() },
        })
    }
}

impl ClassErrors {
    /// One line for people.
    pub fn line(&self) -> String {
        let loss = self.log_loss.map(|loss| format!(", log-loss {loss:.4}")).unwrap_or_default();
        let unseen = match self.unseen {
            0 => String::new(),
            n => format!(", {n} of classes that no training row had"),
        };
        format!("accuracy {:.4}{loss} on {} rows{unseen}", self.accuracy, self.rows)
    }

    /// The confusion matrix and the calibration table for people; the first only where the classes are few.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.classes.len() <= 12 {
            let width = self.classes.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, 14);
            let cell = |text: &str| {
                let text: String = text.chars().take(width).collect();
                format!("{text:>width$} ")
            };
            let head: String = self.classes.iter().map(|name| cell(name)).collect();
            lines.push((
                "confusion",
                "one row for each true class, one column for each predicted class".to_owned(),
            ));
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
        assert!(errors.calibration.is_empty());
    }
}
