//! Elementary functions on vectors, within 2 ulp of the true value in the ranges that each one states.
//!
//! Argument reductions and polynomials are written once over [`Simd`]. Single precision has its own exponential, the
//! one function on the path of most kernels; its other functions go through `f64` and are rounded, with an error
//! slightly above half an ulp. Coefficients are Chebyshev fits, with their errors.

mod exp;
mod hyperbolic;
mod inverse;
mod log;
mod trigonometric;
mod turn;

#[cfg(test)]
mod tests;

use super::simd::Simd;

pub(super) use exp::{exp_f32, exp_f64};
pub(super) use hyperbolic::{cosh, sinh, tanh};
pub(super) use inverse::{acos, asin, atan};
pub(super) use log::{log, pow};
pub(super) use trigonometric::{cos, sin, sinc, tan};
pub(super) use turn::cos_sin_of_turn;

/// c₀ + c₁x + c₂x² + …, by Horner's rule.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(s: S, x: S::V, coefficients: [f64; N]) -> S::V {
    let mut value = s.number(coefficients[N - 1]);
    for k in (0..N - 1).rev() {
        value = s.mul_add(value, x, s.number(coefficients[k]));
    }
    value
}

/// x + x·w·P(w) with w = x²: an odd function near 0.
#[inline(always)]
fn odd<S: Simd, const N: usize>(s: S, x: S::V, coefficients: [f64; N]) -> S::V {
    let w = s.mul(x, x);
    let tail = s.mul(w, polynomial(s, w, coefficients));
    s.mul_add(x, tail, x)
}

/// Replaces the lanes of `value` selected by `mask` by `f` of them, computed one by one.
#[inline(always)]
fn repair<S: Simd<T = f64>>(
    s: S,
    mask: S::M,
    arguments: [S::V; 2],
    value: S::V,
    f: impl Fn(f64, f64) -> f64,
) -> S::V {
    if !s.any(mask) {
        return value;
    }
    let (mut a, mut b) = ([0.0; 8], [0.0; 8]);
    assert!(S::LANES <= 8);
    // SAFETY: no vector of f64 has more than 8 lanes.
    unsafe {
        s.store(a.as_mut_ptr(), arguments[0]);
        s.store(b.as_mut_ptr(), arguments[1]);
    }
    let lanes: [f64; 8] = std::array::from_fn(|i| f(a[i], b[i]));
    // SAFETY: as above.
    s.select(mask, unsafe { s.load(lanes.as_ptr()) }, value)
}
