//! The vectors of x86-64 processors.
//!
//! Methods call intrinsics from functions without the matching target feature: they are sound because a token exists only
//! inside [`avx512`] or [`avx2`], whose callers promise that the processor has the instructions, and fast because
//! they inline into those.

/// The part of an implementation of `Simd` that both widths of vectors have in common, given its intrinsics.
macro_rules! shared_operations {
    (
        $set:ident<$t:ty>, $v:ty, mask $m:ty, $lanes:literal lanes, $rows:literal rows;
        $splat:ident $load:ident $store:ident
        $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $min:ident $max:ident
        $cmp:ident $round:ident $and:ident $andnot:ident $or:ident
    ) => {
        type T = $t;
        type V = $v;
        type M = $m;
        type Wide = $set<f64>;
        const LANES: usize = $lanes;
        const REGISTER_ROWS: usize = $rows;
        const FUSED: bool = true;

        #[inline(always)]
        fn splat(self, value: $t) -> $v {
            unsafe { $splat(value) }
        }
        #[inline(always)]
        unsafe fn load(self, from: *const $t) -> $v {
            unsafe { $load(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut $t, v: $v) {
            unsafe { $store(to, v) }
        }
        #[inline(always)]
        fn prefetch(self, at: *const $t) {
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
        }
        #[inline(always)]
        fn add(self, a: $v, b: $v) -> $v {
            unsafe { $add(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: $v, b: $v) -> $v {
            unsafe { $sub(a, b) }
        }
        #[inline(always)]
        fn mul(self, a: $v, b: $v) -> $v {
            unsafe { $mul(a, b) }
        }
        #[inline(always)]
        fn div(self, a: $v, b: $v) -> $v {
            unsafe { $div(a, b) }
        }
        #[inline(always)]
        fn mul_add(self, a: $v, b: $v, c: $v) -> $v {
            unsafe { $fma(a, b, c) }
        }
        #[inline(always)]
        fn sqrt(self, a: $v) -> $v {
            unsafe { $sqrt(a) }
        }
        #[inline(always)]
        fn abs(self, a: $v) -> $v {
            let minus = self.splat(-0.0);
            unsafe { $andnot(minus, a) }
        }
        #[inline(always)]
        fn min(self, a: $v, b: $v) -> $v {
            unsafe { $min(a, b) }
        }
        #[inline(always)]
        fn max(self, a: $v, b: $v) -> $v {
            unsafe { $max(a, b) }
        }
        #[inline(always)]
        fn lt(self, a: $v, b: $v) -> $m {
            unsafe { $cmp::<_CMP_LT_OQ>(a, b) }
        }
        #[inline(always)]
        fn eq(self, a: $v, b: $v) -> $m {
            unsafe { $cmp::<_CMP_EQ_OQ>(a, b) }
        }
        #[inline(always)]
        fn round(self, a: $v) -> $v {
            unsafe { $round::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
        }
        #[inline(always)]
        fn with_sign(self, magnitude: $v, sign: $v) -> $v {
            let minus = self.splat(-0.0);
            unsafe { $or($andnot(minus, magnitude), $and(minus, sign)) }
        }
        #[inline(always)]
        fn wide(self) -> $set<f64> {
            $set(PhantomData)
        }
    };
}

mod avx2;
mod avx512;
mod transpose;

pub(crate) use avx2::{avx2, has_avx2};
pub(crate) use avx512::{avx512, has_avx512};
pub(crate) use transpose::{transpose8_f32, transpose8_f64};
