//! Spectral densities of radial functions on R^d: polynomials times exp(−a·r²), polynomials times exp(−a·r).
//!
//! Up to positive factors, with v = |ω|²/4, α = d/2 − 1 and m = (d+1)/2,
//! r^(2k)·exp(−a·r²) has density a^(−d/2−k)·k!·L_k^(α)(v/a)·exp(−v/a) and r^k·exp(−a·r) has (−∂/∂a)^k [a·(a² + |ω|²)^(−m)].

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};

use super::pattern::{multiple_of_distance, natural, sole_atom};
use super::polynomial::{self, Polynomial};
use super::unscale::unscaled;
use super::{compact, damped};
use crate::check::Dim;
use crate::check::exact::{self, Q, binomial, int, ratio};
use crate::check::form::{Atom, Cols, Form, Fun, Space};
use crate::check::interval::{Fault, Interval};

/// Coefficients of powers of r² (Gaussian) or r (exponential), by the rate a.
type Groups = BTreeMap<Q, Vec<Q>>;

/// A radial form as Σ p_a(r²)·exp(−a·r²), or as Σ p_a(r)·exp(−a·r), and a constant.
struct Radial {
    cols: Cols,
    constant: Q,
    gaussian: Groups,
    exponential: Groups,
}

fn read(form: &Form) -> Option<Radial> {
    let mut cols: Option<Cols> = None;
    let mut radial = Radial {
        cols: None,
        constant: form.constant_term(),
        gaussian: Groups::new(),
        exponential: Groups::new(),
    };
    for (m, c) in &form.without_constant().0 {
        let (mut degree, mut rate) = (0, None);
        for (atom, e) in &m.0 {
            let found = match atom {
                Atom::Distance(list) => {
                    degree = natural(e).filter(|n| *n <= 24)?;
                    list
                }
                Atom::Exp(inner) => match inner.single()? {
                    (Atom::Distance(list), k) if e.is_negative() && rate.is_none() => {
                        rate = Some((-e, natural(k)?));
                        list
                    }
                    _ => return None,
                },
                _ => return None,
            };
            if cols.as_ref().is_some_and(|c| c != found) {
                return None;
            }
            cols = Some(found.clone());
        }
        let (groups, power) = match rate.as_ref()?.1 {
            2 if degree % 2 == 0 => (&mut radial.gaussian, degree / 2),
            1 => (&mut radial.exponential, degree),
            _ => return None,
        };
        let list = groups.entry(rate?.0).or_default();
        if list.len() <= power {
            list.resize(power + 1, Q::zero());
        }
        list[power] += c;
    }
    radial.cols = cols?;
    let groups = || radial.gaussian.iter().chain(&radial.exponential);
    let bits: u64 = groups()
        .map(|(a, list)| {
            (exact::bits(a) + list.iter().map(exact::bits).max().unwrap_or(0)) * list.len() as u64
        })
        .sum();
    (bits <= exact::LARGEST_POWER).then_some(radial)
}

/// Accepts a radial form whose density is shown to be ≥ 0 at every frequency.
pub fn nonnegative(form: &Form, space: &Space) -> Result<(), String> {
    let form = &unscaled(form).ok_or("an irrational constant")?;
    exponentials(form, space)
        .or_else(|_| compact::nonnegative(form, space))
        .or_else(|_| damped::nonnegative(form, space))
        .or_else(|reason| if is_law_on_sphere(form, space) { Ok(()) } else { Err(reason) })
}

/// sinc(b·|x−z|) in up to three dimensions: the transform of the uniform law on a sphere of R³.
fn is_law_on_sphere(form: &Form, space: &Space) -> bool {
    match sole_atom(form) {
        Some((Atom::Call(Fun::Sinc, args), e)) if e.is_one() => {
            multiple_of_distance(&args[0]).and_then(|cols| space.width(&cols)).is_some_and(|d| d <= 3)
        }
        _ => false,
    }
}

fn exponentials(form: &Form, space: &Space) -> Result<(), String> {
    let radial = read(form).ok_or("not a sum of polynomials times exponentials of a distance")?;
    if radial.constant.is_negative() {
        return Err("the constant is negative".into());
    }
    let width = space.width(&radial.cols);
    let alone = |(a, c): (&Q, &Vec<Q>)| exponential_is_nonnegative(a, c, width) == Some(true);
    let together = |groups: &Groups| {
        exponentials_by_partial_sums(groups) || exponentials_together(groups, width) == Some(true)
    };
    if !radial.exponential.iter().all(alone) && !together(&radial.exponential) {
        return Err("the density of the exponential part is not shown to be ≥ 0".into());
    }
    if radial.gaussian.is_empty() {
        return Ok(());
    }
    let d = width.ok_or("the dimension is not fixed")?;
    let parts: Vec<(Q, Polynomial)> = radial
        .gaussian
        .iter()
        .map(|(a, c)| Some((a.clone(), gaussian_polynomial(a, c, d)?)))
        .collect::<Option<_>>()
        .ok_or("a coefficient is too long to hold")?;
    if parts.iter().all(|(_, p)| polynomial::nonnegative_on_half_line(p)) {
        return Ok(());
    }
    if parts.iter().all(|(_, p)| p.len() == 1) && mixture_is_nonnegative(&parts, d) {
        return Ok(());
    }
    Err("the density is not shown to be ≥ 0".into())
}

/// The distance from which on a piecewise polynomial is constant.
pub fn reach(form: &Form) -> Option<Q> {
    compact::reach(form)
}

/// Whether the density at |ω|² = 4v is shown to be negative in dimension d.
pub fn is_negative_at(form: &Form, d: usize, v: &Q) -> bool {
    let space = Space { dim: Dim::Exactly(d), domain: crate::check::Domain::All };
    let Some(form) = &unscaled(form) else { return false };
    let Some(radial) = read(form) else {
        let y = v * int(4);
        return y.is_positive()
            && (compact::is_negative_at(form, &space, &y) || damped::is_negative_at(form, &space, &y));
    };
    if space.width(&radial.cols) != Some(d) || v.is_negative() || v.is_zero() {
        return false;
    }
    const BITS: u32 = 160;
    let sum = match (radial.gaussian.is_empty(), radial.exponential.is_empty()) {
        (false, true) => radial.gaussian.iter().try_fold(Interval::integer(0, BITS), |sum, (a, c)| {
            let p = polynomial::at(&gaussian_polynomial(a, c, d).ok_or(Fault::Unknown)?, v);
            let envelope = Interval::exact(&-(v / a), BITS).exp()?;
            let scale = Interval::exact(a, BITS).pow(&ratio(-(d as i64), 2))?;
            Ok::<_, Fault>(sum.add(&Interval::exact(&p, BITS).mul(&envelope).mul(&scale)))
        }),
        (true, false) => radial.exponential.iter().try_fold(Interval::integer(0, BITS), |sum, (a, c)| {
            let q = a * a + v * int(4);
            let m = ratio(d as i64 + 1, 2);
            let parts = exponential_parts(a, c).ok_or(Fault::Unknown)?;
            let mut part = Q::zero();
            for (l, in_m) in parts.iter().enumerate() {
                part += polynomial::at(in_m, &m) * exact::pow(&q, -(l as i64)).ok_or(Fault::Unknown)?;
            }
            Ok(sum.add(&Interval::exact(&part, BITS).mul(&Interval::exact(&q, BITS).pow(&-m)?)))
        }),
        _ => return false,
    };
    sum.is_ok_and(|s| s.is_negative())
}

/// Σ c_k·a^(−k)·k!·L_k^(α)(v/a) as a polynomial in v.
fn gaussian_polynomial(a: &Q, coefficients: &[Q], d: usize) -> Option<Polynomial> {
    let alpha = ratio(d as i64, 2) - int(1);
    let mut sum = vec![Q::zero(); coefficients.len()];
    for (k, c) in coefficients.iter().enumerate() {
        let below = exact::pow(a, -(k as i64))?;
        for i in 0..=k {
            let rising = (i + 1..=k).fold(Q::one(), |p, j| p * (&alpha + int(j as i64)));
            let sign = if i % 2 == 0 { Q::one() } else { -Q::one() };
            let power = exact::pow(a, -(i as i64))?;
            sum[i] += c * &below * sign * binomial(k as u64, i as u64) * rising * power;
        }
    }
    Some(sum)
}

/// Bits after the point of the weights of a mixture.
const MIXTURE_BITS: u32 = 96;

/// Whether F(v) = Σ C_a·exp(−v/a) ≥ 0 for v ≥ 0: slowest decay first, by partial sums, else by bisection.
fn mixture_is_nonnegative(parts: &[(Q, Polynomial)], d: usize) -> bool {
    let half = ratio(-(d as i64), 2);
    // Only the ratios of weights matter: (a/a₁)^(−d/2) is rational more often than a^(−d/2).
    let Some(first_rate) = parts.last().map(|(a, _)| a.clone()) else { return false };
    let mut scaled: Vec<(Q, Interval)> = Vec::new();
    let (mut exact_partial, mut partial) = (Some(Q::zero()), Interval::integer(0, MIXTURE_BITS));
    let mut by_partial_sums = true;
    for (a, p) in parts.iter().rev() {
        let rate = a / &first_rate;
        let rational = exact::rational_power(&rate, &half).map(|w| w * &p[0]);
        let weight = match &rational {
            Some(w) => Interval::exact(w, MIXTURE_BITS),
            None => match Interval::exact(&rate, MIXTURE_BITS).pow(&half) {
                Ok(w) => w.mul(&Interval::exact(&p[0], MIXTURE_BITS)),
                Err(_) => return false,
            },
        };
        exact_partial = exact_partial.zip(rational).map(|(sum, w)| sum + w);
        partial = partial.add(&weight);
        by_partial_sums &= match &exact_partial {
            Some(sum) => !sum.is_negative(),
            None => partial.is_nonnegative(),
        };
        scaled.push((a.recip(), weight));
    }
    by_partial_sums || decaying_sum_is_nonnegative(&scaled)
}

/// Whether Σ C_b·exp(−bv) ≥ 0 for v ≥ 0, the smallest b first: from some v on the first term outweighs the others, and up to
/// there by bisection.
fn decaying_sum_is_nonnegative(terms: &[(Q, Interval)]) -> bool {
    let Some(((slowest, first), rest)) = terms.split_first() else { return false };
    if !first.is_positive() {
        return false;
    }
    let decay = |b: &Q, v: &Q| Interval::exact(&-((b - slowest) * v), MIXTURE_BITS).exp().ok();
    // G(v) = C₁ + Σ C_i·exp(−(b_i − b₁)v) has F's sign; |tail| only shrinks.
    let between = |low: &Q, high: &Q| -> Option<Interval> {
        rest.iter().try_fold(first.clone(), |sum, (b, c)| {
            Some(sum.add(&c.mul(&decay(b, high)?.hull(&decay(b, low)?))))
        })
    };
    let outweighs = |end: &Q| {
        let tail = rest.iter().try_fold(Interval::integer(0, MIXTURE_BITS), |sum, (b, c)| {
            Some(sum.add(&c.abs().mul(&decay(b, end)?)))
        });
        tail.is_some_and(|t| first.sub(&t).is_nonnegative())
    };
    let Some(end) = (0..16).map(|n| int(1 << n)).find(outweighs) else { return false };
    let mut pending = vec![(Q::zero(), end)];
    let mut work = 0;
    while let Some((low, high)) = pending.pop() {
        work += 1;
        if work > 800 {
            return false;
        }
        match between(&low, &high) {
            Some(v) if v.is_nonnegative() => {}
            Some(v) if v.is_negative() => return false,
            _ => {
                let middle = (&low + &high) / int(2);
                pending.push((low, middle.clone()));
                pending.push((middle, high));
            }
        }
    }
    true
}

/// Σ_k c_k·(−∂/∂a)^k [a·Q^(−m)] as Σ_l D_l(m)·Q^(−m−l): the D_l, polynomials in m.
fn exponential_parts(a: &Q, coefficients: &[Q]) -> Option<Vec<Polynomial>> {
    let mut total: Vec<Polynomial> = vec![Vec::new(); coefficients.len()];
    // Terms a^i·Q^(−m−l) with a polynomial in m in front.
    let mut current: BTreeMap<(i64, usize), Polynomial> = BTreeMap::from([((1, 0), vec![Q::one()])]);
    for (k, c) in coefficients.iter().enumerate() {
        if k > 0 {
            let mut next: BTreeMap<(i64, usize), Polynomial> = BTreeMap::new();
            let mut push = |key: (i64, usize), p: Polynomial| {
                let entry = next.entry(key).or_default();
                *entry = polynomial::sub(entry, &polynomial::mul(&p, &[int(-1)]));
            };
            for ((i, l), p) in &current {
                // −∂(a^i Q^(−m−l)) = −i·a^(i−1)·Q^(−m−l) + 2(m+l)·a^(i+1)·Q^(−m−l−1)
                if *i != 0 {
                    push((i - 1, *l), polynomial::mul(p, &[int(-i)]));
                }
                push((i + 1, l + 1), polynomial::mul(p, &[int(2 * *l as i64), int(2)]));
            }
            current = next;
        }
        for ((i, l), p) in &current {
            let factor = c * exact::pow(a, *i)?;
            let scaled: Polynomial = p.iter().map(|v| -(v * &factor)).collect();
            total[*l] = polynomial::sub(&total[*l], &scaled);
        }
    }
    Some(total)
}

fn exponential_is_nonnegative(a: &Q, coefficients: &[Q], width: Option<usize>) -> Option<bool> {
    let parts = exponential_parts(a, coefficients)?;
    let last = parts.len() - 1;
    let square = a * a;
    // Σ_l D_l(m)·(a² + w)^(L−l), the coefficient of each power of w a polynomial in m.
    let mut in_w: Vec<Polynomial> = vec![Vec::new(); last + 1];
    for (l, d) in parts.iter().enumerate() {
        for i in 0..=last - l {
            let factor = binomial((last - l) as u64, i as u64) * exact::pow(&square, (last - l - i) as i64)?;
            let scaled: Polynomial = d.iter().map(|v| -(v * &factor)).collect();
            in_w[i] = polynomial::sub(&in_w[i], &scaled);
        }
    }
    Some(match width {
        Some(d) => {
            let m = ratio(d as i64 + 1, 2);
            let p: Polynomial = in_w.iter().map(|c| polynomial::at(c, &m)).collect();
            polynomial::nonnegative_on_half_line(&p)
        }
        // Every d ≥ 1, that is m ≥ 1.
        None => in_w.iter().all(|c| polynomial::has_no_negative(&polynomial::shift(c, &Q::one()))),
    })
}

/// Several rates in an odd dimension: the density is a rational function of w = |ω|², its numerator a polynomial.
fn exponentials_together(groups: &Groups, width: Option<usize>) -> Option<bool> {
    let d = width.filter(|d| d % 2 == 1 && *d <= 9)?;
    let m = d.div_ceil(2);
    let order = |c: &[Q]| m + c.len() - 1;
    let power = |a: &Q, n: usize| (0..n).fold(vec![Q::one()], |p, _| polynomial::mul(&p, &[a * a, Q::one()]));
    let mut numerator: Polynomial = Vec::new();
    for (a, c) in groups {
        let mut part: Polynomial = Vec::new();
        for (l, in_m) in exponential_parts(a, c)?.iter().enumerate() {
            let factor = polynomial::at(in_m, &int(m as i64));
            let scaled: Polynomial = power(a, c.len() - 1 - l).iter().map(|v| -(v * &factor)).collect();
            part = polynomial::sub(&part, &scaled);
        }
        for (b, other) in groups.iter().filter(|(b, _)| *b != a) {
            part = polynomial::mul(&part, &power(b, order(other)));
        }
        let negated: Polynomial = part.iter().map(|v| -v).collect();
        numerator = polynomial::sub(&numerator, &negated);
    }
    Some(polynomial::nonnegative_on_half_line(&numerator))
}

/// Σ cᵢaᵢ(aᵢ² + w)^(−m): each power falls as its rate grows, so partial sums of cᵢaᵢ ≥ 0 from the slowest rate on
/// suffice for every m.
fn exponentials_by_partial_sums(groups: &Groups) -> bool {
    let mut partial = Q::zero();
    groups.iter().all(|(a, c)| {
        partial += a * &c[0];
        c.len() == 1 && !partial.is_negative()
    })
}

/// The density of a form that [`nonnegative`] accepts, up to a positive factor, in words.
pub fn describe(form: &Form, space: &Space) -> Option<String> {
    let radial = read(form)?;
    let mut parts = Vec::new();
    if let Some(d) = space.width(&radial.cols) {
        for (a, c) in &radial.gaussian {
            let inverse = exact::show(&(int(4) * a));
            let polynomial = polynomial_text(&gaussian_polynomial(a, c, d)?, "|ω|²/4");
            let scale = exact::show(a);
            parts.push(format!(
                "{scale}^(−{})·({polynomial})·exp(−|ω|²/{inverse})",
                exact::show(&ratio(d as i64, 2))
            ));
        }
    } else if !radial.gaussian.is_empty() {
        return None;
    }
    for (a, c) in &radial.exponential {
        let square = exact::show(&(a * a));
        match space.width(&radial.cols) {
            Some(d) => {
                let m = ratio(d as i64 + 1, 2);
                for (l, in_m) in exponential_parts(a, c)?.iter().enumerate() {
                    let factor = polynomial::at(in_m, &m);
                    if !factor.is_zero() {
                        let power = exact::show(&(&m + int(l as i64)));
                        parts.push(format!("({})·({square} + |ω|²)^(−{power})", exact::show(&factor)));
                    }
                }
            }
            None if c.len() == 1 => {
                parts.push(format!("({})·({square} + |ω|²)^(−(d+1)/2)", exact::show(&(a * &c[0]))));
            }
            None => return None,
        }
    }
    let constant = if radial.constant.is_zero() { "" } else { ", and the constant adds a mass at ω = 0" };
    Some(format!("its density is, up to positive factors, {}{constant}", parts.join(" + ")))
}

fn polynomial_text(p: &Polynomial, variable: &str) -> String {
    let term = |(i, c): (usize, &Q)| match i {
        0 => exact::show(c),
        1 => format!("({})·{variable}", exact::show(c)),
        _ => format!("({})·({variable})^{i}", exact::show(c)),
    };
    p.iter().enumerate().filter(|(_, c)| !c.is_zero()).map(term).collect::<Vec<_>>().join(" + ")
}
