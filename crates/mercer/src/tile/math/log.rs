//! The logarithm, and powers computed from it.
//!
//! x = 2ᵉ·m with √½ < m ≤ √2; log m = 2 artanh s with s = (m−1)/(m+1).

use super::exp::exp_of_sum;
use super::{polynomial, repair};
use crate::tile::simd::Simd;

/// Fit of (2 artanh s − 2s)/s³ in s² for √½ ≤ m ≤ √2, error 2.2e-18.
const ARTANH: [f64; 8] = [
    0.666_666_666_666_666_6,
    0.400_000_000_000_009_4,
    0.285_714_285_707_644_5,
    0.222_222_224_005_477_6,
    0.181_817_947_008_978,
    0.153_862_905_346_589_92,
    0.132_674_185_964_748_84,
    0.131_007_213_835_034_9,
];

/// ln 2: the first 42 bits, and the remainder.
const LN_2: [f64; 2] = [0.693_147_180_559_890_3, 5.497_923_018_708_371e-14];

/// The exponent e and m − 1, for positive normal x.
#[inline(always)]
fn reduce<S: Simd<T = f64>>(s: S, x: S::V) -> (S::V, S::V) {
    let (m, e) = s.split(x);
    let large = s.lt(s.splat(std::f64::consts::SQRT_2), m);
    let m = s.select(large, s.mul(m, s.splat(0.5)), m);
    let e = s.select(large, s.add(e, s.splat(1.0)), e);
    (e, s.sub(m, s.splat(1.0)))
}

/// The natural logarithm: 1 ulp; −∞ at 0, NaN below.
#[inline(always)]
pub(in crate::tile) fn log<S: Simd<T = f64>>(s: S, x: S::V) -> S::V {
    let (e, f) = reduce(s, x);
    let t = s.div(f, s.add(f, s.splat(2.0)));
    let w = s.mul(t, t);
    // f − t(f − wG(w)) = 2t + t³G(w).
    let inner = s.sub(f, s.mul(w, polynomial(s, w, ARTANH)));
    let small = s.sub(s.mul(t, inner), s.mul(e, s.splat(LN_2[1])));
    let value = s.mul_add(e, s.splat(LN_2[0]), s.sub(f, small));
    let (least, most) = (s.splat(f64::MIN_POSITIVE), s.splat(f64::MAX));
    let ordinary =
        s.select(s.lt(x, least), s.splat(0.0), s.select(s.lt(most, x), s.splat(0.0), s.splat(1.0)));
    let ordinary = s.select(s.eq(x, x), ordinary, s.splat(0.0));
    repair(s, s.eq(ordinary, s.splat(0.0)), [x, x], value, |x, _| x.ln())
}

/// x^y: 2 ulp where |y·ln x| ≤ 100; special cases as in `f64::powf`.
#[inline(always)]
pub(in crate::tile) fn pow<S: Simd<T = f64>>(s: S, x: S::V, y: S::V) -> S::V {
    let (e, f) = reduce(s, x);
    let (hi, lo) = double_log(s, e, f);
    let product = s.mul(y, hi);
    let rest = s.add(product_error(s, y, hi, product), s.mul(y, lo));
    let value = exp_of_sum(s, product, rest, 0.0);
    let (zero, one) = (s.splat(0.0), s.splat(1.0));
    let plain = s.select(s.lt(x, s.splat(f64::MIN_POSITIVE)), zero, one);
    let plain = s.select(s.lt(s.abs(x), s.splat(f64::INFINITY)), plain, zero);
    let plain = s.select(s.lt(s.abs(y), s.splat(1e100)), plain, zero);
    repair(s, s.eq(plain, zero), [x, y], value, f64::powf)
}

/// The logarithm as a sum of two numbers, to about 60 bits.
#[inline(always)]
fn double_log<S: Simd<T = f64>>(s: S, e: S::V, f: S::V) -> (S::V, S::V) {
    // t = f/(2+f) with its own error: 2 + f may be rounded too.
    let below = s.add(s.splat(2.0), f);
    let below_lost = s.sub(f, s.sub(below, s.splat(2.0)));
    let t = s.div(f, below);
    let back = s.mul(t, below);
    let left = s.sub(s.sub(f, back), product_error(s, t, below, back));
    let t_lost = s.div(s.sub(left, s.mul(t, below_lost)), below);
    let w = s.mul(t, t);
    let tail = s.mul(s.mul(t, w), polynomial(s, w, ARTANH));
    // e·ln 2 + 2t + tail, largest first.
    let two_t = s.add(t, t);
    let whole = s.mul(e, s.splat(LN_2[0]));
    let (hi, lost) = sum(s, whole, two_t);
    let (hi, lost_again) = sum(s, hi, tail);
    let small = s.add(s.add(t_lost, t_lost), s.mul(e, s.splat(LN_2[1])));
    (hi, s.add(s.add(lost, lost_again), small))
}

/// a + b rounded, and the rounding error (Knuth 1969).
#[inline(always)]
fn sum<S: Simd>(s: S, a: S::V, b: S::V) -> (S::V, S::V) {
    let sum = s.add(a, b);
    let of_b = s.sub(sum, a);
    let of_a = s.sub(sum, of_b);
    (sum, s.add(s.sub(a, of_a), s.sub(b, of_b)))
}

/// a·b − product, exactly (Dekker 1971 where the multiply-add is not fused).
#[inline(always)]
fn product_error<S: Simd<T = f64>>(s: S, a: S::V, b: S::V, product: S::V) -> S::V {
    let minus = s.sub(s.splat(0.0), product);
    if S::FUSED {
        return s.mul_add(a, b, minus);
    }
    let ((a1, a2), (b1, b2)) = (halves(s, a), halves(s, b));
    let partial = s.add(s.add(s.add(s.mul(a1, b1), minus), s.mul(a1, b2)), s.mul(a2, b1));
    s.add(partial, s.mul(a2, b2))
}

/// v as the sum of two numbers of 26 bits each (Veltkamp 1968).
#[inline(always)]
fn halves<S: Simd<T = f64>>(s: S, v: S::V) -> (S::V, S::V) {
    let c = s.mul(v, s.splat(134_217_729.0));
    let high = s.sub(c, s.sub(c, v));
    (high, s.sub(v, high))
}
