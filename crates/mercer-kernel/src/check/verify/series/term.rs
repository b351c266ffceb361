//! Terms t^m·g(t^j) with coefficients in closed form and the ratio of successive ones.

use num_traits::{One, Signed, Zero};

use super::{FARTHEST, LONGEST, Ratio};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::verify::polynomial::{self, Polynomial};

/// The function g.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// e^(λu).
    Exponential(Q),
    /// cos μu, or sin μu where odd.
    Wave { rate: Q, odd: bool },
    /// e^(λu)·cos μu, or sin: bounded by (λ² + μ²)^(k/2)/k!.
    Spiral { decay: Q, rate: Q, odd: bool, size: Q },
    /// (1 + bu)^e.
    Binomial { b: Q, e: Q },
    /// log(1 + bu).
    Logarithm(Q),
    /// asin cu.
    Arcsine(Q),
    /// atan cu.
    Arctangent(Q),
    /// tan cu with c > 0: coefficients ≥ 0 without a two-term recurrence.
    Tangent(Q),
    /// Coefficients known only to be ≥ 0.
    Positive,
}

/// w·t^shift·g(t^step), the weight w known to lie in [low, high].
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) low: Q,
    pub(super) high: Q,
    pub(super) shift: usize,
    pub(super) step: usize,
    pub(super) kind: Option<Kind>,
}

impl Term {
    pub(super) fn is_active(&self, class: usize) -> bool {
        // The period is a multiple of 4·step, so membership does not change within a class.
        let behind = (class + LONGEST * self.shift * self.step).wrapping_sub(self.shift);
        if !behind.is_multiple_of(self.step) {
            return false;
        }
        let odd = (behind / self.step) % 2 == 1;
        match &self.kind {
            None => false,
            Some(Kind::Wave { odd: wanted, .. }) => odd == *wanted,
            Some(Kind::Arcsine(_) | Kind::Arctangent(_)) => odd,
            Some(_) => true,
        }
    }

    fn index(&self, n: usize) -> Option<usize> {
        let k = n.checked_sub(self.shift)?;
        (k % self.step == 0).then_some(k / self.step)
    }

    /// Whether the recurrence and the sign pattern hold from n on.
    pub(super) fn has_begun(&self, n: usize) -> bool {
        match (self.index(n), &self.kind) {
            (None, _) => false,
            (Some(k), Some(Kind::Binomial { e, .. })) => int(k as i64) > *e,
            (Some(k), Some(Kind::Logarithm(_))) => k >= 1,
            _ => true,
        }
    }

    pub(super) fn least(&self, value: &Q) -> Q {
        if value.is_negative() { &self.high * value } else { &self.low * value }
    }

    /// An upper bound of the coefficient of tⁿ; `None` if it is not known.
    pub(super) fn greatest_at(&self, n: usize) -> Option<Q> {
        if matches!(self.kind, Some(Kind::Tangent(_) | Kind::Positive)) {
            return None;
        }
        let value = self.value(n)?;
        Some(if value.is_negative() { &self.low * value } else { &self.high * value })
    }

    /// A lower bound of the term at n with a sign that holds from n on.
    pub(super) fn least_forever(&self, n: usize) -> Option<Q> {
        if let (Some(Kind::Spiral { size, .. }), Some(k)) = (&self.kind, self.index(n)) {
            let bound = exact::pow(size, k as i64)? / exact::factorial(k as u64);
            return Some(-(self.low.abs().max(self.high.abs())) * bound);
        }
        let value = self.least(&self.value(n)?);
        // An uncertain weight may have either sign: count it against the sum.
        Some(if self.low.is_negative() && self.high.is_positive() { -value.abs() } else { value })
    }

    /// The coefficient of tⁿ in t^shift·g(t^step); `None` if it is too long to hold.
    pub(super) fn value(&self, n: usize) -> Option<Q> {
        let Some(k) = self.index(n) else { return Some(Q::zero()) };
        let power = |q: &Q| exact::pow(q, k as i64);
        let over_factorial = |v: Q| v / exact::factorial(k as u64);
        let quarter = |v: Q| if (k / 2) % 2 == 0 { v } else { -v };
        let odd = k % 2 == 1;
        Some(match &self.kind {
            None => int(i64::from(k == 0)),
            Some(Kind::Exponential(rate)) => over_factorial(power(rate)?),
            Some(Kind::Wave { rate, odd: wanted }) if odd == *wanted => over_factorial(quarter(power(rate)?)),
            Some(Kind::Spiral { decay, rate, odd, .. }) => {
                exact::count(k as u64 * (exact::bits(decay) + exact::bits(rate)));
                let (mut re, mut im) = (Q::one(), Q::zero());
                for _ in 0..k {
                    (re, im) = (&re * decay - &im * rate, &re * rate + &im * decay);
                }
                over_factorial(if *odd { im } else { re })
            }
            Some(Kind::Binomial { b, e }) => {
                let bits = k as u64 * (exact::bits(b) + exact::bits(e));
                if bits > exact::LARGEST_POWER {
                    return None;
                }
                (0..k).fold(Q::one(), |product, i| {
                    exact::count(2 * i as u64 * (exact::bits(b) + exact::bits(e)));
                    exact::times(product, &((e - int(i as i64)) * b / int(i as i64 + 1)))
                })
            }
            Some(Kind::Logarithm(b)) if k >= 1 => -power(&-b)? / int(k as i64),
            Some(Kind::Arcsine(c)) if odd => {
                let i = (k / 2) as u64;
                exact::binomial(2 * i, i) * power(c)? / (exact::pow(&int(4), i as i64)? * int(k as i64))
            }
            Some(Kind::Arctangent(c)) if odd => quarter(power(c)?) / int(k as i64),
            Some(Kind::Tangent(c)) if odd && k < FARTHEST => tangent_coefficient(k) * power(c)?,
            Some(_) => Q::zero(),
        })
    }

    /// The ratio of coefficients one period apart; `None` if it is too long to hold.
    pub(super) fn ratio(&self, class: usize, period: usize) -> Option<Ratio> {
        let steps = period / self.step;
        // k = k₀ + steps·y
        let k0 = ratio(class as i64 - self.shift as i64, self.step as i64);
        let slope = int(steps as i64);
        let plus = |i: Q| vec![&k0 + i, slope.clone()];
        let constant = |v: Q| vec![v];
        let power = |q: &Q| exact::pow(q, steps as i64);
        let mut above: Polynomial = constant(Q::one());
        let mut below: Polynomial = constant(Q::one());
        let times = |p: &mut Polynomial, q: Polynomial| *p = polynomial::mul(p, &q);
        let factorials = |below: &mut Polynomial| {
            for i in 1..=steps {
                *below = polynomial::mul(below, &plus(int(i as i64)));
            }
        };
        match &self.kind {
            None | Some(Kind::Positive | Kind::Tangent(_)) => {}
            // Four steps turn a wave once around, so the sign returns.
            Some(Kind::Exponential(rate) | Kind::Wave { rate, .. } | Kind::Spiral { size: rate, .. }) => {
                above = constant(power(rate)?);
                factorials(&mut below);
            }
            Some(Kind::Binomial { b, e }) => {
                if steps as u64 * (exact::bits(b) + exact::bits(e)) > exact::LARGEST_POWER {
                    return None;
                }
                for i in 0..steps {
                    let i = int(i as i64);
                    let factor = plus(&i - e).into_iter().map(|c| c * -b).collect();
                    times(&mut above, factor);
                    times(&mut below, plus(i + int(1)));
                }
            }
            Some(Kind::Logarithm(b)) => {
                let factor = power(&-b)?;
                above = plus(Q::zero()).into_iter().map(|c| c * &factor).collect();
                below = plus(int(steps as i64));
            }
            Some(Kind::Arcsine(c)) => {
                power(c)?;
                for i in (0..steps).step_by(2) {
                    let at = |o: usize| plus(int((i + o) as i64));
                    times(&mut above, at(0).into_iter().map(|v| v * c * c).collect());
                    times(&mut above, at(0));
                    times(&mut below, at(1));
                    times(&mut below, at(2));
                }
            }
            Some(Kind::Arctangent(c)) => {
                let factor = power(c)?;
                above = plus(Q::zero()).into_iter().map(|v| v * &factor).collect();
                below = plus(int(steps as i64));
            }
        }
        Some(Ratio { above, below })
    }
}

/// The coefficient of uᵏ in tan u, from tan′ = 1 + tan².
fn tangent_coefficient(k: usize) -> Q {
    let mut t = vec![Q::zero(), Q::one()];
    while t.len() <= k {
        let n = t.len() as i64;
        let square = (0..t.len()).fold(Q::zero(), |sum, i| sum + &t[i] * &t[t.len() - 1 - i]);
        t.push(square / int(n));
    }
    t.swap_remove(k)
}
