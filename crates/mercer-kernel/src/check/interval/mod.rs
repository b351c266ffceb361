//! Interval arithmetic at any precision: enclosures `[lo, hi]·2^−bits` with integer end points, rounded outwards.
//!
//! A result always contains the true value, so that the sign of an enclosure proves the sign of the value. Fixed point
//! suits quadratic forms with heavy cancellation: the precision is raised until the sign is known.

mod functions;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::check::exact::{self, Q};
use crate::check::steps;

/// Why an operation has no enclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The operation is undefined for every value in its operands.
    Undefined(&'static str),
    /// It may be undefined, or lies outside the supported range; nothing is claimed.
    Unknown,
}

/// An enclosure of a real number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    lo: BigInt,
    hi: BigInt,
    bits: u32,
}

/// Counts the steps of an operation on numbers of this many bits: `linear` for each word, and the words to the power 3/2.
fn count(bits: u64, linear: usize) {
    let words = bits as usize / 64 + 1;
    steps::count(linear + words * (linear + words.isqrt()) / 12);
}

fn floor_shift(value: &BigInt, bits: u32) -> BigInt {
    value >> bits
}

fn ceil_shift(value: &BigInt, bits: u32) -> BigInt {
    -((-value) >> bits)
}

impl Interval {
    /// The tightest enclosure of a rational number.
    pub fn exact(q: &Q, bits: u32) -> Self {
        let scaled = q.numer() << bits;
        count(scaled.bits(), 3);
        Self { lo: scaled.div_floor(q.denom()), hi: scaled.div_ceil(q.denom()), bits }
    }

    /// The integer `n`.
    pub fn integer(n: i64, bits: u32) -> Self {
        let point = BigInt::from(n) << bits;
        Self { lo: point.clone(), hi: point, bits }
    }

    fn point(value: BigInt, bits: u32) -> Self {
        Self { lo: value.clone(), hi: value, bits }
    }

    /// Whether every value is below zero.
    pub fn is_negative(&self) -> bool {
        self.hi.is_negative()
    }

    /// Whether every value is above zero.
    pub fn is_positive(&self) -> bool {
        self.lo.is_positive()
    }

    /// Whether no value is below zero.
    pub fn is_nonnegative(&self) -> bool {
        !self.lo.is_negative()
    }

    /// Whether the only value is zero.
    pub fn is_zero(&self) -> bool {
        self.lo.is_zero() && self.hi.is_zero()
    }

    /// Whether the two enclosures are disjoint.
    pub fn is_apart(&self, other: &Self) -> bool {
        self.hi < other.lo || other.hi < self.lo
    }

    /// Whether it is narrower than 2^−bits.
    pub fn is_narrow(&self, bits: u32) -> bool {
        (&self.hi - &self.lo).bits() + u64::from(bits) <= u64::from(self.bits)
    }

    /// Whether it is narrower than 2^−bits times the least size of a value in it.
    pub fn is_relatively_narrow(&self, bits: u64) -> bool {
        let magnitude = self.abs().lo;
        self.is_zero() || (&self.hi - &self.lo).bits() + bits <= magnitude.bits()
    }

    /// Whether no value is an integer.
    pub fn lies_between_integers(&self) -> bool {
        let floor = &self.lo >> self.bits;
        let strictly_above = (&floor << self.bits) < self.lo;
        strictly_above && self.hi < ((floor + 1) << self.bits)
    }

    /// A double near the middle.
    pub fn midpoint(&self) -> f64 {
        exact::to_f64(&Q::new(&self.lo + &self.hi, BigInt::one() << (self.bits + 1)))
    }

    /// The end points as rationals.
    pub fn bounds(&self) -> (Q, Q) {
        let unit = BigInt::one() << self.bits;
        (Q::new(self.lo.clone(), unit.clone()), Q::new(self.hi.clone(), unit))
    }

    /// −a.
    pub fn neg(&self) -> Self {
        Self { lo: -&self.hi, hi: -&self.lo, bits: self.bits }
    }

    /// a + b.
    pub fn add(&self, other: &Self) -> Self {
        Self { lo: &self.lo + &other.lo, hi: &self.hi + &other.hi, bits: self.bits }
    }

    /// a − b.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// a·b.
    pub fn mul(&self, other: &Self) -> Self {
        count(self.hi.bits().max(other.hi.bits()), 4);
        // The signs tell which two of the four products are the ends.
        let (lo, hi) = match (self.sign(), other.sign()) {
            (1, 1) => (&self.lo * &other.lo, &self.hi * &other.hi),
            (1, -1) => (&self.hi * &other.lo, &self.lo * &other.hi),
            (-1, 1) => (&self.lo * &other.hi, &self.hi * &other.lo),
            (-1, -1) => (&self.hi * &other.hi, &self.lo * &other.lo),
            _ => {
                let (a, b) = (&self.lo * &other.hi, &self.hi * &other.lo);
                let (c, d) = (&self.lo * &other.lo, &self.hi * &other.hi);
                ((&a).min(&b).min(&c).min(&d).clone(), a.max(b).max(c).max(d))
            }
        };
        Self { lo: floor_shift(&lo, self.bits), hi: ceil_shift(&hi, self.bits), bits: self.bits }
    }

    /// 1 if no value is below zero, −1 if none is above, otherwise 0.
    fn sign(&self) -> i32 {
        i32::from(self.is_nonnegative()) - i32::from(!self.is_nonnegative() && !self.hi.is_positive())
    }

    fn square(&self) -> Self {
        let magnitude = self.abs();
        magnitude.mul(&magnitude)
    }

    /// a/b.
    pub fn div(&self, other: &Self) -> Result<Self, Fault> {
        if other.is_zero() {
            return Err(Fault::Undefined("division by zero"));
        }
        if !other.is_positive() && !other.is_negative() {
            return Err(Fault::Unknown);
        }
        count(self.hi.bits() + u64::from(self.bits), 16);
        let (mut lo, mut hi) = (None::<BigInt>, None::<BigInt>);
        for n in [&self.lo, &self.hi] {
            for d in [&other.lo, &other.hi] {
                let scaled = n << self.bits;
                let (down, up) = (scaled.div_floor(d), scaled.div_ceil(d));
                lo = Some(lo.map_or(down.clone(), |v| v.min(down)));
                hi = Some(hi.map_or(up.clone(), |v| v.max(up)));
            }
        }
        Ok(Self { lo: lo.unwrap_or_default(), hi: hi.unwrap_or_default(), bits: self.bits })
    }

    /// |a|.
    pub fn abs(&self) -> Self {
        if self.is_nonnegative() {
            self.clone()
        } else if !self.hi.is_positive() {
            self.neg()
        } else {
            Self { lo: BigInt::zero(), hi: self.hi.clone().max(-&self.lo), bits: self.bits }
        }
    }

    /// The lesser of two values.
    pub fn min(&self, other: &Self) -> Self {
        Self { lo: (&self.lo).min(&other.lo).clone(), hi: (&self.hi).min(&other.hi).clone(), bits: self.bits }
    }

    /// The greater of two values.
    pub fn max(&self, other: &Self) -> Self {
        Self { lo: (&self.lo).max(&other.lo).clone(), hi: (&self.hi).max(&other.hi).clone(), bits: self.bits }
    }

    /// The least enclosure of both.
    pub fn hull(&self, other: &Self) -> Self {
        Self { lo: (&self.lo).min(&other.lo).clone(), hi: (&self.hi).max(&other.hi).clone(), bits: self.bits }
    }

    /// √a.
    pub fn sqrt(&self) -> Result<Self, Fault> {
        if self.is_negative() {
            return Err(Fault::Undefined("square root of a negative number"));
        }
        if self.lo.is_negative() {
            return Err(Fault::Unknown);
        }
        count(self.hi.bits() + u64::from(self.bits), 16);
        let lo = (&self.lo << self.bits).sqrt();
        let scaled = &self.hi << self.bits;
        let floor = scaled.sqrt();
        let hi = if &floor * &floor == scaled { floor } else { floor + 1 };
        Ok(Self { lo, hi, bits: self.bits })
    }

    fn with_bits(&self, bits: u32) -> Self {
        if bits >= self.bits {
            let up = bits - self.bits;
            Self { lo: &self.lo << up, hi: &self.hi << up, bits }
        } else {
            let down = self.bits - bits;
            Self { lo: floor_shift(&self.lo, down), hi: ceil_shift(&self.hi, down), bits }
        }
    }

    fn shrink(&self, halvings: u32) -> Self {
        Self { lo: floor_shift(&self.lo, halvings), hi: ceil_shift(&self.hi, halvings), bits: self.bits }
    }

    fn widen(&self, by: &BigInt) -> Self {
        Self { lo: &self.lo - by, hi: &self.hi + by, bits: self.bits }
    }

    fn divided_by(&self, n: u64) -> Self {
        count(self.hi.bits(), 2);
        let n = BigInt::from(n);
        Self { lo: self.lo.div_floor(&n), hi: self.hi.div_ceil(&n), bits: self.bits }
    }

    /// The number of bits after the point.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The enclosure's width as a double.
    pub fn width(&self) -> f64 {
        let scale = -(i32::try_from(self.bits).unwrap_or(i32::MAX));
        (&self.hi - &self.lo).to_f64().unwrap_or(f64::INFINITY) * 2_f64.powi(scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(interval: &Interval, value: f64) {
        let tolerance = 1e-13 * value.abs().max(1.0);
        assert!((interval.midpoint() - value).abs() < tolerance, "{} is not {value}", interval.midpoint());
        assert!(interval.width() < tolerance.max(value.abs() * 1e-12), "width {}", interval.width());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn enclosures_agree_with_the_machine(x in -30.0_f64..30.0) {
            let q = exact::from_decimal(x).unwrap();
            let a = Interval::exact(&q, 160);
            close(&a.exp().unwrap(), x.exp());
            close(&a.sin().unwrap(), x.sin());
            close(&a.cos().unwrap(), x.cos());
            close(&a.atan(), x.atan());
            close(&a.tanh().unwrap(), x.tanh());
            close(&a.abs().add(&Interval::integer(1, 160)).ln().unwrap(), (x.abs() + 1.0).ln());
            close(&a.abs().pow(&exact::ratio(3, 2)).unwrap(), x.abs().powf(1.5));
            let unit = a.div(&Interval::integer(31, 160)).unwrap();
            close(&unit.asin().unwrap(), (x / 31.0).asin());
            close(&unit.cosh().unwrap(), (x / 31.0).cosh());
        }
    }

    #[test]
    fn known_constants_lie_inside() {
        let bits = 200;
        let pi = Interval::pi(bits);
        close(&pi, std::f64::consts::PI);
        assert!(pi.width() < 1e-55);
        let e = Interval::integer(1, bits).exp().unwrap();
        close(&e.ln().unwrap(), 1.0);
        assert!(e.ln().unwrap().sub(&Interval::integer(1, bits)).width() < 1e-50);
        close(&pi.sin().unwrap(), 0.0);
        close(&Interval::integer(-1, bits).asin().unwrap(), -std::f64::consts::FRAC_PI_2);
    }

    #[test]
    fn products_hold_those_of_all_ends() {
        let bits = 4;
        let interval = |lo: i64, hi: i64| Interval { lo: lo.into(), hi: hi.into(), bits };
        let all = || (-5..=5_i64).flat_map(|lo| (lo..=5).map(move |hi| (lo, hi)));
        for (a, b) in all() {
            for (c, d) in all() {
                let products = [a * c, a * d, b * c, b * d];
                let (least, greatest) = (products.iter().min().unwrap(), products.iter().max().unwrap());
                let expected = interval(least.div_euclid(16), -((-greatest).div_euclid(16)));
                assert_eq!(interval(a, b).mul(&interval(c, d)), expected, "[{a}, {b}]·[{c}, {d}]");
            }
        }
    }

    #[test]
    fn undefined_is_distinguished_from_unknown() {
        let zero = Interval::integer(0, 64);
        let one = Interval::integer(1, 64);
        assert!(matches!(one.div(&zero), Err(Fault::Undefined(_))));
        assert!(matches!(one.neg().ln(), Err(Fault::Undefined(_))));
        let fuzzy = Interval::exact(&exact::ratio(1, 3), 64).sub(&Interval::exact(&exact::ratio(1, 3), 64));
        assert_eq!(one.div(&fuzzy), Err(Fault::Unknown));
    }
}
