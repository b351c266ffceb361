//! 256-bit vectors.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use crate::tile::simd::{Element, Simd, Vectorized};

/// Vectors of 32 bytes with AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2<T>(PhantomData<T>);

/// Whether the processor has the instructions of [`Avx2`].
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// Runs `work` compiled for AVX2 and FMA.
///
/// # Safety
/// [`has_avx2`] must hold.
#[target_feature(enable = "avx2,fma")]
pub(crate) unsafe fn avx2<T: Element, W: Vectorized<T>>(work: W) -> W::Output
where
    Avx2<T>: Simd<T = T>,
{
    work.run(Avx2(PhantomData))
}

macro_rules! avx2 {
    (
        $t:ty, $v:ty, $lanes:literal lanes, $mantissa:literal mantissa, $bias:literal bias, $magic:literal magic;
        $splat:ident $load:ident $store:ident
        $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $min:ident $max:ident
        $cmp:ident $round:ident $and:ident $andnot:ident $or:ident
        $blend:ident $movemask:ident $cast:ident $cast_back:ident $shl:ident $shr:ident $set1:ident;
        $($conversion:item)*
    ) => {
        // SAFETY (of every block here): the token's existence, see the module's note; pointers are the caller's promise.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Simd for Avx2<$t> {
            shared_operations! {
                Avx2<$t>, $v, mask $v, $lanes lanes, 4 rows;
                $splat $load $store
                $add $sub $mul $div $fma $sqrt $min $max
                $cmp $round $and $andnot $or
            }
            #[inline(always)]
            fn select(self, mask: $v, a: $v, b: $v) -> $v {
                unsafe { $blend(b, a, mask) }
            }
            #[inline(always)]
            fn scale(self, a: $v, n: $v) -> $v {
                // Two exact powers of two, so that neither leaves the normal range.
                let half = self.round(self.mul(n, self.splat(0.5)));
                // An integer n in the low bits of n + 1.5·2^mantissa; shifted up, it is an exponent.
                let magic = self.splat($magic + $bias);
                let (first, second) = (self.add(half, magic), self.add(self.sub(n, half), magic));
                unsafe {
                    let first = $cast_back($shl::<$mantissa>($cast(first)));
                    let second = $cast_back($shl::<$mantissa>($cast(second)));
                    self.mul(self.mul(a, first), second)
                }
            }
            #[inline(always)]
            fn split(self, a: $v) -> ($v, $v) {
                let magic = self.splat($magic);
                unsafe {
                    // The exponent field, placed in the low bits of 1.5·2^mantissa.
                    let field = $cast_back($shr::<$mantissa>($cast(a)));
                    let exponent = self.sub(self.sub($or(field, magic), magic), self.splat($bias));
                    let low = $cast_back($set1((1 << $mantissa) - 1));
                    ($or($and(a, low), self.splat(1.0)), exponent)
                }
            }
            #[inline(always)]
            fn any(self, mask: $v) -> bool {
                unsafe { $movemask(mask) != 0 }
            }
            #[inline(always)]
            fn bits(self, mask: $v) -> u64 {
                unsafe { $movemask(mask) as u64 }
            }
            $(#[inline(always)] $conversion)*
        }
    };
}

avx2! {
    f32, __m256, 8 lanes, 23 mantissa, 127.0 bias, 12_582_912.0 magic;
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps
    _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps _mm256_sqrt_ps _mm256_min_ps _mm256_max_ps
    _mm256_cmp_ps _mm256_round_ps _mm256_and_ps _mm256_andnot_ps _mm256_or_ps
    _mm256_blendv_ps _mm256_movemask_ps _mm256_castps_si256 _mm256_castsi256_ps
    _mm256_slli_epi32 _mm256_srli_epi32 _mm256_set1_epi32;
    unsafe fn load_short(self, from: *const i16) -> __m256 {
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(from.cast()))) }
    }
    fn widen(self, a: __m256) -> [__m256d; 2] {
        unsafe {
            [_mm256_cvtps_pd(_mm256_castps256_ps128(a)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(a))]
        }
    }
    fn narrow(self, [low, high]: [__m256d; 2]) -> __m256 {
        unsafe { _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)) }
    }
}

avx2! {
    f64, __m256d, 4 lanes, 52 mantissa, 1023.0 bias, 6_755_399_441_055_744.0 magic;
    _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd
    _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_sqrt_pd _mm256_min_pd _mm256_max_pd
    _mm256_cmp_pd _mm256_round_pd _mm256_and_pd _mm256_andnot_pd _mm256_or_pd
    _mm256_blendv_pd _mm256_movemask_pd _mm256_castpd_si256 _mm256_castsi256_pd
    _mm256_slli_epi64 _mm256_srli_epi64 _mm256_set1_epi64x;
    unsafe fn load_short(self, from: *const i16) -> __m256d {
        unsafe { _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadl_epi64(from.cast()))) }
    }
    fn widen(self, a: __m256d) -> [__m256d; 2] {
        [a, a]
    }
    fn narrow(self, [a, _]: [__m256d; 2]) -> __m256d {
        a
    }
}
