//! Kernel values times coefficients, a block of rows at a time.

use crate::real::Real;
use crate::tile::{Element, Simd, ValueBlock, Vectorized};

/// `out += values · rhs` for the rows of a block: `rhs` has one row of `outputs` numbers per column of the block.
///
/// Sums are `f64` and run in an order fixed by the column's place in the block.
pub(super) fn accumulate<T: Element>(
    block: &ValueBlock<'_, T>,
    rhs: &[f64],
    outputs: usize,
    out: &mut [f64],
) {
    T::vectorize(Accumulate { block, rhs, outputs, out });
}

struct Accumulate<'a, 'b, T> {
    block: &'a ValueBlock<'b, T>,
    rhs: &'a [f64],
    outputs: usize,
    out: &'a mut [f64],
}

impl<T: Element> Vectorized<T> for Accumulate<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let Self { block, rhs, outputs, out } = self;
        let rows = block.values.chunks_exact(block.stride).take(block.rows.len());
        if outputs == 1 {
            for (row, out) in rows.zip(out) {
                *out += dot(s, &row[..rhs.len()], rhs);
            }
            return;
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(outputs)) {
            for (k, rhs) in row.iter().zip(rhs.chunks_exact(outputs)) {
                let k = k.to_f64();
                for (o, v) in out.iter_mut().zip(rhs) {
                    *o += k * v;
                }
            }
        }
    }
}

/// ⟨row, rhs⟩ in double precision.
#[inline(always)]
fn dot<S: Simd>(s: S, row: &[S::T], rhs: &[f64]) -> f64 {
    let wide = s.wide();
    let halves = S::LANES / S::Wide::LANES;
    let mut sums = [wide.number(0.0); 2];
    let whole = row.len() - row.len() % (2 * S::LANES);
    for k in (0..whole).step_by(2 * S::LANES) {
        for part in 0..2 {
            let at = k + part * S::LANES;
            // SAFETY: `whole` entries are in both slices.
            unsafe {
                let lanes = s.widen(s.load(row.as_ptr().add(at)));
                for half in 0..halves {
                    let v = wide.load(rhs.as_ptr().add(at + half * S::Wide::LANES));
                    sums[part] = wide.mul_add(lanes[half], v, sums[part]);
                }
            }
        }
    }
    let mut lanes = [0.0; 8];
    // SAFETY: no vector of f64 has more than 8 lanes.
    unsafe { wide.store(lanes.as_mut_ptr(), wide.add(sums[0], sums[1])) };
    let tail: f64 = row[whole..].iter().zip(&rhs[whole..]).map(|(k, v)| k.to_f64() * v).sum();
    lanes.iter().sum::<f64>() + tail
}
