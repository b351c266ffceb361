//! K ≈ GGᵀ by Cholesky with diagonal pivoting, a block of pivots at a time.
//!
//! The rows with the largest residual diagonal are the candidates of a block; a small pivoted Cholesky factorisation of
//! their residuals keeps those that are not already explained by one another. One matrix product gives the columns of
//! all pivots of a block, so that the factor costs n·r² flops at full speed for rank r. The rank is slightly larger
//! than with one pivot at a time, and the trace of the residual is known exactly after every block.

use std::cmp::Ordering;

use faer::{Mat, MatMut, MatRef};

use crate::linalg::products;
use rayon::prelude::*;

use crate::watch::{Stopped, Watch};

/// Candidates of a block.
const BLOCK: usize = 48;

/// The smallest pivot of a candidate that is kept, relative to the largest residual.
const SHARE: f64 = 0.1;

/// The fraction of the allowed pivots from which the final rank is predicted: the first pivots are cheap and carry
/// little information.
const PATIENCE: usize = 4;

/// Columns of a block that one task computes.
const SLICE: usize = 256;

/// Gᵀ, row-major with one row per pivot, with trace(K − GGᵀ) ≤ `tolerance`; `None` if that takes, or is predicted to
/// take, more than `limit` pivots.
///
/// The eigenvalues of most kernels decay more slowly than a geometric series, so the prediction is optimistic: if even
/// it exceeds the limit, the factorisation stops early. A wrong prediction costs time, not accuracy.
pub(super) fn low_rank_rows(
    order: usize,
    matrix: &[f64],
    tolerance: f64,
    limit: usize,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>, Stopped> {
    let n = order;
    let mut residual: Vec<f64> = (0..n).map(|i| matrix[i * n + i]).collect();
    let trace: f64 = residual.iter().sum();
    let digits_wanted = (trace / tolerance).log10();
    let mut rows: Vec<f64> = Vec::with_capacity(limit * n);
    loop {
        watch.check()?;
        let rank = rows.len() / n.max(1);
        // Rounding can make a residual negative; NaN stays NaN.
        let left: f64 = residual.iter().map(|&d| if d < 0.0 { 0.0 } else { d }).sum();
        if left <= tolerance {
            return Ok(Some(rows));
        }
        let outlook = (trace / left).log10() * limit as f64 / rank.max(1) as f64;
        if rank >= limit || left.is_nan() || (rank >= limit / PATIENCE && outlook < digits_wanted) {
            return Ok(None);
        }
        let candidates = largest(&residual, BLOCK.min(limit - rank));
        let Some((pivots, lower)) = independent(n, matrix, &rows, &candidates) else {
            return Ok(None);
        };
        add_rows(n, matrix, &mut rows, &pivots, &lower, &mut residual);
    }
}

/// The indices of the `count` largest numbers. Ties are broken pseudo-randomly, since neighbours in a sorted table are
/// similar.
fn largest(values: &[f64], count: usize) -> Vec<usize> {
    let shuffled = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let descending = |&a: &usize, &b: &usize| -> Ordering {
        values[b].total_cmp(&values[a]).then(shuffled(a).cmp(&shuffled(b)))
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    if count < order.len() {
        order.select_nth_unstable_by(count, descending);
        order.truncate(count);
    }
    order.sort_unstable_by(descending);
    order
}

/// The candidates that are kept, in the order of their pivots, and the Cholesky factor of their residuals; `None` if no
/// pivot is positive.
fn independent(
    n: usize,
    matrix: &[f64],
    rows: &[f64],
    candidates: &[usize],
) -> Option<(Vec<usize>, Mat<f64>)> {
    let (rank, k) = (rows.len() / n, candidates.len());
    let known = MatRef::from_row_major_slice(rows, rank, n);
    let chosen = Mat::from_fn(rank, k, |i, j| known[(i, candidates[j])]);
    let mut c = Mat::from_fn(k, k, |i, j| matrix[candidates[i] * n + candidates[j]]);
    products::add(c.as_mut(), -1.0, chosen.transpose(), chosen.as_ref());
    let mut open: Vec<usize> = (0..k).collect();
    let mut kept: Vec<usize> = Vec::new();
    let mut lower = Mat::<f64>::zeros(k, k);
    let mut least = 0.0;
    while let Some((place, &pivot)) =
        open.iter().enumerate().max_by(|(_, a), (_, b)| c[(**a, **a)].total_cmp(&c[(**b, **b)]))
    {
        let value = c[(pivot, pivot)];
        if value.is_nan() || value <= least {
            break;
        }
        least = least.max(SHARE * value);
        open.remove(place);
        let step = kept.len();
        for (row, &earlier) in kept.iter().enumerate() {
            // The elimination left column `row` of the factor at this pivot in c.
            lower[(step, row)] = c[(pivot, earlier)];
        }
        let root = value.sqrt();
        lower[(step, step)] = root;
        kept.push(pivot);
        for &i in &open {
            c[(i, pivot)] /= root;
        }
        for &i in &open {
            for &j in &open {
                let change = c[(i, pivot)] * c[(j, pivot)];
                c[(i, j)] -= change;
            }
        }
    }
    let size = kept.len();
    let lower = lower.submatrix(0, 0, size, size).to_owned();
    (size > 0).then(|| (kept.into_iter().map(|place| candidates[place]).collect(), lower))
}

/// The rows L⁻¹(K_P − G_P Gᵀ) for the pivots P, appended; and updates the residual diagonal.
fn add_rows(
    n: usize,
    matrix: &[f64],
    rows: &mut Vec<f64>,
    pivots: &[usize],
    lower: &Mat<f64>,
    residual: &mut [f64],
) {
    let (rank, k) = (rows.len() / n, pivots.len());
    for &pivot in pivots {
        rows.extend_from_slice(&matrix[pivot * n..(pivot + 1) * n]);
    }
    let (known, new) = rows.split_at_mut(rank * n);
    let known = MatRef::from_row_major_slice(known, rank, n);
    let chosen = Mat::from_fn(rank, k, |i, j| known[(i, pivots[j])]);
    let new = MatMut::from_row_major_slice_mut(new, k, n);
    new.par_col_chunks_mut(SLICE).zip(residual.par_chunks_mut(SLICE)).enumerate().for_each(
        |(slice, (mut out, residual))| {
            let width = out.ncols();
            let before = known.subcols(slice * SLICE, width);
            products::add(out.as_mut(), -1.0, chosen.transpose(), before);
            products::solve_lower(lower.as_ref(), out.as_mut());
            for i in 0..k {
                for j in 0..width {
                    residual[j] -= out[(i, j)] * out[(i, j)];
                }
            }
        },
    );
    for &pivot in pivots {
        residual[pivot] = 0.0;
    }
}

/// GᵀG from Gᵀ, row-major.
pub(super) fn gram_of_rows(n: usize, rows: &[f64]) -> Vec<f64> {
    let rank = rows.len() / n.max(1);
    let g = MatRef::from_row_major_slice(rows, rank, n);
    let mut gram = vec![0.0; rank * rank];
    gram.par_chunks_mut((SLICE * rank).max(1)).enumerate().for_each(|(slice, out)| {
        let (first, height) = (slice * SLICE, out.len() / rank);
        let out = MatMut::from_row_major_slice_mut(out, height, rank).subcols_mut(0, first + height);
        let others = g.subrows(0, first + height);
        products::assign(out, 1.0, g.subrows(first, height), others.transpose());
    });
    for i in 0..rank {
        for j in 0..i {
            gram[j * rank + i] = gram[i * rank + j];
        }
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    /// exp(−((i−j)/width)²).
    fn gaussian(n: usize, width: f64) -> Vec<f64> {
        (0..n * n).map(|k| (-(((k / n) as f64 - (k % n) as f64) / width).powi(2)).exp()).collect()
    }

    #[test]
    fn a_smooth_matrix_has_few_rows_and_comes_back() {
        let n = 300;
        let a = gaussian(n, 60.0);
        let rows = low_rank_rows(n, &a, 1e-10, n / 2, &Unwatched).unwrap().expect("few rows");
        let rank = rows.len() / n;
        assert!(rank < 60, "{rank}");
        let g = MatRef::from_row_major_slice(&rows, rank, n);
        let back = g.transpose() * g;
        // The entries of a positive semidefinite residual are at most its trace.
        assert!((0..n * n).all(|k| (back[(k / n, k % n)] - a[k]).abs() < 2e-10));
        let gram = gram_of_rows(n, &rows);
        let expected = g * g.transpose();
        assert!((0..rank * rank).all(|k| (gram[k] - expected[(k / rank, k % rank)]).abs() < 1e-10));
    }

    #[test]
    fn a_narrow_matrix_is_given_up() {
        let n = 300;
        assert_eq!(low_rank_rows(n, &gaussian(n, 0.5), 1e-10, n / 2, &Unwatched), Ok(None));
        assert_eq!(low_rank_rows(n, &vec![f64::NAN; n * n], 1e-10, n / 2, &Unwatched), Ok(None));
    }
}
