//! Sine, cosine and tangent.
//!
//! x = q·π/2 + r with |r| ≤ π/4; π/2 is split in three so that q times the first two parts is exact. Arguments above
//! 10⁶ are passed one by one to the standard library, which reduces them with as many bits of π as necessary.

use super::{odd, polynomial, repair};
use crate::tile::simd::Simd;

/// The largest argument of the vector reduction.
const LARGEST: f64 = 1e6;

/// π/2 in three parts of 33, 33 and 53 bits.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

/// Fit of (sin r − r)/r³ in r² for |r| ≤ π/4, error 2.1e-17.
const SIN: [f64; 6] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_330_925,
    -0.000_198_412_698_367_224_18,
    2.755_731_608_381_636e-6,
    -2.505_112_794_401_418_8e-8,
    1.591_784_852_480_826_2e-10,
];

/// Fit of (cos r − 1 + r²/2)/r⁴ in r² for |r| ≤ π/4, error 1.3e-18.
const COS: [f64; 6] = [
    0.041_666_666_666_666_664,
    -0.001_388_888_888_888_738_2,
    2.480_158_729_874_307e-5,
    -2.755_731_726_000_883_7e-7,
    2.087_614_382_799_313_3e-9,
    -1.138_245_677_806_130_6e-11,
];

/// sin and cos of x turned by `quarter` quarter turns, for |x| up to [`LARGEST`].
#[inline(always)]
fn sin_cos<S: Simd<T = f64>>(s: S, x: S::V, quarter: f64) -> (S::V, S::V) {
    let q = s.round(s.mul(x, s.splat(std::f64::consts::FRAC_2_PI)));
    let r = s.mul_add(q, s.splat(-HALF_PI[0]), x);
    let r = s.mul_add(q, s.splat(-HALF_PI[1]), r);
    let r = s.mul_add(q, s.splat(-HALF_PI[2]), r);
    let sin = odd(s, r, SIN);
    let w = s.mul(r, r);
    let half = s.mul(w, s.splat(0.5));
    let near = s.sub(s.splat(1.0), half);
    let lost = s.sub(s.sub(s.splat(1.0), near), half);
    let cos = s.add(near, s.mul_add(s.mul(w, w), polynomial(s, w, COS), lost));
    // The quadrant, 0 to 3: for an integer t, ⌊t/4⌋ is t/4 − 3/8 rounded.
    let turned = s.add(q, s.splat(quarter));
    let whole = s.round(s.mul_add(turned, s.splat(0.25), s.splat(-0.375)));
    let quadrant = s.mul_add(whole, s.splat(-4.0), turned);
    let half_turns = s.round(s.mul_add(quadrant, s.splat(0.5), s.splat(-0.25)));
    let odd_quadrant = s.lt(s.splat(0.5), s.mul_add(half_turns, s.splat(-2.0), quadrant));
    let sine = s.select(odd_quadrant, cos, sin);
    let cosine = s.select(odd_quadrant, s.sub(s.splat(0.0), sin), cos);
    let beyond = s.lt(s.splat(1.5), quadrant);
    let (minus_sine, minus_cosine) = (s.sub(s.splat(0.0), sine), s.sub(s.splat(0.0), cosine));
    (s.select(beyond, minus_sine, sine), s.select(beyond, minus_cosine, cosine))
}

#[inline(always)]
fn large<S: Simd<T = f64>>(s: S, x: S::V) -> S::M {
    s.lt(s.splat(LARGEST), s.abs(x))
}

/// sin x: 2 ulp.
#[inline(always)]
pub(in crate::tile) fn sin<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    repair(s, large(s, x), [x, x], sin_cos(s, x, 0.0).0, |x, _| x.sin())
}

/// sin x / x, 1 at 0 and 0 at ±∞: 3 ulp.
#[inline(always)]
pub(in crate::tile) fn sinc<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let one = s.number(1.0);
    let quotient = s.select(s.eq(x, s.number(0.0)), one, s.div(sin_cos(s, x, 0.0).0, x));
    let scalar = |x: f64, _| if x.is_infinite() { 0.0 } else { x.sin() / x };
    repair(s, large(s, x), [x, x], quotient, scalar)
}

/// cos x: 2 ulp.
#[inline(always)]
pub(in crate::tile) fn cos<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    repair(s, large(s, x), [x, x], sin_cos(s, x, 1.0).0, |x, _| x.cos())
}

/// tan x: 3 ulp.
#[inline(always)]
pub(in crate::tile) fn tan<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let (sin, cos) = sin_cos(s, x, 0.0);
    repair(s, large(s, x), [x, x], s.div(sin, cos), |x, _| x.tan())
}
