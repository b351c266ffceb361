//! Ridge regression on approximate features of rows that are read in passes.

use crate::data::{Chunk, Passes, Survey};
use crate::design::{Features, Parts};
use crate::linalg::NormalEquations;
use crate::session::{Checkpoint, Session};
use crate::watch::Watch;

use super::super::digest::Digest;
use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::problem::Problem;
use super::incremental::{add_rows, empty_sums};
use super::quality::SolvedSums;
use super::{Ridge, check_lambda};

impl Ridge {
    /// The fit from one pass over the rows, which adds each to sums over the features. Rows that the survey holds out
    /// have separate sums, from which the error of a fit to the others follows; the model is the fit to all rows.
    ///
    /// O(nD(d + D) + D³) time, O(D²) memory for D features. Resumes from the session's checkpoint.
    pub(super) fn on_stream(
        &self,
        passes: &dyn Passes,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let survey = passes.survey();
        let (rows, names) = (problem.nrows(), &survey.targets);
        problem.unweighted()?;
        if names.is_empty() {
            return Err(LearnError::Length { what: "targets", rows, found: 0 });
        }
        check_lambda(&self.lambda, names.len())?;
        let (lift, _) = self.lift.resolved(problem, session)?;
        let ridge = self.clone().lift(lift);
        ridge.check_approximate_method()?;
        let prepared = ridge.prepare(problem.sample()?, session)?;
        let work = ridge.work_on_stream(survey, session);
        let sums = Sums::empty(prepared.features.count(prepared.columns)?, survey, session)?;
        let Sums { rest, held_out, .. } = sums.over(passes, &prepared.features, work, session)?;
        let solution = ridge.solve(&rest, session)?;
        let errors = held_out.as_ref().map(|held| solution.errors_on(held)).transpose()?;
        let summed = SolvedSums { sums: &rest, solution: &solution, held_out: held_out.as_ref() };
        let facts = ridge.quality(&prepared, summed, &survey.sample, session)?.facts(names);
        let of_all = match &held_out {
            None => solution,
            Some(held_out) => {
                let mut all = rest.clone();
                all.merge(held_out)?;
                ridge.solve(&all, session)?
            }
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
struct Sums {
    /// Over the rows that are not held out.
    rest: NormalEquations,
    /// Over the held-out rows; `None` if there are none.
    held_out: Option<NormalEquations>,
    rows: u64,
}

impl Sums {
    fn empty(features: usize, survey: &Survey, session: &Session<'_>) -> Result<Self, LearnError> {
        let rest = empty_sums(features, survey.targets.len(), session)?;
        let held_out = (survey.held_out.count() > 0).then(|| rest.clone());
        Ok(Self { rest, held_out, rows: 0 })
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
        chunk: &Chunk,
        survey: &Survey,
        features: &Features,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let Chunk { first, samples, targets } = chunk;
        for (held, sums) in [(false, Some(&mut self.rest)), (true, self.held_out.as_mut())] {
            let Some(sums) = sums else { continue };
            let part = |row: usize| (survey.held_out.contains(first + row as u64) == held).then_some(0);
            let table: Vec<Option<usize>> = (0..samples.nrows()).map(part).collect();
            let into = (&Parts::Table(&table), std::slice::from_mut(sums));
            add_rows(features, samples, targets, None, into, session)?;
        }
        Ok(())
    }

    fn state(&self) -> Vec<u8> {
        let mut bytes = self.rows.to_le_bytes().to_vec();
        let rest = self.rest.to_bytes();
        bytes.extend_from_slice(&(rest.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&rest);
        bytes.extend(self.held_out.iter().flat_map(NormalEquations::to_bytes));
        bytes
    }

    /// Restores the sums of an earlier run. A state that cannot be read is ignored, and the work starts again.
    fn restore(&mut self, state: &[u8]) {
        let number = |at: usize| Some(u64::from_le_bytes(state.get(at..at + 8)?.try_into().ok()?));
        let parts = || {
            let (rows, length) = (number(0)?, usize::try_from(number(8)?).ok()?);
            let (rest, held_out) = state.get(16..)?.split_at_checked(length)?;
            let held_out = match &self.held_out {
                None => None,
                Some(_) => Some(NormalEquations::from_bytes(held_out).ok()?),
            };
            Some(Self { rest: NormalEquations::from_bytes(rest).ok()?, held_out, rows })
        };
        if let Some(restored) = parts() {
            *self = restored;
        }
    }
}
