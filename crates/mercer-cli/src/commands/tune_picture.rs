//! The picture of a search: the error along one hyper-parameter and, where there are several, a map over two.

use mercer::kernel::Kernel;
use mercer::learn::search::{Measure, Trial, Trials, Tunable};
use mercer::learn::{Learner as _, Problem, Ridge, RidgeSolver};
use mercer::session::Session;

use crate::failure::Failure;
use crate::plot::{Figure, Tuning, TuningMap, number};

/// The most distinct values of a hyper-parameter for which models are fitted for the training error; more are thinned.
const FITTED: usize = 24;

/// The training error of a fit at each of some trials, if there is one.
pub type TrainingErrors<'a> = dyn FnMut(&[Option<&Trial>]) -> Result<Vec<Option<f64>>, Failure> + 'a;

/// The lowest error at each value of the first hyper-parameter with several values, and a map over this and the next one.
pub fn figure(
    trials: &Trials,
    measure: Measure,
    criterion: &str,
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
    // Hyper-parameters with several values, all of them on the logarithmic axes.
    let drawn: Vec<usize> = (0..trials.names.len()).filter(|&place| distinct(place).len() > 1).collect();
    let place = drawn.first().copied().unwrap_or(0);
    let values = distinct(place);
    // The best trial at each value of one hyper-parameter, over all values of the others.
    let best_where = |matches: &dyn Fn(&Trial) -> bool| {
        let here = trials.rows.iter().filter(|trial| trial.score.is_some() && matches(trial));
        here.min_by(|a, b| a.score.unwrap_or(f64::NAN).total_cmp(&b.score.unwrap_or(f64::NAN)))
    };
    let best_at: Vec<Option<&Trial>> =
        values.iter().map(|value| best_where(&|trial| coordinate(trial, place) == *value)).collect();
    let readable = |trial: &Trial| trial.score.map(|score| measure.readable(score));
    let validation = best_at.iter().map(|trial| trial.and_then(readable)).collect();
    let training = training(&best_at)?;
    let best = best_where(&|_| true);
    let label = |best: &Trial| {
        let chosen = (0..trials.names.len())
            .map(|place| format!("{} = {}", trials.names[place], number(coordinate(best, place))));
        let score = readable(best).map(number).unwrap_or_default();
        format!("best: {}; {} {score}", chosen.collect::<Vec<_>>().join(", "), measure.name())
    };
    let chosen = best.and_then(|best| {
        let at = values.iter().position(|value| *value == coordinate(best, place))?;
        Some((at, label(best)))
    });
    let map = drawn.get(1).map(|&second| {
        let point = |trial: &Trial| (coordinate(trial, place), coordinate(trial, second));
        let positive = |(a, b): (f64, f64)| a > 0.0 && b > 0.0;
        let trial = |trial: &Trial| Some((point(trial), readable(trial)?));
        TuningMap {
            parameter: trials.names[second].clone(),
            trials: trials.rows.iter().filter(|t| positive(point(t))).filter_map(trial).collect(),
            best: best.map(point).filter(|best| positive(*best)),
        }
    });
    let parameter = trials.names[place].clone();
    let ends = ends(&parameter);
    let others: Vec<&str> = drawn.iter().skip(1).map(|&place| trials.names[place].as_str()).collect();
    let validation_name = match others.as_slice() {
        [] => "error on rows left out".to_owned(),
        others => format!("error on rows left out, at the best {}", others.join(" and ")),
    };
    let figure = Tuning {
        title: format!("Tuning {}", trials.names.join(" and ")),
        subtitle: format!("{rows} rows, {} trials, {}", trials.rows.len(), criterion),
        values,
        score: measure.name().to_owned(),
        validation,
        validation_name,
        training,
        best: chosen,
        ends: ends.map(|ends| ends.map(String::from)),
        parameter,
        map,
    };
    Ok(figure.figure()?)
}

/// What lies beyond the ends of a hyper-parameter's axis, if that is known. Numbered names are those of the kind.
fn ends(parameter: &str) -> Option<[&'static str; 2]> {
    match parameter.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit()) {
        "gamma" | "C" | "degree" => Some(["← bias", "variance →"]),
        "sigma" | "length" | "radius" | "lambda" | "k" | "nu" | "epsilon" => Some(["← variance", "bias →"]),
        _ => None,
    }
}

/// The training error of a fit at each trial; if there are many, at some of them.
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

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn models_are_flexible_at_the_end_that_suits_the_hyper_parameter() {
        for flexible in ["gamma", "C", "degree", "gamma_2"] {
            assert_eq!(ends(flexible), Some(["← bias", "variance →"]), "{flexible}");
        }
        for smooth in ["sigma", "sigma_1", "lambda", "k", "nu"] {
            assert_eq!(ends(smooth), Some(["← variance", "bias →"]), "{smooth}");
        }
        assert_eq!(ends("value"), None);
    }
}
