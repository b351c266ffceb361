//! Least mean squares on explicit features: θ := θ + αΦᵀ(y − Φθ).

use crate::data::Matrix;
use crate::design::{Design, for_blocks};
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
    /// 200 batch steps at most, of the automatic size, with an unpenalised intercept.
    fn default() -> Self {
        Self { step: Step::Auto, epochs: 200, tol: 1e-6, mode: Mode::Batch, bias: Bias::Centred }
    }
}

impl LmsFeatures {
    /// Fits `targets`, one row per row of the design.
    ///
    /// O(nD) time an epoch for D features; no memory beyond a few vectors.
    ///
    /// # Errors
    /// Where the input does not line up or is not finite, a setting is out of its range, the step is too large, or the session
    /// is stopped.
    pub fn fit(
        &self,
        design: &dyn Design,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<LmsWeights, LearnError> {
        let (rows, columns) = (design.nrows(), design.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        targets::check(rows, targets)?;
        if self.bias == Bias::Column {
            return Err(LearnError::Unsupported(
                "bias = column centres the samples, which features hide; use centred or none",
            ));
        }
        let primal = Primal::new(design, self.bias == Bias::Centred, session)?;
        let (aims, means) = match self.bias {
            Bias::Centred => targets::centred(targets),
            _ => (targets.clone(), vec![0.0; targets.ncols()]),
        };
        let settings = Descent { step: self.step, epochs: self.epochs, tol: self.tol, mode: self.mode };
        let descended = match settings.run(&primal, &aims, session) {
            Ok(descended) => descended,
            Err(DescentError::Stopped(_)) => return Err(primal.failure().into()),
            Err(DescentError::NotFinite) => {
                check_finite(design, session)?;
                return Err(DescentError::NotFinite.into());
            }
            Err(error) => return Err(error.into()),
        };
        let report = LmsReport::new(&descended, &aims, self.mode, GramStorage::Unused);
        let intercepts = primal.intercepts(&descended.unknown, &means);
        Ok(LmsWeights { weights: descended.unknown, intercepts, report })
    }
}

/// Checks that all features are finite.
fn check_finite(design: &dyn Design, session: &Session<'_>) -> Result<(), LearnError> {
    let (width, mut bad) = (design.ncols(), None);
    for_blocks(design, 256, session, |rows, phi| {
        let at = phi.iter().position(|f| !f.is_finite());
        bad = bad.or(at.map(|at| (rows.start + at / width, phi[at])));
        Ok(())
    })?;
    bad.map_or(Ok(()), |(row, value)| Err(LearnError::NonFinite { what: "feature", row, value }))
}
