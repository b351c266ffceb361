//! Accumulates predictions at held-out rows into a score.

use crate::model::{Link, Ranks};

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
    /// For each output, the squared errors and the targets.
    Explained(Vec<(f64, Moments)>),
    /// The weight of the rows of each true class, by predicted class.
    Confusion {
        classes: usize,
        weights: Vec<f64>,
    },
    Ranks(Ranks),
}

/// The weight, sum, mean, Σw(v − mean)² (West 1979, Communications of the ACM 22) and count of some numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    weight: f64,
    sum: f64,
    mean: f64,
    squares: f64,
    rows: f64,
}

impl Moments {
    fn add(&mut self, value: f64, weight: f64) {
        if weight > 0.0 {
            self.merge(Self { weight, sum: weight * value, mean: value, squares: 0.0, rows: 1.0 });
        }
    }

    fn merge(&mut self, other: Self) {
        let weight = self.weight + other.weight;
        if other.weight > 0.0 {
            let gap = other.mean - self.mean;
            self.squares += other.squares + gap * gap * self.weight * other.weight / weight;
            self.mean += gap * other.weight / weight;
            self.weight = weight;
            self.sum += other.sum;
            self.rows += other.rows;
        }
    }

    /// The standard error of the mean.
    fn error(&self) -> Option<f64> {
        (self.rows > 1.0).then(|| (self.squares / self.weight / (self.rows - 1.0)).sqrt())
    }
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
            Measure::WrongPerClass | Measure::F1 => {
                Kind::Confusion { classes, weights: vec![0.0; classes * classes] }
            }
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
                for ((errors, targets), (e, y)) in outputs.iter_mut().zip(residuals.iter().zip(target)) {
                    *errors += weight * e * e;
                    targets.add(*y, weight);
                }
            }
            Kind::Confusion { .. } | Kind::Ranks(_) => {}
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
                moments.add(Measure::log_loss(probabilities.map(|p| p[truth])), weight);
            }
            _ => self.add_class(truth, link.class(outputs), weight),
        }
    }

    /// Adds a row of class `truth` that was predicted to be of class `predicted`.
    pub fn add_class(&mut self, truth: usize, predicted: usize, weight: f64) {
        match &mut self.kind {
            Kind::Mean(moments) => moments.add(f64::from(u8::from(truth != predicted)), weight),
            Kind::Confusion { classes, weights } => weights[truth * *classes + predicted] += weight,
            Kind::Explained(_) | Kind::Ranks(_) => {}
        }
    }

    /// The loss; `None` if it is undefined, such as the area under the curve of a single class.
    fn loss(&self) -> Option<f64> {
        match &self.kind {
            Kind::Mean(moments) => (moments.weight > 0.0).then(|| moments.sum / moments.weight),
            Kind::Ranks(ranks) => ranks.auc().map(|auc| 1.0 - auc),
            Kind::Explained(outputs) => {
                let share = |(errors, targets): &(f64, Moments)| errors / targets.squares;
                let shares: f64 = outputs.iter().map(share).sum();
                Some(shares / outputs.len() as f64).filter(|loss| loss.is_finite())
            }
            Kind::Confusion { classes, weights } => {
                let sum =
                    |places: &mut dyn Iterator<Item = usize>| places.map(|place| weights[place]).sum::<f64>();
                let (mut present, mut total) = (0.0, 0.0);
                for class in 0..*classes {
                    let rows = sum(&mut (0..*classes).map(|other| class * classes + other));
                    let predicted = sum(&mut (0..*classes).map(|other| other * classes + class));
                    let right = weights[class * classes + class];
                    if rows > 0.0 {
                        present += 1.0;
                        total += match self.measure {
                            Measure::F1 => 2.0 * right / (rows + predicted),
                            _ => right / rows,
                        };
                    }
                }
                (present > 0.0).then(|| 1.0 - total / present)
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        match (&mut self.kind, &other.kind) {
            (Kind::Mean(own), Kind::Mean(other)) => own.merge(*other),
            (Kind::Explained(own), Kind::Explained(other)) => {
                for (own, other) in own.iter_mut().zip(other) {
                    own.0 += other.0;
                    own.1.merge(other.1);
                }
            }
            (Kind::Confusion { weights, .. }, Kind::Confusion { weights: other, .. }) => {
                weights.iter_mut().zip(other).for_each(|(own, other)| *own += other);
            }
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
