//! The exponential.
//!
//! x = n·ln 2 + r with |r| ≤ ½ ln 2, then eˣ = 2ⁿ·eʳ. ln 2 is split so that n times its first part is exact.

use super::polynomial;
use crate::tile::simd::Simd;

/// Fit of (eʳ − 1 − r)/r² on |r| ≤ ½ ln 2, error 6.5e-8.
const SINGLE: [f64; 5] = [
    0.5,
    0.166_665_762_662_887_57,
    0.041_666_556_149_721_146,
    0.008_363_178_931_176_662,
    0.001_392_618_403_770_029_5,
];

/// The same, error 1.1e-16.
const DOUBLE: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_18,
    2.480_152_129_595_437_6e-5,
    2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7,
    2.510_038_549_551_032e-8,
];

/// eˣ in single precision: 2 ulp everywhere, subnormal results included; 0 and ∞ beyond the range, NaN for NaN.
#[inline(always)]
pub(in crate::tile) fn exp_f32<S: Simd<T = f32>>(s: S, x: S::V) -> S::V {
    // Beyond these limits the result is 0 or ∞ for every x. In this order a NaN stays.
    let x = s.min(s.splat(89.0), s.max(s.splat(-104.0), x));
    let n = s.round(s.mul(x, s.splat(std::f32::consts::LOG2_E)));
    let r = s.mul_add(n, s.splat(-0.693_145_75), x);
    let r = s.mul_add(n, s.splat(-1.428_606_8e-6), r);
    let tail = s.mul_add(s.mul(r, r), polynomial(s, r, SINGLE), r);
    s.scale(s.add(tail, s.splat(1.0)), n)
}

/// eˣ in double precision: 1 ulp everywhere, subnormal results included; 0 and ∞ beyond the range, NaN for NaN.
#[inline(always)]
pub(in crate::tile) fn exp_f64<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    exp_of_sum(s, x, s.splat(0.0), 0.0)
}

/// e^(x + correction)·2^shift, for a correction below an ulp of x and a small integer shift.
#[inline(always)]
pub(super) fn exp_of_sum<S: Simd<T = f64>>(s: S, x: S::V, correction: S::V, shift: f64) -> S::V {
    let x = s.min(s.splat(711.0), s.max(s.splat(-747.0), x));
    let n = s.round(s.mul(x, s.splat(std::f64::consts::LOG2_E)));
    let r = s.mul_add(n, s.splat(-0.693_147_180_559_890_3), x);
    // The rounding error of the second step, which dominates, is compensated.
    let low = s.mul_add(n, s.splat(-5.497_923_018_708_371e-14), correction);
    let sum = s.add(r, low);
    let lost = s.add(s.sub(r, sum), low);
    let tail = s.mul_add(s.mul(sum, sum), polynomial(s, sum, DOUBLE), lost);
    s.scale(s.add(s.add(tail, sum), s.splat(1.0)), s.add(n, s.splat(shift)))
}
