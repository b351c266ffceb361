//! Transposes of 8 × 8 blocks in 256-bit registers.

use std::arch::x86_64::*;

/// # Safety
/// The processor must have AVX2; the pointers are as [`Element::transpose8`](crate::tile::simd::Element::transpose8) asks.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn transpose8_f32(from: *const f32, stride: usize, to: *mut f32, to_stride: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        // Rows i and i + 4 side by side, a half of each: 4 × 4 transposes within halves remain.
        let quarter = |i: usize, j: usize| {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(from.add(i * stride + j)));
            _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(from.add((i + 4) * stride + j)))
        };
        for j in [0, 4] {
            let (a, b, c, d) = (quarter(0, j), quarter(1, j), quarter(2, j), quarter(3, j));
            let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            _mm256_storeu_ps(to.add(j * to_stride), _mm256_shuffle_ps::<0x44>(ab_low, cd_low));
            _mm256_storeu_ps(to.add((j + 1) * to_stride), _mm256_shuffle_ps::<0xEE>(ab_low, cd_low));
            _mm256_storeu_ps(to.add((j + 2) * to_stride), _mm256_shuffle_ps::<0x44>(ab_high, cd_high));
            _mm256_storeu_ps(to.add((j + 3) * to_stride), _mm256_shuffle_ps::<0xEE>(ab_high, cd_high));
        }
    }
}

/// # Safety
/// As for [`transpose8_f32`].
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn transpose8_f64(from: *const f64, stride: usize, to: *mut f64, to_stride: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        // Rows i and i + 2 side by side, a half of each: 2 × 2 transposes within halves remain.
        let quarter = |i: usize, j: usize| {
            let low = _mm256_castpd128_pd256(_mm_loadu_pd(from.add(i * stride + j)));
            _mm256_insertf128_pd::<1>(low, _mm_loadu_pd(from.add((i + 2) * stride + j)))
        };
        for j in [0, 2, 4, 6] {
            for i in [0, 4] {
                let (a, b) = (quarter(i, j), quarter(i + 1, j));
                _mm256_storeu_pd(to.add(j * to_stride + i), _mm256_unpacklo_pd(a, b));
                _mm256_storeu_pd(to.add((j + 1) * to_stride + i), _mm256_unpackhi_pd(a, b));
            }
        }
    }
}
