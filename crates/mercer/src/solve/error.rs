//! Errors of solvers.

use crate::design::DesignError;
use crate::gram::NumericalRank;
use crate::watch::Stopped;

/// Errors of solvers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A setting or hyper-parameter is out of range.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// The value received.
        value: f64,
        /// The values allowed.
        allowed: &'static str,
    },
    /// There are no samples.
    #[error("there are no samples; a support vector machine needs at least one")]
    Empty,
    /// Shapes do not match.
    #[error("there are {found} {what}, but {expected} were expected")]
    Shape {
        /// The quantity with a wrong length.
        what: &'static str,
        /// The number found.
        found: usize,
        /// The number expected.
        expected: usize,
    },
    /// A number that belongs to a sample is out of range.
    #[error("the {what} of sample {row} is {value}; it must be {allowed}")]
    Value {
        /// The kind of number.
        what: &'static str,
        /// The sample, from 0.
        row: usize,
        /// The number.
        value: f64,
        /// The values allowed.
        allowed: &'static str,
    },
    /// No point satisfies the constraints at this ν.
    #[error("nu is {nu}, which is infeasible: the smaller class allows at most {largest}")]
    InfeasibleNu {
        /// ν.
        nu: f64,
        /// The largest feasible ν.
        largest: f64,
    },
    /// The margin of ν-classification is zero, so its decision function has no scale.
    #[error(
        "the margin of nu-classification is zero at nu = {nu}: with this kernel, rows of both classes coincide; remove rows that \
         are in both classes, or use C-classification (svc)"
    )]
    NoMargin {
        /// ν.
        nu: f64,
    },
    /// A starting value is outside of its bounds.
    #[error("the starting value of variable {variable} is {value}; it must be from {lower} to {upper}")]
    Start {
        /// The variable, from 0.
        variable: usize,
        /// Its value.
        value: f64,
        /// The least allowed.
        lower: f64,
        /// The largest allowed.
        upper: f64,
    },
    /// A variable's row is not a row of the kernel matrix.
    #[error("variable {variable} belongs to row {row}, but the kernel matrix has {rows} rows")]
    Row {
        /// The variable, from 0.
        variable: usize,
        /// Its row.
        row: usize,
        /// The number of rows.
        rows: usize,
    },
    /// The kernel matrix has an entry that is not a finite number.
    #[error(
        "the kernel has no finite value at row {row} and another one: the formula is undefined or overflows there"
    )]
    KernelValue {
        /// A row with such an entry, from 0.
        row: usize,
    },
    /// A kernel value, or a sum of them, is not a finite number.
    #[error("the kernel matrix or a product with it is not finite")]
    NotFinite,
    /// λ = 0 and K is singular to working precision.
    #[error(
        "with λ = 0 the kernel matrix is singular: its numerical rank is {rank} of {order}; try λ = {suggestion:e}"
    )]
    Singular {
        /// The numerical rank.
        rank: NumericalRank,
        /// The matrix's order.
        order: usize,
        /// A λ that makes the system solvable.
        suggestion: f64,
    },
    /// K + λI has a negative eigenvalue: the kernel is not positive semidefinite on these samples, or λ is too small.
    #[error(
        "K + λI is not positive definite at λ = {lambda:e} (pivot {pivot} of {order}): \
         the kernel is not positive semidefinite on these samples, or λ is below rounding error"
    )]
    Indefinite {
        /// λ.
        lambda: f64,
        /// The pivot that failed, from 0.
        pivot: usize,
        /// The matrix's order.
        order: usize,
    },
    /// The kernel matrix has a negative eigenvalue.
    #[error(
        "the kernel matrix is not positive semidefinite (pivot {pivot} of {order}): \
         the kernel is not positive semidefinite on these samples, or a value of it is not finite"
    )]
    NegativePivot {
        /// The pivot that failed, from 0.
        pivot: usize,
        /// The matrix's order.
        order: usize,
    },
    /// λ = 0 and the features are linearly dependent on the samples.
    #[error(
        "with λ = 0 the {features} features have no unique weights: on these rows they are linearly dependent{}; \
         try λ = {suggestion:e}",
        rank.map_or_else(String::new, |rank| format!(", their numerical rank is {rank}"))
    )]
    RankDeficient {
        /// The numerical rank, if it was computed.
        rank: Option<NumericalRank>,
        /// The number of features.
        features: usize,
        /// A λ that makes the problem solvable.
        suggestion: f64,
    },
    /// Sums of squares of the features overflow.
    #[error(
        "the features are so large that their squares overflow: scale the samples or take a smaller degree"
    )]
    Overflow,
    /// The weights are not finite, although the features and their squares are.
    #[error(
        "the features differ so much in size that rounding leaves no solution for λ = {lambda:e}: use a larger lambda, a smaller \
         degree or smaller numbers"
    )]
    Unresolved {
        /// λ.
        lambda: f64,
    },
    /// ⟨p,Ap⟩ is not positive for some p.
    #[error(
        "the matrix is not positive definite: in step {iteration} ⟨p,Ap⟩ is {value:e}; \
         the kernel is not positive semidefinite on these samples, or a value of it is not finite"
    )]
    NegativeCurvature {
        /// The step, from 1.
        iteration: u64,
        /// ⟨p,Ap⟩.
        value: f64,
    },
    /// The low-rank factor of the preconditioner is not finite.
    #[error("the preconditioner could not be made: a kernel value is not a finite number")]
    Preconditioner,
    /// The descent diverges with this step.
    #[error(
        "a step of {step} is too large: the iteration diverges; \
         any step up to {} is safe, and `auto` takes half of that",
        rounded_down(*.largest)
    )]
    StepTooLarge {
        /// α, as it was given.
        step: f64,
        /// 2/λmax(K), for single samples 2/max kᵢᵢ, rounded down.
        largest: f64,
    },
    /// The error grows although the step is small enough for every positive semidefinite matrix.
    #[error(
        "the error grows although the step {step} is small enough: the kernel matrix has a negative eigenvalue, \
         so the kernel is not positive semidefinite on these samples"
    )]
    NegativeEigenvalue {
        /// α, as it was used.
        step: f64,
    },
    /// With this step the objective of logistic regression grows.
    #[error("the iteration diverges with step {step}; steps up to {} are safe", rounded_down(*.largest))]
    Diverges {
        /// The step requested.
        step: f64,
        /// A step that is small enough.
        largest: f64,
    },
    /// The classes are separable and λ = 0: the likelihood has no maximum.
    #[error(
        "the classes are separated and lambda is 0: the loss falls forever as the coefficients grow; \
         use lambda > 0"
    )]
    Separable,
    /// The features could not be computed.
    #[error(transparent)]
    Design(DesignError),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<DesignError> for SolveError {
    fn from(error: DesignError) -> Self {
        if error.is_stop() { Self::Stopped(Stopped) } else { Self::Design(error) }
    }
}

impl SolveError {
    /// Rejects a λ that is not positive, which conjugate gradients and their preconditioners require.
    pub(super) fn require_positive(lambda: f64) -> Result<(), Self> {
        if lambda.is_finite() && lambda > 0.0 {
            return Ok(());
        }
        Err(Self::Parameter { name: "lambda", value: lambda, allowed: "a finite number above 0" })
    }
}

/// A positive number rounded down to three digits.
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
        let error = SolveError::StepTooLarge { step: 3.0, largest: 0.012_399 };
        assert!(error.to_string().contains("up to 0.0123 is safe"), "{error}");
    }
}
