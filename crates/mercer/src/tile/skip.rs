//! Inner products of rows that are mostly zeros: zeros of the row are skipped, zeros of the columns are not.
//!
//! A term with x = 0 adds nothing, so that sums have the same bits as with it: they run over the other features in the
//! same order and in the same chunks.

use super::simd::{Element, Simd};
use super::statistic::{Block, CHUNK, Norms, ROWS, Term};

/// The largest fraction of nonzeros in a row for which skipping pays: with one row at a time every multiply-add waits
/// for a load.
pub(super) const DENSEST: f64 = 0.4;

/// Vectors of columns that are summed together: enough for the multiply-adds to overlap.
const VECTORS_PER_GROUP: usize = 8;

/// The features of every row that are not zero, row after row.
#[derive(Debug, Clone)]
pub(super) struct NonZeros<T> {
    starts: Vec<usize>,
    features: Vec<u32>,
    values: Vec<T>,
}

impl<T: Element> NonZeros<T> {
    /// Of `nrows` rows, read by `entry(row, feature)`.
    pub fn new(nrows: usize, width: usize, entry: impl Fn(usize, usize) -> T) -> Self {
        let mut found = Self { starts: vec![0], features: Vec::new(), values: Vec::new() };
        for row in 0..nrows {
            for (k, value) in (0..width).map(|k| (k, entry(row, k))).filter(|(_, v)| *v != T::default()) {
                found.features.push(k as u32);
                found.values.push(value);
            }
            found.starts.push(found.features.len());
        }
        found
    }

    /// The chosen rows, and empty ones up to `padded`.
    pub fn select(&self, rows: &[usize], padded: usize) -> Self {
        let mut chosen = Self { starts: vec![0], features: Vec::new(), values: Vec::new() };
        for &row in rows {
            let stored = self.starts[row]..self.starts[row + 1];
            chosen.features.extend_from_slice(&self.features[stored.clone()]);
            chosen.values.extend_from_slice(&self.values[stored]);
            chosen.starts.push(chosen.features.len());
        }
        chosen.starts.resize(padded + 1, chosen.features.len());
        chosen
    }

    /// The features and values of a row.
    fn row(&self, row: usize) -> (&[u32], &[T]) {
        let stored = self.starts[row]..self.starts[row + 1];
        (&self.features[stored.clone()], &self.values[stored])
    }
}

/// Writes the statistic of every pair of the block to `out`, as the dense sums do; returns false, without writing, if
/// the rows have too few zeros or their positions are unknown. `term` must add nothing where x is 0.
#[inline(always)]
pub(super) fn sums_of_non_zeros<S: Simd, K: Term>(
    s: S,
    term: K,
    block: &Block<'_, S::T>,
    norms: Norms<'_, S::T>,
    out: &mut [S::T],
) -> bool {
    let Some((rows, first_row)) = block.non_zeros else { return false };
    let stride = block.panels * S::T::PANEL;
    assert!(block.z.len() >= block.panels * block.width * S::T::PANEL && out.len() >= ROWS * stride);
    assert!(norms.x.len() >= ROWS && norms.z.len() >= stride);
    let count = rows.starts[first_row + ROWS] - rows.starts[first_row];
    if count as f64 > DENSEST * (ROWS * block.width) as f64 {
        return false;
    }
    let vectors = stride / S::LANES;
    for r in 0..ROWS {
        let row = rows.row(first_row + r);
        assert!(row.0.last().is_none_or(|&k| (k as usize) < block.width), "features ascend");
        let x_norm = norms.x[r];
        let out = &mut out[r * stride..(r + 1) * stride];
        for first in (0..vectors).step_by(VECTORS_PER_GROUP) {
            // SAFETY: by the assertions, every z panel is whole, columns and output have `stride` entries, and the features
            // are below the width.
            unsafe {
                if first + VECTORS_PER_GROUP <= vectors {
                    columns::<S, K, VECTORS_PER_GROUP>(s, term, row, block, first, (x_norm, norms.z), out);
                } else {
                    for v in first..vectors {
                        columns::<S, K, 1>(s, term, row, block, v, (x_norm, norms.z), out);
                    }
                }
            }
        }
    }
    true
}

/// One row with `N` vectors of columns from the `first` on.
///
/// # Safety
/// The vectors must be there: in the panels of `block`, in the norms and in `out`. The row's features must be below the
/// width.
#[inline(always)]
unsafe fn columns<S: Simd, K: Term, const N: usize>(
    s: S,
    term: K,
    (features, values): (&[u32], &[S::T]),
    block: &Block<'_, S::T>,
    first: usize,
    (x_norm, z_norms): (S::T, &[S::T]),
    out: &mut [S::T],
) {
    let panel = S::T::PANEL;
    let per_panel = panel / S::LANES;
    let z: [*const S::T; N] = std::array::from_fn(|n| {
        let v = first + n;
        // SAFETY: the caller's promise.
        unsafe { block.z.as_ptr().add(v / per_panel * block.width * panel + v % per_panel * S::LANES) }
    });
    let zero = s.number(0.0);
    let mut total = [zero; N];
    let mut start = 0;
    for chunk in 0..block.width.div_ceil(CHUNK) {
        let end = start + features[start..].partition_point(|&k| (k as usize) < (chunk + 1) * CHUNK);
        let mut sums = [zero; N];
        for (&k, &x) in features[start..end].iter().zip(&values[start..end]) {
            let (x, offset) = (s.splat(x), k as usize * panel);
            for n in 0..N {
                // SAFETY: the caller's promise.
                sums[n] = term.add(s, sums[n], x, unsafe { s.load(z[n].add(offset)) });
            }
        }
        for n in 0..N {
            total[n] = if chunk == 0 { sums[n] } else { s.add(total[n], sums[n]) };
        }
        start = end;
    }
    let x_norm = s.splat(x_norm);
    for n in 0..N {
        let at = (first + n) * S::LANES;
        // SAFETY: the caller's promise.
        unsafe {
            let z_norm = s.load(z_norms.as_ptr().add(at));
            s.store(out.as_mut_ptr().add(at), term.finish(s, total[n], x_norm, z_norm));
        }
    }
}
