//! Vectors as arrays: for processors without a faster form, and as the reference of the others.

use std::marker::PhantomData;

use super::Simd;

/// Arrays of 64 bytes, operated on lane by lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable<T>(PhantomData<T>);

impl<T> Portable<T> {
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

/// Whether the target's multiply-add is an instruction.
const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

macro_rules! portable {
    ($t:ty, $lanes:literal, $bits:ty, $mantissa:literal, $bias:literal) => {
        impl Simd for Portable<$t> {
            type T = $t;
            type V = [$t; $lanes];
            type M = [bool; $lanes];
            const LANES: usize = $lanes;
            const REGISTER_ROWS: usize = 2;
            const FUSED: bool = FUSED;

            #[inline(always)]
            fn splat(self, value: $t) -> Self::V {
                [value; $lanes]
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $t) -> Self::V {
                // SAFETY: the caller's promise; arrays need no more alignment than their elements.
                unsafe { from.cast::<Self::V>().read() }
            }
            #[inline(always)]
            unsafe fn load_short(self, from: *const i16) -> Self::V {
                // SAFETY: the caller's promise; arrays need no more alignment than their elements.
                unsafe { from.cast::<[i16; $lanes]>().read() }.map(<$t>::from)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t, v: Self::V) {
                // SAFETY: the caller's promise.
                unsafe { to.cast::<Self::V>().write(v) }
            }
            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] + b[i])
            }
            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] - b[i])
            }
            #[inline(always)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] * b[i])
            }
            #[inline(always)]
            fn div(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] / b[i])
            }
            #[inline(always)]
            fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                // A fused step in software costs a hundred times an unfused one.
                if FUSED {
                    std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
                } else {
                    std::array::from_fn(|i| a[i] * b[i] + c[i])
                }
            }
            #[inline(always)]
            fn sqrt(self, a: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i].sqrt())
            }
            #[inline(always)]
            fn abs(self, a: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i].abs())
            }
            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
            }
            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
            }
            #[inline(always)]
            fn lt(self, a: Self::V, b: Self::V) -> Self::M {
                std::array::from_fn(|i| a[i] < b[i])
            }
            #[inline(always)]
            fn eq(self, a: Self::V, b: Self::V) -> Self::M {
                std::array::from_fn(|i| a[i] == b[i])
            }
            #[inline(always)]
            fn select(self, mask: Self::M, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| if mask[i] { a[i] } else { b[i] })
            }
            #[inline(always)]
            fn round(self, a: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i].round_ties_even())
            }
            #[inline(always)]
            fn scale(self, a: Self::V, n: Self::V) -> Self::V {
                // Two exact powers of two, so that neither leaves the normal range.
                std::array::from_fn(|i| {
                    let half = (0.5 * n[i]).round_ties_even();
                    let power = |e: $t| <$t>::from_bits(((e as i64 + $bias) as $bits) << $mantissa);
                    a[i] * power(half) * power(n[i] - half)
                })
            }
            #[inline(always)]
            fn split(self, a: Self::V) -> (Self::V, Self::V) {
                let low = ((1 as $bits) << $mantissa) - 1;
                let mantissa = |v: $t| <$t>::from_bits((v.to_bits() & low) | ((1.0 as $t).to_bits()));
                let exponent = |v: $t| ((v.to_bits() >> $mantissa) as i64 - $bias) as $t;
                (a.map(mantissa), a.map(exponent))
            }
            #[inline(always)]
            fn with_sign(self, magnitude: Self::V, sign: Self::V) -> Self::V {
                std::array::from_fn(|i| magnitude[i].copysign(sign[i]))
            }
            #[inline(always)]
            fn any(self, mask: Self::M) -> bool {
                mask.iter().any(|m| *m)
            }
            #[inline(always)]
            fn bits(self, mask: Self::M) -> u64 {
                mask.iter().enumerate().fold(0, |bits, (lane, m)| bits | (u64::from(*m) << lane))
            }

            type Wide = Portable<f64>;
            #[inline(always)]
            fn wide(self) -> Portable<f64> {
                Portable::new()
            }
            #[inline(always)]
            fn widen(self, a: Self::V) -> [[f64; 8]; 2] {
                let second = Self::LANES - 8;
                [std::array::from_fn(|i| f64::from(a[i])), std::array::from_fn(|i| f64::from(a[second + i]))]
            }
            #[inline(always)]
            fn narrow(self, a: [[f64; 8]; 2]) -> Self::V {
                std::array::from_fn(|i| a[i / 8][i % 8] as $t)
            }
        }
    };
}

portable!(f32, 16, u32, 23, 127);
portable!(f64, 8, u64, 52, 1023);
