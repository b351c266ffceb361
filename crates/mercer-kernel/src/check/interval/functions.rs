//! Elementary functions of enclosures: reduced arguments, and series with a bound on the remainder.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::{Fault, Interval};
use crate::check::exact::{self, Q};

/// The bits before the point that a power by repeated squaring may have.
const LONGEST_POWER: u64 = 20_000;

impl Interval {
    /// e^a: halve the argument below 2⁻⁸, sum the series, square back.
    pub fn exp(&self) -> Result<Self, Fault> {
        if self.is_zero() {
            return Ok(Self::integer(1, self.bits));
        }
        if self.hi > BigInt::from(2_000) << self.bits {
            return Err(Fault::Unknown);
        }
        // e^−bits is less than the last bit.
        let least = -(BigInt::from(self.bits) << self.bits);
        let lo = if self.lo < least { BigInt::zero() } else { Self::exp_point(&self.lo, self.bits).lo };
        let hi = if self.hi < least { BigInt::one() } else { Self::exp_point(&self.hi, self.bits).hi };
        Ok(Self { lo: lo.max(BigInt::zero()), hi, bits: self.bits })
    }

    fn exp_point(value: &BigInt, bits: u32) -> Self {
        let size = u32::try_from(value.bits()).unwrap_or(u32::MAX).saturating_sub(bits);
        let halvings = size + 8;
        let work = bits + 2 * halvings + 16 + if value.is_negative() { 0 } else { 2 << size.min(12) };
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

    /// sin a / a, 1 at 0.
    pub fn sinc(&self) -> Result<Self, Fault> {
        let one = Self::integer(1, self.bits);
        if self.is_zero() {
            return Ok(one);
        }
        if self.is_positive() || self.is_negative() {
            return self.sin()?.div(self);
        }
        // 1 − a²/6 ≤ sin a / a ≤ 1, and nothing below −1.
        let lowest = one.sub(&self.square().divided_by(6)).lo.max(-one.hi.clone());
        Ok(Self { lo: lowest, hi: one.hi, bits: self.bits })
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
        if exponent.is_integer() {
            return self.integer_power(exponent.numer());
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
        if self.lo.is_negative() {
            return Err(Fault::Unknown);
        }
        self.positive_power(exponent)
    }

    /// a^n by repeated squaring, by logarithms where the numbers would grow too long.
    fn integer_power(&self, n: &BigInt) -> Result<Self, Fault> {
        if n.is_negative() {
            if self.is_zero() {
                return Err(Fault::Undefined("division by zero"));
            }
            return Self::integer(1, self.bits).div(&self.integer_power(&-n)?);
        }
        let size = self.abs().hi.bits().saturating_sub(u64::from(self.bits)) + 1;
        let Some(mut rest) = n.to_u64().filter(|n| *n <= 64 || size.saturating_mul(*n) <= LONGEST_POWER)
        else {
            let magnitude = self.abs().positive_power(&Q::from_integer(n.clone()))?;
            let zero = Self::integer(0, self.bits);
            return Ok(match (n.is_even(), self.is_nonnegative(), self.is_negative()) {
                (true, _, _) | (_, true, _) => magnitude,
                (_, _, true) => magnitude.neg(),
                _ => magnitude.neg().hull(&magnitude).hull(&zero),
            });
        };
        let mut power = Self::integer(1, self.bits);
        let mut square = self.clone();
        while rest > 0 {
            if rest % 2 == 1 {
                power = power.mul(&square);
            }
            rest /= 2;
            if rest > 0 {
                square = square.square();
            }
        }
        Ok(power)
    }

    /// a^q for a ≥ 0 and q ≠ 0, by logarithms.
    fn positive_power(&self, exponent: &Q) -> Result<Self, Fault> {
        if self.lo.is_zero() && exponent.is_negative() {
            return Err(Fault::Unknown);
        }
        if self.hi.is_zero() {
            return Ok(self.clone());
        }
        let e = Self::exact(exponent, self.bits);
        let at = |x: &BigInt| e.mul(&Self::ln_point(x, self.bits)).exp();
        if self.lo.is_zero() {
            return Ok(Self { lo: BigInt::zero(), hi: at(&self.hi)?.hi, bits: self.bits });
        }
        let (a, b) = (at(&self.lo)?, at(&self.hi)?);
        Ok(Self { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), bits: self.bits })
    }
}
