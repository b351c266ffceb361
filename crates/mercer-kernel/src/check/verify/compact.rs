//! The spectral density of a piecewise polynomial of a distance that is constant from some distance on.
//!
//! On R^d it is a positive multiple of F(w) = ∫ f(r)·r^(d−1)·Ω_d(wr) dr. As a power series in w², its coefficients are moments of f
//! and rational. In an odd dimension Ω_d is elementary, and F(w)·w^N = A₀(w) + Σ A_c(w)·cos(cw) + B_c(w)·sin(cw)
//! with a polynomial for each end c of a piece.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::piecewise::{self, Piecewise, nonnegative_between};
use super::polynomial::{self, Polynomial};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Cols, Form, Space};
use crate::check::interval::Interval;
use crate::check::steps;

/// The highest dimension with an explicit density.
const HIGHEST_DIM: usize = 41;

/// The function minus its limit, which has a density; the limit itself is a kernel if it is ≥ 0.
fn read(form: &Form, space: &Space) -> Option<(usize, Q, Piecewise)> {
    let (cols, function) = piecewise::read(form)?;
    let d = space.width(&cols).filter(|d| *d <= HIGHEST_DIM)?;
    let limit = function.limit().filter(|_| !function.ends.is_empty())?;
    let varying = function.minus(&limit);
    Some((d, limit, varying))
}

/// Accepts a form whose density is shown to be ≥ 0 at every frequency.
pub(super) fn nonnegative(form: &Form, space: &Space) -> Result<(), String> {
    let (d, limit, function) =
        read(form, space).ok_or("not a piecewise polynomial of a distance in a fixed dimension")?;
    if limit.is_negative() {
        return Err("the limit at large distances is negative".into());
    }
    // A kernel of the distance on R^(d+1) is one on R^d.
    let odd = d + (d + 1) % 2;
    if is_nonnegative(&function, odd) { Ok(()) } else { Err("the density is not shown to be ≥ 0".into()) }
}

/// Whether the density at |ω|² = y is shown to be negative.
pub(super) fn is_negative_at(form: &Form, space: &Space, y: &Q) -> bool {
    let reads_all = piecewise::read(form).is_some_and(|(cols, _)| cols.is_none());
    let value = read(form, space).and_then(|(d, _, function)| value(&function, d, y));
    reads_all && value.is_some_and(|v| v.is_negative())
}

/// The distance beyond which a form is constant.
pub(super) fn reach(form: &Form) -> Option<Q> {
    piecewise::read(form)?.1.ends.pop()
}

/// The columns, ℓ and k where −1/r·d/dr, applied k times, leaves a positive multiple of (1 − r/c)₊^ℓ. The form is then a
/// kernel on R^d exactly where that is one on R^(d+2k) (Wendland 2005, Theorem 9.6).
pub(super) fn wendland(form: &Form) -> Option<(Cols, Q, i64)> {
    let (cols, mut function) = piecewise::read(form)?;
    if function.ends.len() != 1 || function.limit()? != Q::zero() {
        return None;
    }
    let end = function.ends[0].clone();
    let line = [Q::one(), -end.recip()];
    for k in 0..20 {
        let p = &function.pieces[0];
        let (first, degree) = (p.first()?.clone(), p.len() - 1);
        let power = (0..degree).fold(vec![first.clone()], |q, _| polynomial::mul(&q, &line));
        if power == *p && first.is_positive() && degree > 0 {
            return Some((cols, int(degree as i64), k));
        }
        // p′ has no constant term, and the remainder stays continuous at the end.
        let lowered: Polynomial = p.iter().enumerate().skip(2).map(|(n, c)| -c * int(n as i64)).collect();
        if p.get(1).is_some_and(|c| !c.is_zero()) || !polynomial::at(&lowered, &end).is_zero() {
            return None;
        }
        function.pieces[0] = lowered;
    }
    None
}

fn support(f: &Piecewise) -> Q {
    f.ends.last().cloned().unwrap_or_else(Q::zero)
}

/// ∫ r^k·f(r) dr.
fn moment(f: &Piecewise, k: usize) -> Option<Q> {
    let mut sum = Q::zero();
    for (i, p) in f.pieces.iter().enumerate().take(f.ends.len()) {
        for (j, c) in p.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            let n = (k + j + 1) as i64;
            let low = if i == 0 { Q::zero() } else { exact::pow(&f.ends[i - 1], n)? };
            sum += c * (exact::pow(&f.ends[i], n)? - low) / int(n);
            exact::count(4 * exact::bits(&sum));
        }
        if steps::are_spent() {
            return None;
        }
    }
    Some(sum)
}

/// A bound of ∫ r^(d−1)·|f(r)| dr.
fn size(f: &Piecewise, d: usize) -> Option<Q> {
    let mut sum = Q::zero();
    for (p, end) in f.pieces.iter().zip(&f.ends) {
        for (j, c) in p.iter().enumerate() {
            let n = (d + j) as i64;
            sum += c.abs() * exact::pow(end, n)? / int(n);
        }
    }
    Some(sum)
}

/// The function of r/c where c is its last end: it ends at 1.
fn unscaled(f: &Piecewise) -> Option<Piecewise> {
    let reach = support(f);
    let powers = |p: &Polynomial| -> Option<Polynomial> {
        p.iter().enumerate().map(|(j, c)| Some(c * exact::pow(&reach, j as i64)?)).collect()
    };
    let pieces = f.pieces.iter().map(powers).collect::<Option<_>>()?;
    Some(Piecewise { ends: f.ends.iter().map(|e| e / &reach).collect(), pieces })
}

/// Enclosures of ∫ r^k·f(r) dr, for k and each second number after it.
struct Moments<'a> {
    f: &'a Piecewise,
    k: usize,
    ends: Vec<Interval>,
    /// The ends to the power k + 1.
    powers: Vec<Interval>,
}

impl<'a> Moments<'a> {
    fn from(k: usize, f: &'a Piecewise, bits: u32) -> Self {
        let ends: Vec<Interval> = f.ends.iter().map(|e| Interval::exact(e, bits)).collect();
        let power = |end: &Interval| (0..k).fold(end.clone(), |power, _| power.mul(end));
        Self { f, k, powers: ends.iter().map(power).collect(), ends }
    }

    fn next(&mut self) -> Interval {
        let bits = self.ends[0].bits();
        let mut sum = Interval::integer(0, bits);
        for (i, p) in self.f.pieces.iter().enumerate().take(self.ends.len()) {
            let mut high = self.powers[i].clone();
            let mut low = if i == 0 { Interval::integer(0, bits) } else { self.powers[i - 1].clone() };
            for (j, c) in p.iter().enumerate() {
                let weight = Interval::exact(&(c / int((self.k + j + 1) as i64)), bits);
                sum = sum.add(&high.sub(&low).mul(&weight));
                high = high.mul(&self.ends[i]);
                if i > 0 {
                    low = low.mul(&self.ends[i - 1]);
                }
            }
        }
        for (power, end) in self.powers.iter_mut().zip(&self.ends) {
            *power = power.mul(end).mul(end);
        }
        self.k += 2;
        sum
    }
}

/// An enclosure of a positive multiple of F at w² = y, by Σ (−y/4)^n·M_(2n+d−1)/(n!·(d/2)_n).
fn value(f: &Piecewise, d: usize, y: &Q) -> Option<Interval> {
    const BITS: u32 = 224;
    const MOST_TERMS: usize = 400;
    let half = ratio(d as i64, 2);
    let (f, y) = (unscaled(f)?, y * support(f) * support(f));
    let negligible = Interval::exact(&Q::new(BigInt::one(), BigInt::one() << (BITS - 40)), BITS);
    let mut weight = Interval::integer(1, BITS);
    let mut bound = Interval::exact(&size(&f, d)?, BITS);
    let mut sum = Interval::integer(0, BITS);
    let mut moments = Moments::from(d - 1, &f, BITS);
    for n in 0..MOST_TERMS {
        let step = &y / int(4) / (int(n as i64 + 1) * (&half + int(n as i64)));
        // From here on each term is at most half of the one before it.
        if step <= ratio(1, 2) && bound.sub(&negligible).is_negative() {
            let tail = bound.add(&bound);
            return Some(sum.add(&tail.hull(&tail.neg())));
        }
        if steps::are_spent() {
            return None;
        }
        let term = weight.mul(&moments.next());
        sum = if n % 2 == 0 { sum.add(&term) } else { sum.sub(&term) };
        let step = Interval::exact(&step, BITS);
        weight = weight.mul(&step);
        bound = bound.mul(&step);
    }
    None
}

fn is_nonnegative(f: &Piecewise, d: usize) -> bool {
    let Some(waves) = Waves::of(f, d) else { return false };
    if waves.is_trigonometric_square() {
        return true;
    }
    // A₀² ≥ K·Σ (A_c² + B_c²) and A₀ ≥ 0 from a frequency on, by Cauchy and Schwarz.
    let [constant, excess] = waves.dominance();
    let reach = support(f);
    let from = [0, 1, 2, 4, 8, 16, 32].into_iter().map(|n| int(n) / &reach).find(|w| {
        !steps::are_spent()
            && nonnegative_between(&constant, w, None)
            && nonnegative_between(&excess, w, None)
    });
    match from {
        None => false,
        Some(w) if w.is_zero() => true,
        Some(w) => is_nonnegative_up_to(f, d, &(&w * &w)),
    }
}

/// Whether F ≥ 0 for 0 ≤ w² ≤ y, by its power series with a bound on the remainder.
fn is_nonnegative_up_to(f: &Piecewise, d: usize, y: &Q) -> bool {
    let half = ratio(d as i64, 2);
    let reach = support(f);
    let series = || -> Option<Polynomial> {
        let mut series = Vec::new();
        let (mut weight, mut bound) = (Q::one(), size(f, d)?);
        for n in 0..120 {
            let step = (int(4) * int(n + 1) * (&half + int(n))).recip();
            let shrink = &step * y * &reach * &reach;
            let term = &weight * moment(f, 2 * n as usize + d - 1)?;
            series.push(if n % 2 == 0 { term } else { -term });
            weight *= step;
            bound *= &shrink;
            exact::count(exact::bits(&bound));
            if shrink <= ratio(1, 2) && bound <= ratio(1, 1 << 40) * series[0].abs() {
                series[0] -= int(2) * bound;
                return Some(series);
            }
        }
        None
    };
    series().is_some_and(|p| nonnegative_between(&p, &Q::zero(), Some(y)))
}

/// Coefficients of powers of w, negative ones among them.
type Laurent = BTreeMap<i64, Q>;

/// For each end c, the coefficients of cos(cw) and of sin(cw).
struct Waves(BTreeMap<Q, [Laurent; 2]>);

impl Waves {
    /// A positive multiple of F times a power of w, in an odd dimension.
    fn of(f: &Piecewise, d: usize) -> Option<Self> {
        let mut waves = Self(BTreeMap::new());
        if d == 1 {
            waves.integrate(f, 0, 0, &Q::one(), false)?;
            return Some(waves);
        }
        // (−1/t·d/dt)^q cos t = t^(1−2q)·(S(t)·sin t + C(t)·cos t), d = 2q + 1.
        let (mut sine, mut cosine): (Polynomial, Polynomial) = (vec![Q::one()], Vec::new());
        for q in 1..(d as i64 - 1) / 2 {
            let n = int(2 * q - 1);
            let t = |p: &[Q]| polynomial::mul(&[Q::zero(), Q::one()], p);
            // n·P − t·P′
            let lowered = |p: &[Q]| -> Polynomial {
                p.iter().enumerate().map(|(k, c)| c * (&n - int(k as i64))).collect()
            };
            let minus = |p: &[Q]| p.iter().map(|c| -c).collect::<Polynomial>();
            let next_sine = polynomial::sub(&lowered(&sine), &minus(&t(&cosine)));
            let next_cosine = polynomial::sub(&lowered(&cosine), &t(&sine));
            (sine, cosine) = (next_sine, next_cosine);
        }
        for (k, c) in sine.iter().enumerate() {
            waves.integrate(f, k + 1, k as i64, c, true)?;
        }
        for (k, c) in cosine.iter().enumerate() {
            waves.integrate(f, k + 1, k as i64, c, false)?;
        }
        Some(waves)
    }

    /// Adds factor·w^power·∫ f(r)·r^k·cos(wr) dr, or with sin. ∫ p·e^(iwr) is Σ_c e^(iwc)·Σ_j (−1)^j·Δ_c^(j)·(iw)^(−j−1), Δ_c^(j)
    /// the jump of the j-th derivative at c.
    fn integrate(&mut self, f: &Piecewise, k: usize, power: i64, factor: &Q, sine: bool) -> Option<()> {
        if factor.is_zero() {
            return Some(());
        }
        let mut lift = vec![Q::zero(); k];
        lift.push(factor.clone());
        let mut pieces: Vec<Polynomial> = f.pieces.iter().map(|p| polynomial::mul(p, &lift)).collect();
        let ends: Vec<Q> = std::iter::once(Q::zero()).chain(f.ends.iter().cloned()).collect();
        for j in 0_i64.. {
            if pieces.iter().all(|p| p.is_empty()) {
                break;
            }
            if steps::are_spent() {
                return None;
            }
            for (i, c) in ends.iter().enumerate() {
                let before = if i == 0 { Q::zero() } else { polynomial::at(&pieces[i - 1], c) };
                let jump = before - polynomial::at(&pieces[i], c);
                // (−1)^j·i^(−j−1) is −i, 1, i, −1 in turn.
                let (re, im) = [(0, -1), (1, 0), (0, 1), (-1, 0)][j as usize % 4];
                let (of_cosine, of_sine) = if sine { (im, re) } else { (re, -im) };
                let [a, b] = self.0.entry(c.clone()).or_default();
                *a.entry(power - j - 1).or_default() += &jump * int(of_cosine);
                *b.entry(power - j - 1).or_default() += &jump * int(of_sine);
            }
            for p in &mut pieces {
                *p = p.iter().enumerate().skip(1).map(|(n, c)| c * int(n as i64)).collect();
            }
        }
        self.0.values_mut().flatten().for_each(|l| l.retain(|_, c| !c.is_zero()));
        Some(())
    }

    /// Σ a_c·cos(cw) times one power of w, with Σ a_c·cos(cw) ≥ 0: a polynomial in cos(gw), g dividing all c.
    fn is_trigonometric_square(&self) -> bool {
        let mut powers = self.0.values().flat_map(|[a, _]| a.keys());
        let first = powers.next();
        let waves = || self.0.iter().filter(|(c, _)| !c.is_zero());
        if powers.any(|p| Some(p) != first) || waves().any(|(_, [_, b])| !b.is_empty()) {
            return false;
        }
        let divisor = waves().fold(Q::zero(), |g, (c, _)| common_divisor(&g, c));
        if divisor.is_zero() {
            return false;
        }
        let mut sum: Polynomial = Vec::new();
        for (c, [a, _]) in &self.0 {
            let Some(n) = (c / &divisor).to_integer().to_usize().filter(|n| *n <= 60) else { return false };
            let weight = a.values().next().cloned().unwrap_or_else(Q::zero);
            let term = polynomial::mul(&chebyshev(n), &[-weight]);
            sum = polynomial::sub(&sum, &term);
        }
        nonnegative_between(&sum, &int(-1), Some(&Q::one()))
    }

    /// A₀ and A₀² − K·Σ (A_c² + B_c²) as polynomials in w, after multiplication by one power of it.
    fn dominance(&self) -> [Polynomial; 2] {
        let lowest = self.0.values().flatten().filter_map(|l| l.keys().next()).min().copied().unwrap_or(0);
        let polynomial_of = |l: &Laurent| -> Polynomial {
            let length = l.keys().last().map_or(0, |p| (p - lowest + 1) as usize);
            let mut p = vec![Q::zero(); length];
            for (power, c) in l {
                p[(power - lowest) as usize] += c;
            }
            p
        };
        let count = int(self.0.keys().filter(|c| !c.is_zero()).count() as i64);
        let constant = self.0.get(&Q::zero()).map(|[a, _]| polynomial_of(a)).unwrap_or_default();
        let mut excess = polynomial::mul(&constant, &constant);
        for (_, pair) in self.0.iter().filter(|(c, _)| !c.is_zero()) {
            for wave in pair {
                let p = polynomial_of(wave);
                excess = polynomial::sub(
                    &excess,
                    &polynomial::mul(&polynomial::mul(&p, &p), std::slice::from_ref(&count)),
                );
            }
        }
        [constant, excess]
    }
}

/// The largest rational of which both are multiples.
fn common_divisor(a: &Q, b: &Q) -> Q {
    let below: BigInt = a.denom().lcm(b.denom());
    let whole = |q: &Q| (q * Q::from_integer(below.clone())).to_integer();
    Q::new(whole(a).gcd(&whole(b)), below)
}

/// Chebyshev's Tₙ.
fn chebyshev(n: usize) -> Polynomial {
    let (mut before, mut last) = (vec![Q::zero(), Q::one()], vec![Q::one()]);
    for _ in 0..n {
        let next = polynomial::sub(&polynomial::mul(&[Q::zero(), int(2)], &last), &before);
        (before, last) = (last, next);
    }
    last
}
