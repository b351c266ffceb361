//! The second pass: every row added to the sums over features.

use std::slice;

use mercer::data::{Dataset, Matrix, TargetValues, TrainingChunks, for_each_chunk, is_held_out};
use mercer::design::Parts;
use mercer::learn::{Prepared, Ridge, add_rows, empty_sums};
use mercer::linalg::NormalEquations;
use mercer::session::Session;
use mercer::watch::Watch;

use super::survey::Survey;
use crate::checkpoint::fingerprint;
use crate::failure::Failure;

/// Sums over the features of the rows held out and of the rest.
pub struct Sums<'a> {
    prepared: &'a Prepared,
    /// Of the rows that are not held out.
    pub rest: NormalEquations,
    /// Of the rows that are; none where none are.
    pub held_out: Option<NormalEquations>,
    fraction: f64,
    seed: u64,
    rows: u64,
    work: u64,
}

impl<'a> Sums<'a> {
    /// Empty sums over features and this many targets.
    pub fn new(
        ridge: &Ridge,
        prepared: &'a Prepared,
        targets: usize,
        fraction: f64,
        session: &Session<'_>,
    ) -> Result<Self, Failure> {
        let seed = session.seed();
        let rest = empty_sums(prepared.features.count(prepared.columns)?, targets, session)?;
        let held_out = if fraction > 0.0 { Some(rest.clone()) } else { None };
        let work = fingerprint(format!("{ridge:?} {fraction} {seed}").as_bytes());
        Ok(Self { prepared, rest, held_out, fraction, seed, rows: 0, work })
    }

    /// Adds all rows, from where a checkpoint left off, and keeps one along the way.
    pub fn over(
        mut self,
        chunks: &mut TrainingChunks,
        survey: &Survey,
        session: &Session<'_>,
    ) -> Result<Self, Failure> {
        let data = format!("{:x} {} {:x} {:?}", self.work, survey.rows, survey.content, survey.scaling);
        self.work = fingerprint(data.as_bytes());
        let checkpoint = session.checkpoint();
        if let Some(state) = checkpoint.and_then(|checkpoint| checkpoint.load(self.work)) {
            self.restore(&state)?;
        }
        session.begin("second pass", survey.rows);
        let mut first = 0;
        for_each_chunk::<Failure>(chunks, |chunk| {
            session.check()?;
            let (start, rows) = (first, chunk.nrows() as u64);
            first += rows;
            if first > self.rows {
                self.add(chunk, start, survey, &session.part())?;
                self.rows = first;
                if let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.due()) {
                    checkpoint.save(self.work, self.state());
                }
            }
            session.advance(rows);
            Ok(())
        })?;
        if self.rows != survey.rows {
            return Err(Failure::work(format!(
                "the file had {} rows in the first pass and {first} in the second: it was changed meanwhile",
                survey.rows
            )));
        }
        // Of very few rows the hash may hold out none, or nearly all.
        if let Some(held) = self.held_out.take_if(|held| held.rows() == 0 || self.rest.rows() < 2) {
            self.rest.merge(&held)?;
        }
        Ok(self)
    }

    fn add(
        &mut self,
        chunk: Dataset,
        first: u64,
        survey: &Survey,
        session: &Session<'_>,
    ) -> Result<(), Failure> {
        let targets = targets(&chunk);
        let scaled = survey.scaling.apply(chunk.features)?;
        for (held, sums) in [(false, Some(&mut self.rest)), (true, self.held_out.as_mut())] {
            let Some(sums) = sums else { continue };
            let is_held = |row: usize| is_held_out(self.seed, first + row as u64, self.fraction);
            let table: Vec<Option<usize>> =
                (0..scaled.nrows()).map(|row| (is_held(row) == held).then_some(0)).collect();
            let into = (&Parts::Table(&table), slice::from_mut(sums));
            add_rows(&self.prepared.features, &scaled, &targets, None, into, session)?;
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

    fn restore(&mut self, state: &[u8]) -> Result<(), Failure> {
        let number = |at: usize| Some(u64::from_le_bytes(state.get(at..at + 8)?.try_into().ok()?));
        let parts = || {
            let (rows, length) = (number(0)?, usize::try_from(number(8)?).ok()?);
            let (rest, held_out) = state.get(16..)?.split_at_checked(length)?;
            let held_out = match &self.held_out {
                None => None,
                Some(_) => Some(NormalEquations::from_bytes(held_out).ok()?),
            };
            Some((rows, NormalEquations::from_bytes(rest).ok()?, held_out))
        };
        let (rows, rest, held_out) = parts().ok_or_else(|| Failure::usage("the checkpoint is damaged"))?;
        (self.rows, self.rest, self.held_out) = (rows, rest, held_out);
        Ok(())
    }
}

/// One column per target, all of them numbers.
pub fn targets(chunk: &Dataset) -> Matrix<f64> {
    let mut matrix = Matrix::zeros(chunk.nrows(), chunk.targets.len());
    for (column, target) in chunk.targets.iter().enumerate() {
        if let TargetValues::Numbers(values) = &target.values {
            values.iter().enumerate().for_each(|(row, value)| matrix.row_mut(row)[column] = *value);
        }
    }
    matrix
}
