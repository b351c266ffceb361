//! Exact rational numbers, the meaning of a formula's decimals before any rounding.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::steps;

/// An exact rational number.
pub type Q = BigRational;

/// The integer `n`.
pub fn int(n: i64) -> Q {
    Q::from_integer(BigInt::from(n))
}

/// The fraction `n/d`, d ≠ 0. It is reduced as machine integers, which is much faster.
pub fn ratio(n: i64, d: i64) -> Q {
    assert!(d != 0, "the denominator of a fraction is zero");
    let (n, d) = (i128::from(n) * i128::from(d.signum()), i128::from(d).abs());
    let divisor = n.gcd(&d);
    Q::new_raw(BigInt::from(n / divisor), BigInt::from(d / divisor))
}

/// The shortest decimal that rounds to `value`, so that `0.1` is one tenth. `None` for infinities and NaN.
pub fn from_decimal(value: f64) -> Option<Q> {
    if !value.is_finite() {
        return None;
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent - i32::try_from(fraction.len()).ok()?;
    let scale = BigInt::from(10).pow(shift.unsigned_abs());
    Some(if shift >= 0 { Q::from_integer(digits * scale) } else { Q::new(digits, scale) })
}

/// The nearest double, good to an ulp or two at any size.
pub fn to_f64(q: &Q) -> f64 {
    q.to_f64().unwrap_or(f64::NAN)
}

/// A double that is not below `q`, as close as [`to_f64`] is.
pub fn double_above(q: &Q) -> f64 {
    let mut double = to_f64(q);
    while Q::from_float(double).is_some_and(|near| near < *q) {
        double = double.next_up();
    }
    double
}

/// `q` as a small integer, if it is one.
pub fn as_integer(q: &Q) -> Option<i64> {
    if q.is_integer() { q.numer().to_i64() } else { None }
}

/// The bits of the larger of numerator and denominator.
pub fn bits(q: &Q) -> u64 {
    q.numer().bits().max(q.denom().bits())
}

/// The bits that a power may have.
pub const LARGEST_POWER: u64 = 8_000;

/// Counts the steps of an operation on fractions of this many bits, whose cost is that of a greatest common divisor.
pub fn count(bits: u64) {
    let words = bits as usize / 64 + 1;
    steps::count(4 + words * words * 2 / 3);
}

/// a·b for a `long` a and a `short` b. Common divisors are found by a division first, since num-bigint alone takes a time that
/// grows with the square of the longer number.
pub fn times(long: Q, short: &Q) -> Q {
    if short.is_zero() {
        return Q::zero();
    }
    let (numer, denom) = long.into_raw();
    let (numer, short_denom) = without_common(numer, short.denom());
    let (denom, short_numer) = without_common(denom, short.numer());
    Q::new_raw(numer * short_numer, denom * short_denom)
}

/// Both numbers without their common divisors; `short` is not 0.
fn without_common(long: BigInt, short: &BigInt) -> (BigInt, BigInt) {
    let divisor = short.gcd(&(&long % short));
    if divisor.is_one() { (long, short.clone()) } else { (long / &divisor, short / divisor) }
}

/// `q^n` for an integer n; `None` for a negative power of zero and for powers too large to hold.
pub fn pow(q: &Q, n: i64) -> Option<Q> {
    if n == 0 || q.is_one() {
        return Some(Q::one());
    }
    if q.is_zero() {
        return (n > 0).then(Q::zero);
    }
    if q.abs().is_one() {
        return Some(if n % 2 == 0 { Q::one() } else { q.clone() });
    }
    let size = bits(q);
    let n32 = i32::try_from(n).ok()?;
    let size = size.saturating_mul(u64::from(n32.unsigned_abs()));
    if size > LARGEST_POWER {
        return None;
    }
    steps::count(4 + (size as usize / 64).pow(2) / 64);
    Some(q.pow(n32))
}

/// `q^(a/b)` where that is rational: q ≥ 0 with exact b-th roots, b ≤ 64.
pub fn rational_power(q: &Q, exponent: &Q) -> Option<Q> {
    if let Some(n) = as_integer(exponent) {
        return pow(q, n);
    }
    if q.is_one() {
        return Some(Q::one());
    }
    let root = exponent.denom().to_u32().filter(|b| *b <= 64)?;
    if q.is_negative() {
        return None;
    }
    let exact = |v: &BigInt| {
        let r = v.nth_root(root);
        (r.pow(root) == *v).then_some(r)
    };
    let rooted = Q::new(exact(q.numer())?, exact(q.denom())?);
    pow(&rooted, exponent.numer().to_i64()?)
}

/// n!, for small n.
pub fn factorial(n: u64) -> Q {
    Q::from_integer((1..=n).fold(BigInt::one(), |product, k| product * BigInt::from(k)))
}

/// The binomial coefficient, for small arguments.
pub fn binomial(n: u64, k: u64) -> Q {
    if k > n {
        return Q::zero();
    }
    Q::from_integer(
        (0..k).fold(BigInt::one(), |c, i| (c * BigInt::from(n - i)).div_floor(&BigInt::from(i + 1))),
    )
}

/// The most characters that [`show`] writes exactly.
const LONGEST_SHOWN: usize = 14;

/// A rational as text: an integer, a short decimal if exact, otherwise a fraction; six significant digits after `≈` if
/// that is too long.
pub fn show(q: &Q) -> String {
    let text = show_exactly(q);
    if text.len() <= LONGEST_SHOWN {
        return text;
    }
    let value = to_f64(q);
    if value.is_finite() && value != 0.0 {
        return format!("≈{}", significant(value));
    }
    // Beyond the range of doubles: the power of ten.
    let digits = |v: &BigInt| v.abs().to_string().len() as i64;
    let sign = if q.is_negative() { "-" } else { "" };
    format!("≈{sign}1e{}", digits(q.numer()) - digits(q.denom()))
}

/// Six significant digits, with an exponent for very large and very small numbers.
pub(super) fn significant(value: f64) -> String {
    let size = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&size) {
        let text = format!("{value:.5e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'));
    }
    let decimals = (5.0 - size).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn show_exactly(q: &Q) -> String {
    if q.is_integer() {
        return q.numer().to_string();
    }
    if q.denom().bits() <= 7 && !decimal_denominator(q.denom()) {
        return format!("{}/{}", q.numer(), q.denom());
    }
    let value = to_f64(q);
    if from_decimal(value).as_ref() == Some(q) && format!("{value}").len() <= 12 {
        format!("{value}")
    } else {
        format!("{}/{}", q.numer(), q.denom())
    }
}

fn decimal_denominator(denominator: &BigInt) -> bool {
    let mut rest = denominator.clone();
    for prime in [2, 5] {
        let prime = BigInt::from(prime);
        while rest.is_multiple_of(&prime) {
            rest /= &prime;
        }
    }
    rest.is_one()
}

/// Serialises rationals as texts `n/d`.
pub mod text {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Q;

    /// Writes `n/d`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(q: &Q, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(q)
    }

    /// Reads `n/d`.
    ///
    /// # Errors
    /// If the text is no rational number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| serde::de::Error::custom(format!("`{text}` is no fraction")))
    }
}

/// A rational serialised as a text `n/d`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Fraction(#[serde(with = "text")] pub Q);

/// Serialises lists of rationals as lists of texts.
pub mod texts {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Fraction, Q};

    /// Writes a list of `n/d`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(list: &[Q], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|q| Fraction(q.clone())))
    }

    /// Reads a list of `n/d`.
    ///
    /// # Errors
    /// If one is no rational number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Q>, D::Error> {
        Ok(Vec::<Fraction>::deserialize(deserializer)?.into_iter().map(|f| f.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_long_and_short_fractions_are_reduced() {
        let mut long = ratio(2_520, 11);
        for (n, d) in [(6, 35), (-22, 9), (1, 1), (-77, 16), (100, -3), (121, 128)] {
            let product = &long * ratio(n, d);
            long = times(long, &ratio(n, d));
            assert_eq!((long.numer(), long.denom()), (product.numer(), product.denom()));
        }
        assert_eq!(times(long, &int(0)), int(0));
    }

    #[test]
    fn decimals_are_exact_as_written() {
        assert_eq!(from_decimal(0.1), Some(ratio(1, 10)));
        assert_eq!(from_decimal(-2.5e3), Some(int(-2500)));
        assert_eq!(from_decimal(1e-3), Some(ratio(1, 1000)));
        assert_eq!(from_decimal(f64::INFINITY), None);
    }

    #[test]
    fn doubles_above_are_not_below() {
        for q in [ratio(3, 10), ratio(-3, 10), ratio(1, 3), int(7), int(0)] {
            let above = double_above(&q);
            assert!(
                Q::from_float(above).unwrap() >= q && (above - to_f64(&q)).abs() <= 1e-15,
                "{q}: {above}"
            );
        }
        let tiny = Q::new(1.into(), BigInt::from(10).pow(400));
        assert!(double_above(&tiny) > 0.0 && double_above(&-tiny) >= 0.0);
        assert_eq!(double_above(&Q::from_integer(BigInt::from(10).pow(400))), f64::INFINITY);
    }

    #[test]
    fn rational_roots_are_found_only_where_exact() {
        assert_eq!(rational_power(&ratio(4, 9), &ratio(-3, 2)), Some(ratio(27, 8)));
        assert_eq!(rational_power(&int(2), &ratio(1, 2)), None);
    }

    #[test]
    fn binomials_follow_pascal() {
        for n in 1..20 {
            for k in 1..n {
                assert_eq!(binomial(n, k), binomial(n - 1, k - 1) + binomial(n - 1, k));
            }
        }
    }
}
