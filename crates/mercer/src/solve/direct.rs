//! Direct solution by Cholesky: in double precision, or in single precision refined to the double answer.

use crate::data::Matrix;
use crate::gram::{LinearOperator, numerical_rank};
use crate::linalg::vectors::{add_multiple, column_norms, relative_norm, subtract_from};
use crate::linalg::{Cholesky, CholeskyError};
use crate::real::Real;
use crate::watch::{Stopped, Watch};

use super::error::SolveError;
use super::report::{Report, Status};
use super::system::Regularised;

/// The precision of the Cholesky factor. The answer is in double precision either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Factor {
    /// Single precision where a bound on the condition number says that refinement will converge, else double.
    #[default]
    Auto,
    /// Double precision.
    Double,
    /// Single precision with refinement; double where that fails.
    Mixed,
}

/// Below this order the double-precision factor costs so little that refinement cannot win.
pub(crate) const MIXED_FROM: usize = 1_500;

/// Refinement converges like (κ·ε₃₂)ᵏ; above this bound on κ·ε₃₂ it is not tried.
pub(crate) const MIXED_LIMIT: f64 = 0.05;

/// The relative residual up to which an answer in double precision counts as solved.
pub(super) const TRUSTED_RESIDUAL: f64 = 1e-6;

/// Refinement steps at most.
const REFINEMENTS: usize = 30;

/// Solves (SKS + λI)·X = B.
///
/// n³/3 multiply-adds in the precision of the factor, n² of its numbers in memory.
///
/// # Errors
/// Where the matrix is singular or indefinite to working precision, and where `watch` asks to stop.
pub fn solve_direct(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    factor: Factor,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, Report), SolveError> {
    let try_mixed = match factor {
        Factor::Double => false,
        Factor::Mixed => true,
        Factor::Auto => system.nrows() >= MIXED_FROM && system.lambda() > 0.0,
    };
    if try_mixed && let Some(answer) = solve_mixed(system, rhs, factor, watch)? {
        return Ok(answer);
    }
    solve_double(system, rhs, watch)
}

fn solve_double(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, Report), SolveError> {
    let order = system.nrows();
    let matrix = system.lower::<f64>(watch)?;
    let largest = diagonal(&matrix, order).fold(0.0, f64::max);
    let factor = Cholesky::try_factor(order, matrix, watch)?.map_err(|error| match error {
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
    let mut report = Report {
        status: Status::Converged,
        solver: "cholesky f64".into(),
        iterations: 1,
        residual: relative_norm(&left, rhs),
        reasons: Vec::new(),
        warnings: Vec::new(),
    };
    if report.residual > TRUSTED_RESIDUAL {
        report.status = Status::Stagnated;
        report.reasons.push(format!(
            "λ = {:e} is so small beside the kernel matrix that rounding leaves a relative residual of {:.1e}; use a larger λ or a \
             narrower kernel",
            system.lambda(),
            report.residual
        ));
    }
    Ok((x, report))
}

/// `None` where single precision is not enough.
fn solve_mixed(
    system: &Regularised<'_>,
    rhs: &Matrix<f64>,
    choice: Factor,
    watch: &dyn Watch,
) -> Result<Option<(Matrix<f64>, Report)>, SolveError> {
    let order = system.nrows();
    let matrix = system.lower::<f32>(watch)?;
    // λmax ≤ ‖A‖_F and λmin ≥ λ bound the condition number from above.
    let frobenius = lower_frobenius(&matrix, order);
    let condition = frobenius / system.lambda();
    if choice == Factor::Auto && (condition.is_nan() || condition * <f32 as Real>::EPSILON > MIXED_LIMIT) {
        return Ok(None);
    }
    let Ok(factor) = Cholesky::try_factor(order, matrix, watch)? else { return Ok(None) };
    let mut x = Matrix::zeros(order, rhs.ncols());
    let mut left = rhs.clone();
    let mut norm = relative_norm(&left, rhs);
    for step in 1..=REFINEMENTS {
        let mut correction = narrow(&left);
        factor.solve(&mut correction, watch)?;
        add_widened(&mut x, &correction, &left);
        left = residual(system, rhs, &x, watch)?;
        let next = relative_norm(&left, rhs);
        // The residual cannot be computed more exactly than this: √n·ε, the drift of a sum of n terms, of what cancels in it.
        let floor = f64::EPSILON * (order as f64).sqrt() * (1.0 + frobenius * relative_norm(&x, rhs));
        if next <= floor {
            let report = Report {
                status: Status::Converged,
                solver: "cholesky f32, refined in f64".into(),
                iterations: step,
                residual: next,
                reasons: Vec::new(),
                warnings: Vec::new(),
            };
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
    // Rounding in K is at most about n·ε·max kᵢᵢ in norm; a hundred times that keeps every pivot well above it.
    let floor = 100.0 * order as f64 * f64::EPSILON * largest.max(f64::MIN_POSITIVE);
    SolveError::Singular { rank, order, suggestion: 10f64.powi(floor.log10().ceil() as i32) }
}

fn diagonal(matrix: &[f64], order: usize) -> impl Iterator<Item = f64> + '_ {
    (0..order).map(move |i| matrix[i * order + i])
}

/// ‖A‖_F of the symmetric matrix with this lower triangle.
fn lower_frobenius(matrix: &[f32], order: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..order {
        let row = &matrix[i * order..][..=i];
        let squares: f64 = row[..i].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        sum += 2.0 * squares + f64::from(row[i]).powi(2);
    }
    sum.sqrt()
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

/// Column-wise powers of two that bring residuals into the range of single precision.
fn column_scales(a: &Matrix<f64>) -> Vec<f64> {
    column_norms(a)
        .into_iter()
        .map(|n| if n > 0.0 && n.is_finite() { 2f64.powi(n.log2().ceil() as i32) } else { 1.0 })
        .collect()
}

fn narrow(a: &Matrix<f64>) -> Matrix<f32> {
    let scales = column_scales(a);
    let entries =
        a.entries().iter().enumerate().map(|(k, v)| (v / scales[k % scales.len()]) as f32).collect();
    Matrix::from_entries(a.nrows(), a.ncols(), entries)
}

fn add_widened(x: &mut Matrix<f64>, correction: &Matrix<f32>, residual: &Matrix<f64>) {
    let scales = column_scales(residual);
    for (k, (x, c)) in x.entries_mut().iter_mut().zip(correction.entries()).enumerate() {
        *x += f64::from(*c) * scales[k % scales.len()];
    }
}
