//! Regularised least squares on rows of features.
//!
//! Minimises ‖y − Φw‖² + λ‖w‖² for each of several targets. Φ is an n × D [`Design`]: its rows are read block by block
//! in each pass.
//!
//! ```text
//! normal equations   (ΦᵀΦ + λI) w = Φᵀy by Cholesky                          nD² + D³/3 multiply-adds
//! qr                 [Φ; √λI] = QR, Rw = Qᵀ[y; 0], block by block            about twice that
//! ```
//!
//! The first loses digits in proportion to κ(ΦᵀΦ), the square of the condition number for the second, so the second is
//! used if the pivots of the first show that too few digits are left. Both solutions are corrected once by the residual
//! of the normal equations computed from Φ itself (Björck 1996, section 6.6.5, the corrected semi-normal equations).

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::design::{Design, DesignError, add_product, add_transposed_product};
use crate::gram::NumericalRank;
use crate::linalg::vectors::{add_multiple, columns, relative_norm};
use crate::linalg::{Cholesky, Triangle, products, suggestion, zeroed};
use crate::memory;
use crate::watch::{Stopped, Watch};

use super::error::SolveError;
use super::report::{Report, Status};
use super::wide::{is_wide, solve_wide, wide_bytes};

/// The largest 1/pivot, of a matrix scaled to diagonal 1, for which the normal equations are used: six of sixteen
/// digits are then left in the worst direction, and the correction recovers most of the others.
const TRUSTED: f64 = 1e10;

/// The text of [`Report::solver`].
const NORMAL_EQUATIONS: &str = "normal equations f64";
const QR: &str = "qr f64";

/// The targets that share one λ, by their columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// λ ≥ 0.
    pub lambda: f64,
    /// The columns.
    pub targets: Vec<usize>,
}

/// Bytes that [`solve_least_squares`] takes by normal equations, for n rows of D features and this many different λ.
#[must_use]
pub fn normal_equations_bytes(rows: usize, features: u64, lambdas: usize) -> u64 {
    let matrices = if lambdas > 1 { 2 } else { 1 };
    let square = features.saturating_mul(features).saturating_mul(matrices);
    let block = features.saturating_mul(block_rows(features as usize).min(rows) as u64);
    square.saturating_add(block).saturating_mul(8)
}

/// Rows of Φ computed at a time: few enough for the cache, and enough to amortise reading a large ΦᵀΦ.
fn block_rows(features: usize) -> usize {
    ((1 << 19) / features.max(1)).clamp(512, 16_384)
}

/// Solves the problem of every group: one column of weights per target.
///
/// O(D² + block·D) memory, at most `budget` bytes of it for QR; O(nD) where there are more features than rows, every λ is above
/// 0 and that fits the budget: the dual of the problem is then solved.
///
/// # Errors
/// [`SolveError::RankDeficient`] if λ = 0 and the features are linearly dependent on these rows;
/// [`SolveError::Overflow`] if the features are too large for their squares; [`SolveError::Unresolved`] if rounding leaves no
/// solution; if the rows of the design cannot be computed; and if `watch` asks to stop.
pub fn solve_least_squares(
    rows: &dyn Design,
    targets: &Matrix<f64>,
    groups: &[Group],
    budget: u64,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, Report), SolveError> {
    let order = rows.ncols();
    let mut report = Report::new(Status::Converged, NORMAL_EQUATIONS, 0, 0.0);
    if order == 0 {
        return Ok((Matrix::zeros(0, targets.ncols()), report));
    }
    if is_wide(rows.nrows(), order as u64, groups) && wide_bytes(rows.nrows(), order as u64) <= budget {
        return solve_wide(rows, targets, groups, watch);
    }
    let mut equations = Equations::accumulate(rows, targets, watch)?;
    if !equations.gram.iter().chain(equations.rhs.entries()).all(|v| v.is_finite()) {
        return Err(SolveError::Overflow);
    }
    let mut weights = Matrix::zeros(order, targets.ncols());
    let mut orthogonal = Orthogonal { rows, targets, triangle: None };
    let needed = Triangle::bytes(rows.nrows(), order, targets.ncols());
    for (place, group) in groups.iter().enumerate() {
        let last = place + 1 == groups.len();
        let gram = if last { std::mem::take(&mut equations.gram) } else { equations.gram.clone() };
        let mut warnings = Vec::new();
        let factor = match factor(order, gram, group.lambda, watch)? {
            Some(factor) if factor.is_trusted() => factor,
            _ if needed <= budget => orthogonal.factor(group.lambda, watch)?,
            Some(factor) if group.lambda > 0.0 => {
                warnings.push(format!(
                    "the features are close to linearly dependent, and QR would need {}, more than the memory budget: \
                     the weights have few digits; a larger lambda or a smaller degree helps",
                    memory::human(needed)
                ));
                factor
            }
            _ => return Err(equations.undetermined(group.lambda)),
        };
        let rhs = columns(&equations.rhs, &group.targets);
        let (solution, residual) = corrected(rows, targets, group, &factor, &rhs, watch)?;
        if !solution.entries().iter().all(|w| w.is_finite()) {
            return Err(SolveError::Unresolved { lambda: group.lambda });
        }
        for i in 0..order {
            for (&column, w) in group.targets.iter().zip(solution.row(i)) {
                weights.row_mut(i)[column] = *w;
            }
        }
        let solved = Report { warnings, ..Report::new(Status::Converged, factor.name(), 1, residual) };
        if place == 0 || solved.residual > report.residual {
            report = solved;
        }
    }
    Ok((weights, report))
}

/// ΦᵀΦ and Φᵀy.
struct Equations {
    order: usize,
    /// The lower triangle, row-major; the rest is unspecified.
    gram: Vec<f64>,
    rhs: Matrix<f64>,
    diagonal: Vec<f64>,
}

impl Equations {
    /// Adds blocks of rows in their order. Each entry is computed by one thread, so the sums do not depend on the number of threads.
    fn accumulate(rows: &dyn Design, targets: &Matrix<f64>, watch: &dyn Watch) -> Result<Self, DesignError> {
        let (order, outputs) = (rows.ncols(), targets.ncols());
        let mut gram = zeroed(order * order);
        let mut rhs = Matrix::zeros(order, outputs);
        let strip = order.div_ceil(16).clamp(8, 128);
        watch.begin("normal equations", rows.nrows() as u64);
        rows.blocks(block_rows(order), watch, &mut |block, phi| {
            let height = block.len();
            let phi = MatRef::from_row_major_slice(phi, height, order);
            let y = &targets.entries()[block.start * outputs..block.end * outputs];
            let y = MatRef::from_row_major_slice(y, height, outputs);
            gram.par_chunks_mut(strip * order)
                .zip(rhs.entries_mut().par_chunks_mut(strip * outputs))
                .enumerate()
                .try_for_each(|(place, (gram, rhs))| {
                    watch.check()?;
                    let (first, height) = (place * strip, gram.len() / order);
                    let left = phi.subcols(first, height).transpose();
                    let reach = first + height;
                    let gram = MatMut::from_row_major_slice_mut(gram, height, order).subcols_mut(0, reach);
                    products::add(gram, 1.0, left, phi.subcols(0, reach));
                    let rhs = MatMut::from_row_major_slice_mut(rhs, height, outputs);
                    products::add(rhs, 1.0, left, y);
                    Ok::<_, Stopped>(())
                })?;
            watch.advance(height as u64);
            Ok(())
        })?;
        let diagonal = (0..order).map(|i| gram[i * order + i]).collect();
        Ok(Self { order, gram, rhs, diagonal })
    }

    /// The error if nothing could be factored and QR does not fit the memory.
    fn undetermined(&self, lambda: f64) -> SolveError {
        if lambda > 0.0 {
            return SolveError::Indefinite { lambda, pivot: 0, order: self.order };
        }
        let largest = self.diagonal.iter().copied().fold(0.0, f64::max);
        SolveError::RankDeficient {
            rank: None,
            features: self.order,
            suggestion: suggestion(self.order, largest),
        }
    }
}

/// The factor for (ΦᵀΦ + λI)x = b.
pub(super) enum Factor {
    /// A Cholesky factor, and the largest 1/pivot of the matrix scaled to diagonal 1.
    Cholesky(Cholesky<f64>, f64),
    /// The triangle of [Φ; √λI].
    Qr(Triangle),
}

impl Factor {
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Qr(_)) || matches!(self, Self::Cholesky(_, condition) if *condition <= TRUSTED)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Cholesky(..) => NORMAL_EQUATIONS,
            Self::Qr(_) => QR,
        }
    }

    pub fn solve(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        match self {
            Self::Cholesky(factor, _) => factor.solve(rhs, watch),
            Self::Qr(triangle) => {
                triangle.solve_normal(rhs);
                watch.check()
            }
        }
    }
}

/// The Cholesky factor of ΦᵀΦ + λI; `None` if a pivot is not positive.
pub(super) fn factor(
    order: usize,
    mut gram: Vec<f64>,
    lambda: f64,
    watch: &dyn Watch,
) -> Result<Option<Factor>, Stopped> {
    (0..order).for_each(|i| gram[i * order + i] += lambda);
    let diagonal: Vec<f64> = (0..order).map(|i| gram[i * order + i]).collect();
    let Ok(factor) = Cholesky::try_factor(order, gram, watch)? else { return Ok(None) };
    let condition = factor.pivots().zip(&diagonal).map(|(pivot, d)| d / pivot).fold(1.0, f64::max);
    Ok(Some(Factor::Cholesky(factor, condition)))
}

/// The QR decomposition of the features and targets, computed on first use.
struct Orthogonal<'a> {
    rows: &'a dyn Design,
    targets: &'a Matrix<f64>,
    triangle: Option<Triangle>,
}

impl Orthogonal<'_> {
    /// The factor of [Φ; √λI].
    fn factor(&mut self, lambda: f64, watch: &dyn Watch) -> Result<Factor, SolveError> {
        let (rows, features) = (self.rows, self.rows.ncols());
        let triangle = match &mut self.triangle {
            Some(triangle) => triangle,
            none => none.insert(Triangle::of_rows(features, self.targets, watch, |block, phi| {
                rows.fill(block, phi.into(), watch)?;
                watch.check().map_err(DesignError::from)
            })?),
        };
        let all = triangle.regularised(lambda);
        if lambda == 0.0
            && let Some(found) = all.dependence(rows.nrows())
        {
            let rank = found.rank.map(NumericalRank::Exactly);
            return Err(SolveError::RankDeficient { rank, features, suggestion: found.suggestion });
        }
        Ok(Factor::Qr(all))
    }
}

/// The solution after one correction, and its residual in the normal equations relative to their right-hand side.
fn corrected(
    rows: &dyn Design,
    targets: &Matrix<f64>,
    group: &Group,
    factor: &Factor,
    rhs: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(Matrix<f64>, f64), SolveError> {
    let y = columns(targets, &group.targets);
    let mut w = match factor {
        Factor::Qr(triangle) => triangle.solution(&group.targets),
        Factor::Cholesky(..) => {
            let mut w = rhs.clone();
            factor.solve(&mut w, watch)?;
            w
        }
    };
    let mut left = residual(rows, &y, &w, group.lambda, watch)?;
    let before = relative_norm(&left, rhs);
    let mut better = w.clone();
    factor.solve(&mut left, watch)?;
    add_multiple(&mut better, 1.0, &left);
    let after = relative_norm(&residual(rows, &y, &better, group.lambda, watch)?, rhs);
    if after <= before {
        w = better;
    }
    Ok((w, after.min(before)))
}

/// Φᵀ(y − Φw) − λw in one pass.
fn residual(
    rows: &dyn Design,
    y: &Matrix<f64>,
    w: &Matrix<f64>,
    lambda: f64,
    watch: &dyn Watch,
) -> Result<Matrix<f64>, DesignError> {
    let (order, outputs) = (rows.ncols(), y.ncols());
    let mut gradient = Matrix::zeros(order, outputs);
    watch.begin("residual", rows.nrows() as u64);
    rows.blocks(block_rows(order), watch, &mut |block, phi| {
        let mut error = y.entries()[block.start * outputs..block.end * outputs].to_vec();
        add_product(&mut error, phi, w, -1.0);
        add_transposed_product(&mut gradient, phi, &error);
        watch.advance(block.len() as u64);
        Ok(())
    })?;
    add_multiple(&mut gradient, -lambda, w);
    Ok(gradient)
}
