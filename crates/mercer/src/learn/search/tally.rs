//! Accumulates predictions at held-out rows into a score.

use crate::model::{Confusion, ErrorSums, Link, Moments, Ranks, log_loss};

use super::measure::Measure;
use super::scorer::Score;

/// The predictions at the rows of one fold, or at all rows for leave-one-out.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    measure: Measure,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// Sums of the rows' errors.
    Mean(Moments),
    /// The sums of each output.
    Explained(Vec<ErrorSums>),
    Confusion(Confusion),
    Ranks(Ranks),
}

impl Tally {
    /// An empty tally of numbers with this many outputs.
    pub fn of_numbers(measure: Measure, outputs: usize) -> Self {
        let kind = match measure {
            Measure::Unexplained => Kind::Explained(vec![Default::default(); outputs]),
            _ => Kind::Mean(Moments::default()),
        };
        Self { measure, kind }
    }

    /// An empty tally of this many classes.
    pub fn of_classes(measure: Measure, classes: usize) -> Self {
        let kind = match measure {
            Measure::WrongPerClass | Measure::F1 => Kind::Confusion(Confusion::new(classes)),
            Measure::Auc => Kind::Ranks(Ranks::new(classes)),
            _ => Kind::Mean(Moments::default()),
        };
        Self { measure, kind }
    }

    /// An empty tally of numbers, or of shares of classes if the measure is for classes.
    pub fn of_targets(measure: Measure, columns: usize) -> Self {
        if measure.is_of_numbers() {
            Self::of_numbers(measure, columns)
        } else {
            Self::of_classes(measure, columns)
        }
    }

    /// Adds a row of numbers, or of shares of the classes with a target that is 1 for one class and 0 for others.
    pub fn add_predicted(&mut self, predicted: &[f64], target: &[f64]) {
        if self.measure.is_of_numbers() {
            self.add_numbers(predicted, target, 1.0);
        } else {
            // The first of classes with equal shares.
            let truth = Link::Shares.class(target);
            self.add_outputs(truth, Link::Shares, predicted, Some(predicted), 1.0);
        }
    }

    /// Adds a row of numbers.
    pub fn add_numbers(&mut self, predicted: &[f64], target: &[f64], weight: f64) {
        let residuals: Vec<f64> = predicted.iter().zip(target).map(|(p, y)| y - p).collect();
        self.add_residuals(&residuals, target, weight);
    }

    /// Adds a row of numbers, given their differences from the predictions.
    pub fn add_residuals(&mut self, residuals: &[f64], target: &[f64], weight: f64) {
        match &mut self.kind {
            Kind::Mean(moments) => moments.add(self.measure.of_residuals(residuals), weight),
            Kind::Explained(outputs) => {
                let rows = residuals.iter().zip(target);
                outputs.iter_mut().zip(rows).for_each(|(sums, (e, y))| sums.add(*y, *e, weight));
            }
            Kind::Confusion(_) | Kind::Ranks(_) => {}
        }
    }

    /// Adds a row of class `truth`: its outputs, and the probability of each class where there is one.
    pub fn add_outputs(
        &mut self,
        truth: usize,
        link: Link,
        outputs: &[f64],
        probabilities: Option<&[f64]>,
        weight: f64,
    ) {
        match &mut self.kind {
            Kind::Ranks(ranks) => ranks.add(truth, link, outputs, probabilities),
            Kind::Mean(moments) if self.measure == Measure::LogLoss => {
                moments.add(log_loss(probabilities.map(|p| p[truth])), weight);
            }
            _ => self.add_class(truth, link.class(outputs), weight),
        }
    }

    /// Adds a row of class `truth` that was predicted to be of class `predicted`.
    pub fn add_class(&mut self, truth: usize, predicted: usize, weight: f64) {
        match &mut self.kind {
            Kind::Mean(moments) => moments.add(f64::from(u8::from(truth != predicted)), weight),
            Kind::Confusion(confusion) => confusion.add(Ok(truth), predicted, weight),
            Kind::Explained(_) | Kind::Ranks(_) => {}
        }
    }

    /// The loss; `None` if it is undefined, such as the area under the curve of a single class.
    fn loss(&self) -> Option<f64> {
        match &self.kind {
            Kind::Mean(moments) => (moments.weight > 0.0).then(|| moments.sum / moments.weight),
            Kind::Ranks(ranks) => ranks.auc().map(|auc| 1.0 - auc),
            Kind::Explained(outputs) => {
                let shares: f64 = outputs.iter().map(ErrorSums::unexplained).sum();
                Some(shares / outputs.len() as f64).filter(|loss| loss.is_finite())
            }
            Kind::Confusion(confusion) if self.measure == Measure::F1 => confusion.f1().map(|f1| 1.0 - f1),
            Kind::Confusion(confusion) => confusion.balanced_accuracy().map(|accuracy| 1.0 - accuracy),
        }
    }

    fn merge(&mut self, other: &Self) {
        match (&mut self.kind, &other.kind) {
            (Kind::Mean(own), Kind::Mean(other)) => own.merge(*other),
            (Kind::Explained(own), Kind::Explained(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| own.merge(other));
            }
            (Kind::Confusion(own), Kind::Confusion(other)) => own.merge(other),
            _ => {}
        }
    }

    /// The score of all folds together; `None` if it is undefined.
    ///
    /// Errors of rows and confusion matrices are pooled over the folds; areas under the curve, whose decisions compare within a
    /// fold only, are averaged (Forman and Scholz 2010, Apples-to-apples in cross-validation studies).
    pub fn score(folds: &[Self]) -> Option<Score> {
        let losses: Vec<f64> = folds.iter().filter_map(Self::loss).collect();
        let mut all = folds.first()?.clone();
        folds[1..].iter().for_each(|fold| all.merge(fold));
        let loss = match all.kind {
            Kind::Ranks(_) if losses.is_empty() => return None,
            Kind::Ranks(_) => losses.iter().sum::<f64>() / losses.len() as f64,
            _ => all.loss()?,
        };
        let error = match &all.kind {
            Kind::Mean(moments) if folds.len() == 1 => moments.error(),
            _ => standard_error(&losses),
        };
        Some(Score { loss, error, folds: losses })
    }
}

/// The standard error of the mean of some numbers; `None` for fewer than two.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    let mut moments = Moments::default();
    values.iter().for_each(|&value| moments.add(value, 1.0));
    moments.error()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
    }

    #[test]
    fn numbers() {
        // Errors 1, −2, 0, 3 of the targets 1, 2, 3, 10 with mean 4.
        let rows = [(2.0, 1.0), (0.0, 2.0), (3.0, 3.0), (13.0, 10.0)];
        let score = |measure, cut: usize| {
            let mut folds = [Tally::of_numbers(measure, 1), Tally::of_numbers(measure, 1)];
            for (place, (p, y)) in rows.iter().enumerate() {
                folds[usize::from(place >= cut)].add_numbers(&[*p], &[*y], 1.0);
            }
            Tally::score(&folds[..if cut == 4 { 1 } else { 2 }]).unwrap()
        };
        for cut in [2, 4] {
            close(score(Measure::SquaredError, cut).loss, 14.0 / 4.0);
            close(score(Measure::AbsoluteError, cut).loss, 6.0 / 4.0);
            close(score(Measure::Unexplained, cut).loss, 14.0 / 50.0);
        }
        // Squares 1, 4, 0, 9: variance (6.25 + 0.25 + 12.25 + 30.25)/3 over 4 rows.
        close(score(Measure::SquaredError, 4).error.unwrap(), (49.0f64 / 12.0).sqrt());
        // Folds of 2.5 and 4.5: standard deviation √2, over √2.
        let folds = score(Measure::SquaredError, 2);
        assert_eq!(folds.folds, [2.5, 4.5]);
        close(folds.error.unwrap(), 1.0);
    }

    #[test]
    fn classes() {
        let rows = [(0, 0.2), (0, -1.0), (1, 0.5), (0, -0.1), (1, -0.3)];
        let score = |measure| {
            let mut tally = Tally::of_classes(measure, 2);
            rows.iter().for_each(|(truth, f)| tally.add_outputs(*truth, Link::Decisions, &[*f], None, 1.0));
            Tally::score(&[tally]).unwrap().loss
        };
        close(score(Measure::Wrong), 2.0 / 5.0);
        close(score(Measure::WrongPerClass), 1.0 - (2.0 / 3.0 + 0.5) / 2.0);
        close(score(Measure::F1), 1.0 - (4.0 / 6.0 + 2.0 / 4.0) / 2.0);
        // Of the six pairs 0.5 is above all three and −0.3 above −1.
        close(score(Measure::Auc), 1.0 - 4.0 / 6.0);
    }
}
