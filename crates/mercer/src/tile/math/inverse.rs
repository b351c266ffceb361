//! Inverse trigonometric functions.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use super::odd;
use crate::tile::simd::Simd;

/// Fit of (asin x − x)/x³ in x² for |x| ≤ ½, error 9.8e-19.
const ASIN: [f64; 14] = [
    0.166_666_666_666_666_66,
    0.075_000_000_000_001_18,
    0.044_642_857_142_551_72,
    0.030_381_944_475_548_442,
    0.022_372_157_442_720_46,
    0.017_352_816_563_105_95,
    0.013_963_779_590_463_264,
    0.011_566_464_825_440_114,
    0.009_621_799_004_518_995,
    0.009_319_814_583_697_355,
    0.003_043_893_553_526_437,
    0.019_556_980_312_068_6,
    -0.019_245_257_116_494_46,
    0.029_614_311_863_487_102,
];

/// Fit of (atan x − x)/x³ in x² for |x| ≤ tan(π/8), error 3.2e-17.
const ATAN: [f64; 11] = [
    -0.333_333_333_333_333_3,
    0.199_999_999_999_954_8,
    -0.142_857_142_846_578_94,
    0.111_111_110_145_610_13,
    -0.090_909_045_498_846_11,
    0.076_921_825_351_166_48,
    -0.066_645_022_156_714_47,
    0.058_580_687_568_615_106,
    -0.050_850_304_928_109_41,
    0.039_219_552_532_551_29,
    -0.019_162_068_915_902_573,
];

/// π/2 less its double.
const HALF_PI_LOST: f64 = 6.123_233_995_736_766e-17;

/// The argument of the series, at most ½, and whether it is that of √((1−|x|)/2), where asin|x| = π/2 − 2 asin of it.
#[inline(always)]
fn reduce<S: Simd<T = f64>>(s: S, x: S::V) -> (S::V, S::M) {
    let magnitude = s.abs(x);
    let half = s.splat(0.5);
    let far = s.lt(half, magnitude);
    let root = s.sqrt(s.mul(s.sub(s.splat(1.0), magnitude), half));
    (s.select(far, root, magnitude), far)
}

/// asin x: 2 ulp; NaN beyond ±1.
#[inline(always)]
pub(in crate::tile) fn asin<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let (t, far) = reduce(s, x);
    let near = odd(s, t, ASIN);
    let turned = s.sub(s.splat(FRAC_PI_2), s.sub(s.add(near, near), s.splat(HALF_PI_LOST)));
    s.with_sign(s.select(far, turned, near), x)
}

/// acos x: 2 ulp; NaN beyond ±1.
#[inline(always)]
pub(in crate::tile) fn acos<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let (t, far) = reduce(s, x);
    let near = odd(s, t, ASIN);
    let zero = s.splat(0.0);
    let negative = s.lt(x, zero);
    let twice = s.add(near, near);
    let pi = s.splat(std::f64::consts::PI);
    let from_pi = s.sub(pi, s.sub(twice, s.splat(2.0 * HALF_PI_LOST)));
    let signed = s.with_sign(near, x);
    let middle = s.sub(s.splat(FRAC_PI_2), s.sub(signed, s.splat(HALF_PI_LOST)));
    s.select(far, s.select(negative, from_pi, twice), middle)
}

/// atan x: 2 ulp.
#[inline(always)]
pub(in crate::tile) fn atan<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let magnitude = s.abs(x);
    let one = s.splat(1.0);
    let beyond = s.lt(one, magnitude);
    let t = s.select(beyond, s.div(one, magnitude), magnitude);
    let turned = s.lt(s.splat(0.414_213_562_373_095), t);
    let u = s.select(turned, s.div(s.sub(t, one), s.add(t, one)), t);
    let near = odd(s, u, ATAN);
    let angle = s.select(turned, s.add(s.splat(FRAC_PI_4), s.add(near, s.splat(0.5 * HALF_PI_LOST))), near);
    let rest = s.sub(s.splat(FRAC_PI_2), s.sub(angle, s.splat(HALF_PI_LOST)));
    s.with_sign(s.select(beyond, rest, angle), x)
}
