//! Primal models: f(x) = ⟨w, φ(x)⟩ + b.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::data::{AnySamples, Matrix};
use crate::features::{FeatureError, KernelFeatures, Lift, RandomFeatures, Transform};
use crate::session::Session;
use crate::watch::{Unwatched, Watch};

use super::error::ModelError;

/// Features that are in memory at once for each thread.
const BLOCK: usize = 1 << 18;

/// f(x) = ⟨w, φ(x − s)⟩ + b, for each of several outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// φ, with every column by its place.
    pub map: Lift,
    /// Columns of the samples.
    pub columns: usize,
    /// s, taken from every sample first; none is zero.
    pub shift: Option<Vec<f64>>,
    /// w: one row per feature, one column per output.
    pub weights: Matrix<f64>,
    /// b: one per output.
    pub intercepts: Vec<f64>,
}

impl Linear {
    /// Number of outputs.
    #[must_use]
    pub fn noutputs(&self) -> usize {
        self.intercepts.len()
    }

    /// Columns of the samples.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// φ of x − s, made ready.
    ///
    /// # Errors
    /// Where the parts of the model do not fit each other.
    fn ready(&self) -> Result<Ready<'_>, ModelError> {
        let ready = match &self.map {
            Lift::Map(map) => Ready::Map(map.over(self.columns, None)?.shifted(self.shift.clone())),
            Lift::Random(fourier) if fourier.features.columns() != self.columns => {
                let (found, expected) = (self.columns, fourier.features.columns());
                return Err(ModelError::Columns { found, expected });
            }
            Lift::Random(_) if self.shift.is_some() => return Err(ModelError::ShiftedFeatures),
            Lift::Random(fourier) => Ready::Random(&fourier.features),
        };
        if let Some(shift) = self.shift.as_ref().filter(|shift| shift.len() != self.columns) {
            return Err(ModelError::Columns { found: shift.len(), expected: self.columns });
        }
        if self.weights.nrows() != ready.count() || self.weights.ncols() != self.noutputs() {
            return Err(ModelError::Weights {
                rows: self.weights.nrows(),
                columns: self.weights.ncols(),
                features: ready.count(),
                outputs: self.noutputs(),
            });
        }
        Ok(ready)
    }

    /// f at every sample: one row per sample, one column per output.
    ///
    /// O(nD) time for n samples and D features; a block of features for each thread in memory, never all of them.
    ///
    /// # Errors
    /// Where the samples do not have the model's columns or a feature is not finite, and where the session is stopped.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        let (found, expected) = (samples.ncols(), self.columns);
        if found != expected {
            return Err(ModelError::Columns { found, expected });
        }
        let transform = self.ready()?;
        let (features, outputs) = (transform.count(), self.noutputs());
        let mut out = Matrix::zeros(samples.nrows(), outputs);
        if outputs == 0 {
            return Ok(out);
        }
        let weights = MatRef::from_row_major_slice(self.weights.entries(), features, outputs);
        let height = (BLOCK / features.max(1)).clamp(1, 1_024);
        session.begin("predict", samples.nrows() as u64);
        let predict = |block: usize, out: &mut [f64]| {
            session.check().map_err(FeatureError::from)?;
            let (first, height) = (block * height, out.len() / outputs);
            let mut phi = vec![0.0; height * features];
            transform.fill(samples, first..first + height, &mut phi)?;
            out.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(&self.intercepts));
            let phi = MatRef::from_row_major_slice(&phi, height, features);
            let out = MatMut::from_row_major_slice_mut(out, height, outputs);
            matmul(out, Accum::Add, phi, weights, 1.0, Par::Seq);
            session.advance(height as u64);
            Ok::<_, ModelError>(())
        };
        // Of several errors the one of the first row is told, whatever the threads.
        let blocks = out.entries_mut().par_chunks_mut(height * outputs).enumerate();
        match blocks.find_map_first(|(block, out)| predict(block, out).err()) {
            Some(error) => Err(error),
            None => Ok(out),
        }
    }
}

/// φ of x − s, made ready.
enum Ready<'a> {
    Map(Transform),
    Random(&'a RandomFeatures),
}

impl Ready<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Map(transform) => transform.count(),
            Self::Random(features) => features.features(),
        }
    }

    /// The features of some rows, row after row; random ones in the precision of the samples.
    fn fill(&self, samples: &AnySamples<'_>, rows: Range<usize>, out: &mut [f64]) -> Result<(), ModelError> {
        match (self, samples) {
            (Self::Map(transform), _) => transform.fill(samples, rows, out)?,
            (Self::Random(features), AnySamples::F64(_)) => {
                features.fill_f64(samples, rows, out, &Unwatched)?;
            }
            (Self::Random(features), AnySamples::F32(_)) => {
                let mut narrow = vec![0f32; out.len()];
                features.fill_f32(samples, rows, &mut narrow, &Unwatched)?;
                out.iter_mut().zip(narrow).for_each(|(wide, narrow)| *wide = f64::from(narrow));
            }
        }
        Ok(())
    }
}
