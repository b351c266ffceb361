//! Errors of predictions, accumulated row by row.

mod classes;
mod numbers;

use serde::Serialize;
use serde_json::Value;

use crate::data::Matrix;

use super::{Facts, Model};

pub use classes::{CalibrationLine, ClassErrors, ClassSums};
pub(crate) use classes::{Confusion, log_loss};
pub use numbers::{DensityErrors, NumberErrors, NumberSums};
pub(crate) use numbers::{ErrorSums, Moments};

/// The sums over the rows.
#[derive(Debug, Clone)]
pub enum Score<'a> {
    /// One entry per target.
    Numbers(Vec<NumberSums>),
    /// The counts of a classifier.
    Classes(Box<ClassSums>, &'a Model),
    /// The numbers of inliers and of all rows, for rows of unknown class.
    Inliers(u64, u64),
}

/// The errors of one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Errors {
    /// For a regression.
    Numbers(NumberErrors),
    /// For a classifier.
    Classes(ClassErrors),
    /// For a one-class machine on rows of unknown class.
    Inliers(InlierShare),
}

/// The rows that a one-class machine predicts to be inliers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InlierShare {
    /// The target's name.
    pub target: String,
    /// The number of rows.
    pub rows: u64,
    /// The share of inliers.
    pub inliers: f64,
}

impl<'a> Score<'a> {
    /// Empty sums for a model.
    #[must_use]
    pub fn of(model: &'a Model) -> Self {
        match &model.classes {
            Some(classes) => Self::Classes(Box::new(ClassSums::new(classes, model.link())), model),
            None => Self::of_numbers(model.outputs.len()),
        }
    }

    /// Empty sums for a regression with this many targets.
    #[must_use]
    pub fn of_numbers(targets: usize) -> Self {
        Self::Numbers(vec![NumberSums::default(); targets])
    }

    /// Empty sums for a one-class machine on rows of unknown class.
    #[must_use]
    pub fn of_inliers(decisions: &Matrix<f64>) -> Self {
        let inside = decisions.entries().iter().filter(|f| **f > 0.0).count();
        Self::Inliers(inside as u64, decisions.nrows() as u64)
    }

    /// Adds rows of a regression: their targets (NaN if unknown) and the outputs.
    pub fn add_numbers(&mut self, truth: &Matrix<f64>, outputs: &Matrix<f64>) {
        let Self::Numbers(sums) = self else { return };
        for i in 0..outputs.nrows() {
            let pairs = truth.row(i).iter().zip(outputs.row(i));
            sums.iter_mut().zip(pairs).for_each(|(sums, (y, f))| sums.add(*y, *f));
        }
    }

    /// Adds the standard deviations of rows of a regression.
    pub fn add_deviations(&mut self, truth: &Matrix<f64>, outputs: &Matrix<f64>, deviations: &Matrix<f64>) {
        let Self::Numbers(sums) = self else { return };
        for i in 0..outputs.nrows() {
            for (o, sums) in sums.iter_mut().enumerate() {
                sums.add_deviation(truth.row(i)[o], outputs.row(i)[o], deviations.row(i)[o]);
            }
        }
    }

    /// Adds rows of a classifier: their classes (`None` if unknown, `Err` if no training row had it) and the outputs.
    pub fn add_classes(
        &mut self,
        truth: impl IntoIterator<Item = Result<Option<usize>, String>>,
        outputs: &Matrix<f64>,
    ) {
        let Self::Classes(sums, model) = self else { return };
        let shares = model.probabilities(outputs);
        for (i, truth) in truth.into_iter().enumerate() {
            if let Some(truth) = truth.transpose() {
                sums.add(truth, outputs.row(i), shares.as_ref().map(|shares| shares.row(i)));
            }
        }
    }

    /// The errors of each target, if any row was scored.
    #[must_use]
    pub fn errors(&self, targets: &[String]) -> Vec<Errors> {
        match self {
            Self::Numbers(sums) => {
                sums.iter().zip(targets).filter_map(|(sums, t)| sums.errors(t)).map(Errors::Numbers).collect()
            }
            Self::Classes(sums, _) => {
                targets.iter().filter_map(|target| sums.errors(target)).map(Errors::Classes).collect()
            }
            Self::Inliers(inside, rows) => {
                let share = |target: &String| {
                    let inliers = *inside as f64 / *rows as f64;
                    Errors::Inliers(InlierShare { target: target.clone(), rows: *rows, inliers })
                };
                targets.iter().filter(|_| *rows > 0).map(share).collect()
            }
        }
    }
}

impl Errors {
    /// The target's name.
    #[must_use]
    pub fn target(&self) -> &str {
        match self {
            Self::Numbers(errors) => &errors.target,
            Self::Classes(errors) => &errors.target,
            Self::Inliers(share) => &share.target,
        }
    }
}

impl Facts {
    /// Adds the errors on held-out rows to the report of a model: `held_out`, by target if there are several.
    pub fn set_held_out(&mut self, errors: &[Errors]) {
        let of = |errors: &Errors| {
            let all = serde_json::to_value(errors).unwrap_or_default();
            let kept = all.as_object().into_iter().flatten().filter(|(_, value)| value.is_number());
            Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
        };
        let kept = match errors {
            [] => return,
            [single] => of(single),
            several => several.iter().map(|errors| (errors.target().to_owned(), of(errors))).collect(),
        };
        self.set("held_out", kept);
    }
}
