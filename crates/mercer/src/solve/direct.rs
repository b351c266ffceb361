//! Direct solution by Cholesky: in double precision, or in single precision refined to the double answer.

use crate::data::Matrix;
use crate::gram::{LinearOperator, numerical_rank};
use crate::linalg::CholeskyError;
use crate::linalg::vectors::{add_multiple, relative_norm, subtract_from};
use crate::real::{Precision, Real};
use crate::watch::{Stopped, Watch};

use super::error::SolveError;
use super::report::{Report, Status};
use super::system::Regularised;

/// The precision of the Cholesky factor. The solution is in double precision in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Factor {
    /// Single precision if a bound on the condition number guarantees that refinement converges, otherwise double.
    #[default]
    Auto,
    /// Double precision.
    Double,
    /// Single precision with refinement; double if that fails.
    Mixed,
}

/// The order below which a double-precision factor is always faster than refinement.
pub(crate) const MIXED_FROM: usize = 1_500;

/// The largest bound on κ·ε₃₂ for refinement, which converges like (κ·ε₃₂)ᵏ.
pub(crate) const MIXED_LIMIT: f64 = 0.05;

/// The relative residual up to which an answer in double precision counts as solved.
pub(super) const TRUSTED_RESIDUAL: f64 = 1e-6;

/// The most refinement steps.
const REFINEMENTS: usize = 30;

/// Solves (SKS + λI)·X = B.
///
/// n³/3 multiply-adds in the precision of the factor, n² of its numbers in memory.
///
/// # Errors
/// If the matrix is singular or indefinite to working precision, or if `watch` asks to stop.
pub fn solve_direct(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    factor: Factor,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, Report), SolveError> {
    match solve_single(system, rhs, factor, watch)? {
        Some(answer) => Ok(answer),
        None => solve_double(system, rhs, watch),
    }
}

/// The solution by a factor in single precision, with half the memory of one in double precision; `None` if `factor` asks for double
/// precision or single precision is not enough.
pub(crate) fn solve_single(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    factor: Factor,
    watch: &dyn Watch,
) -> Result<Option<(Matrix<f64>, Report)>, SolveError> {
    let is_tried = match factor {
        Factor::Double => false,
        Factor::Mixed => true,
        Factor::Auto => {
            system.nrows() >= MIXED_FROM && system.lambda() > 0.0 && system.gram().prefers_single()
        }
    };
    if is_tried { solve_mixed(system, rhs, factor, watch) } else { Ok(None) }
}

/// The solution by a factor in double precision.
pub(crate) fn solve_double(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, Report), SolveError> {
    let order = system.nrows();
    let largest = system.largest();
    let factor =
        system.stored(Precision::Double, watch)?.try_factor(watch)?.map_err(|error| match error {
            CholeskyError::NotPositiveDefinite { pivot, .. } if system.lambda() != 0.0 => {
                SolveError::Indefinite { lambda: system.lambda(), pivot, order }
            }
            _ => singular(system),
        })?;
    if system.lambda() == 0.0 && factor.smallest_pivot() <= order as f64 * f64::EPSILON * largest {
        return Err(singular(system));
    }
    let mut x = rhs.clone();
    factor.solve(&mut x, watch)?;
    let mut correction = residual(system, rhs, &x, watch)?;
    factor.solve(&mut correction, watch)?;
    add_multiple(&mut x, 1.0, &correction);
    let left = residual(system, rhs, &x, watch)?;
    let mut report = Report::new(Status::Converged, "cholesky f64", 1, relative_norm(&left, rhs));
    if report.residual > TRUSTED_RESIDUAL {
        report.status = Status::Stagnated;
        report.reasons.push(format!(
            "λ = {:e} is so small compared with the kernel matrix that rounding leaves a relative residual of {:.1e}; use a larger \
             λ or a narrower kernel",
            system.lambda(),
            report.residual
        ));
    }
    Ok((x, report))
}

/// `None` if single precision is not enough.
fn solve_mixed(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    choice: Factor,
    watch: &dyn Watch,
) -> Result<Option<(Matrix<f64>, Report)>, SolveError> {
    let order = system.nrows();
    let matrix = system.stored(Precision::Single, watch)?;
    // λmax ≤ ‖A‖_F and λmin ≥ λ bound the condition number from above.
    let frobenius = matrix.frobenius()?;
    let condition = frobenius / system.lambda();
    if choice == Factor::Auto && (condition.is_nan() || condition * <f32 as Real>::EPSILON > MIXED_LIMIT) {
        return Ok(None);
    }
    let Ok(factor) = matrix.try_factor(watch)? else { return Ok(None) };
    let mut x = Matrix::zeros(order, rhs.ncols());
    let mut left = rhs.clone();
    let mut norm = relative_norm(&left, rhs);
    for step in 1..=REFINEMENTS {
        let mut correction = left.clone();
        factor.solve(&mut correction, watch)?;
        add_multiple(&mut x, 1.0, &correction);
        left = residual(system, rhs, &x, watch)?;
        let next = relative_norm(&left, rhs);
        // The accuracy of a computed residual: √n·ε, the rounding error of a sum of n terms, times the size of its
        // terms.
        let floor = f64::EPSILON * (order as f64).sqrt() * (1.0 + frobenius * relative_norm(&x, rhs));
        if next <= floor {
            let report = Report::new(Status::Converged, "cholesky f32, refined in f64", step, next);
            return Ok(Some((x, report)));
        }
        if next.is_nan() || next > 0.5 * norm {
            return Ok(None);
        }
        norm = next;
    }
    Ok(None)
}

fn singular(system: &Regularised<'_>) -> SolveError {
    let order = system.nrows();
    let rank = numerical_rank(system.gram());
    let largest = system.gram().diagonal().iter().copied().fold(0.0, f64::max);
    // Rounding in K is at most about n·ε·max kᵢᵢ in norm; with a hundred times that, every pivot is well above it.
    let floor = 100.0 * order as f64 * f64::EPSILON * largest.max(f64::MIN_POSITIVE);
    SolveError::Singular { rank, order, suggestion: 10f64.powi(floor.log10().ceil() as i32) }
}

fn residual(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    x: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<Matrix<f64>, Stopped> {
    let mut out = Matrix::zeros(rhs.nrows(), rhs.ncols());
    system.apply(&mut out, x, watch)?;
    subtract_from(rhs, &mut out);
    Ok(out)
}
