//! Hyperbolic functions: polynomials near 0, exponentials elsewhere.

use super::exp::exp_of_sum;
use super::odd;
use crate::tile::simd::Simd;

/// Fit of (tanh x − x)/x³ in x² for |x| ≤ 0.625, error 1.5e-19.
const TANH: [f64; 13] = [
    -0.333_333_333_333_333_3,
    0.133_333_333_333_333_22,
    -0.053_968_253_968_235_9,
    0.021_869_488_535_133_22,
    -0.008_863_235_499_801_93,
    0.003_592_127_507_598_290_3,
    -0.001_455_828_399_820_951,
    0.000_589_981_815_778_856_6,
    -0.000_238_889_446_112_251_4,
    9.604_109_085_424_245e-5,
    -3.708_106_794_441_553_5e-5,
    1.220_992_049_652_317_3e-5,
    -2.438_831_056_439_485e-6,
];

/// Fit of (sinh x − x)/x³ in x² for |x| ≤ 1, error 2.5e-22.
const SINH: [f64; 8] = [
    0.166_666_666_666_666_66,
    0.008_333_333_333_333_333,
    0.000_198_412_698_412_697_73,
    2.755_731_922_404_034e-6,
    2.505_210_836_405_804e-8,
    1.605_904_839_635_056_2e-10,
    7.646_625_361_656_657e-13,
    2.844_526_416_989_528_5e-15,
];

/// tanh x: 2 ulp.
#[inline(always)]
pub(in crate::tile) fn tanh<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let magnitude = s.abs(x);
    let one = s.splat(1.0);
    // e^{2|x|} of 44 is beyond 2⁵³: 1 − 2/(e + 1) is then 1. In this order a NaN stays.
    let twice = s.min(s.splat(44.0), s.add(magnitude, magnitude));
    let e = exp_of_sum(s, twice, s.splat(0.0), 0.0);
    let far = s.sub(one, s.div(s.splat(2.0), s.add(e, one)));
    let near = odd(s, magnitude, TANH);
    s.with_sign(s.select(s.lt(magnitude, s.splat(0.625)), near, far), x)
}

/// sinh x: 2 ulp.
#[inline(always)]
pub(in crate::tile) fn sinh<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let magnitude = s.abs(x);
    // Half the exponential: it overflows only where sinh does.
    let half = exp_of_sum(s, magnitude, s.splat(0.0), -1.0);
    let far = s.sub(half, s.div(s.splat(0.25), half));
    let near = odd(s, magnitude, SINH);
    s.with_sign(s.select(s.lt(magnitude, s.splat(1.0)), near, far), x)
}

/// cosh x: 2 ulp.
#[inline(always)]
pub(in crate::tile) fn cosh<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let half = exp_of_sum(s, s.abs(x), s.splat(0.0), -1.0);
    s.add(half, s.div(s.splat(0.25), half))
}
