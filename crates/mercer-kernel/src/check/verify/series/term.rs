//! Terms t^m·g(t^j) with coefficients in closed form and the ratio of successive ones.

use num_traits::{One, Signed, Zero};

use super::{FARTHEST, LONGEST, Ratio};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::verify::polynomial::{self, Polynomial};

/// What g is.
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
    /// Coefficients known to be ≥ 0 and nothing else.
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

    /// A lower bound of the term at n with a sign that holds from n on.
    pub(super) fn least_forever(&self, n: usize) -> Q {
        if let (Some(Kind::Spiral { size, .. }), Some(k)) = (&self.kind, self.index(n)) {
            let bound = power(size, k) / exact::factorial(k as u64);
            return -(self.low.abs().max(self.high.abs())) * bound;
        }
        let value = self.least(&self.value(n));
        // An uncertain weight may have either sign: count it against the sum.
        if self.low.is_negative() && self.high.is_positive() { -value.abs() } else { value }
    }

    /// The coefficient of tⁿ in t^shift·g(t^step).
    pub(super) fn value(&self, n: usize) -> Q {
        let Some(k) = self.index(n) else { return Q::zero() };
        let over_factorial = |v: Q| v / exact::factorial(k as u64);
        let quarter = |v: Q| if (k / 2) % 2 == 0 { v } else { -v };
        let odd = k % 2 == 1;
        match &self.kind {
            None => {
                if k == 0 {
                    Q::one()
                } else {
                    Q::zero()
                }
            }
            Some(Kind::Exponential(rate)) => over_factorial(power(rate, k)),
            Some(Kind::Wave { rate, odd: wanted }) if odd == *wanted => {
                over_factorial(quarter(power(rate, k)))
            }
            Some(Kind::Spiral { decay, rate, odd, .. }) => {
                let (mut re, mut im) = (Q::one(), Q::zero());
                for _ in 0..k {
                    (re, im) = (&re * decay - &im * rate, &re * rate + &im * decay);
                }
                over_factorial(if *odd { im } else { re })
            }
            Some(Kind::Binomial { b, e }) => {
                (0..k).fold(Q::one(), |product, i| product * (e - int(i as i64)) * b / int(i as i64 + 1))
            }
            Some(Kind::Logarithm(b)) if k >= 1 => -power(&-b, k) / int(k as i64),
            Some(Kind::Arcsine(c)) if odd => {
                let i = (k / 2) as u64;
                exact::binomial(2 * i, i) * power(c, k) / (power(&int(4), i as usize) * int(k as i64))
            }
            Some(Kind::Arctangent(c)) if odd => quarter(power(c, k)) / int(k as i64),
            Some(Kind::Tangent(c)) if odd && k < FARTHEST => tangent_coefficient(k) * power(c, k),
            Some(_) => Q::zero(),
        }
    }

    pub(super) fn ratio(&self, class: usize, period: usize) -> Ratio {
        let steps = period / self.step;
        // k = k₀ + steps·y
        let k0 = ratio(class as i64 - self.shift as i64, self.step as i64);
        let slope = int(steps as i64);
        let plus = |i: Q| vec![&k0 + i, slope.clone()];
        let constant = |v: Q| vec![v];
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
            Some(Kind::Exponential(rate)) => {
                above = constant(power(rate, steps));
                factorials(&mut below);
            }
            // Four steps turn a wave once around, so the sign returns.
            Some(Kind::Wave { rate, .. }) => {
                above = constant(power(rate, steps));
                factorials(&mut below);
            }
            Some(Kind::Spiral { size, .. }) => {
                above = constant(power(size, steps));
                factorials(&mut below);
            }
            Some(Kind::Binomial { b, e }) => {
                for i in 0..steps {
                    let i = int(i as i64);
                    let factor = plus(&i - e).into_iter().map(|c| c * -b).collect();
                    times(&mut above, factor);
                    times(&mut below, plus(i + int(1)));
                }
            }
            Some(Kind::Logarithm(b)) => {
                above = plus(Q::zero()).into_iter().map(|c| c * power(&-b, steps)).collect();
                below = plus(int(steps as i64));
            }
            Some(Kind::Arcsine(c)) => {
                for i in (0..steps).step_by(2) {
                    let at = |o: usize| plus(int((i + o) as i64));
                    times(&mut above, at(0).into_iter().map(|v| v * c * c).collect());
                    times(&mut above, at(0));
                    times(&mut below, at(1));
                    times(&mut below, at(2));
                }
            }
            Some(Kind::Arctangent(c)) => {
                above = plus(Q::zero()).into_iter().map(|v| v * power(c, steps)).collect();
                below = plus(int(steps as i64));
            }
        }
        Ratio { above, below }
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

fn power(q: &Q, n: usize) -> Q {
    exact::pow(q, n as i64).unwrap_or_else(Q::zero)
}
