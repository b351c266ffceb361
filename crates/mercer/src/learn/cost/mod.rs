//! The cost of work: operations and bytes as functions of its size only, so that a choice between methods is the same
//! on every machine; [`plan`](crate::select::plan) multiplies them by rates that it measures.

mod algorithms;
mod task;

use crate::linalg::NormalEquations;
use crate::pool;

pub use algorithms::{Algorithm, Cost, Operation, Stage};
pub use task::{Size, Task};

/// Steps of conjugate gradients on tiles before the matrix is stored, and the fewest remaining steps for which it is
/// stored: storing takes the time of as many.
pub(crate) const STEPS_ON_TILES: u64 = 6;

/// Multiply-adds of ridge regression on the kernel matrix of n samples with d columns: n²d + n³/3.
#[must_use]
pub fn dual_ridge(rows: usize, columns: usize) -> f64 {
    let (n, d) = (rows as f64, columns as f64);
    n * n * d + n * n * n / 3.0
}

/// Multiply-adds of ridge regression on D features of n samples: nD² + D³/3.
#[must_use]
pub fn primal_ridge(rows: usize, features: u64) -> f64 {
    let (n, count) = (rows as f64, features as f64);
    n * count * count + count * count * count / 3.0
}

/// Bytes of a kernel matrix in double precision.
#[must_use]
pub fn matrix_bytes(rows: usize) -> u64 {
    (rows as u64).saturating_mul(rows as u64).saturating_mul(8)
}

/// The rank of the preconditioner that balances its own cost, nk², with the steps it saves at n² each: 3√n.
#[must_use]
pub fn preconditioner_rank(rows: usize) -> usize {
    ((3.0 * (rows as f64).sqrt()).ceil() as usize).min(rows)
}

/// Bytes of conjugate gradients with a preconditioner of this rank, without a stored matrix: the factor, its small matrix twice, and
/// the partial sums of a product.
#[must_use]
pub fn cg_bytes(rows: usize, rank: usize, targets: usize) -> u64 {
    let (n, k) = (rows as u64, rank.min(rows) as u64);
    4 * n * k + 16 * k * k + 40 * 8 * n * (targets as u64 + 1)
}

/// The most multiply-adds of large products for training a Gaussian process by a method if a faster but less exact one exists: about
/// ten minutes on two cores.
pub const GP_PATIENCE: f64 = 6e13;

/// The time of a multiply-add of conjugate gradients, which read the matrix from memory for a few columns, relative to one of a large
/// product. It includes how far the number of steps is from [`GP_STEPS`], which depends on the noise: measured 2 to 4 where its
/// standard deviation is a tenth of the targets', 120 on almost noiseless targets (n = 4,000 and 8,000).
pub const GP_CG_WEIGHT: f64 = 32.0;

/// Random probes of the determinant of a Gaussian process.
pub(crate) const GP_PROBES: usize = 10;

/// The approximate number of conjugate gradient steps for one likelihood of a Gaussian process.
const GP_STEPS: f64 = 50.0;

/// The largest default number of inducing points of a Gaussian process.
const GP_POINTS: usize = 1_024;

/// The rank of the preconditioner of a Gaussian process, which also determines its variance: that of ridge regression,
/// but at least 512, and at most half of the rows.
#[must_use]
pub fn gp_rank(rows: usize) -> usize {
    preconditioner_rank(rows).max(512).min(rows.div_ceil(2))
}

/// The default number of inducing points of a Gaussian process, limited by the memory.
#[must_use]
pub fn gp_points(rows: usize, budget: u64) -> usize {
    let mut points = suggested_features(rows as u64).min(GP_POINTS);
    while points > 64 && gp_inducing_bytes(points) > budget {
        points -= 64;
    }
    points.min(rows)
}

/// Bytes of the matrices of these inducing points and of a block of rows.
#[must_use]
pub fn gp_inducing_bytes(points: usize) -> u64 {
    let m = points as u64;
    m.saturating_mul(8 * (12 * m + 2 * GP_BLOCK as u64))
}

/// Rows that are summed at once on inducing points.
pub(crate) const GP_BLOCK: usize = 2_048;

/// Bytes of a Gaussian process on its kernel matrix: its factor, a copy of it, and the triangle that the model keeps.
#[must_use]
pub fn gp_exact_bytes(rows: usize) -> u64 {
    (rows as u64).saturating_mul(rows as u64).saturating_mul(20)
}

/// Bytes of a Gaussian process by conjugate gradients, without a stored matrix: the preconditioner in both precisions and its small
/// matrices, nine sets of vectors, the partial sums of a product, and a block of weights.
#[must_use]
pub fn gp_cg_bytes(rows: usize, targets: usize) -> u64 {
    let (n, k, t) = (rows as u64, gp_rank(rows) as u64, (targets + GP_PROBES) as u64);
    12 * n * k + 32 * k * k + 49 * 8 * n * t + (8 << 22)
}

/// The solver of a Gaussian process: the first of a Cholesky factor, conjugate gradients and inducing points that takes
/// no more than [`GP_PATIENCE`] and fits the memory. A factor takes less time than conjugate gradients wherever the patience allows
/// it, so they are for little memory.
#[must_use]
pub fn gp_algorithm(size: Size, evaluations: usize, budget: u64) -> Algorithm {
    let (n, evaluations) = (size.rows as f64, evaluations as f64);
    let exact = evaluations * n * n * n;
    if exact <= GP_PATIENCE && gp_exact_bytes(size.rows) <= budget {
        return Algorithm::DualDouble;
    }
    let steps = evaluations * GP_STEPS * n * n * (size.targets + GP_PROBES) as f64 * GP_CG_WEIGHT;
    if steps <= GP_PATIENCE && gp_cg_bytes(size.rows, size.targets) <= budget {
        return Algorithm::ConjugateGradients;
    }
    Algorithm::Landmarks { landmarks: gp_points(size.rows, budget) as u64 }
}

/// Bytes of ridge regression from sums over this number of features: the sums, their matrix and a chunk of features.
#[must_use]
pub fn sums_bytes(features: usize, targets: usize) -> u64 {
    let d = features as u64;
    NormalEquations::bytes_needed(features, targets)
        .saturating_add(8 * d.saturating_mul(d))
        .saturating_add(8 * 1024 * d)
}

/// Bytes of sums over this number of features, targets and parts, of which some are left out in turn, and of their factors.
#[must_use]
pub fn fold_sums_bytes(features: usize, targets: usize, (parts, left_out): (usize, usize)) -> u64 {
    let d = features as u64;
    let matrix = 8u64.saturating_mul(d).saturating_mul(d);
    // Decompositions computed at the same time: the matrix, its vectors and twice that of working memory.
    let at_once = pool::available().min(left_out) as u64;
    NormalEquations::bytes_needed(features, targets)
        .saturating_mul(parts as u64 + 2 + at_once)
        .saturating_add(matrix.saturating_mul(left_out as u64 + 4 * at_once))
        .saturating_add(8 * 1024 * d)
}

/// The number of approximate features for this number of rows: 8√n, which keeps the error of the approximation below that of the data
/// for most problems (Rudi and Rosasco 2017), from 512 to 4,096.
#[must_use]
pub fn suggested_features(rows: u64) -> usize {
    ((8.0 * (rows as f64).sqrt()) as usize).clamp(512, 4_096).next_multiple_of(64)
}

/// As [`suggested_features`], limited by the memory.
#[must_use]
pub fn affordable_features(rows: u64, budget: u64) -> usize {
    let mut size = suggested_features(rows);
    while size > 64 && sums_bytes(size, 1) > budget {
        size -= 64;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_process_is_as_exact_as_patience_and_memory_allow() {
        let chosen = |rows, budget| {
            gp_algorithm(
                Size { rows, columns: 8, targets: 1, dtype: crate::real::Precision::Double },
                40,
                budget,
            )
        };
        assert_eq!(chosen(2_000, u64::MAX), Algorithm::DualDouble);
        // A factor takes 4 minutes on two cores here, conjugate gradients 8.
        assert_eq!(chosen(8_000, u64::MAX), Algorithm::DualDouble);
        assert_eq!(chosen(8_000, 1 << 30), Algorithm::ConjugateGradients);
        // Both take more than half an hour.
        assert_eq!(chosen(20_000, u64::MAX), Algorithm::Landmarks { landmarks: 1_024 });
        assert_eq!(chosen(5_000, 300 << 20), Algorithm::ConjugateGradients);
        assert_eq!(chosen(100_000, u64::MAX), Algorithm::Landmarks { landmarks: 1_024 });
        for budget in [5 << 20, 30 << 20, 100 << 20] {
            let Algorithm::Landmarks { landmarks } = chosen(100_000, budget) else {
                panic!("inducing points")
            };
            assert!(
                gp_inducing_bytes(landmarks as usize) <= budget && landmarks >= 64,
                "{landmarks} in {budget}"
            );
        }
    }

    #[test]
    fn sizes_follow_the_rows_and_the_memory() {
        assert_eq!(affordable_features(20_000, u64::MAX), 1_152);
        assert_eq!(affordable_features(10_000_000_000, u64::MAX), 4_096);
        assert!(affordable_features(10_000_000_000, 50 << 20) < 2_500);
    }
}
