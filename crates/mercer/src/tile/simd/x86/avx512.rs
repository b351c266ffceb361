//! 512-bit vectors.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use crate::tile::simd::{Element, Simd, Vectorized};

/// Vectors of 64 bytes with AVX-512 F, DQ, VL and BW.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512<T>(PhantomData<T>);

/// Whether the processor has the instructions of [`Avx512`].
pub(crate) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("fma")
}

/// Runs `work` compiled for AVX-512.
///
/// # Safety
/// [`has_avx512`] must hold.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
pub(crate) unsafe fn avx512<T: Element, W: Vectorized<T>>(work: W) -> W::Output
where
    Avx512<T>: Simd<T = T>,
{
    work.run(Avx512(PhantomData))
}

macro_rules! avx512 {
    (
        $t:ty, $v:ty, $m:ty, $lanes:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $fma:ident,
        $sqrt:ident, $abs:ident, $min:ident, $max:ident, $cmp:ident, $blend:ident, $round:ident, $scalef:ident,
        $getmant:ident, $getexp:ident, $and:ident, $andnot:ident, $or:ident, $short:item, $widen:item, $double:item, $double2:item
    ) => {
        // SAFETY (of every block here): the token's existence, see the module's note; pointers are the caller's promise.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Simd for Avx512<$t> {
            type T = $t;
            type V = $v;
            type M = $m;
            type Wide = Avx512<f64>;
            const LANES: usize = $lanes;
            const REGISTER_ROWS: usize = 8;
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
                unsafe { $abs(a) }
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
            fn select(self, mask: $m, a: $v, b: $v) -> $v {
                unsafe { $blend(mask, b, a) }
            }
            #[inline(always)]
            fn round(self, a: $v) -> $v {
                unsafe { $round::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
            }
            #[inline(always)]
            fn scale(self, a: $v, n: $v) -> $v {
                unsafe { $scalef(a, n) }
            }
            #[inline(always)]
            fn split(self, a: $v) -> ($v, $v) {
                unsafe { ($getmant::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(a), $getexp(a)) }
            }
            #[inline(always)]
            fn with_sign(self, magnitude: $v, sign: $v) -> $v {
                let minus = self.splat(-0.0);
                unsafe { $or($andnot(minus, magnitude), $and(minus, sign)) }
            }
            #[inline(always)]
            fn any(self, mask: $m) -> bool {
                mask != 0
            }
            #[inline(always)]
            fn bits(self, mask: $m) -> u64 {
                u64::from(mask)
            }
            #[inline(always)]
            fn wide(self) -> Avx512<f64> {
                Avx512(PhantomData)
            }
            #[inline(always)]
            $short
            #[inline(always)]
            $widen
            #[inline(always)]
            $double
            #[inline(always)]
            $double2
        }
    };
}

avx512!(
    f32,
    __m512,
    __mmask16,
    16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_div_ps,
    _mm512_fmadd_ps,
    _mm512_sqrt_ps,
    _mm512_abs_ps,
    _mm512_min_ps,
    _mm512_max_ps,
    _mm512_cmp_ps_mask,
    _mm512_mask_blend_ps,
    _mm512_roundscale_ps,
    _mm512_scalef_ps,
    _mm512_getmant_ps,
    _mm512_getexp_ps,
    _mm512_and_ps,
    _mm512_andnot_ps,
    _mm512_or_ps,
    unsafe fn load_short(self, from: *const i16) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(from.cast()))) }
    },
    fn widen(self, a: __m512) -> [__m512d; 2] {
        unsafe {
            [_mm512_cvtps_pd(_mm512_castps512_ps256(a)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(a))]
        }
    },
    fn in_double(self, a: __m512, f: impl Fn(Avx512<f64>, __m512d) -> __m512d) -> __m512 {
        self.in_double2(
            a,
            a,
            #[inline(always)]
            |wide, a, _| f(wide, a),
        )
    },
    fn in_double2(
        self,
        a: __m512,
        b: __m512,
        f: impl Fn(Avx512<f64>, __m512d, __m512d) -> __m512d,
    ) -> __m512 {
        let wide = Avx512(PhantomData);
        unsafe {
            let ([a_low, a_high], [b_low, b_high]) = (self.widen(a), self.widen(b));
            let (low, high) = (f(wide, a_low, b_low), f(wide, a_high, b_high));
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
            _mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(high))
        }
    }
);

avx512!(
    f64,
    __m512d,
    __mmask8,
    8,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_div_pd,
    _mm512_fmadd_pd,
    _mm512_sqrt_pd,
    _mm512_abs_pd,
    _mm512_min_pd,
    _mm512_max_pd,
    _mm512_cmp_pd_mask,
    _mm512_mask_blend_pd,
    _mm512_roundscale_pd,
    _mm512_scalef_pd,
    _mm512_getmant_pd,
    _mm512_getexp_pd,
    _mm512_and_pd,
    _mm512_andnot_pd,
    _mm512_or_pd,
    unsafe fn load_short(self, from: *const i16) -> __m512d {
        unsafe { _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128(from.cast()))) }
    },
    fn widen(self, a: __m512d) -> [__m512d; 2] {
        [a, a]
    },
    fn in_double(self, a: __m512d, f: impl Fn(Self, __m512d) -> __m512d) -> __m512d {
        f(self, a)
    },
    fn in_double2(self, a: __m512d, b: __m512d, f: impl Fn(Self, __m512d, __m512d) -> __m512d) -> __m512d {
        f(self, a, b)
    }
);
