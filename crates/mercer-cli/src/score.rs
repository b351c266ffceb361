//! Errors of a prediction, gathered row by row.

use mercer::data::Classes;
use mercer::model::Model;
use serde::Serialize;

/// What is gathered while rows go by.
#[derive(Debug, Clone)]
pub enum Score {
    /// One entry per target.
    Numbers(Vec<Moments>),
    /// Right and wrong classes.
    Classes(Hits),
}

/// Sums from which the errors of one output follow.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    rows: u64,
    squared: f64,
    absolute: f64,
    mean: f64,
    spread: f64,
}

/// Counts from which the accuracy follows.
#[derive(Debug, Clone, Default)]
pub struct Hits {
    rows: u64,
    right: u64,
    unseen: u64,
}

/// The errors of one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Errors {
    /// Of a regression.
    Numbers {
        /// The target's name.
        target: String,
        /// Rows scored.
        rows: u64,
        /// Root mean squared error.
        rmse: f64,
        /// Mean absolute error.
        mae: f64,
        /// 1 − Σ(y−f)²/Σ(y−ȳ)²; none where the targets are all equal.
        r2: Option<f64>,
    },
    /// Of a classifier.
    Classes {
        /// The target's name.
        target: String,
        /// Rows scored.
        rows: u64,
        /// Share of the rows whose class was predicted.
        accuracy: f64,
        /// Rows of a class that no training row had: wrong by necessity.
        unseen: u64,
    },
}

impl Score {
    /// Nothing yet, of a classifier or of a regression with this many targets.
    pub fn new(classes: Option<&Classes>, targets: usize) -> Self {
        match classes {
            Some(_) => Self::Classes(Hits::default()),
            None => Self::Numbers(vec![Moments::default(); targets]),
        }
    }

    /// Takes in one row: its targets (one-hot for a classifier) and the outputs. A target that is not known is NaN and passed
    /// over.
    pub fn add(&mut self, truth: &[f64], outputs: &[f64]) {
        match self {
            Self::Numbers(moments) => {
                moments.iter_mut().zip(truth.iter().zip(outputs)).for_each(|(m, (y, f))| m.add(*y, *f))
            }
            Self::Classes(hits) => hits.add(Model::class_of(truth), Model::class_of(outputs)),
        }
    }

    /// The errors of each target, where any row was scored.
    pub fn errors(&self, targets: &[String]) -> Vec<Errors> {
        match self {
            Self::Numbers(moments) => moments.iter().zip(targets).filter_map(|(m, t)| m.errors(t)).collect(),
            Self::Classes(hits) => targets.iter().filter_map(|target| hits.errors(target)).collect(),
        }
    }
}

impl Hits {
    /// Takes one row in.
    pub fn add(&mut self, truth: usize, predicted: usize) {
        self.rows += 1;
        self.right += u64::from(truth == predicted);
    }

    /// Takes in a row of a class that no training row had.
    pub fn add_unseen(&mut self) {
        self.rows += 1;
        self.unseen += 1;
    }

    fn errors(&self, target: &str) -> Option<Errors> {
        let Self { rows, right, unseen } = *self;
        let accuracy = right as f64 / rows as f64;
        (rows > 0).then(|| Errors::Classes { target: target.to_owned(), rows, accuracy, unseen })
    }
}

impl Moments {
    fn add(&mut self, target: f64, prediction: f64) {
        if target.is_nan() {
            return;
        }
        self.rows += 1;
        let error = target - prediction;
        self.squared += error * error;
        self.absolute += error.abs();
        let step = target - self.mean;
        self.mean += step / self.rows as f64;
        self.spread += step * (target - self.mean);
    }

    fn errors(&self, target: &str) -> Option<Errors> {
        let rows = self.rows as f64;
        (self.rows > 0).then(|| Errors::Numbers {
            target: target.to_owned(),
            rows: self.rows,
            rmse: (self.squared / rows).sqrt(),
            mae: self.absolute / rows,
            r2: (self.spread > 0.0).then(|| 1.0 - self.squared / self.spread),
        })
    }
}

impl Errors {
    /// The target's name.
    pub fn target(&self) -> &str {
        match self {
            Self::Numbers { target, .. } | Self::Classes { target, .. } => target,
        }
    }

    /// One line for people.
    pub fn line(&self) -> String {
        match self {
            Self::Numbers { rows, rmse, mae, r2, .. } => {
                let r2 =
                    r2.map_or_else(|| "undefined (all targets are equal)".into(), |r2| format!("{r2:.4}"));
                format!("RMSE {rmse:.6}, MAE {mae:.6}, R² {r2} on {rows} rows")
            }
            Self::Classes { rows, accuracy, unseen, .. } => {
                let unseen = match unseen {
                    0 => String::new(),
                    n => format!(", {n} of classes that no training row had"),
                };
                format!("accuracy {accuracy:.4} on {rows} rows{unseen}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_three_rows() {
        let mut score = Score::new(None, 1);
        for (y, f) in [(1.0, 2.0), (2.0, 2.0), (6.0, 4.0), (f64::NAN, 1.0)] {
            score.add(&[y], &[f]);
        }
        let [Errors::Numbers { rows, rmse, mae, r2, .. }] = score.errors(&["y".into()])[..] else {
            panic!("the errors of one target")
        };
        assert_eq!(rows, 3);
        assert!((rmse - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((mae - 1.0).abs() < 1e-15);
        // Σ(y−3)² = 4 + 1 + 9.
        assert!((r2.unwrap() - (1.0 - 5.0 / 14.0)).abs() < 1e-15);
    }

    #[test]
    fn equal_targets_have_no_r2() {
        let mut score = Score::new(None, 1);
        assert!(score.errors(&["y".into()]).is_empty());
        score.add(&[1.0], &[1.5]);
        assert!(matches!(score.errors(&["y".into()])[..], [Errors::Numbers { r2: None, .. }]));
    }

    #[test]
    fn a_class_that_was_never_seen_is_wrong() {
        let (classes, _) = Classes::of(&mercer::data::TargetValues::Numbers(vec![1.0, 2.0]));
        let mut score = Score::new(Some(&classes), 1);
        score.add(&[0.0, 1.0], &[0.4, 0.6]);
        score.add(&[1.0, 0.0], &[0.4, 0.6]);
        score.add(&[1.0, 0.0], &[0.5, 0.5]);
        let Score::Classes(hits) = &mut score else { panic!("a classifier's score") };
        hits.add_unseen();
        let expected = Errors::Classes { target: "y".into(), rows: 4, accuracy: 0.5, unseen: 1 };
        assert_eq!(score.errors(&["y".into()]), [expected]);
    }
}
