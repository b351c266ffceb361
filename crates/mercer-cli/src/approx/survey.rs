//! The first pass: how many rows there are, how they are scaled, and a sample of them.

use mercer::data::{
    AnySamples, RowSample, ScaleMethod, Scaling, ScalingSums, Schema, TrainingChunks, for_each_chunk,
};
use mercer::design::Approximation;
use mercer::session::Session;
use mercer::watch::Watch;

use super::Approx;
use super::sums::targets;
use crate::checkpoint::Content;
use crate::failure::Failure;
use crate::training::constant_columns;

/// Rows in the sample at least.
const SAMPLE: usize = 10_000;

/// Landmarks are chosen among so many rows each at least.
const CANDIDATES: usize = 4;

/// What the first pass finds.
pub struct Survey {
    /// Rows there are.
    pub rows: u64,
    /// The scaling, fitted on all rows.
    pub scaling: Scaling,
    /// A sample of the rows, scaled.
    pub sample: AnySamples<'static>,
    /// What tells these rows and their targets from others.
    pub content: u64,
    constant: Vec<usize>,
}

impl Survey {
    /// Goes through all rows.
    pub fn of(
        chunks: &mut TrainingChunks,
        scale: Option<ScaleMethod>,
        approx: Option<Approx>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<Self, Failure> {
        let capacity = match approx {
            Some(Approx::As(Approximation::Nystrom { landmarks, .. })) => {
                SAMPLE.max(landmarks.saturating_mul(CANDIDATES))
            }
            _ => SAMPLE,
        };
        let mut sample = RowSample::new(capacity, seed);
        let mut scaling = ScalingSums::new(scale.unwrap_or(ScaleMethod::Standard));
        let mut content = Content::default();
        session.begin("first pass", 0);
        for_each_chunk::<Failure>(chunks, |chunk| {
            session.check()?;
            scaling.add(&chunk.features)?;
            sample.add(&chunk.features);
            content.add_samples(&chunk.features);
            content.add(targets(&chunk).entries());
            session.advance(chunk.nrows() as u64);
            session.note(&format!("{} rows", sample.seen()));
            Ok(())
        })?;
        let (rows, (scaling, constant)) = (sample.seen(), scaling.finish());
        let sample = sample.finish().ok_or_else(|| Failure::usage("there are no rows"))?;
        Ok(Self { rows, sample: scaling.apply(sample)?, scaling, constant, content: content.finish() })
    }

    /// What a user should know about the scaling.
    pub fn note(&self, schema: &Schema) -> Option<String> {
        constant_columns(&self.constant, &schema.feature_names())
    }
}
