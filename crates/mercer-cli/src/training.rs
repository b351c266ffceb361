//! From the rows of a file to a fitted predictor: targets, scaling, held-out rows.

use std::path::Path;

use mercer::data::{
    self, AnySamples, Classes, DataError, Dataset, Matrix, ReadOptions, ScaleMethod, Scaling, Schema, Target,
    TargetValues,
};
use mercer::learn::search::Split;
use mercer::model::{Link, Method};
use mercer::session::Session;

use crate::args;
use crate::failure::Failure;
use crate::learner::{Learner, Learnt};
use crate::score::{Errors, Score};

/// What is learnt: one column per target, or one per class.
pub struct Goal {
    /// One row per sample.
    pub targets: Matrix<f64>,
    /// The names of the targets.
    pub names: Vec<String>,
    /// The classes, for classification.
    pub classes: Option<Classes>,
    /// What each row counts; none where all count the same.
    pub weights: Option<Vec<f64>>,
    /// Whether the targets were made up, because there is nothing to predict.
    pub untold: bool,
}

impl Goal {
    /// The goal of a learner in a data set.
    pub fn of(dataset: &Dataset, learner: &dyn Learner) -> Result<Self, Failure> {
        let (weights, untold) = (None, false);
        if !learner.needs_target() {
            return Ok(Self::inliers(dataset));
        }
        if dataset.targets.is_empty() {
            return Err(missing_target(&dataset.source, &dataset.feature_names));
        }
        let names = dataset.targets.iter().map(|target| target.name.clone()).collect();
        let text = dataset.targets.iter().any(|target| matches!(target.values, TargetValues::Labels(_)));
        if learner.classifies(text) {
            let [target] = dataset.targets.as_slice() else {
                return Err(Failure::usage("a classifier has one target, but several are given"));
            };
            refuse_measurements(dataset, target, learner)?;
            let (classes, codes) = Classes::of(&target.values);
            if classes.len() < 2 {
                return Err(Failure::usage(format!(
                    "{}: the target {} is {} in every row; a classifier needs two classes or more",
                    dataset.source,
                    target.name,
                    classes.name(0)
                )));
            }
            return Ok(Self {
                targets: classes.one_hot(&codes),
                names,
                classes: Some(classes),
                weights,
                untold,
            });
        }
        let targets = numbers(dataset, learner)?;
        Ok(Self { targets, names, classes: None, weights, untold })
    }

    /// Inliers 1 and outliers -1: the target where it says just that, else every row is taken for an inlier.
    fn inliers(dataset: &Dataset) -> Self {
        let classes = Classes::Numbers(vec![-1.0, 1.0]);
        let told = match dataset.targets.as_slice() {
            [target] => {
                let codes =
                    (0..target.values.len()).map(|row| classes.find(&target.values, row).ok().flatten());
                codes.collect::<Option<Vec<usize>>>().map(|codes| (codes, target.name.clone()))
            }
            _ => None,
        };
        let untold = told.is_none();
        let (codes, name) = told.unwrap_or_else(|| (vec![1; dataset.nrows()], "inlier".to_owned()));
        let targets = classes.one_hot(&codes);
        Self { targets, names: vec![name], classes: Some(classes), weights: None, untold }
    }

    /// With what each row counts, from a column of the data that is not a target.
    pub fn weighted(mut self, weights: Option<Target>, source: &str) -> Result<Self, Failure> {
        let Some(Target { name, values }) = weights else { return Ok(self) };
        let TargetValues::Numbers(values) = values else {
            return Err(Failure::usage(format!("{source}: the weights in {name} are not all numbers")));
        };
        self.weights = Some(values);
        Ok(self)
    }
}

/// More distinct numbers than this, and with fractions, are no classes.
const FRACTIONS: usize = 10;

/// More distinct numbers than this, in less than twice as many rows, are no classes either.
const WHOLE: usize = 20;

/// Refuses a target of numbers that looks measured, not counted out.
fn refuse_measurements(dataset: &Dataset, target: &Target, learner: &dyn Learner) -> Result<(), Failure> {
    let TargetValues::Numbers(values) = &target.values else { return Ok(()) };
    // Neighbours take numbers as classes only where they are told to.
    if learner.method() == Method::Knn {
        return Ok(());
    }
    let mut distinct = values.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let fraction = distinct.iter().find(|value| value.fract() != 0.0);
    let measured = match fraction {
        Some(_) => distinct.len() > FRACTIONS,
        None => distinct.len() > WHOLE && 2 * distinct.len() > values.len(),
    };
    if !measured {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{}: the target {} looks continuous: {} different numbers in {} rows, such as {}; {} tells classes apart",
        dataset.source,
        target.name,
        distinct.len(),
        values.len(),
        fraction.unwrap_or(&distinct[0]),
        learner.method()
    ))
    .hint("predict numbers with `mercer fit ridge`, or write the classes as texts"))
}

/// One column per target.
fn numbers(dataset: &Dataset, learner: &dyn Learner) -> Result<Matrix<f64>, Failure> {
    let mut matrix = Matrix::zeros(dataset.nrows(), dataset.targets.len());
    for (column, target) in dataset.targets.iter().enumerate() {
        let TargetValues::Numbers(values) = &target.values else {
            return Err(Failure::usage(format!(
                "{}: the target {} holds text, but {} predicts numbers",
                dataset.source,
                target.name,
                learner.method()
            )));
        };
        values.iter().enumerate().for_each(|(row, value)| matrix.row_mut(row)[column] = *value);
    }
    Ok(matrix)
}

/// A fitted predictor and the scaling that goes before it.
pub struct Trained {
    /// What the learner found.
    pub learnt: Learnt,
    /// The scaling of the features.
    pub scaling: Scaling,
    /// Columns with one value throughout.
    pub constant: Vec<usize>,
}

impl Trained {
    /// Scales the features, then fits.
    pub fn on(
        learner: &dyn Learner,
        scale: Option<ScaleMethod>,
        features: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<Self, Failure> {
        Self::weighted(learner, scale, features, (targets, None), session)
    }

    /// The same with what each row counts beside its targets.
    pub fn weighted(
        learner: &dyn Learner,
        scale: Option<ScaleMethod>,
        features: &AnySamples<'_>,
        (targets, weights): (&Matrix<f64>, Option<&[f64]>),
        session: &Session<'_>,
    ) -> Result<Self, Failure> {
        let (scaling, constant) = Scaling::fit(scale.unwrap_or(ScaleMethod::Standard), features)?;
        let scaled = scaling.apply(features.view())?;
        let learnt = learner.fit(&scaled, targets, weights, session)?;
        Ok(Self { learnt, scaling, constant })
    }

    /// What a user should know about the scaling.
    pub fn notes(&self, dataset: &Dataset) -> Vec<String> {
        constant_columns(&self.constant, &dataset.feature_names).into_iter().collect()
    }
}

/// Reads a file to train on. Where no target is named, a column of text is more likely the target than a feature.
pub fn read_for_training(
    method: args::Method,
    path: &Path,
    options: &ReadOptions,
) -> Result<(Dataset, Schema), Failure> {
    let missing = options.target.is_empty() && method != args::Method::OneClass;
    data::read(path, options).map_err(|error| match error {
        DataError::NotANumber { .. } if missing => match data::column_names(path, &options.layout) {
            Ok(columns) => missing_target(&path.display().to_string(), &columns),
            Err(_) => error.into(),
        },
        error => error.into(),
    })
}

/// No target was named.
pub fn missing_target(source: &str, columns: &[String]) -> Failure {
    let columns: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    Failure::usage(format!("--target is missing; {source} has the columns {}", columns.join(", ")))
}

/// A note on columns that are constant, where there are any.
pub fn constant_columns(constant: &[usize], names: &[String]) -> Option<String> {
    let name = |&c: &usize| names.get(c).cloned().unwrap_or_else(|| format!("column {c}"));
    let first: Vec<String> = constant.iter().take(8).map(name).collect();
    let more = if constant.len() > 8 { format!(" and {} more", constant.len() - 8) } else { String::new() };
    (!constant.is_empty()).then(|| format!("constant, so not scaled: {}{more}", first.join(", ")))
}

/// The errors on held-out rows of a predictor that has not seen them; none where no row is held out, and the reason where the others
/// alone cannot be learnt from.
pub fn hold_out(
    learner: &dyn Learner,
    scale: Option<ScaleMethod>,
    (fraction, seed): (f64, u64),
    dataset: &Dataset,
    goal: &Goal,
    session: &Session<'_>,
) -> Result<Result<Option<Vec<Errors>>, String>, Failure> {
    let split = Split::hold_out(dataset.nrows(), fraction, seed);
    let Some(Split { train, held_out }) = split.map_err(|e| Failure::usage(format!("--holdout: {e}")))?
    else {
        return Ok(Ok(None));
    };
    let features = dataset.features.select(&train);
    let weights: Option<Vec<f64>> =
        goal.weights.as_ref().map(|weights| train.iter().map(|&row| weights[row]).collect());
    let kept = (&goal.targets.select(&train), weights.as_deref());
    let trained = match Trained::weighted(learner, scale, &features, kept, session) {
        Err(failure) if !failure.is_interrupt() => return Ok(Err(failure.message().to_owned())),
        trained => trained?,
    };
    let unseen = trained.scaling.apply(dataset.features.select(&held_out))?;
    let predicted = trained.learnt.predictor.predict(&unseen, session)?;
    let truth = goal.targets.select(&held_out);
    let score = match &goal.classes {
        Some(_) if goal.untold => Score::of_inliers(&predicted),
        Some(classes) => {
            let link = Link::of(learner.method(), &trained.learnt.predictor);
            let mut score = Score::of_classes(classes, link).calibrated(trained.learnt.calibration);
            score.add_classes(
                (0..truth.nrows()).map(|i| Ok(Some(Link::Shares.class(truth.row(i))))),
                &predicted,
            );
            score
        }
        None => {
            let mut score = Score::of_numbers(goal.names.len());
            score.add_numbers(&truth, &predicted);
            score
        }
    };
    Ok(Ok(Some(score.errors(&goal.names))))
}
