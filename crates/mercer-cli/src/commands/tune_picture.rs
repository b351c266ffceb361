//! The search as a picture: the error along one hyper-parameter, with the ends where it follows the noise and the mean.

use mercer::kernel::Kernel;
use mercer::learn::search::{Measure, Trial, Trials, Tunable};
use mercer::learn::{Learner as _, Problem, Ridge, RidgeSolver};
use mercer::session::Session;

use crate::args::Criterion;
use crate::failure::Failure;
use crate::plot::{Figure, TuningCurve, TuningLine, number};

/// More distinct values than this of a hyper-parameter are thinned before models are fitted for the training error.
const FITTED: usize = 24;

/// The error on the training rows of a fit at each of some trials, where there is one.
pub type TrainingErrors<'a> = dyn FnMut(&[Option<&Trial>]) -> Result<Vec<Option<f64>>, Failure> + 'a;

/// The lowest error at each value of the first hyper-parameter that has several.
pub fn figure(
    trials: &Trials,
    measure: Measure,
    criterion: Criterion,
    rows: usize,
    training: &mut TrainingErrors<'_>,
) -> Result<Figure, Failure> {
    let coordinate = |trial: &Trial, place: usize| *trial.values.get(place).unwrap_or(&trial.setting);
    let distinct = |place: usize| {
        let mut values: Vec<f64> = trials.rows.iter().map(|trial| coordinate(trial, place)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.retain(|value| *value > 0.0);
        values
    };
    let place = (0..trials.names.len()).find(|&place| distinct(place).len() > 2).unwrap_or(0);
    let values = distinct(place);
    // The best trial at each value, whatever the others are.
    let best_at: Vec<Option<&Trial>> = values
        .iter()
        .map(|value| {
            let here = trials.rows.iter().filter(|t| coordinate(t, place) == *value && t.score.is_some());
            here.min_by(|a, b| a.score.unwrap_or(f64::NAN).total_cmp(&b.score.unwrap_or(f64::NAN)))
        })
        .collect();
    let validation: Vec<Option<f64>> = best_at
        .iter()
        .map(|trial| trial.and_then(|trial| trial.score).map(|score| measure.readable(score)))
        .collect();
    let training = training(&best_at)?;
    let lowest = validation
        .iter()
        .enumerate()
        .filter_map(|(place, error)| Some((place, (*error)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let parameter = trials.names[place].clone();
    let best = lowest
        .map(|(at, error)| (0, at, format!("best: {parameter} = {}, {}", number(values[at]), number(error))));
    let ends = match parameter.as_str() {
        "gamma" => ["← bias", "variance →"],
        _ => ["← variance", "bias →"],
    };
    let others: Vec<&str> =
        trials.names.iter().filter(|name| **name != parameter).map(String::as_str).collect();
    let name = match others.as_slice() {
        [] => "error on rows left out".to_owned(),
        others => format!("error on rows left out, best {}", others.join(" and ")),
    };
    let curve = TuningCurve {
        title: format!("Choosing {}", trials.names.join(" and ")),
        subtitle: format!("{rows} rows, {} trials", trials.rows.len()),
        values,
        score: format!("{}, {}", measure.name(), criterion.name()),
        lines: vec![TuningLine { name, validation, training }],
        best,
        ends: Some(ends.map(String::from)),
        parameter,
    };
    Ok(curve.figure()?)
}

/// The error on the training rows of a fit at each trial, of some where they are many.
pub fn training_errors(
    trials: &[Option<&Trial>],
    (ridge, kernel): (&Ridge, &Kernel),
    problem: &Problem<'_>,
    session: &Session<'_>,
) -> Result<Vec<Option<f64>>, Failure> {
    let (samples, targets) = (problem.samples()?, problem.numbers()?);
    let ridge = ridge.clone().solver(RidgeSolver::Dual);
    let kernel = kernel.resolve_auto(&session.scales(samples))?;
    let stride = trials.len().div_ceil(FITTED).max(1);
    let mut errors = vec![None; trials.len()];
    for (place, trial) in trials.iter().enumerate().step_by(stride) {
        let Some(trial) = trial else { continue };
        let ridge = ridge.clone().with_kernel(kernel.with_values(&trial.values)?).with_shared(trial.setting);
        let trained = ridge.train(problem, session)?;
        let fitted = trained.model.predictor.predict(samples, session)?;
        let squares: f64 =
            fitted.entries().iter().zip(targets.entries()).map(|(f, y)| (y - f) * (y - f)).sum();
        errors[place] = Some((squares / fitted.entries().len() as f64).sqrt());
    }
    Ok(errors)
}
