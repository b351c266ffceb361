//! The spectral density of polynomials of a distance times e^(−ar), cos(br) and sin(br).
//!
//! With λ = a + ib, y = |ω|² and m = (d+1)/2, r^k·e^(−λr) has the density (−∂/∂λ)^k [λ·(λ² + y)^(−m)] up to a positive factor
//! that depends on d alone. In an odd dimension the sum over all rates is a rational function of y.

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};

use super::pattern::natural;
use super::polynomial::{self, Polynomial};
use crate::check::Dim;
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};
use crate::check::interval::{Fault, Interval};
use crate::check::steps;

/// A complex number.
#[derive(Debug, Clone, Default, PartialEq)]
struct Complex {
    re: Q,
    im: Q,
}

impl Complex {
    fn real(re: Q) -> Self {
        Self { re, im: Q::zero() }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { re: &self.re + &other.re, im: &self.im + &other.im }
    }

    fn times(&self, other: &Self) -> Self {
        exact::count(exact::bits(&self.re) + exact::bits(&other.re));
        Self {
            re: &self.re * &other.re - &self.im * &other.im,
            im: &self.re * &other.im + &self.im * &other.re,
        }
    }

    fn scaled(&self, factor: &Q) -> Self {
        Self { re: &self.re * factor, im: &self.im * factor }
    }

    fn is_zero(&self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }
}

/// Σ C_k·r^k·e^(−(a+ib)r): the C_k by (a, b).
type Rates = BTreeMap<(Q, Q), Vec<Complex>>;

/// The most rates, and the highest power of r.
const MOST_RATES: usize = 12;
const HIGHEST_POWER: usize = 12;

fn plus(mut sum: Rates, other: Rates) -> Rates {
    for (rate, list) in other {
        let entry = sum.entry(rate).or_default();
        if entry.len() < list.len() {
            entry.resize(list.len(), Complex::default());
        }
        for (total, c) in entry.iter_mut().zip(list) {
            *total = total.plus(&c);
        }
    }
    sum
}

fn times(p: &Rates, q: &Rates) -> Option<Rates> {
    let mut product = Rates::new();
    for ((a, b), left) in p {
        for ((c, d), right) in q {
            let mut list = vec![Complex::default(); left.len() + right.len() - 1];
            for (i, u) in left.iter().enumerate() {
                for (j, v) in right.iter().enumerate() {
                    list[i + j] = list[i + j].plus(&u.times(v));
                }
            }
            product = plus(product, Rates::from([((a + c, b + d), list)]));
        }
    }
    (product.len() <= 4 * MOST_RATES && !steps::are_spent()).then_some(product)
}

/// C·e^(−(a+ib)r).
fn single(c: Complex, a: Q, b: Q) -> Rates {
    Rates::from([((a, b), vec![c])])
}

/// cos, sin, cosh or sinh of factor·r.
fn wave(fun: Fun, factor: &Q) -> Option<Rates> {
    let half = ratio(1, 2);
    let zero = Q::zero;
    let imaginary = |im: Q| Complex { re: Q::zero(), im };
    Some(match fun {
        Fun::Cos => plus(
            single(Complex::real(half.clone()), zero(), factor.clone()),
            single(Complex::real(half), zero(), -factor),
        ),
        // sin t = (i·e^(−it) − i·e^(it))/2
        Fun::Sin => plus(
            single(imaginary(half.clone()), zero(), factor.clone()),
            single(imaginary(-half), zero(), -factor),
        ),
        Fun::Cosh => plus(
            single(Complex::real(half.clone()), factor.clone(), zero()),
            single(Complex::real(half), -factor, zero()),
        ),
        Fun::Sinh => plus(
            single(Complex::real(-&half), factor.clone(), zero()),
            single(Complex::real(half), -factor, zero()),
        ),
        _ => return None,
    })
}

/// c where the form is c·|x−z|.
fn multiple(form: &Form, cols: &mut Option<Cols>) -> Option<Q> {
    let (m, c) = form.single()?;
    match m.single()? {
        (Atom::Distance(list), e) if e.is_one() && cols.as_ref().is_none_or(|known| known == list) => {
            *cols = Some(list.clone());
            Some(c.clone())
        }
        _ => None,
    }
}

fn of_monomial(m: &Monomial, cols: &mut Option<Cols>) -> Option<Rates> {
    let one = || single(Complex::real(Q::one()), Q::zero(), Q::zero());
    let mut product = one();
    for (atom, e) in &m.0 {
        let factor = match atom {
            Atom::Distance(list) if cols.as_ref().is_none_or(|known| known == list) => {
                *cols = Some(list.clone());
                let mut powers = vec![Complex::default(); natural(e).filter(|n| *n <= HIGHEST_POWER)?];
                powers.push(Complex::real(Q::one()));
                Rates::from([((Q::zero(), Q::zero()), powers)])
            }
            Atom::Exp(inner) => {
                let rate = -multiple(&Form::term(e.clone(), inner.clone()), cols)?;
                single(Complex::real(Q::one()), rate, Q::zero())
            }
            Atom::Call(fun, args) => {
                let factor = wave(*fun, &multiple(&args[0], cols)?)?;
                let n = natural(e).filter(|n| *n <= 6)?;
                (0..n).try_fold(one(), |power, _| times(&power, &factor))?
            }
            _ => return None,
        };
        product = times(&product, &factor)?;
    }
    Some(product)
}

/// A radial form: its width, its limit at large distances, and its rates, all of which decay.
fn read(form: &Form) -> Option<(Cols, Q, Rates)> {
    let mut cols = None;
    let mut rates = Rates::new();
    for (m, c) in &form.0 {
        let term = of_monomial(m, &mut cols)?;
        rates = plus(rates, times(&term, &single(Complex::real(c.clone()), Q::zero(), Q::zero()))?);
    }
    for list in rates.values_mut() {
        while list.last().is_some_and(Complex::is_zero) {
            list.pop();
        }
    }
    rates.retain(|_, list| !list.is_empty());
    let limit = match rates.remove(&(Q::zero(), Q::zero())).as_deref() {
        None => Q::zero(),
        Some([c]) => c.re.clone(),
        Some(_) => return None,
    };
    let fits = rates.keys().all(|(a, _)| a.is_positive())
        && rates.len() <= MOST_RATES
        && rates.values().all(|list| list.len() <= HIGHEST_POWER + 1);
    fits.then_some((cols?, limit, rates))
}

/// (−∂/∂λ)^k [λ·u^(−m)], u = λ² + y, summed with the C_k: the coefficients E_l of u^(−m−l).
fn parts(lambda: &Complex, list: &[Complex], m: &Q) -> Vec<Complex> {
    let mut powers = vec![Complex::real(Q::one())];
    for _ in 0..=list.len() {
        powers.push(lambda.times(&powers[powers.len() - 1]));
    }
    let mut total = vec![Complex::default(); list.len()];
    let mut current: BTreeMap<(usize, usize), Q> = BTreeMap::from([((1, 0), Q::one())]);
    for c in list {
        for ((i, l), factor) in &current {
            total[*l] = total[*l].plus(&c.times(&powers[*i]).scaled(factor));
        }
        let mut next: BTreeMap<(usize, usize), Q> = BTreeMap::new();
        for ((i, l), factor) in &current {
            if *i > 0 {
                *next.entry((i - 1, *l)).or_default() -= factor * int(*i as i64);
            }
            *next.entry((i + 1, l + 1)).or_default() += factor * int(2) * (m + int(*l as i64));
        }
        current = next;
    }
    total
}

/// Accepts a form whose density is shown to be ≥ 0 at every frequency.
pub(super) fn nonnegative(form: &Form, space: &Space) -> Result<(), String> {
    let (cols, limit, rates) = read(form).ok_or("not a sum of damped waves of a distance")?;
    let d = space.width(&cols).ok_or("the dimension is not fixed")?;
    if limit.is_negative() {
        return Err("the limit at large distances is negative".into());
    }
    if is_cosine_within(&rates, d) {
        return Ok(());
    }
    // A kernel of the distance on R^(d+1) is one on R^d.
    let odd = d + (d + 1) % 2;
    if odd <= 9 && numerator(&rates, odd).is_some_and(|p| polynomial::nonnegative_on_half_line(&p)) {
        return Ok(());
    }
    Err("the density is not shown to be ≥ 0".into())
}

/// c·e^(−ar)·cos(br), c > 0, with b/a ≤ tan(π/2d): the argument of λ·u^(−m) then stays within a right angle.
fn is_cosine_within(rates: &Rates, d: usize) -> bool {
    let mut entries = rates.iter();
    let (Some(((a, b), list)), Some(((a2, b2), list2)), None) =
        (entries.next(), entries.next(), entries.next())
    else {
        return false;
    };
    let is_cosine = a == a2 && *b == -b2 && list == list2 && list.len() == 1 && list[0].im.is_zero();
    if !is_cosine || !list[0].re.is_positive() {
        return false;
    }
    let b = b.abs();
    match d {
        1 => true,
        2 => b <= *a,
        3 => int(3) * &b * &b <= a * a,
        _ => {
            const BITS: u32 = 256;
            let angle = Interval::pi(BITS).div(&Interval::integer(2 * d as i64, BITS));
            let bound = angle.and_then(|t| t.tan());
            bound
                .is_ok_and(|t| t.mul(&Interval::exact(a, BITS)).sub(&Interval::exact(&b, BITS)).is_positive())
        }
    }
}

/// The density in an odd dimension times a positive polynomial in y: a polynomial in y.
fn numerator(rates: &Rates, d: usize) -> Option<Polynomial> {
    let m = d.div_ceil(2);
    let real_mul = polynomial::mul;
    let upper: Vec<_> = rates.iter().filter(|((_, b), _)| !b.is_negative()).collect();
    // |λ² + y|² to the power that the rate's terms need.
    let below = |a: &Q, b: &Q, n: usize| {
        let (re, im) = (a * a - b * b, int(2) * a * b);
        let square = vec![&re * &re + &im * &im, int(2) * &re, Q::one()];
        (0..n).fold(vec![Q::one()], |p, _| real_mul(&p, &square))
    };
    let mut sum: Polynomial = Vec::new();
    for ((a, b), list) in &upper {
        let lambda = Complex { re: a.clone(), im: b.clone() };
        let n = m + list.len() - 1;
        let mut part = above(&lambda, list, m, n);
        for ((c, e), other) in upper.iter().filter(|((c, e), _)| (c, e) != (a, b)) {
            part = real_mul(&part, &below(c, e, m + other.len() - 1));
        }
        // A rate with b > 0 stands for itself and its conjugate.
        let twice = if b.is_zero() { int(-1) } else { int(-2) };
        sum = polynomial::sub(&sum, &real_mul(&part, &[twice]));
        if steps::are_spent() || sum.len() > 120 {
            return None;
        }
    }
    Some(sum)
}

/// Re Σ_l E_l·u^(n−m−l)·ū^n, where the density is that over |u|^(2n).
fn above(lambda: &Complex, list: &[Complex], m: usize, n: usize) -> Polynomial {
    type Pair = (Polynomial, Polynomial);
    let square = lambda.times(lambda);
    let mul = |p: &Pair, q: &Pair| -> Pair {
        let minus = |v: Polynomial| v.into_iter().map(|c| -c).collect::<Polynomial>();
        (
            polynomial::sub(&polynomial::mul(&p.0, &q.0), &polynomial::mul(&p.1, &q.1)),
            polynomial::sub(&polynomial::mul(&p.0, &q.1), &minus(polynomial::mul(&p.1, &q.0))),
        )
    };
    let u: Pair = (vec![square.re.clone(), Q::one()], vec![square.im.clone()]);
    let conjugate: Pair = (u.0.clone(), vec![-square.im.clone()]);
    let one: Pair = (vec![Q::one()], vec![Q::zero()]);
    let power = |base: &Pair, n: usize| (0..n).fold(one.clone(), |p, _| mul(&p, base));
    let mut sum: Polynomial = Vec::new();
    let envelope = power(&conjugate, n);
    for (l, e) in parts(lambda, list, &int(m as i64)).iter().enumerate() {
        let term = mul(&power(&u, n - m - l), &envelope);
        let scaled = mul(&term, &(vec![e.re.clone()], vec![e.im.clone()]));
        let negated: Polynomial = scaled.0.into_iter().map(|c| -c).collect();
        sum = polynomial::sub(&sum, &negated);
    }
    sum
}

/// Whether the density at |ω|² = y > 0 is shown to be negative.
pub(super) fn is_negative_at(form: &Form, space: &Space, y: &Q) -> bool {
    match (read(form), space.dim) {
        (Some((None, _, rates)), Dim::Exactly(d)) => density_at(&rates, d, y).is_ok_and(|v| v.is_negative()),
        _ => false,
    }
}

const BITS: u32 = 256;

type Enclosed = (Interval, Interval);

fn mul_enclosed(p: &Enclosed, q: &Enclosed) -> Enclosed {
    (p.0.mul(&q.0).sub(&p.1.mul(&q.1)), p.0.mul(&q.1).add(&p.1.mul(&q.0)))
}

fn density_at(rates: &Rates, d: usize, y: &Q) -> Result<Interval, Fault> {
    let exactly = |q: &Q| Interval::exact(q, BITS);
    let m = ratio(d as i64 + 1, 2);
    let mut sum = Interval::integer(0, BITS);
    for ((a, b), list) in rates.iter().filter(|((_, b), _)| !b.is_negative()) {
        let lambda = Complex { re: a.clone(), im: b.clone() };
        let square = lambda.times(&lambda);
        let (re, im) = (&square.re + y, square.im.clone());
        // 1/u = ū/|u|², and its powers one by one; its root where d is even.
        let norm = &re * &re + &im * &im;
        let inverse = (exactly(&(&re / &norm)), exactly(&(-&im / &norm)));
        let mut power = (Interval::integer(1, BITS), Interval::integer(0, BITS));
        for _ in 0..d.div_ceil(2) {
            power = mul_enclosed(&power, &inverse);
        }
        if d.is_multiple_of(2) {
            power = mul_enclosed(&power, &root(&inverse)?);
        }
        for e in parts(&lambda, list, &m) {
            let term = mul_enclosed(&power, &(exactly(&e.re), exactly(&e.im))).0;
            sum = sum.add(&term);
            if !b.is_zero() {
                sum = sum.add(&term);
            }
            power = mul_enclosed(&power, &inverse);
        }
    }
    Ok(sum)
}

/// The root with a positive real part of a number in the lower half plane, or of a positive one.
fn root((re, im): &Enclosed) -> Result<Enclosed, Fault> {
    let half = Interval::exact(&ratio(1, 2), BITS);
    let size = re.mul(re).add(&im.mul(im)).sqrt()?;
    let real = size.add(re).mul(&half).max(&Interval::integer(0, BITS)).sqrt()?;
    let imaginary = size.sub(re).mul(&half).max(&Interval::integer(0, BITS)).sqrt()?;
    Ok((real, imaginary.neg()))
}
