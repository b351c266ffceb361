//! Training step by step: the epochs of least mean squares, the mistakes of the perceptron.

use mercer::data::{Dataset, Matrix};
use mercer::learn::{AnyLearner, Learner};
use mercer::model::{Expansion, Method, Model, Predictor, Voted};
use mercer::session::Session;
use serde::Serialize;

use super::picture::{Decision, Grid, short, shown};
use super::prepared::Prepared;
use super::state::State;
use crate::failure::Failure;

/// The most frames of an animation.
const MOST_FRAMES: usize = 48;

/// An animation of the training.
#[derive(Debug, Serialize)]
pub struct Film {
    grid: Grid,
    frames: Vec<Frame>,
}

/// The model after some steps.
#[derive(Debug, Serialize)]
struct Frame {
    label: String,
    /// The row of the last step.
    row: Option<usize>,
    /// For a regression.
    values: Option<Vec<f32>>,
    /// For a classifier.
    decision: Option<Decision>,
    /// The root mean squared error on the training rows, or the mistakes so far.
    error: f64,
}

/// The animation of a state's learner.
pub fn film(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<Film, Failure> {
    let prepared = Prepared::new(state, file)?;
    let grid = Grid::new(state, &prepared.points, 40)?;
    let frames = match &prepared.learner {
        AnyLearner::Lms(_) => epochs(&prepared, &grid, session),
        AnyLearner::Perceptron(_) => mistakes(&prepared, &grid, session),
        _ => Err(Failure::usage("only lms and the perceptron are shown step by step")),
    }?;
    Ok(Film { grid, frames })
}

/// At most `most` numbers from 1 to `last`, denser at the start.
fn stops(last: usize, most: usize) -> Vec<usize> {
    let at = |i: usize| (last as f64).powf(i as f64 / (most - 1) as f64).round() as usize;
    let mut stops: Vec<usize> = (0..most).map(at).collect();
    stops.dedup();
    stops
}

fn epochs(prepared: &Prepared, grid: &Grid, session: &Session<'_>) -> Result<Vec<Frame>, Failure> {
    let AnyLearner::Lms(lms) = &prepared.learner else { return Ok(Vec::new()) };
    let (problem, _) = prepared.rows.problem()?;
    let targets = problem.numbers()?;
    let mut frames = Vec::new();
    for epochs in stops(lms.epochs, MOST_FRAMES) {
        // The animation continues even if a fit would stop because the gradient is small.
        let fitted = lms.clone().epochs(epochs).tol(0.0).train(&problem, session)?;
        let outputs = fitted.model.predict(&prepared.rows.dataset.features, session)?;
        let squares =
            outputs.entries().iter().zip(targets.entries()).map(|(f, y)| (f - y).powi(2)).sum::<f64>();
        let shown = shown(fitted.model, prepared);
        frames.push(Frame {
            label: format!("epoch {epochs}"),
            row: None,
            values: Some(short(&grid.values(&shown, session)?)),
            decision: None,
            error: (squares / outputs.nrows() as f64).sqrt(),
        });
    }
    Ok(frames)
}

fn mistakes(prepared: &Prepared, grid: &Grid, session: &Session<'_>) -> Result<Vec<Frame>, Failure> {
    let AnyLearner::Perceptron(perceptron) = &prepared.learner else { return Ok(Vec::new()) };
    let (problem, _) = prepared.rows.problem()?;
    let fitted = perceptron.clone().vote(true).train(&problem, session)?;
    let rows = fitted.centres.clone().unwrap_or_default();
    let Predictor::Voted(voted) = &fitted.model.predictor else { return Ok(Vec::new()) };
    // A mistake between several classes takes two steps: one for the right class and one for the wrong one.
    let ends: Vec<usize> =
        (0..voted.steps.len()).filter(|&step| voted.steps[step].votes > 0).map(|step| step + 1).collect();
    let mut frames = Vec::new();
    for mistake in stops(ends.len(), MOST_FRAMES) {
        let Some(&end) = ends.get(mistake.saturating_sub(1)) else { break };
        let row = rows[voted.steps[end - 1].centre as usize];
        let model = after(&fitted.model, voted, end);
        frames.push(Frame {
            label: format!("mistake {mistake} of {}", ends.len()),
            row: Some(row),
            values: None,
            decision: Some(Decision::of(&shown(model, prepared), grid, session)?),
            error: mistake as f64,
        });
    }
    Ok(frames)
}

/// The function after some steps, as a model.
fn after(model: &Model, voted: &Voted, steps: usize) -> Model {
    let outputs = if voted.classes == 2 { 1 } else { voted.classes };
    let mut coefficients = Matrix::zeros(voted.centres.nrows(), outputs);
    for step in &voted.steps[..steps] {
        coefficients.row_mut(step.centre as usize)[step.output as usize] += step.amount;
    }
    let expansion = Expansion {
        kernel: voted.kernel.clone(),
        domain: None,
        centres: voted.centres.clone(),
        shift: None,
        coefficients,
        intercepts: vec![0.0; outputs],
    };
    Model { predictor: expansion.into(), method: Method::Perceptron, ..model.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_start_at_one_and_end_at_the_last() {
        assert_eq!(stops(1, 5), [1]);
        assert_eq!(stops(3, 5), [1, 2, 3]);
        let stops = stops(1000, 40);
        assert_eq!((stops[0], stops[stops.len() - 1]), (1, 1000));
        assert!(stops.len() <= 40 && stops.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
