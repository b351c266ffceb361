//! Why gradient descent has no answer.

use crate::watch::Stopped;

/// A text that is no step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the step is `{0}`; it must be `auto` or a number more than 0")]
pub struct InvalidStep(pub String);

/// Why gradient descent has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DescentError {
    /// The step is not a positive number.
    #[error("the step is {0}; it must be `auto` or a finite number more than 0")]
    Step(f64),
    /// There is no pass over the data.
    #[error("epochs is 0; it must be 1 or more")]
    Epochs,
    /// The tolerance is not a number, or negative.
    #[error("tol is {0}; it must be a finite number, 0 or more")]
    Tolerance(f64),
    /// With this step every pass takes the fit further from the targets.
    #[error(
        "a step of {step} is too large: the error would grow without end; \
         any step up to {} is safe, and `auto` takes half of that",
        rounded_down(*.largest)
    )]
    StepTooLarge {
        /// α, as it was given.
        step: f64,
        /// 2/λmax(K), per sample 2/max kᵢᵢ, rounded to the safe side.
        largest: f64,
    },
    /// The error grows although the step is small enough for every positive semidefinite matrix.
    #[error(
        "the error grows although the step {step} is small enough: the kernel matrix has a negative eigenvalue, \
         so the kernel is not positive semidefinite on these samples"
    )]
    Indefinite {
        /// α, as it was used.
        step: f64,
    },
    /// K or what it is applied to is not finite.
    #[error("the kernel matrix, applied to the targets, is not finite")]
    NotFinite,
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Three digits of a positive number, never more than it.
fn rounded_down(value: f64) -> f64 {
    let text = format!("{value:.2e}");
    let rounded: f64 = text.parse().unwrap_or(value);
    if rounded <= value {
        return rounded;
    }
    let exponent = value.log10().floor() as i32 - 2;
    format!("{:.2e}", rounded - 10f64.powi(exponent)).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_safe_step_is_rounded_to_the_safe_side() {
        for value in [0.0123456, 0.012399, 1.0, 0.099999, 999.9, 2e-300, 1.2351e17] {
            let shown = rounded_down(value);
            assert!(shown <= value && shown > 0.985 * value, "{value} became {shown}");
        }
        let error = DescentError::StepTooLarge { step: 3.0, largest: 0.012_399 };
        assert!(error.to_string().contains("up to 0.0123 is safe"), "{error}");
    }
}
