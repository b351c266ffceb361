//! Randomly pivoted Cholesky: a low-rank factor of a Gram matrix, K ≈ FFᵀ, from a few of its columns.
//!
//! Pivots are drawn with probability in proportion to the diagonal of K − FFᵀ, which is as good as the best choice up to a
//! small factor (Chen, Epperly, Tropp and Webber 2024). The accelerated form draws a block of proposals at once and
//! keeps each with the probability that makes the result the same as one draw after another (Epperly, Tropp and Webber
//! 2024, algorithm 2):
//!
//! ```text
//! H ← K(S,S) − F_S F_Sᵀ                for a block S of proposals
//! for i in S:   keep i with probability H_ii/(its first value), and take it out of H by a step of Cholesky
//! F ← [F  (K(:,S) − F F_Sᵀ)L⁻ᵀ]        for the kept S, with LLᵀ = H(S,S)
//! ```

use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::{Scalar, products, zeroed};
use crate::watch::{Stopped, Watch};

use super::operator::Gram;
use super::values::TileMut;

/// Proposals in a block: one matrix product for all of them, and few enough that most are kept.
const PROPOSALS: usize = 128;

/// Rows that one task updates.
const BAND: usize = 256;

/// Rows between two looks at the watch.
const ROWS_PER_CHECK: usize = 16 * BAND;

/// K ≈ FFᵀ.
#[derive(Debug, Clone, PartialEq)]
pub struct PivotedCholesky<T> {
    /// The rows of K that F reproduces, in the order they were chosen.
    pub pivots: Vec<usize>,
    /// F: one row for each row of K, one column for each pivot.
    pub factor: Matrix<T>,
    /// The trace of K − FFᵀ over that of K.
    pub residual: f64,
}

/// A factor of at most `rank` columns, fewer where every diagonal entry of K − FFᵀ is below `tolerance` times the largest
/// of K before that.
///
/// nr kernel values and nr² multiply-adds for rank r; nr numbers of memory. The same seed gives the same bits whatever
/// the number of threads.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn randomly_pivoted<T: Scalar>(
    gram: &dyn Gram,
    rank: usize,
    tolerance: f64,
    seed: u64,
    watch: &dyn Watch,
) -> Result<PivotedCholesky<T>, Stopped> {
    let n = gram.nrows();
    let rank = rank.min(n);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut residual: Vec<f64> = gram.diagonal().iter().map(|d| d.max(0.0)).collect();
    let trace: f64 = residual.iter().sum();
    let floor = tolerance * residual.iter().copied().fold(0.0, f64::max);
    let mut factor: Vec<T> = zeroed(n * rank);
    let mut pivots = Vec::new();
    watch.begin("pivoted Cholesky", rank as u64);
    while pivots.len() < rank {
        residual.iter_mut().filter(|d| **d <= floor || d.is_nan()).for_each(|d| *d = 0.0);
        let Some(proposals) = propose(&residual, PROPOSALS, &mut rng) else { break };
        let rows = gather(&factor, &proposals, rank, pivots.len());
        let mut block = block_residual(gram, &proposals, &rows, pivots.len());
        let kept = keep(&mut block, proposals.len(), floor, rank - pivots.len(), &mut rng);
        let known = pivots.len();
        let chosen: Vec<usize> = kept.iter().map(|&k| proposals[k]).collect();
        let new = NewColumns {
            chosen: &chosen,
            rows: kept.iter().flat_map(|&k| rows[k * known..(k + 1) * known].to_vec()).collect(),
            lower: lower_of(&block, proposals.len(), &kept),
            known,
        };
        extend(gram, &mut factor, rank, &new, &mut residual, watch)?;
        // What a kept row has left is rounding.
        chosen.iter().for_each(|&i| residual[i] = 0.0);
        watch.advance(chosen.len() as u64);
        pivots.extend(chosen);
    }
    let left: f64 = residual.iter().sum();
    let factor = narrowed(factor, n, rank, pivots.len());
    Ok(PivotedCholesky { pivots, factor, residual: if trace > 0.0 { left / trace } else { 0.0 } })
}

/// `count` rows drawn in proportion to `weights`, with repetition; none where all weights are zero.
fn propose(weights: &[f64], count: usize, rng: &mut impl Rng) -> Option<Vec<usize>> {
    let mut total = 0.0;
    let cumulative: Vec<f64> = weights
        .iter()
        .map(|w| {
            total += w;
            total
        })
        .collect();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let draw = |rng: &mut _| {
        let at = RngExt::random::<f64>(rng) * total;
        let mut i = cumulative.partition_point(|c| *c <= at).min(weights.len() - 1);
        // Rounding at the end must not choose a row of weight 0.
        while weights[i] == 0.0 && i > 0 {
            i -= 1;
        }
        i
    };
    Some((0..count).map(|_| draw(rng)).collect())
}

/// The first `known` entries of some rows of F, in double precision.
fn gather<T: Scalar>(factor: &[T], rows: &[usize], rank: usize, known: usize) -> Vec<f64> {
    rows.iter().flat_map(|&i| factor[i * rank..i * rank + known].iter().map(|v| v.to_f64())).collect()
}

/// K(S,S) − F_S F_Sᵀ, row-major.
fn block_residual(gram: &dyn Gram, proposals: &[usize], rows: &[f64], known: usize) -> Vec<f64> {
    let b = proposals.len();
    let mut block = vec![0.0; b * b];
    gram.block(proposals, proposals, TileMut::new(&mut block, b));
    if known > 0 {
        let rows = MatRef::from_row_major_slice(rows, b, known);
        let out = MatMut::from_row_major_slice_mut(&mut block, b, b);
        products::add(out, -1.0, rows, rows.transpose());
    }
    block
}

/// Which proposals are kept; `block` becomes its Cholesky factor in their rows and columns.
fn keep(block: &mut [f64], b: usize, floor: f64, most: usize, rng: &mut impl Rng) -> Vec<usize> {
    let first: Vec<f64> = (0..b).map(|i| block[i * b + i]).collect();
    let mut kept = Vec::new();
    for i in 0..b {
        let chance = rng.random::<f64>();
        let pivot = block[i * b + i];
        if kept.len() == most || pivot <= floor || pivot.is_nan() || chance * first[i] >= pivot {
            continue;
        }
        let root = pivot.sqrt();
        for r in i..b {
            block[r * b + i] /= root;
        }
        for r in i + 1..b {
            let factor = block[r * b + i];
            for c in i + 1..=r {
                block[r * b + c] -= factor * block[c * b + i];
            }
        }
        kept.push(i);
    }
    kept
}

/// The factor's entries between kept proposals.
fn lower_of(block: &[f64], b: usize, kept: &[usize]) -> Vec<f64> {
    let mut lower = vec![0.0; kept.len() * kept.len()];
    for (r, &i) in kept.iter().enumerate() {
        for (c, &j) in kept[..=r].iter().enumerate() {
            lower[r * kept.len() + c] = block[i * b + j];
        }
    }
    lower
}

/// Columns about to be added to the factor.
struct NewColumns<'a> {
    chosen: &'a [usize],
    /// F_S, row-major.
    rows: Vec<f64>,
    /// L, row-major.
    lower: Vec<f64>,
    /// Columns there are already.
    known: usize,
}

/// Writes (K(:,S) − F F_Sᵀ)L⁻ᵀ beside F, and takes its squares from the diagonal.
fn extend<T: Scalar>(
    gram: &dyn Gram,
    factor: &mut [T],
    rank: usize,
    new: &NewColumns<'_>,
    residual: &mut [f64],
    watch: &dyn Watch,
) -> Result<(), Stopped> {
    let width = new.chosen.len();
    if width == 0 {
        return Ok(());
    }
    let narrow = |values: &[f64]| values.iter().map(|v| T::from_f64(*v)).collect::<Vec<T>>();
    let (rows, lower) = (narrow(&new.rows), narrow(&new.lower));
    let (rows, lower) = (
        MatRef::from_row_major_slice(&rows, width, new.known),
        MatRef::from_row_major_slice(&lower, width, width),
    );
    let mut values = vec![0.0; ROWS_PER_CHECK.min(residual.len()) * width];
    let parts = factor.chunks_mut(ROWS_PER_CHECK * rank).zip(residual.chunks_mut(ROWS_PER_CHECK)).enumerate();
    for (s, (factor, residual)) in parts {
        watch.check()?;
        let here: Vec<usize> = (s * ROWS_PER_CHECK..s * ROWS_PER_CHECK + residual.len()).collect();
        let values = &mut values[..here.len() * width];
        gram.block(&here, new.chosen, TileMut::new(&mut *values, width));
        let bands = factor.par_chunks_mut(BAND * rank).zip(residual.par_chunks_mut(BAND));
        bands.zip(values.par_chunks(BAND * width)).for_each(|((factor, residual), values)| {
            let height = residual.len();
            let mut added = narrow(values);
            let mut block = MatMut::from_row_major_slice_mut(&mut added, height, width);
            if new.known > 0 {
                let known = MatRef::from_row_major_slice(factor, height, rank).subcols(0, new.known);
                products::add(block.rb_mut(), -1.0, known, rows.transpose());
            }
            products::solve_lower(lower, block.transpose_mut());
            for (r, added) in added.chunks_exact(width).enumerate() {
                factor[r * rank + new.known..][..width].copy_from_slice(added);
                let squares: f64 = added.iter().map(|v| v.to_f64() * v.to_f64()).sum();
                residual[r] = (residual[r] - squares).max(0.0);
            }
        });
    }
    Ok(())
}

/// The first `found` of `rank` columns.
fn narrowed<T: Scalar>(mut factor: Vec<T>, n: usize, rank: usize, found: usize) -> Matrix<T> {
    if found < rank {
        for i in 0..n {
            factor.copy_within(i * rank..i * rank + found, i * found);
        }
        factor.truncate(n * found);
    }
    Matrix::from_entries(n, found, factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnySamples, Samples};
    use crate::gram::{CpuEngine, DenseGram, Engine, Resident, Wanted};
    use crate::pool;
    use crate::watch::Unwatched;

    fn points(n: usize, d: usize) -> Box<dyn Resident> {
        let entries: Vec<f64> =
            (0..n * d).map(|k| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0).collect();
        CpuEngine.load(&AnySamples::F64(Samples::dense(n, d, entries).unwrap())).unwrap()
    }

    #[test]
    fn full_rank_gives_back_the_matrix() {
        let resident = points(300, 3);
        let kernel = "laplacian".parse().unwrap();
        let gram = DenseGram::<f64>::compute(&*resident, &kernel, &Unwatched).unwrap();
        let found = randomly_pivoted::<f64>(&gram, 300, 0.0, 1, &Unwatched).unwrap();
        assert_eq!(found.pivots.len(), 300);
        for i in 0..300 {
            for j in 0..300 {
                let sum: f64 = found.factor.row(i).iter().zip(found.factor.row(j)).map(|(a, b)| a * b).sum();
                assert!((sum - gram.entries()[i * 300 + j]).abs() < 1e-10);
            }
        }
        let mut sorted = found.pivots.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..300).collect::<Vec<_>>());
    }

    #[test]
    fn stops_at_the_rank_and_never_takes_a_duplicate() {
        // Twenty distinct points, each fifteen times.
        let entries: Vec<f64> = (0..300).map(|i| f64::from(i % 20)).collect();
        let resident = CpuEngine.load(&AnySamples::F64(Samples::dense(300, 1, entries).unwrap())).unwrap();
        let gram = resident.gram(&"matern(nu=0.5)".parse().unwrap(), Wanted::Exact).unwrap();
        let found = randomly_pivoted::<f64>(&*gram, 300, 1e-12, 1, &Unwatched).unwrap();
        let mut distinct: Vec<usize> = found.pivots.iter().map(|i| i % 20).collect();
        distinct.sort_unstable();
        assert_eq!(distinct, (0..20).collect::<Vec<_>>());
        assert!(found.residual < 1e-10 && found.factor.ncols() == 20);
    }

    #[test]
    fn the_residual_falls_with_the_rank() {
        let resident = points(400, 2);
        let gram = resident.gram(&"rbf(sigma=0.5)".parse().unwrap(), Wanted::Exact).unwrap();
        let residual = |rank| randomly_pivoted::<f32>(&*gram, rank, 1e-7, 3, &Unwatched).unwrap().residual;
        let [few, some, many] = [10, 40, 120].map(residual);
        assert!(some < 0.5 * few && many < 0.1 * some, "{few} {some} {many}");
    }

    #[test]
    fn has_the_same_bits_for_every_number_of_threads() {
        let resident = points(700, 3);
        let gram = resident.gram(&"rbf".parse().unwrap(), Wanted::Exact).unwrap();
        let run = |threads| {
            pool::with(Some(threads), || randomly_pivoted::<f32>(&*gram, 150, 1e-9, 3, &Unwatched).unwrap())
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }

    #[test]
    fn a_zero_matrix_has_rank_zero() {
        let gram = DenseGram::new(3, vec![0.0; 9]);
        let found = randomly_pivoted::<f64>(&gram, 3, 0.0, 0, &Unwatched).unwrap();
        assert!(found.pivots.is_empty() && found.factor.ncols() == 0 && found.residual == 0.0);
    }
}
