//! Real functions in fixed point with many bits, written for these tests alone: no code in common with the library.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The reason for a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The function has no value there.
    Undefined,
    /// It is too large, or too close to a point without a value, for this arithmetic.
    Beyond,
}

pub type Value = Result<BigInt, Gap>;

/// Numbers n·2^−bits, each operation within a few units of the last bit.
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    pub bits: u32,
}

impl Fixed {
    pub fn rational(self, q: &BigRational) -> BigInt {
        (q.numer() << self.bits) / q.denom()
    }

    pub fn one(self) -> BigInt {
        BigInt::one() << self.bits
    }

    /// Results this close to zero may be zero.
    pub fn tolerance(self) -> BigInt {
        BigInt::one() << (self.bits / 2)
    }

    /// The sign, where the number is not too close to zero to tell.
    fn sign(self, a: &BigInt) -> Result<i32, Gap> {
        if a.abs() <= self.tolerance() {
            return if a.is_zero() { Ok(0) } else { Err(Gap::Beyond) };
        }
        Ok(if a.is_negative() { -1 } else { 1 })
    }

    pub fn mul(self, a: &BigInt, b: &BigInt) -> BigInt {
        (a * b) >> self.bits
    }

    pub fn div(self, a: &BigInt, b: &BigInt) -> Value {
        match self.sign(b)? {
            0 => Err(Gap::Undefined),
            _ => Ok((a << self.bits) / b),
        }
    }

    pub fn sqrt(self, a: &BigInt) -> Value {
        match self.sign(a)? {
            -1 => Err(Gap::Undefined),
            _ => Ok((a << self.bits).sqrt()),
        }
    }

    fn at(self, bits: u32, a: &BigInt, f: impl Fn(Self, &BigInt) -> BigInt) -> BigInt {
        let more = Self { bits: self.bits + bits };
        f(more, &(a << bits)) >> bits
    }

    pub fn exp(self, a: &BigInt) -> Value {
        if *a > BigInt::from(4_000) << self.bits {
            return Err(Gap::Beyond);
        }
        if *a < -(BigInt::from(self.bits) << self.bits) {
            return Ok(BigInt::zero());
        }
        // e^a = (e^(a/2^s))^(2^s)
        let s = 24;
        let size: u32 = (a.abs() >> self.bits).try_into().unwrap_or(u32::MAX);
        Ok(self.at(64 + 2 * s + 2 * size.min(4_000), a, |f, a| {
            let x = a >> s;
            let (mut term, mut sum, mut n) = (f.one(), f.one(), 1);
            while !term.is_zero() && term != -BigInt::one() {
                term = f.mul(&term, &x) / n;
                sum += &term;
                n += 1;
            }
            for _ in 0..s {
                sum = f.mul(&sum, &sum);
            }
            sum
        }))
    }

    /// 2·artanh(a/b) for a small fraction.
    fn twice_artanh(self, z: &BigInt) -> BigInt {
        let square = self.mul(z, z);
        let (mut power, mut sum, mut n) = (z.clone(), z.clone(), 3);
        while power.abs() > BigInt::one() {
            power = self.mul(&power, &square);
            sum += &power / n;
            n += 2;
        }
        sum * 2
    }

    pub fn ln(self, a: &BigInt) -> Value {
        if self.sign(a)? < 1 {
            return Err(Gap::Undefined);
        }
        Ok(self.at(64, a, |f, a| {
            // a = m·2^k with m in [1/2, 1)
            let k = i64::try_from(a.bits()).unwrap() - i64::from(f.bits);
            let m = if k >= 0 { a >> k } else { a << -k };
            let of = |m: &BigInt| f.twice_artanh(&(((m - f.one()) << f.bits) / (m + f.one())));
            of(&m) - of(&(f.one() >> 1)) * k
        }))
    }

    pub fn sin_cos(self, a: &BigInt) -> Result<(BigInt, BigInt), Gap> {
        if a.abs() > self.one() << 40 {
            return Err(Gap::Beyond);
        }
        let s = 60;
        let f = Self { bits: self.bits + 256 };
        let x: BigInt = (a << 256) >> s;
        let square = f.mul(&x, &x);
        let (mut sine, mut cosine) = (x.clone(), f.one());
        let (mut p, mut q, mut n) = (x, f.one(), 1);
        while p.abs() > BigInt::one() || q.abs() > BigInt::one() {
            q = -f.mul(&q, &square) / (n * (n + 1));
            p = -f.mul(&p, &square) / ((n + 1) * (n + 2));
            cosine += &q;
            sine += &p;
            n += 2;
        }
        for _ in 0..s {
            (sine, cosine) = (f.mul(&sine, &cosine) * 2, f.mul(&cosine, &cosine) * 2 - f.one());
        }
        Ok((sine >> 256, cosine >> 256))
    }

    pub fn atan(self, a: &BigInt) -> BigInt {
        self.at(64, a, |f, a| {
            let mut x = a.clone();
            for _ in 0..6 {
                let root = ((f.one() << f.bits) + &x * &x).sqrt();
                x = (&x << f.bits) / (f.one() + root);
            }
            let square = f.mul(&x, &x);
            let (mut power, mut sum, mut n) = (x.clone(), x, 3);
            while power.abs() > BigInt::one() {
                power = -f.mul(&power, &square);
                sum += &power / n;
                n += 2;
            }
            sum << 6
        })
    }

    pub fn pi(self) -> BigInt {
        self.atan(&self.one()) * 4
    }

    pub fn asin(self, a: &BigInt) -> Value {
        let left = self.one() - self.mul(a, a);
        match self.sign(&left) {
            Ok(-1) => Err(Gap::Undefined),
            // Both ends are reached exactly only by exact numbers.
            Ok(0) if a.abs() == self.one() => Ok(self.pi() / 2 * a.signum()),
            Ok(1) => Ok(self.atan(&((a << self.bits) / (left << self.bits).sqrt()))),
            _ => Err(Gap::Beyond),
        }
    }

    pub fn pow(self, a: &BigInt, e: &BigRational) -> Value {
        if e.is_integer() {
            let n = e.numer().abs().to_u32().ok_or(Gap::Beyond)?;
            if n > 20_000 || (a.bits().saturating_sub(self.bits.into()) + 1) * u64::from(n) > 100_000 {
                return Err(Gap::Beyond);
            }
            let (mut power, mut square, mut rest) = (self.one(), a.clone(), n);
            while rest > 0 {
                if rest % 2 == 1 {
                    power = self.mul(&power, &square);
                }
                square = self.mul(&square, &square);
                rest /= 2;
            }
            return if e.is_negative() {
                if a.is_zero() { Err(Gap::Undefined) } else { self.div(&self.one(), &power) }
            } else {
                Ok(power)
            };
        }
        match self.sign(a)? {
            -1 => Err(Gap::Undefined),
            0 if e.is_negative() => Err(Gap::Undefined),
            0 => Ok(BigInt::zero()),
            _ => self.exp(&((self.ln(a)? * e.numer()) / e.denom())),
        }
    }

    /// Whether a symmetric matrix has a direction that is negative beyond any rounding.
    pub fn is_indefinite(self, mut matrix: Vec<Vec<BigInt>>) -> bool {
        let n = matrix.len();
        let scale = matrix.iter().flatten().map(Signed::abs).max().unwrap_or_default() + self.one();
        // Half of the bits are left for what elimination loses.
        let tolerance: BigInt = scale.clone() >> (self.bits / 2);
        for k in 0..n {
            let pivot = matrix[k][k].clone();
            if pivot < -&tolerance {
                return true;
            }
            if pivot <= tolerance {
                // A principal minor of two rows: |a| ≤ √(tolerance·scale), with room.
                let room = ((&tolerance * &scale) << 8_u32).sqrt();
                if (k + 1..n).any(|j| matrix[k][j].abs() > room) {
                    return true;
                }
                continue;
            }
            // A tiny pivot magnifies rounding: the rest of the matrix says nothing any more.
            if (&pivot << (self.bits / 4)) < scale {
                return false;
            }
            for i in k + 1..n {
                for j in k + 1..n {
                    let change = (&matrix[i][k] * &matrix[k][j]) / &pivot;
                    matrix[i][j] -= change;
                }
            }
        }
        false
    }
}

#[test]
fn the_functions_are_right() {
    let f = Fixed { bits: 400 };
    let near = |value: &BigInt, expected: f64| {
        let double = BigRational::new(value.clone(), f.one()).to_f64().unwrap();
        assert!((double - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{double} is not {expected}");
    };
    for x in [-7.25, -0.5, 0.125, 0.75, 3.0, 12.5_f64] {
        let a = f.rational(&BigRational::from_float(x).unwrap());
        near(&f.exp(&a).unwrap(), x.exp());
        near(&f.sin_cos(&a).unwrap().0, x.sin());
        near(&f.sin_cos(&a).unwrap().1, x.cos());
        near(&f.atan(&a), x.atan());
        near(&f.ln(&a.abs()).unwrap(), x.abs().ln());
        near(&f.sqrt(&a.abs()).unwrap(), x.abs().sqrt());
        near(&f.asin(&(&a / 16)).unwrap(), (x / 16.0).asin());
        near(&f.pow(&a.abs(), &BigRational::new(7.into(), 3.into())).unwrap(), x.abs().powf(7.0 / 3.0));
        near(&f.pow(&a, &BigRational::from_integer((-3).into())).unwrap(), x.powi(-3));
        // e^ln a = a to nearly all bits.
        let back = f.exp(&f.ln(&a.abs()).unwrap()).unwrap() - a.abs();
        assert!(back.abs() < BigInt::one() << 20);
    }
    near(&f.pi(), std::f64::consts::PI);
    assert_eq!(f.ln(&-f.one()), Err(Gap::Undefined));
    let indefinite = vec![vec![f.one(), f.one() + 1], vec![f.one() + 1, f.one()]];
    assert!(!f.is_indefinite(indefinite));
    let tiny = f.one() >> 100;
    let indefinite = vec![vec![f.one(), f.one() + &tiny], vec![f.one() + tiny, f.one()]];
    assert!(f.is_indefinite(indefinite));
}
