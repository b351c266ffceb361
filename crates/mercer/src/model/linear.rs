//! Primal models: f(x) = ⟨w, φ(x)⟩ + b.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::{AnySamples, Matrix};
use crate::design::{Design, DesignError, Features, Recomputed};
use crate::kernel::check::Domain;
use crate::session::Session;
use crate::watch::Watch;

use crate::linalg::products;

use super::error::ModelError;
use super::{Expansion, Predictor};

/// Features in memory at a time, for each thread.
const BLOCK: usize = 1 << 18;

/// f(x) = ⟨w, φ(x − s)⟩ + b, for each of several outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// φ, with every column by its index.
    pub map: Features,
    /// Columns of the samples.
    pub columns: usize,
    /// s, subtracted from every sample first; `None` means zero.
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

    /// Φ of the samples.
    ///
    /// # Errors
    /// If the parts of the model do not fit each other or the samples.
    fn design<'a>(
        &'a self,
        samples: &'a AnySamples<'a>,
        session: &'a Session<'a>,
    ) -> Result<Recomputed<'a>, ModelError> {
        for found in [Some(samples.ncols()), self.shift.as_ref().map(Vec::len)].into_iter().flatten() {
            if found != self.columns {
                return Err(ModelError::Columns { found, expected: self.columns });
            }
        }
        let features = self.map.ready(self.columns, self.shift.as_deref(), session)?;
        if self.weights.nrows() != features.count() || self.weights.ncols() != self.noutputs() {
            return Err(ModelError::Weights {
                rows: self.weights.nrows(),
                columns: self.weights.ncols(),
                features: features.count(),
                outputs: self.noutputs(),
            });
        }
        Ok(Recomputed::new(features, samples)?)
    }

    /// f at every sample: one row per sample, one column per output.
    ///
    /// O(nD) time for n samples and D features; each thread holds one block of features, so that they are never all in
    /// memory.
    ///
    /// # Errors
    /// If the samples do not have the model's columns or a feature is not finite, or if the session is stopped.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        let design = self.design(samples, session)?;
        let (features, outputs) = (design.ncols(), self.noutputs());
        let mut out = Matrix::zeros(samples.nrows(), outputs);
        if outputs == 0 {
            return Ok(out);
        }
        let weights = products::view(&self.weights);
        let height = (BLOCK / features.max(1)).clamp(1, 1_024);
        session.begin("predict", samples.nrows() as u64);
        let predict = |block: usize, out: &mut [f64]| {
            session.check()?;
            let (first, height) = (block * height, out.len() / outputs);
            let mut phi = vec![0.0; height * features];
            design.fill(first..first + height, (&mut phi).into(), session)?;
            out.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(&self.intercepts));
            let phi = MatRef::from_row_major_slice(&phi, height, features);
            let out = MatMut::from_row_major_slice_mut(out, height, outputs);
            products::add(out, 1.0, phi, weights);
            session.advance(height as u64);
            Ok::<_, DesignError>(())
        };
        // Of several errors, that of the first row is returned.
        let blocks = out.entries_mut().par_chunks_mut(height * outputs).enumerate();
        match blocks.find_map_first(|(block, out)| predict(block, out).err()) {
            Some(error) => Err(error.into()),
            None => Ok(out),
        }
    }
}

impl Predictor {
    /// f(x) = ⟨w, φ(x)⟩ + b on features of samples with this many columns, `weights` with one row per feature and one column per
    /// output.
    ///
    /// On landmarks that is an expansion: with φ(x) = L⁻¹k(x), ⟨w, φ(x)⟩ = Σⱼ aⱼ k(cⱼ, x) with a = L⁻ᵀw, O(Md) instead of
    /// O(M² + Md) for every sample and without L in the model.
    #[must_use]
    pub fn on_features(
        features: Features,
        columns: usize,
        weights: Matrix<f64>,
        intercepts: Vec<f64>,
        domain: Option<Domain>,
    ) -> Self {
        match features {
            Features::Landmarks(landmarks) => Expansion {
                kernel: landmarks.kernel().clone(),
                domain,
                centres: landmarks.landmarks().clone(),
                shift: None,
                coefficients: landmarks.coefficients(weights),
                intercepts,
            }
            .into(),
            map => Linear { map, columns, shift: None, weights, intercepts }.into(),
        }
    }
}
