//! Bounds of forms over a domain: rational numbers, rounded outwards wherever they are rounded.

use std::cell::RefCell;
use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::rewrite;
use crate::check::Domain;
use crate::check::exact::{self, Q, as_integer, int, ratio};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};
use crate::check::interval::{Fault, Interval};

/// An interval that contains all values; `None` means no bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// A lower bound.
    pub lo: Option<Q>,
    /// An upper bound.
    pub hi: Option<Q>,
}

thread_local! {
    static KNOWN: RefCell<BTreeMap<Form, Vec<(Space, Range)>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets the bounds of the last question.
pub(crate) fn forget() {
    KNOWN.take();
}

/// Bits to which a bound is rounded once it has grown longer than twice that.
const BITS: u64 = 160;

/// The number rounded to [`BITS`] significant bits where it is much longer, up or down.
fn short(q: Q, up: bool) -> Q {
    let (n, d) = (q.numer().bits(), q.denom().bits());
    if n.max(d) <= 2 * BITS {
        return q;
    }
    exact::count(n.max(d));
    // q = n/d has about n − d bits before the point.
    let after = BITS as i64 - (n as i64 - d as i64);
    let (scaled, unit) = if after >= 0 {
        (q.numer() << after, q.denom().clone())
    } else {
        (q.numer().clone(), q.denom() << -after)
    };
    let rounded = if up { scaled.div_ceil(&unit) } else { scaled.div_floor(&unit) };
    let power = BigInt::one() << after.unsigned_abs();
    if after >= 0 { Q::new(rounded, power) } else { Q::from_integer(rounded * power) }
}

/// The product of two bounds, of which none is an infinity; an infinity times zero is zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Below,
    At(Q),
    Above,
}

impl End {
    fn sign(&self) -> i32 {
        match self {
            Self::Below => -1,
            Self::Above => 1,
            Self::At(q) => i32::from(q.is_positive()) - i32::from(q.is_negative()),
        }
    }

    fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::At(a), Self::At(b)) => Self::At(a * b),
            _ => match self.sign() * other.sign() {
                0 => Self::At(Q::zero()),
                1 => Self::Above,
                _ => Self::Below,
            },
        }
    }
}

impl Range {
    /// No bound at all.
    pub const EVERYTHING: Self = Self { lo: None, hi: None };

    pub(super) fn new(lo: Q, hi: Q) -> Self {
        Self { lo: Some(lo), hi: Some(hi) }
    }

    pub(super) fn point(q: &Q) -> Self {
        Self::new(q.clone(), q.clone())
    }

    pub(super) fn at_least(lo: Q) -> Self {
        Self { lo: Some(lo), hi: None }
    }

    /// Whether no value is below zero.
    pub fn is_nonnegative(&self) -> bool {
        self.lo.as_ref().is_some_and(|lo| !lo.is_negative())
    }

    /// Whether every value is above zero.
    pub fn is_positive(&self) -> bool {
        self.lo.as_ref().is_some_and(Signed::is_positive)
    }

    /// Whether no value is zero.
    pub fn excludes_zero(&self) -> bool {
        self.is_positive() || self.hi.as_ref().is_some_and(Signed::is_negative)
    }

    /// Whether every value lies between two numbers.
    pub fn is_within(&self, low: &Q, high: &Q) -> bool {
        self.lo.as_ref().is_some_and(|lo| lo >= low) && self.hi.as_ref().is_some_and(|hi| hi <= high)
    }

    /// Bounds of a form on a space, wherever it has a value. They are kept until [`forget`].
    pub fn of(form: &Form, space: &Space) -> Self {
        let known = KNOWN.with_borrow(|known| {
            known
                .get(form)
                .and_then(|list| list.iter().find(|(s, _)| s == space).map(|(_, range)| range.clone()))
        });
        known.unwrap_or_else(|| {
            let range = Self::computed(form, space);
            KNOWN.with_borrow_mut(|known| {
                known.entry(form.clone()).or_default().push((*space, range.clone()));
            });
            range
        })
    }

    fn computed(form: &Form, space: &Space) -> Self {
        let direct = of_sum(form, space);
        // ⟨x,z⟩ = (|x|² + |z|² − |x−z|²)/2 often gives bounds that the original form does not.
        match rewrite::through_distance(form, space) {
            Some(other) => direct.intersect(&of_sum(&other, space)),
            None => direct,
        }
    }

    pub(super) fn intersect(&self, other: &Self) -> Self {
        let lo = self.lo.clone().max(other.lo.clone());
        let hi = match (&self.hi, &other.hi) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Self { lo, hi }
    }

    fn ends(&self) -> [End; 2] {
        [self.lo.clone().map_or(End::Below, End::At), self.hi.clone().map_or(End::Above, End::At)]
    }

    fn between(lo: End, hi: End) -> Self {
        let lo = if let End::At(q) = lo { Some(short(q, false)) } else { None };
        let hi = if let End::At(q) = hi { Some(short(q, true)) } else { None };
        Self { lo, hi }
    }

    pub(super) fn neg(&self) -> Self {
        Self { lo: self.hi.as_ref().map(|q| -q), hi: self.lo.as_ref().map(|q| -q) }
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let sum = |a: &Option<Q>, b: &Option<Q>| a.as_ref().zip(b.as_ref()).map(|(a, b)| a + b);
        Self {
            lo: sum(&self.lo, &other.lo).map(|q| short(q, false)),
            hi: sum(&self.hi, &other.hi).map(|q| short(q, true)),
        }
    }

    pub(super) fn mul(&self, other: &Self) -> Self {
        let mut products: Vec<End> =
            self.ends().iter().flat_map(|a| other.ends().map(|b| a.times(&b))).collect();
        products.sort();
        let (lo, hi) = (products.remove(0), products.pop().unwrap_or(End::Above));
        Self::between(lo, hi)
    }

    pub(super) fn abs(&self) -> Self {
        if self.is_nonnegative() {
            return self.clone();
        }
        let flipped = self.neg();
        if flipped.is_nonnegative() {
            return flipped;
        }
        Self { lo: Some(Q::zero()), hi: self.hi.clone().zip(flipped.hi).map(|(a, b)| a.max(b)) }
    }

    pub(super) fn recip(&self) -> Self {
        let inverse = |end: &Option<Q>| end.as_ref().map_or_else(Q::zero, Q::recip);
        if self.excludes_zero() {
            return Self::new(inverse(&self.hi), inverse(&self.lo));
        }
        if self.is_nonnegative() {
            return match self.hi.as_ref().filter(|hi| hi.is_positive()) {
                Some(hi) => Self::at_least(hi.recip()),
                None => Self::at_least(Q::zero()),
            };
        }
        Self::EVERYTHING
    }

    pub(super) fn power(&self, e: &Q) -> Self {
        if e.is_negative() {
            return self.power(&-e).recip();
        }
        if e.is_one() || e.is_zero() {
            return if e.is_one() { self.clone() } else { Self::point(&Q::one()) };
        }
        if e.is_integer() && e.numer().is_odd() {
            let positive = Self { lo: self.lo.clone(), hi: self.hi.clone() };
            let end = |q: &Q, up: bool| -> Option<Q> {
                if q.is_negative() { power_bound(&-q, e, !up).map(|v| -v) } else { power_bound(q, e, up) }
            };
            return Self {
                lo: positive.lo.and_then(|q| end(&q, false)),
                hi: positive.hi.and_then(|q| end(&q, true)),
            };
        }
        // A fractional power has values only where its base is ≥ 0.
        let base = if e.is_integer() { self.abs() } else { self.intersect(&Self::at_least(Q::zero())) };
        let (lo, hi) = (base.lo.unwrap_or_else(Q::zero), base.hi);
        Self {
            lo: power_bound(&lo, e, false).or_else(|| Some(Q::zero())),
            hi: hi.and_then(|q| power_bound(&q.max(Q::zero()), e, true)),
        }
    }

    /// The image under a rising function, from enclosures of its values at the ends and its limits beyond.
    fn rising(
        &self,
        f: impl Fn(&Interval) -> Result<Interval, Fault>,
        low: Option<Q>,
        high: Option<Q>,
    ) -> Self {
        let at = |q: &Q| f(&Interval::exact(q, FIXED)).ok().map(|v| v.bounds());
        Self {
            lo: self.lo.as_ref().map_or(low.clone(), |q| at(q).map(|b| b.0).max(low.clone())),
            hi: match &self.hi {
                None => high,
                Some(q) => match (at(q).map(|b| b.1), high) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                },
            },
        }
    }

    pub(super) fn exp(&self) -> Self {
        Self {
            lo: Some(self.lo.as_ref().and_then(|q| exponential(q, false)).unwrap_or_else(Q::zero)),
            hi: self.hi.as_ref().and_then(|q| exponential(q, true)),
        }
    }

    fn ln(&self) -> Self {
        let at = |q: &Q, up: bool| logarithm(q, up);
        Self {
            lo: self.lo.as_ref().filter(|q| q.is_positive()).and_then(|q| at(q, false)),
            hi: self.hi.as_ref().filter(|q| q.is_positive()).and_then(|q| at(q, true)),
        }
    }
}

/// Bits after the point for functions whose size does not matter.
const FIXED: u32 = 192;

/// A bound of e^q; none above where it is too large.
fn exponential(q: &Q, up: bool) -> Option<Q> {
    if q.is_zero() {
        return Some(Q::one());
    }
    if *q > int(700) {
        return if up { None } else { exponential(&int(700), false) };
    }
    if *q < int(-1_400) {
        return if up { exponential(&int(-1_400), true) } else { Some(Q::zero()) };
    }
    // e^q for negative q through its reciprocal: the relative precision stays.
    if q.is_negative() {
        let value = if *q < int(-700) {
            let half = exponential(&(q / int(2)), up)?;
            &half * &half
        } else {
            exponential(&-q, !up)?.recip()
        };
        return Some(short(value, up));
    }
    let (low, high) = Interval::exact(q, FIXED).exp().ok()?.bounds();
    Some(if up { high } else { low })
}

/// A bound of log q, q > 0.
fn logarithm(q: &Q, up: bool) -> Option<Q> {
    if q.is_one() {
        return Some(Q::zero());
    }
    if *q < Q::one() {
        return logarithm(&q.recip(), !up).map(|v| -v);
    }
    let (low, high) = Interval::exact(q, FIXED).ln().ok()?.bounds();
    Some(if up { high } else { low })
}

/// A bound of q^e for q ≥ 0 and e > 0; none above where it is too large.
fn power_bound(q: &Q, e: &Q, up: bool) -> Option<Q> {
    if q.is_zero() || q.is_one() {
        return Some(q.clone());
    }
    let short_enough =
        as_integer(e).is_none_or(|n| exact::bits(q).saturating_mul(n.unsigned_abs()) <= 20 * BITS);
    if short_enough && let Some(value) = exact::rational_power(q, e) {
        return Some(short(value, up));
    }
    exponential(&(logarithm(q, up)? * e), up)
}

fn of_sum(form: &Form, space: &Space) -> Range {
    // A common factor gives bounds that the separate terms do not: |x||z| − |x||z|/2.
    let (common, rest) = factor(form);
    if !common.0.is_empty() {
        return of_product(&common, space).mul(&of_sum(&rest, space));
    }
    let mut sum = Range::point(&Q::zero());
    for (m, c) in &form.0 {
        sum = sum.add(&of_product(m, space).mul(&Range::point(c)));
    }
    match by_diagonal(form, space) {
        Some(bound) => sum.intersect(&Range::new(-&bound, bound)),
        None => sum,
    }
}

/// Σ cᵢ·⟨x,z⟩^k·fᵢ(x)·fᵢ(z) with all cᵢ ≥ 0 is at most the supremum of its value at z = x, by Cauchy and Schwarz.
fn by_diagonal(form: &Form, space: &Space) -> Option<Q> {
    let is_dot = |a: &Atom| matches!(a, Atom::Dot(_));
    if !form.0.keys().any(|m| m.0.keys().any(is_dot) && m.0.keys().any(|a| matches!(a, Atom::Power(_)))) {
        return None;
    }
    for (m, c) in &form.0 {
        let (dots, apart) = m.split(is_dot);
        let (of_x, rest) = apart.split(|a| a.dependence().x);
        let (of_z, constant) = rest.split(|a| a.dependence().z);
        let (of_x, of_z) = (Form::term(Q::one(), of_x), Form::term(Q::one(), of_z));
        let d = of_x.dependence();
        let whole = dots.0.values().all(|e| e.is_integer() && e.is_positive());
        let apart = !(c.is_negative() || d.pair || d.z || d.var) && whole && constant.0.is_empty();
        if !apart || !rewrite::are_swapped(&of_x, &of_z, space) {
            return None;
        }
    }
    let diagonal = rewrite::diagonal(form, space)?;
    let has_pair = diagonal.dependence().pair;
    if has_pair { None } else { of_sum(&diagonal, space).hi }
}

/// The powers shared by all terms, and the form without them.
fn factor(form: &Form) -> (Monomial, Form) {
    if form.0.len() < 2 {
        return (Monomial::one(), form.clone());
    }
    let mut terms = form.0.keys();
    let mut common = terms.next().cloned().unwrap_or_default();
    for m in terms {
        common.0.retain(|a, e| match m.0.get(a) {
            Some(other) if other.is_positive() && e.is_positive() => {
                if *other < *e {
                    *e = other.clone();
                }
                true
            }
            _ => false,
        });
    }
    // a^p·a^q = a^(p+q) needs a ≥ 0 unless both powers are whole.
    let whole =
        |a: &Atom, e: &Q| e.is_integer() && form.0.keys().all(|m| m.0.get(a).is_some_and(|k| k.is_integer()));
    common.0.retain(|a, e| is_distance(a) || matches!(a, Atom::Exp(_)) || whole(a, e));
    if common.0.is_empty() {
        return (common, form.clone());
    }
    let divided = form.0.iter().map(|(m, c)| {
        let mut rest = m.clone();
        for (a, e) in &common.0 {
            if let Some(k) = rest.0.get_mut(a) {
                *k -= e;
            }
        }
        rest.0.retain(|_, e| !e.is_zero());
        (rest, c.clone())
    });
    let rest = Form(divided.collect());
    (common, rest)
}

fn is_distance(atom: &Atom) -> bool {
    matches!(atom, Atom::Distance(_) | Atom::Distance1(_) | Atom::NormX(_) | Atom::NormZ(_) | Atom::Pi)
}

fn of_product(m: &Monomial, space: &Space) -> Range {
    let mut product = Range::point(&Q::one());
    let mut left = m.clone();
    // (⟨x,z⟩/(|x||z|))^k lies in [−1, 1] by Cauchy and Schwarz.
    let dots: Vec<Cols> =
        m.0.keys().filter_map(|a| if let Atom::Dot(c) = a { Some(c.clone()) } else { None }).collect();
    for cols in dots {
        let exponent = |a: Atom| left.0.get(&a).cloned().unwrap_or_else(Q::zero);
        let (k, a, b) = (
            exponent(Atom::Dot(cols.clone())),
            exponent(Atom::NormX(cols.clone())),
            exponent(Atom::NormZ(cols.clone())),
        );
        let shared = k.clone().min(-a).min(-b);
        if shared.is_positive() && shared.is_integer() {
            let lowest = if space.domain.is_in_orthant() { 0 } else { -1 };
            product = product.mul(&Range::new(int(lowest), Q::one()).power(&shared));
            for (atom, change) in [
                (Atom::Dot(cols.clone()), -&shared),
                (Atom::NormX(cols.clone()), shared.clone()),
                (Atom::NormZ(cols.clone()), shared.clone()),
            ] {
                *left.0.entry(atom).or_insert_with(Q::zero) += change;
            }
            left.0.retain(|_, e| !e.is_zero());
        }
    }
    for (atom, e) in &left.0 {
        let factor = match atom {
            Atom::Exp(inner) => of_product(inner, space).mul(&Range::point(e)).exp(),
            _ => of_atom(atom, space).power(e),
        };
        product = product.mul(&factor);
    }
    product
}

/// Bounds of a statistic of points of a box.
fn in_box(atom: &Atom, space: &Space) -> Option<Range> {
    let (low, high) = space.domain.ends()?;
    let (a, b) = (low.abs(), high.abs());
    let largest = a.clone().max(b.clone());
    let least = if space.domain.holds_origin() { Q::zero() } else { a.min(b) };
    // The number of coordinates, and for lower bounds one where it is not fixed.
    let width = |cols: &Cols| space.width(cols).and_then(|d| i64::try_from(d).ok()).map(int);
    let at_least = |cols: &Cols| width(cols).unwrap_or_else(Q::one);
    let root = |d: &Q, up: bool| power_bound(d, &ratio(1, 2), up);
    match atom {
        Atom::Dot(cols) => {
            let product = Range::new(low.clone(), high.clone()).mul(&Range::new(low, high));
            Some(match width(cols) {
                Some(d) => product.mul(&Range::point(&d)),
                None => Range { lo: product.lo.filter(|lo| !lo.is_negative()), hi: None },
            })
        }
        Atom::Distance(cols) => {
            let hi = width(cols).and_then(|d| root(&d, true)).map(|d| d * (high - low));
            Some(Range { lo: Some(Q::zero()), hi })
        }
        Atom::Distance1(cols) => {
            Some(Range { lo: Some(Q::zero()), hi: width(cols).map(|d| d * (high - low)) })
        }
        Atom::NormX(cols) | Atom::NormZ(cols) => Some(Range {
            lo: root(&at_least(cols), false).map(|d| d * least).or_else(|| Some(Q::zero())),
            hi: width(cols).and_then(|d| root(&d, true)).map(|d| d * largest),
        }),
        _ => None,
    }
}

fn of_atom(atom: &Atom, space: &Space) -> Range {
    if let Some(range) = in_box(atom, space) {
        return range;
    }
    let radius = match space.domain {
        Domain::Ball(r) => exact::from_decimal(r),
        Domain::Sphere => Some(Q::one()),
        Domain::All | Domain::Orthant | Domain::Box(..) => None,
    };
    let up_to = |bound: Option<Q>| Range { lo: Some(Q::zero()), hi: bound };
    match atom {
        Atom::Var => Range::EVERYTHING,
        Atom::Dot(_) => {
            let hi = radius.map(|r| &r * &r);
            let lo = if space.domain.is_in_orthant() { Some(Q::zero()) } else { hi.as_ref().map(|v| -v) };
            Range { lo, hi }
        }
        Atom::Distance(_) => up_to(radius.map(|r| r * int(2))),
        Atom::Distance1(cols) => up_to(space.width(cols).zip(radius).and_then(|(d, r)| {
            power_bound(&int(i64::try_from(d).ok()?), &ratio(1, 2), true).map(|root| root * r * int(2))
        })),
        Atom::NormX(cols) | Atom::NormZ(cols) if space.on_sphere(cols) => Range::point(&Q::one()),
        Atom::NormX(_) | Atom::NormZ(_) => up_to(radius),
        Atom::Named(kernel) => {
            // A constant has its own form; the double used for it here may differ from it.
            let range = kernel.named.family.range(&kernel.named, space).filter(|(low, high)| low < high);
            range.map_or(Range::EVERYTHING, |(low, high)| Range {
                lo: Q::from_float(low),
                hi: Q::from_float(high),
            })
        }
        Atom::Pi => {
            let (low, high) = Interval::pi(FIXED).bounds();
            Range::new(low, high)
        }
        Atom::Exp(m) => of_product(m, space).exp(),
        Atom::Power(form) => Range::of(form, space),
        Atom::Call(fun, args) => {
            let ranges: Vec<Range> = args.iter().map(|a| Range::of(a, space)).collect();
            of_call(*fun, &ranges)
        }
    }
}

/// Bounds of a function from bounds of its arguments.
pub(super) fn of_call(fun: Fun, args: &[Range]) -> Range {
    let a = &args[0];
    let one = Range::new(int(-1), Q::one());
    // 11/7 > π/2
    let half_pi = Range::new(ratio(-11, 7), ratio(11, 7));
    match fun {
        Fun::Log => a.ln(),
        Fun::Cos if a.is_within(&ratio(-31, 10), &ratio(31, 10)) => {
            let size = a.abs();
            let cosine = |q: &Q| Interval::exact(q, FIXED).cos().ok().map(|v| v.bounds());
            let lo = size.hi.as_ref().and_then(cosine).map(|b| b.0);
            let hi = size.lo.as_ref().and_then(cosine).map(|b| b.1);
            Range { lo, hi }.intersect(&one)
        }
        Fun::Sin | Fun::Cos => one,
        // The least value is −0.2172…, and |sin t/t| ≤ 1/|t|.
        Fun::Sinc => {
            let decay = a.abs().recip().hi.map_or(one.clone(), |size| Range::new(-&size, size));
            decay.intersect(&Range::new(ratio(-1, 4), Q::one()))
        }
        Fun::Tan if a.is_within(&ratio(-157, 100), &ratio(157, 100)) => a.rising(Interval::tan, None, None),
        Fun::Tan => Range::EVERYTHING,
        Fun::Sinh => a.rising(Interval::sinh, None, None),
        Fun::Cosh => a.abs().rising(Interval::cosh, Some(Q::one()), None),
        Fun::Tanh => a.rising(Interval::tanh, Some(int(-1)), Some(Q::one())),
        Fun::Asin => a.intersect(&one).rising(Interval::asin, half_pi.lo, half_pi.hi),
        Fun::Atan => a.rising(|v| Ok(v.atan()), half_pi.lo, half_pi.hi),
        Fun::Abs => a.abs(),
        Fun::Min => {
            let lo = args.iter().map(|r| r.lo.clone()).min().flatten();
            Range { lo, hi: args.iter().filter_map(|r| r.hi.clone()).min() }
        }
        Fun::Max => {
            let hi = args
                .iter()
                .map(|r| r.hi.clone())
                .collect::<Option<Vec<_>>>()
                .and_then(|v| v.into_iter().max());
            Range { lo: args.iter().filter_map(|r| r.lo.clone()).max(), hi }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;
    use crate::check::Dim;

    fn range(text: &str, domain: Domain) -> Range {
        let space = Space { dim: Dim::Exactly(2), domain };
        Range::of(&Form::of(&text.parse::<Kernel>().unwrap().formula(), &space).unwrap(), &space)
    }

    #[test]
    fn small_numbers_are_not_zero() {
        let tiny = range("exp(-746)", Domain::All);
        assert!(tiny.is_positive() && tiny.hi.is_some_and(|hi| hi.is_positive()));
        assert!(!range("exp(-|x-z|)-exp(-746)", Domain::All).is_nonnegative());
        assert!(!range("exp(-|x-z|)-exp(-1e6)", Domain::All).is_nonnegative());
        assert!(range("exp(-|x-z|)-exp(-746)", Domain::Ball(2.0)).is_positive());
        assert!(!range("1-tanh(|x-z|)-1e-300", Domain::All).is_nonnegative());
        assert!(range("1e-300+<x,z>^2", Domain::All).is_positive());
        // The double nearest to 0.3 is less than 0.3.
        assert!(!range("0.29999999999999999-noise(value=0.3)", Domain::All).is_nonnegative());
        assert!(range("0.3000000000000002-noise(value=0.3)", Domain::All).is_positive());
    }

    #[test]
    fn simple_bounds_are_exact() {
        assert!(range("1-<x,z>", Domain::Ball(1.0)).is_within(&int(0), &int(2)));
        assert!(range("sqrt(|x-z|)", Domain::Sphere).is_within(&int(0), &ratio(3, 2)));
        assert!(range("<x,z>^5000", Domain::Sphere).is_within(&int(-1), &int(1)));
        assert!(range("<x,z>/sqrt((1+|x|^2)*(1+|z|^2))", Domain::All).is_within(&int(-1), &int(1)));
        assert!(range("|x|^2+|z|^2-2*<x,z>", Domain::All).is_nonnegative());
        assert!(!range("0.3-<x,z>", Domain::Ball(0.6)).is_nonnegative());
    }
}
