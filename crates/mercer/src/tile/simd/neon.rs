//! The vectors of 64-bit ARM processors: pairs of 128-bit registers, so that a vector has as many lanes as one of AVX2.
//!
//! Every such processor has the instructions, so the intrinsics need no check at run time.

use std::arch::aarch64::*;
use std::marker::PhantomData;

use super::Simd;

/// Vectors of 32 bytes in two NEON registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon<T>(PhantomData<T>);

impl<T> Neon<T> {
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

macro_rules! neon {
    (
        $t:ty, $half:ty, mask $mask:ty, $lanes:literal lanes, $mantissa:literal mantissa, $bias:literal bias, $magic:literal magic;
        $splat:ident $load:ident $store:ident
        $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $abs:ident
        $lt:ident $eq:ident $select:ident $round:ident
        $cast:ident $cast_back:ident $shl:ident $shr:ident $and:ident $or:ident $set1:ident;
        $($conversion:item)*
    ) => {
        // SAFETY (of every block here): the processor has NEON, as all of its architecture do; pointers are the caller's promise.
        #[allow(clippy::undocumented_unsafe_blocks, unused_unsafe)]
        impl Simd for Neon<$t> {
            type T = $t;
            type V = [$half; 2];
            type M = [$mask; 2];
            type Wide = Neon<f64>;
            const LANES: usize = $lanes;
            const REGISTER_ROWS: usize = 4;
            const FUSED: bool = true;

            #[inline(always)]
            fn splat(self, value: $t) -> Self::V {
                unsafe { [$splat(value); 2] }
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $t) -> Self::V {
                unsafe { [$load(from), $load(from.add($lanes / 2))] }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t, v: Self::V) {
                unsafe {
                    $store(to, v[0]);
                    $store(to.add($lanes / 2), v[1]);
                }
            }
            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                unsafe { [$add(a[0], b[0]), $add(a[1], b[1])] }
            }
            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                unsafe { [$sub(a[0], b[0]), $sub(a[1], b[1])] }
            }
            #[inline(always)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                unsafe { [$mul(a[0], b[0]), $mul(a[1], b[1])] }
            }
            #[inline(always)]
            fn div(self, a: Self::V, b: Self::V) -> Self::V {
                unsafe { [$div(a[0], b[0]), $div(a[1], b[1])] }
            }
            #[inline(always)]
            fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                unsafe { [$fma(c[0], a[0], b[0]), $fma(c[1], a[1], b[1])] }
            }
            #[inline(always)]
            fn sqrt(self, a: Self::V) -> Self::V {
                unsafe { [$sqrt(a[0]), $sqrt(a[1])] }
            }
            #[inline(always)]
            fn abs(self, a: Self::V) -> Self::V {
                unsafe { [$abs(a[0]), $abs(a[1])] }
            }
            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                self.select(self.lt(a, b), a, b)
            }
            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                self.select(self.lt(b, a), a, b)
            }
            #[inline(always)]
            fn lt(self, a: Self::V, b: Self::V) -> Self::M {
                unsafe { [$lt(a[0], b[0]), $lt(a[1], b[1])] }
            }
            #[inline(always)]
            fn eq(self, a: Self::V, b: Self::V) -> Self::M {
                unsafe { [$eq(a[0], b[0]), $eq(a[1], b[1])] }
            }
            #[inline(always)]
            fn select(self, mask: Self::M, a: Self::V, b: Self::V) -> Self::V {
                unsafe { [$select(mask[0], a[0], b[0]), $select(mask[1], a[1], b[1])] }
            }
            #[inline(always)]
            fn round(self, a: Self::V) -> Self::V {
                unsafe { [$round(a[0]), $round(a[1])] }
            }
            #[inline(always)]
            fn scale(self, a: Self::V, n: Self::V) -> Self::V {
                // Two exact powers of two, so that neither leaves the normal range.
                let half = self.round(self.mul(n, self.splat(0.5)));
                // An integer n in the low bits of n + 1.5·2^mantissa; shifted up, it is an exponent.
                let magic = self.splat($magic + $bias);
                let power = |v: Self::V| unsafe { v.map(|v| $cast_back($shl::<$mantissa>($cast(v)))) };
                let (first, second) = (self.add(half, magic), self.add(self.sub(n, half), magic));
                self.mul(self.mul(a, power(first)), power(second))
            }
            #[inline(always)]
            fn split(self, a: Self::V) -> (Self::V, Self::V) {
                let (magic, one) = (self.splat($magic), self.splat(1.0));
                unsafe {
                    // The exponent field, placed in the low bits of 1.5·2^mantissa.
                    let field = a.map(|a| $cast_back($or($shr::<$mantissa>($cast(a)), $cast(magic[0]))));
                    let exponent = self.sub(self.sub(field, magic), self.splat($bias));
                    let low = $set1((1 << $mantissa) - 1);
                    (a.map(|a| $cast_back($or($and($cast(a), low), $cast(one[0])))), exponent)
                }
            }
            #[inline(always)]
            fn with_sign(self, magnitude: Self::V, sign: Self::V) -> Self::V {
                let minus = unsafe { self.splat(-0.0).map(|v| $cast(v)) };
                self.select(minus, sign, magnitude)
            }
            #[inline(always)]
            fn any(self, mask: Self::M) -> bool {
                self.bits(mask) != 0
            }
            #[inline(always)]
            fn wide(self) -> Neon<f64> {
                Neon::new()
            }
            $(#[inline(always)] $conversion)*
        }
    };
}

neon! {
    f32, float32x4_t, mask uint32x4_t, 8 lanes, 23 mantissa, 127.0 bias, 12_582_912.0 magic;
    vdupq_n_f32 vld1q_f32 vst1q_f32
    vaddq_f32 vsubq_f32 vmulq_f32 vdivq_f32 vfmaq_f32 vsqrtq_f32 vabsq_f32
    vcltq_f32 vceqq_f32 vbslq_f32 vrndnq_f32
    vreinterpretq_u32_f32 vreinterpretq_f32_u32 vshlq_n_u32 vshrq_n_u32 vandq_u32 vorrq_u32 vdupq_n_u32;
    unsafe fn load_short(self, from: *const i16) -> [float32x4_t; 2] {
        unsafe {
            let short = vld1q_s16(from);
            [vcvtq_f32_s32(vmovl_s16(vget_low_s16(short))), vcvtq_f32_s32(vmovl_high_s16(short))]
        }
    }
    fn bits(self, mask: [uint32x4_t; 2]) -> u64 {
        // The lanes' places, added up.
        unsafe {
            let places = |first: u32| vld1q_u32([first, first << 1, first << 2, first << 3].as_ptr());
            let sum = |mask, first| u64::from(vaddvq_u32(vandq_u32(mask, places(first))));
            sum(mask[0], 1) + sum(mask[1], 16)
        }
    }
    fn widen(self, a: [float32x4_t; 2]) -> [[float64x2_t; 2]; 2] {
        unsafe { a.map(|a| [vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)]) }
    }
    fn narrow(self, a: [[float64x2_t; 2]; 2]) -> [float32x4_t; 2] {
        unsafe { a.map(|[low, high]| vcvt_high_f32_f64(vcvt_f32_f64(low), high)) }
    }
}

neon! {
    f64, float64x2_t, mask uint64x2_t, 4 lanes, 52 mantissa, 1023.0 bias, 6_755_399_441_055_744.0 magic;
    vdupq_n_f64 vld1q_f64 vst1q_f64
    vaddq_f64 vsubq_f64 vmulq_f64 vdivq_f64 vfmaq_f64 vsqrtq_f64 vabsq_f64
    vcltq_f64 vceqq_f64 vbslq_f64 vrndnq_f64
    vreinterpretq_u64_f64 vreinterpretq_f64_u64 vshlq_n_u64 vshrq_n_u64 vandq_u64 vorrq_u64 vdupq_n_u64;
    unsafe fn load_short(self, from: *const i16) -> [float64x2_t; 2] {
        unsafe {
            let words = vmovl_s16(vld1_s16(from));
            [vcvtq_f64_s64(vmovl_s32(vget_low_s32(words))), vcvtq_f64_s64(vmovl_high_s32(words))]
        }
    }
    fn bits(self, mask: [uint64x2_t; 2]) -> u64 {
        // The lanes' places, added up.
        unsafe {
            let places = |first: u64| vld1q_u64([first, first << 1].as_ptr());
            let sum = |mask, first| vaddvq_u64(vandq_u64(mask, places(first)));
            sum(mask[0], 1) + sum(mask[1], 4)
        }
    }
    fn widen(self, a: [float64x2_t; 2]) -> [[float64x2_t; 2]; 2] {
        [a, a]
    }
    fn narrow(self, [a, _]: [[float64x2_t; 2]; 2]) -> [float64x2_t; 2] {
        a
    }
}
