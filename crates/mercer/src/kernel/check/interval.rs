//! Interval arithmetic at any precision: enclosures `[lo, hi]·2^−bits` with integer end points, rounded outwards.
//!
//! A result always contains the true value, so a sign read off an enclosure is a proof of that sign. Fixed point
//! suits quadratic forms with heavy cancellation: the precision is simply raised until the sign shows.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::exact::{self, Q};

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

    /// Whether the two enclosures have no value in common.
    pub fn is_apart(&self, other: &Self) -> bool {
        self.hi < other.lo || other.hi < self.lo
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
        let products =
            [&self.lo * &other.lo, &self.lo * &other.hi, &self.hi * &other.lo, &self.hi * &other.hi];
        let (lo, hi) =
            products.iter().fold((&products[0], &products[0]), |(lo, hi), p| (lo.min(p), hi.max(p)));
        Self { lo: floor_shift(lo, self.bits), hi: ceil_shift(hi, self.bits), bits: self.bits }
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
        let n = BigInt::from(n);
        Self { lo: self.lo.div_floor(&n), hi: self.hi.div_ceil(&n), bits: self.bits }
    }

    /// e^a: halve the argument below 2⁻⁸, sum the series, square back.
    pub fn exp(&self) -> Result<Self, Fault> {
        if self.is_zero() {
            return Ok(Self::integer(1, self.bits));
        }
        let limit = BigInt::from(800) << self.bits;
        if self.hi > limit {
            return Err(Fault::Unknown);
        }
        let lower = |end: &BigInt| {
            if *end < -&limit { Self::integer(0, self.bits) } else { Self::exp_point(end, self.bits) }
        };
        let (low, high) = (lower(&self.lo), Self::exp_point(&self.hi.clone().max(-limit.clone()), self.bits));
        Ok(Self { lo: low.lo.max(BigInt::zero()), hi: high.hi, bits: self.bits })
    }

    fn exp_point(value: &BigInt, bits: u32) -> Self {
        let size = u32::try_from(value.bits()).unwrap_or(u32::MAX).saturating_sub(bits);
        let halvings = size + 8;
        let work = bits + 2 * halvings + 16 + if value.is_negative() { 0 } else { 2 << size.min(10) };
        let x = Self::point(value.clone(), bits).with_bits(work).shrink(halvings);
        let mut term = Self::integer(1, work);
        let mut sum = term.clone();
        let mut n = 1_u64;
        loop {
            term = term.mul(&x).divided_by(n);
            sum = sum.add(&term);
            if term.abs().hi <= BigInt::one() {
                break;
            }
            n += 1;
        }
        // The remaining terms shrink by more than 2⁻⁸ each, so twice the last bound covers them.
        sum = sum.widen(&(term.abs().hi * 2 + 1));
        for _ in 0..halvings {
            sum = sum.square();
        }
        sum.with_bits(bits)
    }

    /// The natural logarithm: a = m·2^k with m near 1, ln m = 2·artanh((m−1)/(m+1)).
    pub fn ln(&self) -> Result<Self, Fault> {
        if !self.hi.is_positive() {
            return Err(Fault::Undefined("logarithm of a number that is not positive"));
        }
        if !self.lo.is_positive() {
            return Err(Fault::Unknown);
        }
        if *self == Self::integer(1, self.bits) {
            return Ok(Self::integer(0, self.bits));
        }
        Ok(Self {
            lo: Self::ln_point(&self.lo, self.bits).lo,
            hi: Self::ln_point(&self.hi, self.bits).hi,
            bits: self.bits,
        })
    }

    fn ln_point(value: &BigInt, bits: u32) -> Self {
        let work = bits + 32;
        let exponent = i64::try_from(value.bits()).unwrap_or(0) - i64::from(bits);
        let scaled = value << (work - bits);
        // m in [1/2, 1)
        let m = if exponent >= 0 {
            Self { lo: &scaled >> exponent, hi: (&scaled >> exponent) + 1, bits: work }
        } else {
            Self::point(&scaled << (-exponent), work)
        };
        let one = Self::integer(1, work);
        let z = m.sub(&one).div(&m.add(&one)).unwrap_or_else(|_| Self::integer(0, work));
        let third = Self::exact(&exact::ratio(1, 3), work);
        let ln2 = third.artanh_small();
        let sum = z.artanh_small().add(&ln2.mul(&Self::integer(exponent, work)));
        let doubled = sum.add(&sum);
        doubled.with_bits(bits)
    }

    /// artanh z for |z| ≤ 1/3.
    fn artanh_small(&self) -> Self {
        let square = self.square();
        let mut power = self.clone();
        let mut sum = self.clone();
        let mut n = 3;
        while power.abs().hi > BigInt::one() {
            power = power.mul(&square);
            sum = sum.add(&power.divided_by(n));
            n += 2;
        }
        sum.widen(&(power.abs().hi + 1))
    }

    /// (sin a, cos a).
    fn sin_cos(&self) -> Result<(Self, Self), Fault> {
        let radius = (&self.hi - &self.lo).div_ceil(&BigInt::from(2));
        let middle = (&self.lo + &self.hi).div_floor(&BigInt::from(2));
        let size = u32::try_from(middle.bits()).unwrap_or(u32::MAX).saturating_sub(self.bits);
        if size > 64 {
            return Err(Fault::Unknown);
        }
        let halvings = size + 6;
        let work = self.bits + 3 * halvings + 16;
        let x = Self::point(middle, self.bits).with_bits(work).shrink(halvings);
        let square = x.square();
        let (mut sine, mut cosine) = (x.clone(), Self::integer(1, work));
        let (mut s, mut c) = (x, Self::integer(1, work));
        let mut n = 1;
        while c.abs().hi > BigInt::one() || s.abs().hi > BigInt::one() {
            c = c.mul(&square).divided_by(n * (n + 1)).neg();
            s = s.mul(&square).divided_by((n + 1) * (n + 2)).neg();
            cosine = cosine.add(&c);
            sine = sine.add(&s);
            n += 2;
        }
        cosine = cosine.widen(&BigInt::from(2));
        sine = sine.widen(&BigInt::from(2));
        for _ in 0..halvings {
            let twice = sine.add(&sine);
            sine = twice.mul(&cosine);
            let squared = cosine.square();
            cosine = squared.add(&squared).sub(&Self::integer(1, work));
        }
        let one = BigInt::one() << self.bits;
        let finish = |v: Self| {
            let wide = v.with_bits(self.bits).widen(&(&radius + 1));
            Self { lo: wide.lo.max(-&one), hi: wide.hi.min(one.clone()), bits: self.bits }
        };
        if self.is_zero() {
            return Ok((Self::integer(0, self.bits), Self::integer(1, self.bits)));
        }
        Ok((finish(sine), finish(cosine)))
    }

    /// sin a.
    pub fn sin(&self) -> Result<Self, Fault> {
        Ok(self.sin_cos()?.0)
    }

    /// cos a.
    pub fn cos(&self) -> Result<Self, Fault> {
        Ok(self.sin_cos()?.1)
    }

    /// tan a.
    pub fn tan(&self) -> Result<Self, Fault> {
        let (sine, cosine) = self.sin_cos()?;
        sine.div(&cosine)
    }

    /// arctan a, by halving the angle four times.
    pub fn atan(&self) -> Self {
        if self.is_zero() {
            return self.clone();
        }
        Self {
            lo: Self::atan_point(&self.lo, self.bits).lo,
            hi: Self::atan_point(&self.hi, self.bits).hi,
            bits: self.bits,
        }
    }

    fn atan_point(value: &BigInt, bits: u32) -> Self {
        let work = bits + 32;
        let mut x = Self::point(value.clone(), bits).with_bits(work);
        let one = Self::integer(1, work);
        for _ in 0..4 {
            let root = one.add(&x.square()).sqrt().unwrap_or_else(|_| one.clone());
            x = x.div(&one.add(&root)).unwrap_or_else(|_| x.clone());
        }
        let square = x.square();
        let mut power = x.clone();
        let mut sum = x;
        let mut n = 3;
        while power.abs().hi > BigInt::one() {
            power = power.mul(&square).neg();
            sum = sum.add(&power.divided_by(n));
            n += 2;
        }
        sum = sum.widen(&(power.abs().hi + 1));
        let sixteen = BigInt::from(16);
        Self { lo: sum.lo * &sixteen, hi: sum.hi * sixteen, bits: work }.with_bits(bits)
    }

    /// π.
    pub fn pi(bits: u32) -> Self {
        let quarter = Self::integer(1, bits + 8).atan();
        Self { lo: quarter.lo << 2, hi: quarter.hi << 2, bits: bits + 8 }.with_bits(bits)
    }

    /// arcsin a.
    pub fn asin(&self) -> Result<Self, Fault> {
        let one = BigInt::one() << self.bits;
        if self.lo > one || self.hi < -&one {
            return Err(Fault::Undefined("arcsine of a number beyond 1"));
        }
        if self.hi > one || self.lo < -&one {
            return Err(Fault::Unknown);
        }
        let end = |value: &BigInt| {
            let half_pi = Self::pi(self.bits).shrink(1);
            if *value == one {
                half_pi
            } else if *value == -&one {
                half_pi.neg()
            } else {
                let x = Self::point(value.clone(), self.bits);
                let one = Self::integer(1, self.bits);
                match one.sub(&x.square()).sqrt().and_then(|root| x.div(&root)) {
                    Ok(tangent) => tangent.atan(),
                    Err(_) => Self { lo: half_pi.neg().lo, hi: half_pi.hi, bits: self.bits },
                }
            }
        };
        Ok(Self { lo: end(&self.lo).lo, hi: end(&self.hi).hi, bits: self.bits })
    }

    /// arccos a.
    pub fn acos(&self) -> Result<Self, Fault> {
        let sine = self.asin().map_err(|fault| match fault {
            Fault::Undefined(_) => Fault::Undefined("arccosine of a number beyond 1"),
            Fault::Unknown => Fault::Unknown,
        })?;
        Ok(Self::pi(self.bits).shrink(1).sub(&sine))
    }

    /// sinh a.
    pub fn sinh(&self) -> Result<Self, Fault> {
        let (up, down) = (self.exp()?, self.neg().exp()?);
        Ok(if self.is_zero() { self.clone() } else { up.sub(&down).shrink(1) })
    }

    /// cosh a.
    pub fn cosh(&self) -> Result<Self, Fault> {
        if self.is_zero() {
            return Ok(Self::integer(1, self.bits));
        }
        let magnitude = self.abs();
        let at = |end: &BigInt| -> Result<Self, Fault> {
            let x = Self::point(end.clone(), self.bits);
            Ok(x.exp()?.add(&x.neg().exp()?).shrink(1))
        };
        Ok(Self { lo: at(&magnitude.lo)?.lo, hi: at(&magnitude.hi)?.hi, bits: self.bits })
    }

    /// tanh a.
    pub fn tanh(&self) -> Result<Self, Fault> {
        let one = Self::integer(1, self.bits);
        let at = |end: &BigInt| -> Result<Self, Fault> {
            let x = Self::point(end.clone(), self.bits);
            let decay = x.abs().add(&x.abs()).neg().exp()?;
            let size = one.sub(&decay).div(&one.add(&decay))?;
            Ok(if end.is_negative() { size.neg() } else { size })
        };
        Ok(Self { lo: at(&self.lo)?.lo, hi: at(&self.hi)?.hi, bits: self.bits })
    }

    /// a^q for an exact exponent, as IEEE `pow` defines it: negative bases only with integer exponents.
    pub fn pow(&self, exponent: &Q) -> Result<Self, Fault> {
        if let Some(n) = exact::as_integer(exponent).filter(|n| n.abs() <= 4096) {
            let mut power = Self::integer(1, self.bits);
            let mut square = self.clone();
            let mut rest = n.unsigned_abs();
            while rest > 0 {
                if rest % 2 == 1 {
                    power = power.mul(&square);
                }
                rest /= 2;
                if rest > 0 {
                    square = square.square();
                }
            }
            return if n < 0 {
                if self.is_zero() {
                    return Err(Fault::Undefined("division by zero"));
                }
                Self::integer(1, self.bits).div(&power)
            } else {
                Ok(power)
            };
        }
        if self.is_negative() {
            return Err(Fault::Undefined("fractional power of a negative number"));
        }
        if self.is_zero() {
            return if exponent.is_negative() {
                Err(Fault::Undefined("division by zero"))
            } else {
                Ok(self.clone())
            };
        }
        if *exponent == exact::ratio(1, 2) {
            return self.sqrt();
        }
        if self.lo.is_negative() || (self.lo.is_zero() && exponent.is_negative()) {
            return Err(Fault::Unknown);
        }
        let e = Self::exact(exponent, self.bits);
        let at = |x: &BigInt| e.mul(&Self::ln_point(x, self.bits)).exp();
        if self.lo.is_zero() {
            return Ok(Self { lo: BigInt::zero(), hi: at(&self.hi)?.hi, bits: self.bits });
        }
        let (a, b) = (at(&self.lo)?, at(&self.hi)?);
        Ok(Self { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), bits: self.bits })
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
    fn undefined_is_told_from_unknown() {
        let zero = Interval::integer(0, 64);
        let one = Interval::integer(1, 64);
        assert!(matches!(one.div(&zero), Err(Fault::Undefined(_))));
        assert!(matches!(one.neg().ln(), Err(Fault::Undefined(_))));
        let fuzzy = Interval::exact(&exact::ratio(1, 3), 64).sub(&Interval::exact(&exact::ratio(1, 3), 64));
        assert_eq!(one.div(&fuzzy), Err(Fault::Unknown));
    }
}
