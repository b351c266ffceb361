//! Least mean squares: gradient descent on ½‖y − f‖², by batch steps or single samples.
//!
//! The same function f descends in one of two sets of [`Coordinates`]: [`Dual`], f = Kβ with the Gram matrix K, or
//! [`Primal`], f = Φθ with explicit features Φ. With K = ΦΦᵀ and a start at zero both make the same predictions
//! after every step, because θ = Φᵀβ is preserved by
//!
//! ```text
//!              dual                          primal
//! batch        β  := β  + α(y − Kβ)          θ := θ + αΦᵀ(y − Φθ)
//! per sample   βᵢ := βᵢ + α(yᵢ − (Kβ)ᵢ)      θ := θ + α(yᵢ − ⟨θ,φ(xᵢ)⟩)φ(xᵢ)
//! ```
//!
//! A batch step multiplies the residual r = y − f by I − αK: it converges for 0 < α < 2/λmax(K) and after T steps
//! f = (I − (I − αK)ᵀ)y with T as the exponent. Single samples converge, where y can be fitted, for α < 2/max kᵢᵢ; where it
//! cannot, they end in a neighbourhood of the best fit whose size is proportional to α.
//!
//! The descent stops when ‖K(y − f)‖ ≤ tol·‖Ky‖. The rule does not use β: if equal samples have different targets, β
//! grows without bound while f converges.
//!
//! Reference: B. Widrow and M. E. Hoff, Adaptive switching circuits, 1960.

mod batch;
mod coordinates;
mod curve;
mod dual;
mod largest_eigenvalue;
mod primal;
mod stochastic;

use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::linalg::vectors::subtract_from;
use crate::solve::error::SolveError;
use crate::solve::report::Status;
use crate::watch::Watch;

pub use coordinates::Coordinates;
pub use curve::CurvePoint;
pub use dual::Dual;
pub use largest_eigenvalue::{EigenvalueBound, largest_eigenvalue};
pub use primal::Primal;

/// The step α.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// 1/λ̄ with λ̄ an upper bound on λmax(K); per sample 1/max kᵢᵢ.
    #[default]
    Auto,
    /// This, more than 0.
    #[serde(untagged)]
    Value(f64),
}

/// A text that does not describe a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the step is `{0}`; it must be `auto` or a number more than 0")]
pub struct InvalidStep(pub String);

impl std::str::FromStr for Step {
    type Err = InvalidStep;

    fn from_str(text: &str) -> Result<Self, InvalidStep> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.parse() {
            Ok(value) if 0.0 < value && value < f64::INFINITY => Ok(Self::Value(value)),
            _ => Err(InvalidStep(text.to_owned())),
        }
    }
}

/// The samples of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// All samples.
    #[default]
    Batch,
    /// One sample; every epoch visits all of them in a new random order.
    Stochastic {
        /// The seed of the orders.
        seed: u64,
    },
}

/// Gradient descent: its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// α.
    pub step: Step,
    /// The most passes over the data, 1 or more.
    pub epochs: usize,
    /// The descent stops when ‖K(y − f)‖ ≤ tol·‖Ky‖; 0 or more.
    pub tol: f64,
    /// Batch or per sample.
    pub mode: Mode,
}

/// The result of gradient descent.
#[derive(Debug, Clone, PartialEq)]
pub struct Descended {
    /// β or θ, one column per target.
    pub unknown: Matrix<f64>,
    /// y − f, recomputed from the unknown.
    pub residual: Matrix<f64>,
    /// Whether the gradient became small enough.
    pub status: Status,
    /// α, as it was used.
    pub step: f64,
    /// Passes over the data.
    pub epochs: usize,
    /// The curve of the training error and the gradient, at most 200 points.
    pub curve: Vec<CurvePoint>,
}

impl Descent {
    /// Descends from zero towards `targets`, one row per sample and one column per target; all share the step.
    ///
    /// A batch epoch applies K once, O(n²) or with features O(nD); one of single samples costs the same.
    ///
    /// # Errors
    /// If a setting is out of its range, if the step is too large to converge, if K is not positive semidefinite or not
    /// finite, or if `watch` asks to stop.
    ///
    /// # Panics
    /// If there is not one row of targets per sample, or no column of them.
    pub fn run(
        &self,
        coordinates: &dyn Coordinates,
        targets: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Descended, SolveError> {
        assert_eq!(targets.nrows(), coordinates.nsamples(), "one row of targets per sample");
        assert!(targets.ncols() > 0, "at least one target");
        self.validate()?;
        match self.mode {
            Mode::Batch => batch::descend(self, coordinates, targets, watch),
            Mode::Stochastic { seed } => stochastic::descend(self, seed, coordinates, targets, watch),
        }
    }

    fn validate(&self) -> Result<(), SolveError> {
        if let Step::Value(step) = self.step
            && !(0.0 < step && step < f64::INFINITY)
        {
            return Err(SolveError::Parameter {
                name: "the step",
                value: step,
                allowed: "`auto` or a finite number more than 0",
            });
        }
        if self.epochs == 0 {
            return Err(SolveError::Parameter { name: "epochs", value: 0.0, allowed: "1 or more" });
        }
        if !(0.0..f64::INFINITY).contains(&self.tol) {
            return Err(SolveError::Parameter {
                name: "tol",
                value: self.tol,
                allowed: "a finite number, 0 or more",
            });
        }
        Ok(())
    }
}

/// y − f with f recomputed from the unknown, without the rounding errors of the steps.
fn fresh_residual(
    coordinates: &dyn Coordinates,
    unknown: &Matrix<f64>,
    targets: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<Matrix<f64>, SolveError> {
    let mut residual = Matrix::zeros(targets.nrows(), targets.ncols());
    coordinates.fitted(unknown, &mut residual, watch)?;
    subtract_from(targets, &mut residual);
    Ok(residual)
}
