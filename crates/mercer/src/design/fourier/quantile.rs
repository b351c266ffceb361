//! Quantile functions, which turn uniform numbers into random or quasi-random draws.

use std::f64::consts::PI;

/// The quantile of the standard Cauchy law.
pub(super) fn cauchy(p: f64) -> f64 {
    // Computed from the nearer end, so that both tails are accurate.
    if p < 0.5 { -1.0 / (PI * p).tan() } else { 1.0 / (PI * (1.0 - p)).tan() }
}

/// Numerator and denominator of the approximations in [`normal`]: in the centre, and for two ranges of the tails.
const CENTRE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_6,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];
const MIDDLE: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];
const TAIL: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_9,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

/// The quantile of the standard normal law, for 0 < p < 1, to about 1e-15 relative: Wichura's algorithm AS 241 (1988),
/// PPND16.
pub(crate) fn normal(p: f64) -> f64 {
    let ratio = |[above, below]: [[f64; 8]; 2], r: f64| {
        let horner = |c: [f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * r + c);
        horner(above) / horner(below)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(CENTRE, 0.180_625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let value = if r <= 5.0 { ratio(MIDDLE, r - 1.6) } else { ratio(TAIL, r - 5.0) };
    value.copysign(q)
}

/// The logarithm of the quantile of the Gamma law of this shape and scale 1, for 0 < p < 1, to about 1e-10.
///
/// The logarithm, because quantiles of small shapes are too small for a number. Newton's method on the regularised
/// incomplete Gamma function in ln x, kept inside a bracket; Wilson and Hilferty's (1931) normal approximation, whose
/// relative error is of the order 1/shape, from a shape of 10⁷ on.
pub(super) fn gamma_log(shape: f64, p: f64) -> f64 {
    let a = shape;
    let wilson_hilferty = 1.0 - 1.0 / (9.0 * a) + normal(p) / (3.0 * a.sqrt());
    if a >= 1e7 {
        return a.ln() + 3.0 * wilson_hilferty.ln();
    }
    let log_gamma = log_gamma(a);
    // P(a, x) ≤ xᵃ/Γ(a+1), so the quantile is at least this.
    let least = (p.ln() + log_gamma + a.ln()) / a;
    // For x this small, the bound is the value.
    if least < -40.0 {
        return least;
    }
    let (mut low, mut high) = (least, least.max((a + 1.0).ln()) + 1.0);
    while lower(a, high, log_gamma).0 < p {
        high += 1.0;
    }
    let guess = if wilson_hilferty > 0.1 { a.ln() + 3.0 * wilson_hilferty.ln() } else { low };
    let mut y = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
    for _ in 0..200 {
        let (below, above) = lower(a, y, log_gamma);
        // Computed from the nearer end, so that both tails are accurate.
        let error = if p < 0.5 { below - p } else { (1.0 - p) - above };
        if error > 0.0 {
            high = y;
        } else {
            low = y;
        }
        let slope = (a * y - y.exp() - log_gamma).exp();
        let next = y - error / slope;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - y).abs() <= 1e-12 * y.abs().max(1.0) {
            return next;
        }
        y = next;
    }
    y
}

/// P(a, x) and 1 − P(a, x), the regularised incomplete Gamma functions, at x = e^y.
fn lower(a: f64, y: f64, log_gamma: f64) -> (f64, f64) {
    let x = y.exp();
    let front = (a * y - x - log_gamma).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > 1e-17 * sum {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        let value = (front * sum).min(1.0);
        return (value, 1.0 - value);
    }
    // Legendre's continued fraction, by Lentz's method.
    let tiny = 1e-300;
    let (mut b, mut c) = (x + 1.0 - a, 1.0 / tiny);
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        let step = d * c;
        fraction *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    let value = (front * fraction).min(1.0);
    (1.0 - value, value)
}

/// ln Γ(a), a > 0: Stirling's series after shifting to a ≥ 12.
fn log_gamma(a: f64) -> f64 {
    let (mut a, mut shift) = (a, 0.0);
    while a < 12.0 {
        shift -= a.ln();
        a += 1.0;
    }
    let r = 1.0 / (a * a);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / a;
    shift + (a - 0.5) * a.ln() - a + 0.5 * (2.0 * PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of forty digits, rounded.
    #[test]
    fn normal_quantiles() {
        for (p, x) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (1e-3, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_408),
            (1e-300, -37.047_096_299_361_2),
        ] {
            assert!((normal(p) - x).abs() <= 4e-15 * x.abs(), "{p}: {}", normal(p));
            assert!((normal(1.0 - p) + normal(p)).abs() < 1e-13 || p < 1e-10);
        }
    }

    #[test]
    fn gamma_quantiles_of_closed_forms() {
        for p in [1e-12_f64, 1e-3, 0.2, 0.5, 0.9, 0.999, 1.0 - 1e-12] {
            // Shape 1 is exponential, shape ½ is half the square of a normal variable.
            let exponential = (-(-p).ln_1p()).ln();
            assert!((gamma_log(1.0, p) - exponential).abs() < 1e-9 * exponential.abs().max(1.0), "{p}");
            let half = (0.5 * normal(0.5 * (1.0 + p)).powi(2)).ln();
            if p < 0.9999 && p > 1e-6 {
                assert!((gamma_log(0.5, p) - half).abs() < 1e-8, "{p}: {} {half}", gamma_log(0.5, p));
            }
        }
        // Shape 2: P = 1 − (1 + x)e^(−x).
        for p in [1e-6, 0.3, 0.99] {
            let x = gamma_log(2.0, p).exp();
            assert!((1.0 - (1.0 + x) * (-x).exp() - p).abs() < 1e-11);
        }
    }

    #[test]
    fn gamma_quantiles_of_extreme_shapes_are_finite_and_ordered() {
        for shape in [1e-4, 0.01, 0.3, 3.0, 47.5, 1e4, 9e6, 1.1e7, 1e15, 1e300] {
            let values: Vec<f64> =
                [1e-16, 1e-8, 0.1, 0.5, 0.9, 1.0 - 1e-8].map(|p| gamma_log(shape, p)).to_vec();
            assert!(values.iter().all(|v| v.is_finite()), "{shape}: {values:?}");
            assert!(values.windows(2).all(|w| w[0] <= w[1]), "{shape}: {values:?}");
        }
        // The two methods meet.
        assert!((gamma_log(9.99e6, 0.3) - gamma_log(1.001e7, 0.3) + (1.001f64 / 0.999).ln()).abs() < 1e-6);
    }

    #[test]
    fn cauchy_quantiles() {
        assert!((cauchy(0.75) - 1.0).abs() < 1e-15 && (cauchy(0.25) + 1.0).abs() < 1e-15);
        assert!((cauchy(1e-10) + 1e10 / PI).abs() < 1e-4 && cauchy(0.5).abs() < 1e-15);
    }
}
