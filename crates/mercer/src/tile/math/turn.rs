//! Cosine and sine of an angle given in turns.

use super::polynomial;
use crate::tile::simd::Simd;

/// Fit of sin(2πz)/z in z² for |z| ≤ ¼, error 2.7e-8.
const SIN_SINGLE: [f64; 5] = [
    6.283_185_280_154_407,
    -41.341_680_613_346_52,
    81.602_476_368_925_18,
    -76.581_172_644_278_72,
    39.759_827_085_319_1,
];

/// Fit of cos(2πz) in z² for |z| ≤ ¼, error 2.2e-10.
const COS_SINGLE: [f64; 6] = [
    0.999_999_999_779_154,
    -19.739_208_547_715_783,
    64.939_346_476_210_15,
    -85.453_564_760_995_22,
    60.143_889_560_342_146,
    -24.981_434_467_891_656,
];

/// As [`SIN_SINGLE`], error 1.3e-18.
const SIN_DOUBLE: [f64; 9] = [
    std::f64::consts::TAU,
    -41.341_702_240_399_755,
    81.605_249_276_073_62,
    -76.705_859_752_824_92,
    42.058_693_925_428_685,
    -15.094_641_676_117_9,
    3.819_928_094_227_164_3,
    -0.717_733_792_141_345_4,
    0.100_896_955_016_468_12,
];

/// As [`COS_SINGLE`], error 3.9e-18.
const COS_DOUBLE: [f64; 9] = [
    1.0,
    -19.739_208_802_178_705,
    64.939_394_022_663_95,
    -85.456_817_205_980_61,
    60.244_641_313_160_41,
    -26.426_254_066_690_255,
    7.903_462_492_085_097,
    -1.713_218_410_700_593_2,
    0.271_945_849_499_981_3,
];

/// cos(2πw) and sin(2πw) for |w| ≤ ½, with an absolute error of a few units in the last place of 1.
///
/// With z = ¼ − |w|, cos(2πw) = sin(2πz) and |sin(2πw)| = cos(2πz): one fold, and no quadrants.
#[inline(always)]
pub(in crate::tile) fn cos_sin_of_turn<S: Simd>(s: S, w: S::V) -> (S::V, S::V) {
    let z = s.sub(s.number(0.25), s.abs(w));
    let v = s.mul(z, z);
    let (odd, even) = if size_of::<S::T>() == 4 {
        (polynomial(s, v, SIN_SINGLE), polynomial(s, v, COS_SINGLE))
    } else {
        (polynomial(s, v, SIN_DOUBLE), polynomial(s, v, COS_DOUBLE))
    };
    (s.mul(z, odd), s.with_sign(even, w))
}
