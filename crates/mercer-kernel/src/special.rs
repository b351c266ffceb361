//! Special functions.

use std::sync::LazyLock;

/// The order from which the expansion for large orders is exact to rounding.
const LARGE_ORDER: f64 = 16.0;

/// The argument beyond which the functions of orders below [`LARGE_ORDER`] underflow.
const LARGEST_ARGUMENT: f64 = 1500.0;

/// The Matérn function of order ν at s ≥ 0: 2^(1−ν)/Γ(ν)·s^ν·K_ν(s), 1 at 0, within about 1e-13 of its value.
///
/// See [`Matern`] for many values of one order. NaN where ν is not positive or s is negative.
#[must_use]
pub fn matern(nu: f64, s: f64) -> f64 {
    Matern::new(nu).at(s)
}

/// The Matérn function of one order ν > 0, prepared for evaluation at many points.
///
/// With half-integer ν it is a polynomial times e^(−s); for ν ≥ 16 it is summed from Debye's expansion of K_ν
/// (Olver 1974, chapter 10, section 7); otherwise it is a ratio of two integrals, each summed by the trapezoidal
/// rule, which converges geometrically on such integrands (Trefethen and Weideman 2014):
///
/// ```text
/// s^ν·K_ν(s)·2^(1−ν) = ∫₀^∞ exp(−s·cosh t)·(s/2)^ν·2cosh(νt) dt,    Γ(ν) = ∫ exp(νu − e^u) du.
/// ```
///
/// Cost of one value: a few operations in the first two cases, 20 to 150 exponentials in the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern {
    nu: f64,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    HalfInteger,
    LargeOrder,
    Integral { gamma: f64 },
}

impl Matern {
    /// The Matérn function of order ν > 0.
    #[must_use]
    pub fn new(nu: f64) -> Self {
        let form = if nu >= LARGE_ORDER {
            Form::LargeOrder
        } else if (nu - 0.5).fract() == 0.0 {
            Form::HalfInteger
        } else {
            Form::Integral { gamma: gamma(nu) }
        };
        Self { nu, form }
    }

    /// Its value at s ≥ 0.
    #[must_use]
    pub fn at(&self, s: f64) -> f64 {
        let nu = self.nu;
        if s.is_nan() || s < 0.0 || nu.is_nan() || nu <= 0.0 {
            return f64::NAN;
        }
        if s == 0.0 {
            return 1.0;
        }
        let value = match self.form {
            Form::LargeOrder => large_order(nu, s),
            _ if s > LARGEST_ARGUMENT => 0.0,
            Form::HalfInteger => half_integer(nu, s),
            Form::Integral { gamma } => integral(nu, s) / gamma,
        };
        // The function decreases from 1; rounding must not make an off-diagonal value larger than the diagonal.
        value.min(1.0)
    }
}

/// p·e^(−s), where e^(−s) alone may underflow.
fn damped(p: f64, s: f64) -> f64 {
    if s < 700.0 { p * (-s).exp() } else { p * (-0.5 * s).exp() * (-0.5 * s).exp() }
}

/// From K_{ν+1} = K_{ν−1} + (2ν/s)K_ν: M_{ν+1} = M_ν + s²/(4ν(ν−1))·M_{ν−1}, a sum of positive terms.
fn half_integer(nu: f64, s: f64) -> f64 {
    let (mut previous, mut current) = (1.0, 1.0 + s);
    if nu == 0.5 {
        return damped(previous, s);
    }
    let mut order = 1.5;
    while order < nu {
        let next = current + s * s / (4.0 * order * (order - 1.0)) * previous;
        (previous, current) = (current, next);
        order += 1.0;
    }
    damped(current, s)
}

/// The step of the trapezoidal rule for an error below rounding: the integrand has width (s² + ν²)^(−1/4) at
/// its peak, and is analytic in a strip of half-width π/2.
fn step(nu: f64, s: f64) -> f64 {
    (0.5 / nu.hypot(s).sqrt()).min(0.2)
}

/// ∫₀^∞ exp(−s·cosh t)·(s/2)^ν·2cosh(νt) dt.
fn integral(nu: f64, s: f64) -> f64 {
    let h = step(nu, s);
    let log_half = (0.5 * s).ln();
    // cosh t − 1 = 2sinh²(t/2), which keeps its digits near 0.
    let integrand = |t: f64| {
        let decay = -2.0 * s * (0.5 * t).sinh().powi(2);
        (decay + nu * (log_half + t)).exp() + (decay + nu * (log_half - t)).exp()
    };
    let peak = (nu / s).asinh();
    let mut sum = 0.5 * integrand(0.0);
    for k in 1_u32.. {
        let t = h * f64::from(k);
        let term = integrand(t);
        sum += term;
        if t > peak && term <= 1e-18 * sum {
            break;
        }
    }
    damped(h * sum, s)
}

/// Γ(ν) for 0 < ν < 16, from Γ(ν + 2), whose integrand decays faster on the left.
fn gamma(nu: f64) -> f64 {
    let order = nu + 2.0;
    let h = step(order, 0.0);
    // The integrand is below rounding for u < −40/(ν + 2) and for e^u > 100 + 2(ν + 2).
    let (low, high) = (-40.0 / order, (100.0 + 2.0 * order).ln());
    let (first, last) = ((low / h).floor() as i32, (high / h).ceil() as i32);
    let sum: f64 = (first..=last).map(|k| h * f64::from(k)).map(|u| (order * u - u.exp()).exp()).sum();
    h * sum / (nu * (nu + 1.0))
}

/// Terms of the expansions for large orders.
const TERMS: usize = 14;

/// Coefficients of the polynomials u_k of Debye's expansion, from
/// u_{k+1}(t) = ½t²(1 − t²)u_k'(t) + ⅛∫₀ᵗ(1 − 5τ²)u_k(τ)dτ.
static DEBYE: LazyLock<[Vec<f64>; TERMS]> = LazyLock::new(|| {
    let mut polynomials: [Vec<f64>; TERMS] = std::array::from_fn(|k| vec![0.0; 3 * k + 1]);
    polynomials[0][0] = 1.0;
    for k in 1..TERMS {
        for i in 0..=3 * (k - 1) {
            let (c, i_f) = (polynomials[k - 1][i], i as f64);
            polynomials[k][i + 1] += c * (0.5 * i_f + 0.125 / (i_f + 1.0));
            polynomials[k][i + 3] -= c * (0.5 * i_f + 0.625 / (i_f + 3.0));
        }
    }
    polynomials
});

/// With z = s/ν, w = √(1 + z²) and a = w − 1, Debye's expansion over Stirling's is
/// w^(−1/2)·exp(ν(ln(1 + a/2) − a))·Σ(−1)ᵏu_k(1/w)/νᵏ / Σ(−1)ᵏu_k(1)/νᵏ: the second sum, the first at s = 0, is
/// that of Γ(ν).
fn large_order(nu: f64, s: f64) -> f64 {
    let z = s / nu;
    let w = 1.0_f64.hypot(z);
    let a = z * (z / (1.0 + w));
    let exponent = nu * ((0.5 * a).ln_1p() - a);
    // For ν so large that s² overflows in the exponent −s²/(4ν), the limit is exact.
    if exponent == f64::NEG_INFINITY || w.is_infinite() {
        return 0.0;
    }
    exponent.exp() / w.sqrt() * (debye(nu, 1.0 / w) / debye(nu, 1.0))
}

/// Σ(−1)ᵏu_k(t)/νᵏ.
fn debye(nu: f64, t: f64) -> f64 {
    let horner = |polynomial: &[f64]| polynomial.iter().rev().fold(0.0, |sum, c| sum * t + c);
    DEBYE.iter().rev().fold(0.0, |sum, polynomial| horner(polynomial) - sum / nu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_values_of_forty_digits() {
        let stored: Vec<&str> =
            include_str!("../tests/data/matern.txt").lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(stored.len(), 276);
        for line in stored {
            let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
            let [nu, s, expected] = numbers[..] else { panic!("{line}") };
            let found = matern(nu, s);
            // The exponents ν·ln s and s carry their own rounding into the value.
            let tolerance = 2e-14 + 4.0 * f64::EPSILON * (s + nu);
            let error = (found - expected).abs() / expected.max(f64::MIN_POSITIVE);
            assert!(
                error < tolerance.min(2e-13),
                "M_{nu}({s}) = {found:e}, expected {expected:e}: {error:e}"
            );
        }
    }

    #[test]
    fn limits() {
        for nu in [1e-3, 0.3, 0.5, 1.0, 1.5, 7.7, 15.5, 16.0, 200.0, 1e6, 1e300] {
            assert_eq!(matern(nu, 0.0), 1.0);
            assert_eq!(matern(nu, f64::INFINITY), 0.0, "{nu}");
            let tiny = matern(nu, 1e-300);
            assert!(tiny > 0.0 && tiny <= 1.0, "{nu}: {tiny}");
            for s in [1e-300, 1e-20, 1e-3, 1.0, 1e2, 1499.0, 1501.0, 1e5, 1e20, 1e200, f64::MAX] {
                let value = matern(nu, s);
                assert!((0.0..=1.0).contains(&value), "M_{nu}({s}) = {value}");
            }
        }
        assert!(matern(1.0, -1.0).is_nan() && matern(0.0, 1.0).is_nan() && matern(1.0, f64::NAN).is_nan());
        // M_ν(√(2ν)r) tends to exp(−r²/2).
        assert!((matern(1e12, (2e12_f64).sqrt() * 1.3) - (-0.5 * 1.69_f64).exp()).abs() < 1e-11);
    }

    #[test]
    fn decreases_and_joins_its_forms() {
        for nu in [0.3, 0.5, 0.9999999, 1.0000001, 2.4999999, 2.5, 15.999999, 16.0] {
            let function = Matern::new(nu);
            let values: Vec<f64> = (1..400).map(|i| function.at(0.05 * f64::from(i))).collect();
            assert!(values.windows(2).all(|pair| pair[1] < pair[0]), "{nu}");
        }
        for s in [0.01, 1.0, 10.0, 100.0] {
            assert!((matern(15.999999999999, s) / matern(16.0, s) - 1.0).abs() < 1e-10);
            assert!((matern(2.4999999999999, s) / matern(2.5, s) - 1.0).abs() < 1e-10);
        }
    }
}
