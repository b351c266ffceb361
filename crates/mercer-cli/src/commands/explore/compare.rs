//! Compares the exact model with one on approximate features.

use mercer::data::Dataset;
use mercer::design::{RowFeatures, kernel_error};
use mercer::learn::{AnyLearner, Lift};
use mercer::model::Predictor;
use mercer::session::Session;
use serde::Serialize;

use super::gram::resolved;
use super::picture::{Decision, Grid, short, shown, train, training};
use super::prepared::Prepared;
use super::state::State;
use crate::failure::Failure;

/// Pairs of rows on which the kernel is compared with its approximation.
const PAIRS: usize = 4_000;

/// The most features or landmarks.
const MOST_FEATURES: usize = 4_096;

/// Two models on the same grid.
#[derive(Debug, Serialize)]
pub struct Comparison {
    grid: Grid,
    exact: Side,
    approximate: Side,
    /// The approximation, as for `--approx`.
    approx: String,
    /// ‖ΦΦᵀ − K‖/‖K‖ on a sample of pairs.
    kernel_error: f64,
    /// The root mean square of the difference of the two models over the grid.
    difference: f64,
    /// For classifiers, the share of the grid where they disagree.
    disagreement: Option<f64>,
}

/// One of the two models.
#[derive(Debug, Serialize)]
struct Side {
    values: Option<Vec<f32>>,
    decision: Option<Decision>,
    training: String,
}

/// The exact model of a state and its approximation.
pub fn compare(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<Comparison, Failure> {
    let exact = Prepared::new(state, file)?;
    if !matches!(exact.learner, AnyLearner::Ridge(_) | AnyLearner::Logistic(_) | AnyLearner::Svm(_)) {
        return Err(Failure::usage("ridge, logistic and svc have approximate features; choose one of them"));
    }
    let count = state.whole("features", 100, 2, MOST_FEATURES)?;
    let approx = match state.text("approx").unwrap_or("fourier") {
        "fourier" => format!("fourier:{}", 2 * (count / 2)),
        "nystrom" => format!("nystrom:{}", count.min(exact.points.nrows())),
        other => return Err(Failure::usage(format!("approx is `{other}`; it must be fourier or nystrom"))),
    };
    let near = Prepared::with(state, file, &["--approx".to_owned(), approx.clone()])?;
    let grid = Grid::new(state, &exact.points, 64)?;
    let (exact_side, exact_outputs) = side(&exact, &grid, session)?;
    let (near_side, near_outputs) = side(&near, &grid, session)?;
    let squares = exact_outputs.iter().zip(&near_outputs).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let disagreement = exact_side.decision.as_ref().map(|_| {
        let unlike =
            exact_outputs.iter().zip(&near_outputs).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
        unlike as f64 / exact_outputs.len() as f64
    });
    Ok(Comparison {
        difference: (squares / exact_outputs.len() as f64).sqrt(),
        disagreement,
        kernel_error: error(&near, state, session)?,
        exact: exact_side,
        approximate: near_side,
        approx,
        grid,
    })
}

/// A model on the grid, with its first output there.
fn side(prepared: &Prepared, grid: &Grid, session: &Session<'_>) -> Result<(Side, Vec<f64>), Failure> {
    let model = train(prepared, session)?.model;
    let training = training(&prepared.rows, &model, session)?;
    let shown = shown(model, prepared);
    let values = grid.values(&shown, session)?;
    let side = match shown.model.classes {
        None => Side { values: Some(short(&values)), decision: None, training },
        Some(_) => Side { values: None, decision: Some(Decision::of(&shown, grid, session)?), training },
    };
    // The decision of a pairwise machine is positive for the first class, that of a machine on features for the second.
    let sign = if matches!(shown.model.predictor, Predictor::Pairs(_)) { -1.0 } else { 1.0 };
    Ok((side, values.into_iter().map(|value| sign * value).collect()))
}

/// The error of the features against the kernel.
fn error(prepared: &Prepared, state: &State, session: &Session<'_>) -> Result<f64, Failure> {
    let (kernel, samples) = resolved(prepared, state, session)?;
    let lift = match &prepared.learner {
        AnyLearner::Ridge(ridge) => &ridge.lift,
        AnyLearner::Logistic(logistic) => &logistic.lift,
        AnyLearner::Svm(svm) => &svm.lift,
        _ => return Err(Failure::usage("this method has no approximate features")),
    };
    let Lift::Approximate { approx, .. } = lift else {
        return Err(Failure::usage("the features are not approximate"));
    };
    let features = approx.of(&kernel, &samples, session)?;
    let ready: RowFeatures<'_> = features.ready(samples.ncols(), None, session)?;
    Ok(kernel_error(&ready, &kernel, &samples, PAIRS, session)?.relative)
}
