//! Inner products of rows that are mostly zeros: the zeros of the row are skipped, those of the columns are not looked at.
//!
//! A term with x = 0 adds nothing, so sums have the bits they would have with it: they run over the other features in
//! the same order and in the same chunks.

use super::simd::{Element, Simd};
use super::statistic::{Block, CHUNK, Norms, ROWS, Term};

/// The part of a row that may be non-zero for skipping to pay: with one row at a time every multiply-add waits for a load.
pub(super) const DENSEST: f64 = 0.4;

/// Vectors of columns that are summed together: enough for the multiply-adds to overlap.
const TOGETHER: usize = 8;

/// The features of one row that are not zero.
struct NonZeros<T> {
    features: Vec<u32>,
    values: Vec<T>,
    /// Where each chunk of features ends in the lists.
    ends: Vec<usize>,
}

/// Writes the statistic of every pair of the block to `out`, as the dense sums do; false, and nothing written, where the rows
/// have too few zeros. `term` must add nothing where x is 0.
#[inline(always)]
pub(super) fn sums_of_non_zeros<S: Simd, K: Term>(
    s: S,
    term: K,
    block: &Block<'_, S::T>,
    norms: Norms<'_, S::T>,
    out: &mut [S::T],
) -> bool {
    let panel = S::T::PANEL;
    let (stride, zero) = (block.panels * panel, S::T::default());
    assert!(block.lane + ROWS <= panel && block.x.len() >= block.width * panel);
    assert!(block.z.len() >= block.panels * block.width * panel && out.len() >= ROWS * stride);
    assert!(norms.x.len() >= ROWS && norms.z.len() >= stride);
    let rows = block.x[..block.width * panel].chunks_exact(panel);
    let count: usize =
        rows.map(|x| x[block.lane..block.lane + ROWS].iter().filter(|x| **x != zero).count()).sum();
    if count as f64 > DENSEST * (ROWS * block.width) as f64 {
        return false;
    }
    let mut row = NonZeros { features: Vec::new(), values: Vec::new(), ends: Vec::new() };
    let vectors = stride / S::LANES;
    for r in 0..ROWS {
        row.read(block, r);
        let x_norm = norms.x[r];
        let out = &mut out[r * stride..(r + 1) * stride];
        for first in (0..vectors).step_by(TOGETHER) {
            // SAFETY: by the assertions, every z panel is whole, and columns and output have `stride` entries; the features
            // are below the width.
            unsafe {
                if first + TOGETHER <= vectors {
                    columns::<S, K, TOGETHER>(s, term, &row, block, first, (x_norm, norms.z), out);
                } else {
                    for v in first..vectors {
                        columns::<S, K, 1>(s, term, &row, block, v, (x_norm, norms.z), out);
                    }
                }
            }
        }
    }
    true
}

impl<T: Element> NonZeros<T> {
    #[inline(always)]
    fn read(&mut self, block: &Block<'_, T>, r: usize) {
        self.features.clear();
        self.values.clear();
        self.ends.clear();
        let column = block.x[..block.width * T::PANEL].chunks_exact(T::PANEL);
        for (k, x) in column.enumerate() {
            if k > 0 && k % CHUNK == 0 {
                self.ends.push(self.features.len());
            }
            let x = x[block.lane + r];
            if x != T::default() {
                self.features.push(k as u32);
                self.values.push(x);
            }
        }
        self.ends.push(self.features.len());
    }
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
    row: &NonZeros<S::T>,
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
    for (chunk, &end) in row.ends.iter().enumerate() {
        let mut sums = [zero; N];
        for (&k, &x) in row.features[start..end].iter().zip(&row.values[start..end]) {
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
