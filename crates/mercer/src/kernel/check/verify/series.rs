//! Power series with coefficients ≥ 0, for every n.
//!
//! A function of t is taken apart into terms t^m·g(t^j) whose coefficients are known in closed form and satisfy a
//! two-term recurrence: exponentials and waves, (1 + bt)^e, log(1 + bt), asin, atan. On each class of n modulo a period
//! every term has a fixed sign from some index on. From an index N on, one positive term then outweighs the negative
//! ones for good where it does so at N and its ratio of successive coefficients is at least theirs: an inequality
//! between polynomials in n that is read off coefficients. Below N the coefficients are computed and compared exactly.

use std::collections::BTreeMap;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::natural;
use super::polynomial::{self, Polynomial};
use crate::kernel::check::exact::{self, Q, int, ratio};
use crate::kernel::check::form::{Atom, Form, Fun, Monomial};

/// The largest index from which dominance is tried.
const FARTHEST: usize = 160;

/// The longest period.
const LONGEST: usize = 48;

/// Where a series converges absolutely.
#[derive(Debug, Clone, Default)]
pub struct Radius(Vec<Limit>);

/// |b|·|t|^j < 1, or ≤ 1 where closed.
#[derive(Debug, Clone)]
struct Limit {
    b: Q,
    j: usize,
    closed: bool,
}

impl Radius {
    /// Whether it converges everywhere.
    pub fn is_infinite(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it converges absolutely for |t| ≤ `bound`.
    pub fn holds(&self, bound: f64) -> bool {
        let Some(bound) = Q::from_float(bound) else { return false };
        self.0.iter().all(|limit| {
            exact::pow(&bound, limit.j as i64).is_some_and(|power| {
                let size = limit.b.abs() * power;
                size < Q::one() || (limit.closed && size == Q::one())
            })
        })
    }
}

#[derive(Debug, Clone)]
enum Kind {
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
struct Term {
    low: Q,
    high: Q,
    shift: usize,
    step: usize,
    kind: Option<Kind>,
}

/// Where the power series of `function` converges, if every coefficient is shown to be ≥ 0.
///
/// # Errors
/// Why that could not be shown.
pub fn nonnegative(function: &Form) -> Result<Radius, String> {
    let mut radius = Radius::default();
    let mut terms = Vec::new();
    for (m, c) in &function.0 {
        terms.extend(take_apart(m, c, &mut radius)?);
    }
    let degree = terms.iter().filter(|t| t.kind.is_none()).map(|t| t.shift + 1).max().unwrap_or(0);
    if terms.iter().any(|t| matches!(t.kind, Some(Kind::Positive | Kind::Tangent(_))) && t.low.is_negative())
    {
        return Err("a function with unknown coefficients is subtracted".into());
    }
    let mut period = 4;
    for term in &terms {
        period = period.lcm(&(4 * term.step));
    }
    if period > LONGEST {
        return Err("the pattern of coefficients is too long".into());
    }
    for class in 0..period {
        check_class(&terms, class, period, degree)?;
    }
    Ok(radius)
}

fn check_class(terms: &[Term], class: usize, period: usize, degree: usize) -> Result<(), String> {
    let active: Vec<(&Term, Ratio)> = terms
        .iter()
        .filter(|t| t.kind.is_some() && t.is_active(class))
        .map(|t| (t, t.ratio(class, period)))
        .collect();
    let mut n = class;
    loop {
        if n >= degree && settled(&active, n, (n - class) / period) {
            return Ok(());
        }
        if lower_bound(terms, n).is_negative() {
            return Err(format!("the coefficient of t^{n} is negative"));
        }
        n += period;
        if n > FARTHEST {
            return Err("no term was shown to outweigh the others".into());
        }
    }
}

/// A lower bound of the coefficient of tⁿ, the coefficient itself where all weights are exact.
fn lower_bound(terms: &[Term], n: usize) -> Q {
    terms.iter().fold(Q::zero(), |sum, t| sum + t.least(&t.value(n)))
}

/// Whether from index n on the class' coefficients stay ≥ 0.
fn settled(active: &[(&Term, Ratio)], n: usize, y: usize) -> bool {
    let start = int(y as i64);
    let mut groups: Vec<(&Ratio, Q)> = Vec::new();
    for (term, ratio) in active {
        if matches!(term.kind, Some(Kind::Positive | Kind::Tangent(_))) {
            continue;
        }
        if !term.has_begun(n) || !ratio.is_positive_from(&start) {
            return false;
        }
        let least = term.least_forever(n);
        let bound_only = matches!(term.kind, Some(Kind::Spiral { .. }));
        match groups.iter_mut().find(|(other, _)| !bound_only && other.equals(ratio)) {
            Some((_, sum)) => *sum += least,
            None => groups.push((ratio, least)),
        }
    }
    let burden = groups.iter().filter(|g| g.1.is_negative()).fold(Q::zero(), |sum, g| sum - &g.1);
    if burden.is_zero() {
        return true;
    }
    groups.iter().any(|(strong, value)| {
        *value >= burden
            && groups.iter().filter(|g| g.1.is_negative()).all(|(weak, _)| strong.outgrows(weak, &start))
    })
}

/// The ratio of a term's coefficients one period apart, as polynomials in y where n = class + period·y.
#[derive(Debug, Clone)]
struct Ratio {
    above: Polynomial,
    below: Polynomial,
}

impl Ratio {
    fn is_positive_from(&self, start: &Q) -> bool {
        [&self.above, &self.below].into_iter().all(|p| {
            let moved = polynomial::shift(p, start);
            polynomial::has_no_negative(&moved) && moved.first().is_some_and(Signed::is_positive)
        })
    }

    fn equals(&self, other: &Self) -> bool {
        polynomial::mul(&self.above, &other.below) == polynomial::mul(&other.above, &self.below)
    }

    fn outgrows(&self, other: &Self, start: &Q) -> bool {
        let difference = polynomial::sub(
            &polynomial::mul(&self.above, &other.below),
            &polynomial::mul(&other.above, &self.below),
        );
        polynomial::has_no_negative(&polynomial::shift(&difference, start))
    }
}

impl Term {
    fn is_active(&self, class: usize) -> bool {
        // The period is a multiple of 4·step, so membership does not change within a class.
        let behind = (class + LONGEST * self.shift * self.step).wrapping_sub(self.shift);
        if behind % self.step != 0 {
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
    fn has_begun(&self, n: usize) -> bool {
        match (self.index(n), &self.kind) {
            (None, _) => false,
            (Some(k), Some(Kind::Binomial { e, .. })) => int(k as i64) > *e,
            (Some(k), Some(Kind::Logarithm(_))) => k >= 1,
            _ => true,
        }
    }

    fn least(&self, value: &Q) -> Q {
        if value.is_negative() { &self.high * value } else { &self.low * value }
    }

    /// A lower bound of the term at n with a sign that holds from n on.
    fn least_forever(&self, n: usize) -> Q {
        if let (Some(Kind::Spiral { size, .. }), Some(k)) = (&self.kind, self.index(n)) {
            let bound = power(size, k) / exact::factorial(k as u64);
            return -(self.low.abs().max(self.high.abs())) * bound;
        }
        let value = self.least(&self.value(n));
        // An uncertain weight may have either sign: count it against the sum.
        if self.low.is_negative() && self.high.is_positive() { -value.abs() } else { value }
    }

    /// The coefficient of tⁿ in t^shift·g(t^step).
    fn value(&self, n: usize) -> Q {
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

    fn ratio(&self, class: usize, period: usize) -> Ratio {
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

/// c·t^j as (c, j), c rational.
fn linear(form: &Form) -> Option<(Q, usize)> {
    let (m, c) = form.single()?;
    match m.single()? {
        (Atom::Var, e) => Some((c.clone(), natural(e).filter(|j| (1..=6).contains(j))?)),
        _ => None,
    }
}

/// cos(c·t^j) as (c, j).
fn log_cosine(form: &Form) -> Option<(Q, usize)> {
    match form.single()? {
        (m, one) if one.is_one() => match m.single()? {
            (Atom::Call(Fun::Cos, args), e) if e.is_one() => linear(&args[0]),
            _ => None,
        },
        _ => None,
    }
}

/// 1 + b·t^j as (b, j).
fn affine(form: &Form) -> Option<(Q, usize)> {
    if !form.constant_term().is_one() {
        return None;
    }
    linear(&form.without_constant())
}

/// The terms of c·m, m a product of powers of t and functions of t.
fn take_apart(m: &Monomial, c: &Q, radius: &mut Radius) -> Result<Vec<Term>, String> {
    let (variable, constant) = m.split(|a| a.dependence().var);
    let (mut low, mut high) = weight(&constant, c)?;
    let mut shift = 0;
    let mut waves = Waves::one();
    let mut step = None;
    let mut other = None;
    for (atom, e) in &variable.0 {
        let unsupported =
            || format!("the coefficients of {} are not known", Form::term(Q::one(), variable.clone()));
        let mut wave = |kind: Option<Fun>, arg: &Form, count: &Q| -> Result<(), String> {
            let (rate, j) = linear(arg).ok_or_else(unsupported)?;
            if step.is_some_and(|s| s != j) {
                return Err(unsupported());
            }
            step = Some(j);
            match kind {
                None => waves = waves.times_exponential(&rate),
                Some(fun) => {
                    let count = natural(count).filter(|n| *n <= 24).ok_or_else(unsupported)?;
                    for _ in 0..count {
                        waves = waves.times(fun, &rate);
                    }
                }
            }
            Ok(())
        };
        match atom {
            Atom::Var => shift = natural(e).filter(|n| *n <= 120).ok_or_else(unsupported)?,
            Atom::Exp(inner) => match linear(&Form::term(e.clone(), inner.clone())) {
                Some(_) => wave(None, &Form::term(e.clone(), inner.clone()), &Q::one())?,
                None if grows(inner, e) && other.is_none() => other = Some((Kind::Positive, 1)),
                None => return Err(unsupported()),
            },
            Atom::Call(fun @ (Fun::Sin | Fun::Cos | Fun::Sinh | Fun::Cosh), args) if e.is_positive() => {
                wave(Some(*fun), &args[0], e)?;
            }
            _ if other.is_some() => return Err(unsupported()),
            // −log cos has the derivative tan, so it and sec^a = exp(−a·log cos) have coefficients ≥ 0.
            Atom::Call(Fun::Cos, args) => {
                let (c, j) = linear(&args[0]).ok_or_else(unsupported)?;
                radius.0.push(Limit { b: c * ratio(100, 157), j, closed: false });
                other = Some((Kind::Positive, j));
            }
            Atom::Call(Fun::Log, args) if e.is_one() && log_cosine(&args[0]).is_some() => {
                let (c, j) = log_cosine(&args[0]).ok_or_else(unsupported)?;
                radius.0.push(Limit { b: c * ratio(100, 157), j, closed: false });
                (low, high) = (-high, -low);
                other = Some((Kind::Positive, j));
            }
            Atom::Power(base) => {
                let (b, j) = affine(base).ok_or_else(unsupported)?;
                radius.0.push(Limit { b: b.clone(), j, closed: e.is_positive() });
                other = Some((Kind::Binomial { b, e: e.clone() }, j));
            }
            Atom::Call(Fun::Log, args) if e.is_one() => {
                let (b, j) = affine(&args[0]).ok_or_else(unsupported)?;
                radius.0.push(Limit { b: b.clone(), j, closed: false });
                other = Some((Kind::Logarithm(b), j));
            }
            Atom::Call(fun @ (Fun::Asin | Fun::Atan | Fun::Tan), args) if e.is_one() => {
                let (c, j) = linear(&args[0]).ok_or_else(unsupported)?;
                let (kind, b) = match fun {
                    Fun::Asin => (Kind::Arcsine(c.clone()), c),
                    Fun::Atan => (Kind::Arctangent(c.clone()), c),
                    // tan has coefficients ≥ 0 (Euler's zigzag numbers) and its first pole at π/2 > 1.57.
                    _ if c.is_positive() => (Kind::Tangent(c.clone()), c * ratio(100, 157)),
                    _ => return Err(unsupported()),
                };
                radius.0.push(Limit { b, j, closed: matches!(fun, Fun::Asin) });
                other = Some((kind, j));
            }
            _ => return Err(unsupported()),
        }
    }
    let term = |low: Q, high: Q, step: usize, kind: Option<Kind>| Term { low, high, shift, step, kind };
    match (other, step) {
        (Some(_), Some(_)) => Err("a product of two functions with known coefficients".into()),
        (Some((kind, j)), None) => Ok(vec![term(low, high, j, Some(kind))]),
        (None, None) => Ok(vec![term(low, high, 1, None)]),
        (None, Some(j)) => Ok(waves
            .into_kinds()
            .into_iter()
            .map(|(w, kind)| {
                let (a, b) = (&low * &w, &high * &w);
                let (a, b) = if a <= b { (a, b) } else { (b, a) };
                term(a, b, if kind.is_some() { j } else { 1 }, kind)
            })
            .collect()),
    }
}

/// Whether e^(e·m) is e^(c·t^j) with an irrational c > 0.
fn grows(m: &Monomial, e: &Q) -> bool {
    let (variable, constant) = m.split(|a| a.dependence().var);
    let power = matches!(variable.single(), Some((Atom::Var, k)) if natural(k).is_some());
    let factor = Form::term(e.clone(), constant);
    power && factor.enclose(None, 128).is_ok_and(|v| v.is_positive())
}

fn weight(constant: &Monomial, c: &Q) -> Result<(Q, Q), String> {
    if constant.0.is_empty() {
        return Ok((c.clone(), c.clone()));
    }
    let value = Form::term(c.clone(), constant.clone()).enclose(None, 256);
    value.map(|v| v.bounds()).map_err(|_| "a constant has no known value".into())
}

/// A sum of e^(λu)·cos μu and e^(λu)·sin μu: (λ, μ, odd) with its weight.
#[derive(Debug, Clone)]
struct Waves(BTreeMap<(Q, Q, bool), Q>);

impl Waves {
    fn one() -> Self {
        Self(BTreeMap::from([((Q::zero(), Q::zero(), false), Q::one())]))
    }

    fn push(&mut self, decay: Q, rate: Q, odd: bool, weight: Q) {
        let (rate, weight) =
            if rate.is_negative() { (-rate, if odd { -weight } else { weight }) } else { (rate, weight) };
        if odd && rate.is_zero() {
            return;
        }
        *self.0.entry((decay, rate, odd)).or_insert_with(Q::zero) += weight;
    }

    fn times_exponential(&self, by: &Q) -> Self {
        let mut product = Self(BTreeMap::new());
        for ((decay, rate, odd), w) in &self.0 {
            product.push(decay + by, rate.clone(), *odd, w.clone());
        }
        product
    }

    fn times(&self, fun: Fun, by: &Q) -> Self {
        let mut product = Self(BTreeMap::new());
        for ((decay, rate, odd), w) in &self.0 {
            let half = w / int(2);
            let (sum, difference) = (rate + by, rate - by);
            match (fun, *odd) {
                (Fun::Cosh | Fun::Sinh, _) => {
                    product.push(decay + by, rate.clone(), *odd, half.clone());
                    product.push(decay - by, rate.clone(), *odd, if fun == Fun::Cosh { half } else { -half });
                }
                (Fun::Cos, _) => {
                    product.push(decay.clone(), sum, *odd, half.clone());
                    product.push(decay.clone(), difference, *odd, half);
                }
                (_, false) => {
                    product.push(decay.clone(), sum, true, half.clone());
                    product.push(decay.clone(), difference, true, -half);
                }
                (_, true) => {
                    product.push(decay.clone(), difference, false, half.clone());
                    product.push(decay.clone(), sum, false, -half);
                }
            }
        }
        product
    }

    fn into_kinds(self) -> Vec<(Q, Option<Kind>)> {
        self.0
            .into_iter()
            .filter(|(_, w)| !w.is_zero())
            .map(|((decay, rate, odd), w)| {
                let kind = match (decay.is_zero(), rate.is_zero()) {
                    (true, true) => None,
                    (false, true) => Some(Kind::Exponential(decay)),
                    (true, false) => Some(Kind::Wave { rate, odd }),
                    (false, false) => {
                        // A rational above √(λ² + μ²): a few Newton steps from above stay above.
                        let square = &decay * &decay + &rate * &rate;
                        let mut size = decay.abs() + rate.abs();
                        for _ in 0..3 {
                            size = (&size + &square / &size) / int(2);
                        }
                        Some(Kind::Spiral { decay, rate, odd, size })
                    }
                };
                (w, kind)
            })
            .collect()
    }
}
