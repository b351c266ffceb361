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
        $t:ty, $v:ty, mask $m:ty, $lanes:literal lanes;
        $splat:ident $load:ident $store:ident
        $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $min:ident $max:ident
        $cmp:ident $round:ident $and:ident $andnot:ident $or:ident
        $blend:ident $scalef:ident $getmant:ident $getexp:ident;
        $($conversion:item)*
    ) => {
        // SAFETY (of every block here): the token's existence, see the module's note; pointers are the caller's promise.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Simd for Avx512<$t> {
            shared_operations! {
                Avx512<$t>, $v, mask $m, $lanes lanes, 8 rows;
                $splat $load $store
                $add $sub $mul $div $fma $sqrt $min $max
                $cmp $round $and $andnot $or
            }
            #[inline(always)]
            fn select(self, mask: $m, a: $v, b: $v) -> $v {
                unsafe { $blend(mask, b, a) }
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
            fn any(self, mask: $m) -> bool {
                mask != 0
            }
            #[inline(always)]
            fn bits(self, mask: $m) -> u64 {
                u64::from(mask)
            }
            $(#[inline(always)] $conversion)*
        }
    };
}

avx512! {
    f32, __m512, mask __mmask16, 16 lanes;
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps
    _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps _mm512_sqrt_ps _mm512_min_ps _mm512_max_ps
    _mm512_cmp_ps_mask _mm512_roundscale_ps _mm512_and_ps _mm512_andnot_ps _mm512_or_ps
    _mm512_mask_blend_ps _mm512_scalef_ps _mm512_getmant_ps _mm512_getexp_ps;
    unsafe fn load_short(self, from: *const i16) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(from.cast()))) }
    }
    fn widen(self, a: __m512) -> [__m512d; 2] {
        unsafe {
            [_mm512_cvtps_pd(_mm512_castps512_ps256(a)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(a))]
        }
    }
    fn narrow(self, [low, high]: [__m512d; 2]) -> __m512 {
        unsafe {
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
            _mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(high))
        }
    }
}

avx512! {
    f64, __m512d, mask __mmask8, 8 lanes;
    _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd
    _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_sqrt_pd _mm512_min_pd _mm512_max_pd
    _mm512_cmp_pd_mask _mm512_roundscale_pd _mm512_and_pd _mm512_andnot_pd _mm512_or_pd
    _mm512_mask_blend_pd _mm512_scalef_pd _mm512_getmant_pd _mm512_getexp_pd;
    unsafe fn load_short(self, from: *const i16) -> __m512d {
        unsafe { _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128(from.cast()))) }
    }
    fn widen(self, a: __m512d) -> [__m512d; 2] {
        [a, a]
    }
    fn narrow(self, [a, _]: [__m512d; 2]) -> __m512d {
        a
    }
}
