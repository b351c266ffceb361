//! Errors of a fit at rows of a stream that it was not trained on.

use crate::data::Passes;
use crate::model::{Predictor, Score};
use crate::session::Session;
use crate::watch::Watch;

use super::error::LearnError;

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
