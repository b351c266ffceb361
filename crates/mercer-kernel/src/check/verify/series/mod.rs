//! Power series with coefficients ≥ 0, for every n.
//!
//! A function of t is decomposed into terms t^m·g(t^j) whose coefficients are known in closed form and satisfy a
//! two-term recurrence: exponentials and waves, (1 + bt)^e, log(1 + bt), asin, atan. On each class of n modulo a period
//! every term has a fixed sign from some index on. If one positive term outweighs the negative ones at an index N, and its
//! ratio of successive coefficients is at least theirs for all n ≥ N, it outweighs them for all n ≥ N. The ratios give an
//! inequality between polynomials in n, decided by their coefficients. Below N the coefficients are computed and compared exactly.

mod decompose;
mod term;
mod waves;

use std::collections::BTreeMap;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::polynomial::{self, Polynomial};
use crate::check::exact::{self, Q, int};
use crate::check::form::Form;
use crate::check::steps;
use decompose::decompose;
use term::{Kind, Term};

/// The largest index from which dominance is tried.
const FARTHEST: usize = 160;

/// The longest period.
const LONGEST: usize = 48;

/// The region of absolute convergence of a series.
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

    /// Whether it is known to converge absolutely for |t| ≤ `bound`.
    pub fn holds(&self, bound: &Q) -> bool {
        self.0.iter().all(|limit| {
            exact::pow(bound, limit.j as i64).is_some_and(|power| {
                let size = limit.b.abs() * power;
                size < Q::one() || (limit.closed && size == Q::one())
            })
        })
    }
}

/// Whether the coefficient of tⁿ in the power series of `function` is shown to be negative.
pub fn is_negative_at(function: &Form, n: usize) -> bool {
    let mut sum = Q::zero();
    for (m, c) in &function.0 {
        let Ok(terms) = decompose(m, c, &mut Radius::default()) else { return false };
        for term in terms {
            match term.greatest_at(n) {
                Some(value) => sum += value,
                None => return false,
            }
        }
    }
    sum.is_negative()
}

/// The region of convergence of the power series of `function`, if every coefficient is shown to be ≥ 0.
///
/// # Errors
/// Why that could not be shown.
pub fn nonnegative(function: &Form) -> Result<Radius, String> {
    let mut radius = Radius::default();
    let mut terms = Vec::new();
    for (m, c) in &function.0 {
        terms.extend(decompose(m, c, &mut radius)?);
    }
    let (powers, terms): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(|t| t.kind.is_none());
    let mut polynomial: BTreeMap<usize, Q> = BTreeMap::new();
    for term in powers {
        *polynomial.entry(term.shift).or_default() += term.low;
    }
    // Terms ≥ 0 beyond the last negative one only help.
    let degree = polynomial.iter().rev().find(|(_, c)| c.is_negative()).map_or(0, |(n, _)| n + 1);
    if terms.is_empty() {
        return if degree == 0 {
            Ok(radius)
        } else {
            Err(format!("the coefficient of t^{} is negative", degree - 1))
        };
    }
    if degree > FARTHEST {
        return Err(format!("the coefficient of t^{} is not known to be ≥ 0", degree - 1));
    }
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
        check_class(&terms, &polynomial, (class, period), degree)?;
    }
    Ok(radius)
}

fn check_class(
    terms: &[Term],
    polynomial: &BTreeMap<usize, Q>,
    (class, period): (usize, usize),
    degree: usize,
) -> Result<(), String> {
    let too_long = || "a coefficient is too long to hold".to_string();
    let active: Vec<(&Term, Ratio)> = terms
        .iter()
        .filter(|t| t.is_active(class))
        .map(|t| Some((t, t.ratio(class, period)?)))
        .collect::<Option<_>>()
        .ok_or_else(too_long)?;
    let mut n = class;
    loop {
        if n >= degree && settled(&active, n, (n - class) / period) {
            return Ok(());
        }
        let least = terms.iter().try_fold(polynomial.get(&n).cloned().unwrap_or_default(), |sum, t| {
            Some(sum + t.least(&t.value(n)?))
        });
        if least.ok_or_else(too_long)?.is_negative() {
            return Err(format!("the coefficient of t^{n} is negative"));
        }
        n += period;
        if n > FARTHEST || steps::are_spent() {
            return Err("no term was shown to outweigh the others".into());
        }
    }
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
        let Some(least) = term.least_forever(n) else { return false };
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
    if let [(weak, debt)] = groups.iter().filter(|g| g.1.is_negative()).collect::<Vec<_>>().as_slice() {
        let debt = -debt;
        if groups
            .iter()
            .any(|(strong, value)| !value.is_negative() && stays_above(strong, value, weak, &debt, &start))
        {
            return true;
        }
    }
    groups.iter().any(|(strong, value)| {
        *value >= burden
            && groups.iter().filter(|g| g.1.is_negative()).all(|(weak, _)| strong.outgrows(weak, &start))
    })
}

/// Whether D stays at or above E because D/E = (α + βy)/(γ + y).
///
/// The identity holds if the right-hand side satisfies the recurrence of the quotient and has its initial value; D ≥ E is then
/// an inequality between linear functions.
fn stays_above(strong: &Ratio, value: &Q, weak: &Ratio, debt: &Q, start: &Q) -> bool {
    if debt.is_zero() {
        return false;
    }
    let (p, q) = (polynomial::mul(&strong.above, &weak.below), polynomial::mul(&strong.below, &weak.above));
    let p = polynomial::shift(&p, start);
    let q = polynomial::shift(&q, start);
    let step = |y: i64| {
        let below = polynomial::at(&q, &int(y));
        if below.is_zero() { None } else { Some(polynomial::at(&p, &int(y)) / below) }
    };
    let r0 = value / debt;
    let (Some(s0), Some(s1)) = (step(0), step(1)) else { return false };
    let r1 = &r0 * s0;
    let r2 = &r1 * s1;
    // α = γr₀, α + β = (γ+1)r₁, α + 2β = (γ+2)r₂
    let bend = &r2 - int(2) * &r1 + &r0;
    if bend.is_zero() {
        return false;
    }
    let gamma = int(2) * (&r1 - &r2) / bend;
    let alpha = &gamma * &r0;
    let beta = (&gamma + int(1)) * &r1 - &alpha;
    let (above, below) = (vec![alpha.clone(), beta.clone()], vec![gamma.clone(), Q::one()]);
    let next = |line: &[Q]| polynomial::shift(line, &Q::one());
    let left = polynomial::mul(&polynomial::mul(&next(&above), &below), &q);
    let right = polynomial::mul(&polynomial::mul(&above, &next(&below)), &p);
    let difference = polynomial::sub(&left, &right);
    gamma.is_positive()
        && difference.iter().all(Zero::is_zero)
        && polynomial::has_no_negative(&polynomial::sub(&above, &below))
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
