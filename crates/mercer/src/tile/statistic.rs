//! Pairwise statistics of dense rows: one register-blocked loop for all of them.
//!
//! A block of rows against a panel of columns keeps its sums in registers while it loops over the features: the inner
//! loop of a matrix product, with the multiply-add replaced by the statistic's own term. Every entry is summed over the
//! features in the same order at any position in a tile, so that values depend only on the two rows.

use super::plan::Method;
use super::simd::{Element, Simd, Vectorized};
use super::skip::{NonZeros, sums_of_non_zeros};

/// Rows whose sums are computed together; divides every panel.
pub(crate) const ROWS: usize = 8;

/// Features summed before the sum is added to the total: bounds the rounding error by that of this many terms
/// plus that of the number of chunks.
pub(super) const CHUNK: usize = 256;

/// The longest run of additions behind a sum over `width` features.
pub(crate) fn longest_sum(width: usize) -> usize {
    width.min(CHUNK) + width / CHUNK
}

/// One term of a sum over features.
pub(super) trait Term: Copy {
    /// `sum` plus the term of `x` and `z`.
    fn add<S: Simd>(self, s: S, sum: S::V, x: S::V, z: S::V) -> S::V;

    /// The statistic, from the sum and the squared norms of the two rows.
    #[inline(always)]
    fn finish<S: Simd>(self, s: S, sum: S::V, x_norm: S::V, z_norm: S::V) -> S::V {
        let _ = (s, x_norm, z_norm);
        sum
    }
}

/// xz.
#[derive(Clone, Copy)]
struct Dot;

/// xz, finished as |x|² + |z|² − 2⟨x,z⟩.
#[derive(Clone, Copy)]
struct DistanceByDots;

/// (x−z)².
#[derive(Clone, Copy)]
struct SquaredDifference;

/// |x−z|.
#[derive(Clone, Copy)]
struct AbsoluteDifference;

/// (x−z)²/(x+z), with 0/0 = 0.
#[derive(Clone, Copy)]
struct ChiSquared;

impl Term for Dot {
    #[inline(always)]
    fn add<S: Simd>(self, s: S, sum: S::V, x: S::V, z: S::V) -> S::V {
        s.mul_add(x, z, sum)
    }
}

impl Term for DistanceByDots {
    #[inline(always)]
    fn add<S: Simd>(self, s: S, sum: S::V, x: S::V, z: S::V) -> S::V {
        s.mul_add(x, z, sum)
    }

    #[inline(always)]
    fn finish<S: Simd>(self, s: S, sum: S::V, x_norm: S::V, z_norm: S::V) -> S::V {
        let squared = s.mul_add(s.number(-2.0), sum, s.add(x_norm, z_norm));
        // In this order a NaN stays.
        s.max(s.number(0.0), squared)
    }
}

impl Term for SquaredDifference {
    #[inline(always)]
    fn add<S: Simd>(self, s: S, sum: S::V, x: S::V, z: S::V) -> S::V {
        let difference = s.sub(x, z);
        s.mul_add(difference, difference, sum)
    }
}

impl Term for AbsoluteDifference {
    #[inline(always)]
    fn add<S: Simd>(self, s: S, sum: S::V, x: S::V, z: S::V) -> S::V {
        s.add(sum, s.abs(s.sub(x, z)))
    }
}

impl Term for ChiSquared {
    #[inline(always)]
    fn add<S: Simd>(self, s: S, sum: S::V, x: S::V, z: S::V) -> S::V {
        let difference = s.sub(x, z);
        let squared = s.mul(difference, difference);
        let term = s.div(squared, s.add(x, z));
        let zero = s.number(0.0);
        // x = z and x + z = 0 only if both are 0; otherwise the quotient is kept, even if undefined.
        let both_zero = s.eq(s.max(s.abs(x), s.abs(z)), zero);
        s.add(sum, s.select(both_zero, zero, term))
    }
}

/// A block of [`ROWS`] rows of one panel against a range of panels.
pub(super) struct Block<'a, T: Element> {
    /// The panel the rows are in.
    pub x: &'a [T],
    /// The first of them in the panel.
    pub lane: usize,
    /// Features in a row.
    pub width: usize,
    /// The columns' panels, one after the other.
    pub z: &'a [T],
    /// How many panels.
    pub panels: usize,
    /// If most features are zeros: the nonzero ones of all rows, and the index of the block's first row.
    pub non_zeros: Option<(&'a NonZeros<T>, usize)>,
}

/// The squared norms of a block's rows, and of its columns.
#[derive(Clone, Copy)]
pub(super) struct Norms<'a, T> {
    /// From the first row on.
    pub x: &'a [T],
    /// From the first column on.
    pub z: &'a [T],
}

/// Writes the statistic of every pair of the block to `out`, row after row of `panels · PANEL` entries.
#[inline(always)]
pub(super) fn block<S: Simd>(
    s: S,
    method: Method,
    block: &Block<'_, S::T>,
    norms: Norms<'_, S::T>,
    out: &mut [S::T],
) {
    match method {
        Method::Dot if sums_of_non_zeros(s, Dot, block, norms, out) => {}
        Method::DistanceByDots if sums_of_non_zeros(s, DistanceByDots, block, norms, out) => {}
        Method::Dot => sums(s, Dot, block, norms, out),
        Method::DistanceByDots => sums(s, DistanceByDots, block, norms, out),
        Method::DistanceByDifferences => sums(s, SquaredDifference, block, norms, out),
        Method::Distance1 => sums(s, AbsoluteDifference, block, norms, out),
        Method::ChiSquared => sums(s, ChiSquared, block, norms, out),
        Method::Coordinate => unreachable!("folded by its own program"),
    }
}

#[inline(always)]
fn sums<S: Simd, K: Term>(s: S, term: K, block: &Block<'_, S::T>, norms: Norms<'_, S::T>, out: &mut [S::T]) {
    let panel = S::T::PANEL;
    let stride = block.panels * panel;
    assert!(block.lane + ROWS <= panel && block.x.len() >= block.width * panel);
    assert!(block.z.len() >= block.panels * block.width * panel && out.len() >= ROWS * stride);
    assert!(norms.x.len() >= ROWS && norms.z.len() >= stride);
    for p in 0..block.panels {
        for half in (0..panel).step_by(2 * S::LANES) {
            for row in (0..ROWS).step_by(S::REGISTER_ROWS) {
                // SAFETY: by the assertions, rows lane..lane+ROWS are in the x panel, the p-th z panel is whole, and
                // out holds ROWS rows of `stride`.
                unsafe {
                    let x = block.x.as_ptr().add(block.lane + row);
                    let z = block.z.as_ptr().add(p * block.width * panel + half);
                    let out = out.as_mut_ptr().add(row * stride + p * panel + half);
                    let norms = (norms.x.as_ptr().add(row), norms.z.as_ptr().add(p * panel + half));
                    match S::REGISTER_ROWS {
                        8 => register_block::<S, K, 8>(s, term, block.width, x, z, norms, (out, stride)),
                        4 => register_block::<S, K, 4>(s, term, block.width, x, z, norms, (out, stride)),
                        _ => register_block::<S, K, 2>(s, term, block.width, x, z, norms, (out, stride)),
                    }
                }
            }
        }
    }
}

/// The sums of `R` rows and two vectors of columns.
///
/// # Safety
/// `x` and `z` must have `width` groups of `PANEL` entries readable from where they point, less their offset in
/// the first, the norms must be readable for `R` rows and two
/// vectors of columns, and `out` must have room for `R` rows.
#[inline(always)]
unsafe fn register_block<S: Simd, K: Term, const R: usize>(
    s: S,
    term: K,
    width: usize,
    mut x: *const S::T,
    mut z: *const S::T,
    (x_norms, z_norms): (*const S::T, *const S::T),
    (out, stride): (*mut S::T, usize),
) {
    let panel = S::T::PANEL;
    let zero = s.number(0.0);
    let mut total = [[zero; 2]; R];
    let mut left = width;
    while left > 0 {
        let mut sums = [[zero; 2]; R];
        for _ in 0..left.min(CHUNK) {
            // SAFETY: at most `width` steps of one group each are taken.
            unsafe {
                let (z0, z1) = (s.load(z), s.load(z.add(S::LANES)));
                for i in 0..R {
                    let xi = s.splat(*x.add(i));
                    sums[i][0] = term.add(s, sums[i][0], xi, z0);
                    sums[i][1] = term.add(s, sums[i][1], xi, z1);
                }
                x = x.add(panel);
                z = z.add(panel);
            }
        }
        if left == width {
            total = sums;
        } else {
            for i in 0..R {
                total[i] = [s.add(total[i][0], sums[i][0]), s.add(total[i][1], sums[i][1])];
            }
        }
        left -= left.min(CHUNK);
    }
    // SAFETY: the caller's promise on the norms and `out`.
    unsafe {
        let (z0, z1) = (s.load(z_norms), s.load(z_norms.add(S::LANES)));
        for i in 0..R {
            let x = s.splat(*x_norms.add(i));
            s.store(out.add(i * stride), term.finish(s, total[i][0], x, z0));
            s.store(out.add(i * stride + S::LANES), term.finish(s, total[i][1], x, z1));
        }
    }
}

/// |x|² of the rows of one panel, summed as [`block`] sums ⟨x,x⟩.
pub(super) fn squared_norms<T: Element>(panel: &[T], width: usize, norms: &mut [T]) {
    assert!(panel.len() >= width * T::PANEL && norms.len() == T::PANEL);
    T::vectorize(SquaredNorms { panel, width, norms });
}

struct SquaredNorms<'a, T> {
    panel: &'a [T],
    width: usize,
    norms: &'a mut [T],
}

impl<T: Element> Vectorized<T> for SquaredNorms<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        for lane in (0..T::PANEL).step_by(S::LANES) {
            let mut total = s.number(0.0);
            for first in (0..self.width).step_by(CHUNK) {
                let mut sum = s.number(0.0);
                for k in first..self.width.min(first + CHUNK) {
                    // SAFETY: the panel has `width` groups of `PANEL` entries.
                    let x = unsafe { s.load(self.panel.as_ptr().add(k * T::PANEL + lane)) };
                    sum = s.mul_add(x, x, sum);
                }
                total = if first == 0 { sum } else { s.add(total, sum) };
            }
            // SAFETY: `norms` has `PANEL` entries.
            unsafe { s.store(self.norms.as_mut_ptr().add(lane), total) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::simd::{each_instruction_set, run_at};

    struct Run<'a, T: Element> {
        method: Method,
        block: Block<'a, T>,
        norms: Norms<'a, T>,
        out: &'a mut [T],
    }

    impl<T: Element> Vectorized<T> for Run<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd<T = T>>(self, s: S) {
            block(s, self.method, &self.block, self.norms, self.out);
        }
    }

    fn term(method: Method, a: f64, b: f64) -> f64 {
        match method {
            Method::Dot => a * b,
            Method::DistanceByDots | Method::DistanceByDifferences => (a - b) * (a - b),
            Method::Distance1 => (a - b).abs(),
            Method::ChiSquared if a == 0.0 && b == 0.0 => 0.0,
            Method::ChiSquared => (a - b) * (a - b) / (a + b),
            Method::Coordinate => unreachable!("not among the methods tested here"),
        }
    }

    #[test]
    fn every_statistic_on_every_instruction_set() {
        let (panel, panels) = (f32::PANEL, 3);
        // Lengths around a chunk, and none at all.
        for width in [0, 1, 7, CHUNK, CHUNK + 1, 2 * CHUNK + 13] {
            for mostly_zeros in [false, true] {
                let entry = |i: usize| ((i * 2_654_435_761) % 17) as f32 / 8.0;
                let mut x: Vec<f32> = (0..width * panel).map(entry).collect();
                if mostly_zeros {
                    x.iter_mut().enumerate().filter(|(i, _)| i * 7 % 11 > 2).for_each(|(_, x)| *x = 0.0);
                }
                let z: Vec<f32> = (0..width * panel * panels).map(|i| entry(i + 5)).collect();
                let at = |p: &[f32], row: usize, k: usize| {
                    f64::from(p[(row / panel) * width * panel + k * panel + row % panel])
                };
                let lists = NonZeros::new(panel, width, |row, k| x[k * panel + row]);
                let mut norms = vec![0.0; panel * panels];
                for (p, norms) in norms.chunks_mut(panel).enumerate() {
                    squared_norms(&z[p * width * panel..], width, norms);
                }
                let mut x_norms = vec![0.0; panel];
                squared_norms(&x, width, &mut x_norms);
                for method in [
                    Method::Dot,
                    Method::DistanceByDots,
                    Method::DistanceByDifferences,
                    Method::Distance1,
                    Method::ChiSquared,
                ] {
                    each_instruction_set(|set| {
                        let lane = 8;
                        let mut out = vec![f32::NAN; ROWS * panel * panels];
                        let block = Block {
                            x: &x,
                            lane,
                            width,
                            z: &z,
                            panels,
                            non_zeros: mostly_zeros.then_some((&lists, lane)),
                        };
                        let norms = Norms { x: &x_norms[lane..], z: &norms };
                        run_at(set, Run { method, block, norms, out: &mut out });
                        for r in 0..ROWS {
                            for c in 0..panel * panels {
                                let terms =
                                    (0..width).map(|k| term(method, at(&x, lane + r, k), at(&z, c, k)));
                                let expected: f64 = terms.sum();
                                let found = f64::from(out[r * panel * panels + c]);
                                // Entries are at most 2: squared norms of 4 each, rounded once a term at worst.
                                let allowed = 1e-6 * (4.0 * width as f64 + 1.0);
                                assert!(
                                    (found - expected).abs() <= allowed,
                                    "{method:?} {width}: {found} ≠ {expected}"
                                );
                            }
                        }
                    });
                }
            }
        }
    }
}
