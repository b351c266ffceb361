//! A design whose rows are computed from samples that are read in passes.

use std::ops::Range;

use crate::data::{Matrix, Passes};
use crate::gram::{Values, ValuesMut};
use crate::linalg::NormalEquations;
use crate::real::Precision;
use crate::session::Session;
use crate::watch::Watch;

use super::error::DesignError;
use super::features::Features;
use super::held::Held;
use super::passes::Parts;
use super::recomputed::Recomputed;
use super::row_loss::{LossSums, RowLoss};
use super::{Access, BlockVisitor, Design};

/// Φ of the rows of a stream, computed again for each operation: one pass over the stream each. O(chunk·D) memory.
///
/// Operations on chosen rows fail with [`DesignError::Sequential`].
pub struct Streamed<'a> {
    features: &'a Features,
    passes: &'a dyn Passes,
    session: &'a Session<'a>,
    ncols: usize,
    precision: Precision,
}

impl<'a> Streamed<'a> {
    /// The features of the rows of a stream.
    ///
    /// # Errors
    /// If the rows have another number of columns than the features are of.
    pub fn new(
        features: &'a Features,
        passes: &'a dyn Passes,
        session: &'a Session<'a>,
    ) -> Result<Self, DesignError> {
        let sample = &passes.survey().sample;
        let ready = features.ready(sample.ncols(), None, session)?;
        let (ncols, precision) = (ready.count(), ready.precision(sample));
        Ok(Self { features, passes, session, ncols, precision })
    }

    /// The rows in memory, from one pass.
    ///
    /// # Errors
    /// If the rows cannot be read or computed, or if `watch` asks to stop.
    pub fn held(&self, watch: &dyn Watch) -> Result<Held<'static>, DesignError> {
        let width = self.ncols;
        let mut values = Values::zeros(self.precision, self.nrows(), width);
        watch.begin("features", self.nrows() as u64);
        self.chunks(watch, |rows, design| {
            let out = rows.start * width..rows.end * width;
            design.fill(0..rows.len(), values.entries_mut().slice(out), watch)?;
            watch.advance(rows.len() as u64);
            Ok(())
        })?;
        Ok(values.into())
    }

    /// Calls `visit` with the rows of each chunk and their features.
    fn chunks(
        &self,
        watch: &dyn Watch,
        mut visit: impl FnMut(Range<usize>, &Recomputed<'_>) -> Result<(), DesignError> + Send,
    ) -> Result<(), DesignError> {
        let mut first = 0;
        self.passes.for_each(|chunk| {
            watch.check()?;
            let samples = &chunk.samples;
            let rows = first..first + samples.nrows();
            first = rows.end;
            let ready = self.features.ready(samples.ncols(), None, self.session)?;
            visit(rows, &Recomputed::new(ready, samples)?)
        })
    }
}

impl Design for Streamed<'_> {
    fn nrows(&self) -> usize {
        usize::try_from(self.passes.survey().rows).unwrap_or(usize::MAX)
    }

    fn ncols(&self) -> usize {
        self.ncols
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn access(&self) -> Access {
        Access::Sequential
    }

    fn fill(&self, _: Range<usize>, _: ValuesMut<'_>, _: &dyn Watch) -> Result<(), DesignError> {
        Err(DesignError::Sequential)
    }

    fn blocks(
        &self,
        height: usize,
        watch: &dyn Watch,
        visit: &mut BlockVisitor<'_>,
    ) -> Result<(), DesignError> {
        self.chunks(watch, |rows, design| {
            design.blocks(height, watch, &mut |block, phi| {
                visit(rows.start + block.start..rows.start + block.end, phi)
            })
        })
    }

    fn normal_equations(
        &self,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        parts: &Parts<'_>,
        into: &mut [NormalEquations],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let width = targets.ncols();
        // The pass reports its progress, not that of each chunk.
        let part = self.session.with_watch(watch).part();
        watch.begin("features", self.nrows() as u64);
        self.chunks(watch, |rows, design| {
            let entries = targets.entries()[rows.start * width..rows.end * width].to_vec();
            let targets = Matrix::from_entries(rows.len(), width, entries);
            let parts = match parts {
                Parts::All => Parts::All,
                Parts::Table(table) => Parts::Table(&table[rows.clone()]),
            };
            design.normal_equations(&targets, weights.map(|w| &w[rows.clone()]), &parts, into, &part)?;
            watch.advance(rows.len() as u64);
            Ok(())
        })
    }

    fn loss(
        &self,
        loss: &RowLoss<'_>,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        gradient: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<LossSums, DesignError> {
        let mut sums = LossSums { value: 0.0, pull: vec![0.0; intercepts.len()], curvature: Some(0.0) };
        let mut of_chunk = Matrix::zeros(gradient.nrows(), gradient.ncols());
        gradient.entries_mut().fill(0.0);
        self.chunks(watch, |rows, design| {
            sums.add(&design.loss(&loss.of_rows(rows), weights, intercepts, &mut of_chunk, watch)?);
            gradient.entries_mut().iter_mut().zip(of_chunk.entries()).for_each(|(to, from)| *to += from);
            Ok(())
        })?;
        Ok(sums)
    }
}
