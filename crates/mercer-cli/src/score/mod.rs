//! Errors of a prediction, accumulated row by row.

mod classes;
mod numbers;

use mercer::data::{Matrix, counted};
use mercer::learn::TargetError;
use mercer::model::{Facts, Model};
use serde::Serialize;
use serde_json::Value;

use classes::{ClassErrors, Hits};
use numbers::{Moments, NumberErrors};

/// The sums over the rows.
#[derive(Debug, Clone)]
pub enum Score<'a> {
    /// One entry per target.
    Numbers(Vec<Moments>),
    /// The counts of a classifier.
    Classes(Box<Hits>, &'a Model),
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
    pub fn of(model: &'a Model) -> Self {
        match &model.classes {
            Some(classes) => Self::Classes(Box::new(Hits::new(classes, model.link())), model),
            None => Self::of_numbers(model.outputs.len()),
        }
    }

    /// Empty sums for a regression with this many targets.
    pub fn of_numbers(targets: usize) -> Self {
        Self::Numbers(vec![Moments::default(); targets])
    }

    /// Empty sums for a one-class machine on rows of unknown class.
    pub fn of_inliers(decisions: &Matrix<f64>) -> Self {
        let inside = decisions.entries().iter().filter(|f| **f > 0.0).count();
        Self::Inliers(inside as u64, decisions.nrows() as u64)
    }

    /// Adds rows of a regression: their targets (NaN if unknown) and the outputs.
    pub fn add_numbers(&mut self, truth: &Matrix<f64>, outputs: &Matrix<f64>) {
        let Self::Numbers(moments) = self else { return };
        for i in 0..outputs.nrows() {
            let pairs = truth.row(i).iter().zip(outputs.row(i));
            moments.iter_mut().zip(pairs).for_each(|(m, (y, f))| m.add(*y, *f));
        }
    }

    /// Adds the standard deviations of rows of a regression.
    pub fn add_deviations(&mut self, truth: &Matrix<f64>, outputs: &Matrix<f64>, deviations: &Matrix<f64>) {
        let Self::Numbers(moments) = self else { return };
        for i in 0..outputs.nrows() {
            for (o, moments) in moments.iter_mut().enumerate() {
                moments.add_deviation(truth.row(i)[o], outputs.row(i)[o], deviations.row(i)[o]);
            }
        }
    }

    /// Adds rows of a classifier: their classes (`None` if unknown, `Err` if no training row had it) and the outputs.
    pub fn add_classes(
        &mut self,
        truth: impl IntoIterator<Item = Result<Option<usize>, String>>,
        outputs: &Matrix<f64>,
    ) {
        let Self::Classes(hits, model) = self else { return };
        let shares = model.probabilities(outputs);
        for (i, truth) in truth.into_iter().enumerate() {
            if let Some(truth) = truth.transpose() {
                hits.add(truth, outputs.row(i), shares.as_ref().map(|shares| shares.row(i)));
            }
        }
    }

    /// The errors of each target, if any row was scored.
    pub fn errors(&self, targets: &[String]) -> Vec<Errors> {
        match self {
            Self::Numbers(moments) => {
                moments.iter().zip(targets).filter_map(|(m, t)| m.errors(t)).map(Errors::Numbers).collect()
            }
            Self::Classes(hits, _) => {
                targets.iter().filter_map(|target| hits.errors(target)).map(Errors::Classes).collect()
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

/// Adds the errors on held-out rows to the report of a model: `held_out`, by target if there are several.
pub fn keep(report: &mut Facts, errors: &[Errors]) {
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
    report.set("held_out", kept);
}

impl Errors {
    /// The errors of a regression from sums over the rows, which do not give absolute errors.
    pub fn of_sums(errors: &[TargetError], targets: &[String]) -> Vec<Self> {
        let of_target = |(error, target): (&TargetError, &String)| {
            let TargetError { rows, rmse, r2, baseline_rmse } = *error;
            Self::Numbers(NumberErrors {
                target: target.clone(),
                rows,
                rmse,
                mae: None,
                r2,
                baseline_rmse,
                density: None,
            })
        };
        errors.iter().zip(targets).map(of_target).collect()
    }

    /// The target's name.
    pub fn target(&self) -> &str {
        match self {
            Self::Numbers(errors) => &errors.target,
            Self::Classes(errors) => &errors.target,
            Self::Inliers(share) => &share.target,
        }
    }

    /// One line of text.
    pub fn line(&self) -> String {
        match self {
            Self::Numbers(errors) => errors.line(),
            Self::Classes(errors) => errors.line(),
            Self::Inliers(share) => {
                format!("{:.4} of {} are inliers", share.inliers, counted(share.rows, "row"))
            }
        }
    }

    /// The warning about a classifier that predicts one class for every row.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Classes(errors) => errors.warning(),
            Self::Numbers(_) | Self::Inliers(_) => None,
        }
    }

    /// The warning about a regression whose errors are larger than those of predicting the mean.
    pub fn worse_than_mean(&self) -> Option<String> {
        match self {
            Self::Numbers(errors) => errors.worse_than_mean(),
            Self::Classes(_) | Self::Inliers(_) => None,
        }
    }

    /// Tables as text; empty for a regression.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Numbers(_) | Self::Inliers(_) => Vec::new(),
            Self::Classes(errors) => errors.tables(),
        }
    }
}
