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

macro_rules! portable {
    ($t:ty, $lanes:literal) => {
        impl Simd for Portable<$t> {
            type T = $t;
            type V = [$t; $lanes];
            type M = [bool; $lanes];
            const LANES: usize = $lanes;

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
                if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
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
        }
    };
}

portable!(f32, 16);
portable!(f64, 8);
