//! Least mean squares on explicit features: θ := θ + αΦᵀ(y − Φθ).

use crate::data::Matrix;
use crate::session::Session;
use crate::solve::descent::{Descent, DescentError, Mode, Primal, Step};

use super::error::LearnError;
use super::lms::{GramStorage, LmsReport};
use super::ridge::Bias;
use super::targets;

/// Least mean squares on features φ(x): the steps of [`Lms`](super::Lms) with the kernel ⟨φ(x),φ(z)⟩, in O(nD) time an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LmsFeatures {
    /// α.
    pub step: Step,
    /// Passes over the data at most, 1 or more.
    pub epochs: usize,
    /// The work ends when ‖ΦΦᵀ(y − Φθ)‖ ≤ tol·‖ΦΦᵀy‖; 0 or more.
    pub tol: f64,
    /// All samples a step, or one.
    pub mode: Mode,
    /// What is done about a constant; `Column` is refused, since it is about the samples behind the features.
    pub bias: Bias,
}

/// f(x) = ⟨θ, φ(x)⟩ + b for each target.
#[derive(Debug, Clone, PartialEq)]
pub struct LmsWeights {
    /// θ: one row per feature, one column per target.
    pub weights: Matrix<f64>,
    /// b, one per target.
    pub intercepts: Vec<f64>,
    /// How the descent went.
    pub report: LmsReport,
}

impl Default for LmsFeatures {
    /// 200 batch steps at most, of a size chosen by itself, with an unpenalised intercept.
    fn default() -> Self {
        Self { step: Step::Auto, epochs: 200, tol: 1e-6, mode: Mode::Batch, bias: Bias::Centred }
    }
}

impl LmsFeatures {
    /// Fits `targets` on `features`, both with one row per sample.
    ///
    /// O(nD) time an epoch for D features; no memory beyond a few vectors.
    ///
    /// # Errors
    /// Where the input does not line up or is not finite, a setting is out of its range, the step is too large, or the session asks
    /// to stop.
    pub fn fit(
        &self,
        features: &Matrix<f64>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<LmsWeights, LearnError> {
        let (rows, columns) = (features.nrows(), features.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        targets::check(rows, targets)?;
        let primal = match self.bias {
            Bias::None => Primal::new(features),
            Bias::Centred => Primal::centred(features),
            Bias::Column => {
                return Err(LearnError::Unsupported(
                    "bias = column centres the samples, which features hide; use centred or none",
                ));
            }
        };
        let (aims, means) = match self.bias {
            Bias::Centred => targets::centred(targets),
            _ => (targets.clone(), vec![0.0; targets.ncols()]),
        };
        let settings = Descent { step: self.step, epochs: self.epochs, tol: self.tol, mode: self.mode };
        let descended = settings.run(&primal, &aims, session).map_err(|error| explain(features, error))?;
        let report = LmsReport::new(&descended, &aims, self.mode, GramStorage::Unused);
        let intercepts = primal.intercepts(&descended.unknown, &means);
        Ok(LmsWeights { weights: descended.unknown, intercepts, report })
    }
}

/// A product that is not finite is often a feature that is not: look for one.
fn explain(features: &Matrix<f64>, error: DescentError) -> LearnError {
    if error == DescentError::NotFinite {
        let bad = features.entries().iter().position(|f| !f.is_finite());
        if let Some(at) = bad {
            let (row, value) = (at / features.ncols(), features.entries()[at]);
            return LearnError::NonFinite { what: "feature", row, value };
        }
    }
    error.into()
}
