//! Regularised least squares with more features than rows, by the kernel matrix of the features.
//!
//! The minimum of ‖y − Φw‖² + λ‖w‖² is w = Φᵀa with (ΦΦᵀ + λI)a = y: n unknowns instead of D.
//!
//! ```text
//! normal equations   ΦΦᵀ + λI by Cholesky                 n²D + n³/3 multiply-adds
//! qr                 [Φᵀ; √λI] = QR, RᵀRa = y             about twice that
//! ```
//!
//! As in [`least_squares`](super::least_squares), the second is used if the pivots of the first show that too few
//! digits are left, and one correction by the residual follows.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::design::{Design, add_product, add_transposed_product};
use crate::linalg::vectors::{add_multiple, columns, relative_norm};
use crate::linalg::{Triangle, products, zeroed};
use crate::watch::{Stopped, Watch};

use super::direct::TRUSTED_RESIDUAL;
use super::error::SolveError;
use super::least_squares::{Factor, Group, factor};
use super::report::{Report, Status};

/// Bytes that [`solve_wide`] takes for n rows of D features: the features, the matrix and its factor.
#[must_use]
pub fn wide_bytes(rows: usize, features: u64) -> u64 {
    let (rows, width) = (rows as u64, features);
    let matrices = rows.saturating_mul(rows).saturating_mul(2);
    let qr = Triangle::bytes(usize::try_from(width).unwrap_or(usize::MAX), rows as usize, 0);
    rows.saturating_mul(width).saturating_add(matrices).saturating_mul(8).saturating_add(qr)
}

/// Whether [`solve_wide`] applies to n rows of D features: there are fewer rows, and every λ is above 0.
#[must_use]
pub fn is_wide(rows: usize, features: u64, groups: &[Group]) -> bool {
    (rows as u64) < features && groups.iter().all(|group| group.lambda > 0.0)
}

/// Solves the problem of every group: one column of weights per target.
///
/// # Errors
/// As [`solve_least_squares`](super::solve_least_squares).
pub(super) fn solve_wide(
    rows: &dyn Design,
    targets: &Matrix<f64>,
    groups: &[Group],
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, Report), SolveError> {
    let (n, width) = (rows.nrows(), rows.ncols());
    let mut phi: Vec<f64> = zeroed(n * width);
    rows.fill(0..n, (&mut phi).into(), watch)?;
    let gram = gram(&phi, n, watch)?;
    if !gram.iter().all(|v| v.is_finite()) {
        return Err(SolveError::Overflow);
    }
    let mut weights = Matrix::zeros(width, targets.ncols());
    let mut triangle: Option<Triangle> = None;
    let mut residual = 0.0f64;
    for group in groups {
        let found = factor(n, gram.clone(), group.lambda, watch)?.filter(Factor::is_trusted);
        let factor = match found {
            Some(factor) => factor,
            None => {
                let triangle = match &mut triangle {
                    Some(triangle) => triangle,
                    none => none.insert(transposed_triangle(&phi, n, width, watch)?),
                };
                Factor::Qr(triangle.regularised(group.lambda))
            }
        };
        let (w, left) = corrected(&phi, &columns(targets, &group.targets), group.lambda, &factor, watch)?;
        if !w.entries().iter().all(|w| w.is_finite()) {
            return Err(SolveError::Unresolved { lambda: group.lambda });
        }
        residual = residual.max(left);
        for i in 0..width {
            for (&column, w) in group.targets.iter().zip(w.row(i)) {
                weights.row_mut(i)[column] = *w;
            }
        }
    }
    let solver =
        if triangle.is_some() { "dual of the features, qr f64" } else { "dual of the features, f64" };
    let mut report = Report::new(Status::Converged, solver, 1, residual);
    if residual > TRUSTED_RESIDUAL {
        report.status = Status::Stagnated;
        report.reasons.push(format!(
            "the features differ so much in size that rounding leaves a relative residual of {residual:.1e}; use a larger \
             lambda, a smaller degree or smaller numbers"
        ));
    }
    Ok((weights, report))
}

/// The lower triangle of ΦΦᵀ, row-major. Each strip is computed by one thread.
fn gram(phi: &[f64], n: usize, watch: &dyn Watch) -> Result<Vec<f64>, Stopped> {
    let phi = MatRef::from_row_major_slice(phi, n, phi.len() / n.max(1));
    let mut gram: Vec<f64> = zeroed(n * n);
    let strip = n.div_ceil(16).clamp(8, 128);
    watch.begin("kernel matrix of the features", n as u64);
    gram.par_chunks_mut(strip * n).enumerate().try_for_each(|(place, gram)| {
        watch.check()?;
        let (first, height) = (place * strip, gram.len() / n);
        let reach = first + height;
        let out = MatMut::from_row_major_slice_mut(gram, height, n).subcols_mut(0, reach);
        products::add(out, 1.0, phi.subrows(first, height), phi.subrows(0, reach).transpose());
        watch.advance(height as u64);
        Ok(())
    })?;
    Ok(gram)
}

/// The triangle R of Φᵀ = QR.
fn transposed_triangle(phi: &[f64], n: usize, width: usize, watch: &dyn Watch) -> Result<Triangle, Stopped> {
    Triangle::of_rows(n, &Matrix::zeros(width, 0), watch, |features, out| {
        watch.check()?;
        for (feature, out) in features.zip(out.chunks_exact_mut(n)) {
            out.iter_mut().enumerate().for_each(|(row, out)| *out = phi[row * width + feature]);
        }
        Ok(())
    })
}

/// The solution after one correction, and its relative residual.
fn corrected(
    phi: &[f64],
    y: &Matrix<f64>,
    lambda: f64,
    factor: &Factor,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, f64), Stopped> {
    let mut a = y.clone();
    factor.solve(&mut a, watch)?;
    let (first, mut left) = fitted(phi, &a, y, lambda);
    let before = relative_norm(&left, y);
    factor.solve(&mut left, watch)?;
    add_multiple(&mut a, 1.0, &left);
    let (second, left) = fitted(phi, &a, y, lambda);
    let after = relative_norm(&left, y);
    Ok(if after <= before { (second, after) } else { (first, before) })
}

/// w = Φᵀa, and y − Φw − λa.
fn fitted(phi: &[f64], a: &Matrix<f64>, y: &Matrix<f64>, lambda: f64) -> (Matrix<f64>, Matrix<f64>) {
    let mut w = Matrix::zeros(phi.len() / a.nrows(), a.ncols());
    add_transposed_product(&mut w, phi, a.entries());
    let mut left = y.clone();
    add_product(left.entries_mut(), phi, &w, -1.0);
    add_multiple(&mut left, -lambda, a);
    (w, left)
}
