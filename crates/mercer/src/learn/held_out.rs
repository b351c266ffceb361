//! Errors of a fit at rows of a stream that it was not trained on.

use crate::data::Passes;
use crate::model::{Predictor, Score};
use crate::session::Session;
use crate::watch::Watch;

use super::error::LearnError;
use super::fitted::Fitted;
use super::problem::{Inputs, Problem};
use super::search::Split;

/// The fit of a classifier to all rows; for a stream that holds rows out, with the errors there of a fit to the others.
///
/// # Errors
/// Those of `train` and [`score_rows`].
pub(super) fn with_held_out(
    problem: &Problem<'_>,
    session: &Session<'_>,
    train: impl Fn(&Problem<'_>) -> Result<Fitted, LearnError>,
) -> Result<Fitted, LearnError> {
    let Inputs::Stream(stream) = problem.inputs else { return train(problem) };
    let (codes, classes) = problem.codes()?;
    let split = Split::of(codes.len(), &stream.survey().held_out).with_every_class(codes, classes);
    if split.held_out.is_empty() {
        return train(problem);
    }
    let mut is_held_out = vec![false; codes.len()];
    split.held_out.iter().for_each(|&row| is_held_out[row] = true);
    let weight = |row: usize| if is_held_out[row] { 0.0 } else { problem.weights().map_or(1.0, |w| w[row]) };
    let weights: Vec<f64> = (0..codes.len()).map(weight).collect();
    let others = Problem::new(Inputs::Stream(stream), problem.targets.clone())
        .weighted(Some(weights))
        .with_origin(problem.origin.clone());
    let Fitted { model, .. } = train(&others)?;
    let mut score = Score::of(&model);
    score_rows((stream, &|row| is_held_out[row]), &mut score, &model.predictor, Some(codes), session)?;
    let errors = score.errors(&model.outputs);
    Ok(Fitted { held_out: Some(errors), ..train(problem)? })
}

/// Adds the predictions at some rows of a stream to a score, from one pass. `codes` are the classes of all rows; the targets
/// of a regression come with the rows.
///
/// # Errors
/// If the rows cannot be read or predicted, or if the session is stopped.
pub(super) fn score_rows(
    (stream, is_scored): (&dyn Passes, &(dyn Fn(usize) -> bool + Sync)),
    score: &mut Score<'_>,
    predictor: &Predictor,
    codes: Option<&[usize]>,
    session: &Session<'_>,
) -> Result<(), LearnError> {
    session.begin("held-out rows", stream.survey().rows);
    stream.for_each::<LearnError>(|chunk| {
        session.check()?;
        let (first, rows) = (chunk.first as usize, chunk.samples.nrows());
        let some: Vec<usize> = (0..rows).filter(|&row| is_scored(first + row)).collect();
        if !some.is_empty() {
            let outputs = predictor.predict(&chunk.samples.select(&some), &session.part())?;
            match codes {
                None => score.add_numbers(&chunk.targets.select(&some), &outputs),
                Some(codes) => {
                    score.add_classes(some.iter().map(|&row| Ok(Some(codes[first + row]))), &outputs)
                }
            }
        }
        session.advance(rows as u64);
        Ok(())
    })
}
