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

use faer::{MatMut, MatRef};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Matrix;
use crate::linalg::{Scalar, products};
use crate::watch::{Stopped, Watch};

use super::low_rank::{HostFactor, LowRankFactor, NewColumns};
use super::operator::Gram;
use super::values::TileMut;

/// Proposals in a block: enough for one efficient matrix product, and few enough that most are kept.
const PROPOSALS: usize = 128;

/// K ≈ FFᵀ.
#[derive(Debug, Clone, PartialEq)]
pub struct PivotedCholesky<F> {
    /// The rows of K that F reproduces, in the order they were chosen.
    pub pivots: Vec<usize>,
    /// F: one row for each row of K, one column for each pivot.
    pub factor: F,
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
) -> Result<PivotedCholesky<Matrix<T>>, Stopped> {
    let mut factor = HostFactor::<T>::new(gram.nrows(), rank.min(gram.nrows()));
    let (pivots, residual) = choose_pivots(gram, &mut factor, rank, tolerance, seed, watch)?;
    Ok(PivotedCholesky { pivots, factor: factor.into_matrix(), residual })
}

/// As [`randomly_pivoted`] in single precision, with F stored where the kernel values are computed.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn low_rank_factor(
    gram: &dyn Gram,
    rank: usize,
    tolerance: f64,
    seed: u64,
    watch: &dyn Watch,
) -> Result<PivotedCholesky<Box<dyn LowRankFactor>>, Stopped> {
    let mut factor = gram.low_rank(rank.min(gram.nrows()))?;
    let (pivots, residual) = choose_pivots(gram, &mut *factor, rank, tolerance, seed, watch)?;
    Ok(PivotedCholesky { pivots, factor, residual })
}

/// Adds the columns of pivots to an empty factor; returns the pivots and the trace of K − FFᵀ over that of K.
fn choose_pivots(
    gram: &dyn Gram,
    factor: &mut dyn LowRankFactor,
    rank: usize,
    tolerance: f64,
    seed: u64,
    watch: &dyn Watch,
) -> Result<(Vec<usize>, f64), Stopped> {
    let rank = rank.min(gram.nrows());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut residual: Vec<f64> = gram.diagonal().iter().map(|d| d.max(0.0)).collect();
    let trace: f64 = residual.iter().sum();
    let floor = tolerance * residual.iter().copied().fold(0.0, f64::max);
    let mut pivots = Vec::new();
    watch.begin("pivoted Cholesky", rank as u64);
    while pivots.len() < rank {
        residual.iter_mut().filter(|d| **d <= floor || d.is_nan()).for_each(|d| *d = 0.0);
        let Some(proposals) = propose(&residual, PROPOSALS, &mut rng) else { break };
        let rows = factor.rows(&proposals)?;
        let mut block = block_residual(gram, &proposals, &rows, pivots.len());
        // A residual that is below the tolerance when it is computed again would otherwise be proposed for ever.
        for (k, &i) in proposals.iter().enumerate() {
            let again = block[k * proposals.len() + k];
            if again <= floor || again.is_nan() {
                residual[i] = 0.0;
            }
        }
        let kept = keep(&mut block, proposals.len(), floor, rank - pivots.len(), &mut rng);
        let known = pivots.len();
        let chosen: Vec<usize> = kept.iter().map(|&k| proposals[k]).collect();
        let new = NewColumns {
            chosen: &chosen,
            rows: kept.iter().flat_map(|&k| rows[k * known..(k + 1) * known].to_vec()).collect(),
            lower: lower_of(&block, proposals.len(), &kept),
        };
        factor.extend(gram, &new, &mut residual, watch)?;
        // The residual of a kept row is only rounding error.
        chosen.iter().for_each(|&i| residual[i] = 0.0);
        watch.advance(chosen.len() as u64);
        pivots.extend(chosen);
    }
    factor.finish();
    let left: f64 = residual.iter().sum();
    Ok((pivots, if trace > 0.0 { left / trace } else { 0.0 }))
}

/// `count` rows drawn in proportion to `weights`, with repetition; `None` if all weights are zero.
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
