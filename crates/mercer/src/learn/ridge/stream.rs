//! Ridge regression on approximate features of rows that are read in passes.

use crate::data::{Chunk, Passes, Survey};
use crate::design::{Features, Parts};
use crate::linalg::NormalEquations;
use crate::model::Score;
use crate::session::{Checkpoint, Session};
use crate::watch::Watch;

use super::super::digest::Digest;
use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::held_out::score_rows;
use super::super::problem::Problem;
use super::incremental::{add_rows, empty_sums, predictor};
use super::passes::HeldRows;
use super::quality::SolvedSums;
use super::{Ridge, check_lambda};

impl Ridge {
    /// The fit to rows that are read in passes. Where that is cheaper and the features of all rows fit the memory, one pass
    /// stores the features; otherwise it adds them to sums. The errors on rows that the survey holds out are those of a fit
    /// to the others; the model is the fit to all rows.
    ///
    /// From sums: O(nD(d + D) + D³) time, O(D²) memory for D features. They resume from the session's checkpoint; with one, the
    /// fit is always from sums.
    pub(super) fn on_stream(
        &self,
        passes: &dyn Passes,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let survey = passes.survey();
        let (rows, names) = (problem.nrows(), &survey.targets);
        problem.unweighted()?;
        if problem.classes().is_some() {
            return Err(LearnError::Unsupported("a regression needs targets that are numbers"));
        }
        if names.is_empty() {
            return Err(LearnError::Length { what: "targets", rows, found: 0 });
        }
        check_lambda(&self.lambda, names.len())?;
        let (lift, _) = self.lift.resolved(problem, session)?;
        let ridge = self.clone().lift(lift);
        ridge.check_approximate_method()?;
        let prepared = ridge.prepare(problem.sample()?, session)?;
        let held_out = survey.held_out.count();
        let mut sums = Sums::empty(prepared.features.count(prepared.columns)?, survey, session)?;
        let shape = (rows, rows - held_out as usize, names.len());
        let (sample, fits) = (&survey.sample, 1 + u64::from(held_out > 0));
        let taken = (fits, passes.bytes_held());
        match ridge.affordable(&prepared, sample, shape, taken, session)? {
            Some(most) if session.checkpoint().is_none() => {
                let ready = prepared.features.ready(sample.ncols(), None, session)?;
                let rows = HeldRows::of_stream(&ready, passes, most, session)?;
                if let Some(answer) = ridge.on_held_rows(&prepared, &rows, &mut sums, passes, session)? {
                    return Ok(Fitted::new(&ridge, problem, session, answer));
                }
            }
            _ => {
                let work = ridge.work_on_stream(survey, session);
                sums = sums.over(passes, &prepared.features, work, session)?;
            }
        }
        let solution = ridge.solve(sums.rest(), session)?;
        let summed = SolvedSums { sums: sums.rest(), solution: &solution, held_out: sums.parts.get(1) };
        let facts = ridge.quality(&prepared, summed, sample, session)?.facts(names);
        let (of_all, errors) = if held_out == 0 {
            (solution, None)
        } else {
            let mut score = Score::of_numbers(names.len());
            let is_held_out = |row: usize| survey.held_out.contains(row as u64);
            let of_rest = predictor(&prepared, solution.fit);
            score_rows((passes, &is_held_out), &mut score, &of_rest, None, session)?;
            (ridge.solve(&sums.all()?, session)?, Some(score.errors(names)))
        };
        let answer = Answer { held_out: errors, ..ridge.answer(&prepared, &of_all, facts)? };
        Ok(Fitted::new(&ridge, problem, session, answer))
    }

    /// A number that identifies this work.
    fn work_on_stream(&self, survey: &Survey, session: &Session<'_>) -> u64 {
        let Survey { rows, content, scaling, held_out, .. } = survey;
        let seed = session.seed();
        let mut digest = Digest::new();
        digest.bytes(format!("{self:?} {seed} {held_out:?} {rows} {content:x} {scaling:?}").as_bytes());
        digest.value()
    }
}

/// Sums over the features of the rows read so far.
pub(super) struct Sums {
    /// Over the rows that are not held out and, if there are any, over those that are.
    pub parts: Vec<NormalEquations>,
    rows: u64,
}

impl Sums {
    fn empty(features: usize, survey: &Survey, session: &Session<'_>) -> Result<Self, LearnError> {
        let rest = empty_sums(features, survey.targets.len(), session)?;
        Ok(Self { parts: vec![rest; 1 + usize::from(survey.held_out.count() > 0)], rows: 0 })
    }

    /// The sums over the rows that are not held out.
    pub fn rest(&self) -> &NormalEquations {
        &self.parts[0]
    }

    /// The sums over all rows.
    fn all(&self) -> Result<NormalEquations, LearnError> {
        let mut all = self.rest().clone();
        self.parts[1..].iter().try_for_each(|part| all.merge(part))?;
        Ok(all)
    }

    /// Adds all rows that are not yet in the sums, and saves the sums at intervals.
    fn over(
        mut self,
        passes: &dyn Passes,
        features: &Features,
        work: u64,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let survey = passes.survey();
        let checkpoint: Option<&dyn Checkpoint> = session.checkpoint();
        if let Some(state) = checkpoint.and_then(|checkpoint| checkpoint.load(work)) {
            self.restore(&state);
        }
        session.begin("second pass", survey.rows);
        passes.for_each::<LearnError>(|chunk| {
            session.check()?;
            let end = chunk.first + chunk.samples.nrows() as u64;
            if end > self.rows {
                self.add(chunk, survey, features, &session.part())?;
                self.rows = end;
                if let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.due()) {
                    checkpoint.save(work, self.state());
                }
            }
            session.advance(end - chunk.first);
            Ok(())
        })?;
        Ok(self)
    }

    fn add(
        &mut self,
        Chunk { first, samples, targets }: &Chunk,
        survey: &Survey,
        features: &Features,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let part = |row: usize| Some(usize::from(survey.held_out.contains(first + row as u64)));
        let table: Vec<Option<usize>> = (0..samples.nrows()).map(part).collect();
        add_rows(features, samples, targets, None, (&Parts::Table(&table), &mut self.parts), session)
    }

    fn state(&self) -> Vec<u8> {
        let mut bytes = self.rows.to_le_bytes().to_vec();
        for part in self.parts.iter().map(NormalEquations::to_bytes) {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&part);
        }
        bytes
    }

    /// Restores the sums of an earlier run. A state that cannot be read is ignored, and the work starts again.
    fn restore(&mut self, state: &[u8]) {
        let read = || {
            let (rows, mut rest) = number(state)?;
            let mut parts = Vec::new();
            for _ in &self.parts {
                let (length, after) = number(rest)?;
                let (part, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
                parts.push(NormalEquations::from_bytes(part).ok()?);
                rest = after;
            }
            Some(Self { parts, rows })
        };
        if let Some(restored) = read() {
            *self = restored;
        }
    }
}

/// A number at the beginning of a state, and what follows it.
fn number(state: &[u8]) -> Option<(u64, &[u8])> {
    let (bytes, after) = state.split_at_checked(8)?;
    Some((u64::from_le_bytes(bytes.try_into().ok()?), after))
}
