//! Bounds of forms over a domain, rounded outwards.

use num_traits::{One, Signed, Zero};

use crate::check::Domain;
use crate::check::exact::{self, Q, as_integer, int};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};

/// All values lie in [lo, hi].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// A lower bound.
    pub lo: f64,
    /// An upper bound.
    pub hi: f64,
}

/// Nothing known.
pub const EVERYTHING: Range = Range { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

fn down(v: f64) -> f64 {
    if v.is_nan() { f64::NEG_INFINITY } else { v.next_down() }
}

fn up(v: f64) -> f64 {
    if v.is_nan() { f64::INFINITY } else { v.next_up() }
}

impl Range {
    pub(super) fn new(lo: f64, hi: f64) -> Self {
        Self { lo, hi }
    }

    fn exactly(q: &Q) -> Self {
        let v = exact::to_f64(q);
        match exact_double(v) {
            Some(e) if e == *q => Self::new(v, v),
            _ => Self::new(down(v), up(v)),
        }
    }

    /// Bounds of a form on a space.
    pub fn of(form: &Form, space: &Space) -> Self {
        let direct = of_sum(form, space);
        // ⟨x,z⟩ = (|x|² + |z|² − |x−z|²)/2 often bounds what the other writing does not.
        let through_distance = form.replace(
            &|atom, e| match atom {
                Atom::Dot(cols) if e.is_one() => {
                    let square = |n: Atom| Form::norm(n, space).power(&int(2), space);
                    let distance = Form::atom(Atom::Distance(cols.clone())).power(&int(2), space)?;
                    Some(
                        square(Atom::NormX(cols.clone()))?
                            .add(&square(Atom::NormZ(cols.clone()))?)
                            .sub(&distance)
                            .scale(&exact::ratio(1, 2)),
                    )
                }
                _ => None,
            },
            space,
        );
        match through_distance {
            Some(other) if other != *form => direct.intersect(of_sum(&other, space)),
            _ => direct,
        }
    }

    pub(super) fn intersect(self, other: Self) -> Self {
        Self::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    pub(super) fn add(self, other: Self) -> Self {
        let sum = |a: f64, b: f64, round: fn(f64) -> f64| {
            if a == 0.0 {
                b
            } else if b == 0.0 {
                a
            } else {
                round(a + b)
            }
        };
        let exact = |a: f64, b: f64| a.abs() < 1e9 && b.abs() < 1e9 && a.fract() == 0.0 && b.fract() == 0.0;
        let lo = if exact(self.lo, other.lo) { self.lo + other.lo } else { sum(self.lo, other.lo, down) };
        let hi = if exact(self.hi, other.hi) { self.hi + other.hi } else { sum(self.hi, other.hi, up) };
        Self::new(lo, hi)
    }

    pub(super) fn mul(self, other: Self) -> Self {
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let exact = |v: f64| v == 0.0 || (v.abs() < 1e9 && v.fract() == 0.0);
        let all = [
            product(self.lo, other.lo),
            product(self.lo, other.hi),
            product(self.hi, other.lo),
            product(self.hi, other.hi),
        ];
        let whole = [self.lo, self.hi, other.lo, other.hi].iter().all(|v| v.fract() == 0.0);
        let lo = all.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lo = if lo == 0.0 || (whole && exact(lo)) { lo } else { down(lo) };
        let hi = if hi == 0.0 || (whole && exact(hi)) { hi } else { up(hi) };
        Self::new(lo, hi)
    }

    fn monotone(self, f: impl Fn(f64) -> f64) -> Self {
        // A few ulps cover the library functions' own error.
        let lower = |v: f64| if v == 0.0 || v.abs() == 1.0 { v } else { down(down(down(v))) };
        let upper = |v: f64| if v == 0.0 || v.abs() == 1.0 { v } else { up(up(up(v))) };
        let (a, b) = (f(self.lo), f(self.hi));
        if a.is_nan() || b.is_nan() {
            return EVERYTHING;
        }
        Self::new(lower(a.min(b)), upper(a.max(b)))
    }

    fn abs(self) -> Self {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            Self::new(-self.hi, -self.lo)
        } else {
            Self::new(0.0, self.hi.max(-self.lo))
        }
    }

    pub(super) fn recip(self) -> Self {
        if self.lo > 0.0 || self.hi < 0.0 {
            let (a, b) = (1.0 / self.hi, 1.0 / self.lo);
            Self::new(if a == 0.0 { a } else { down(a) }, if b == 0.0 { b } else { up(b) })
        } else if self.lo == 0.0 {
            Self::new(if self.hi.is_infinite() { 0.0 } else { down(1.0 / self.hi) }, f64::INFINITY)
        } else {
            EVERYTHING
        }
    }

    pub(super) fn power(self, e: &Q) -> Self {
        if e.is_negative() {
            return self.power(&-e).recip();
        }
        if e.is_one() {
            return self;
        }
        if let Some(n) = as_integer(e) {
            let base = if n % 2 == 0 { self.abs() } else { self };
            return base.monotone(|v| v.powf(n as f64));
        }
        let exponent = exact::to_f64(e);
        Self::new(self.lo.max(0.0), self.hi.max(0.0)).monotone(|v| v.powf(exponent))
    }
}

fn exact_double(v: f64) -> Option<Q> {
    Q::from_float(v)
}

fn of_sum(form: &Form, space: &Space) -> Range {
    // A common factor bounds what its terms alone do not: |x||z| − |x||z|/2.
    let (common, rest) = factor(form, space);
    if !common.0.is_empty() {
        return of_product(&common, space).mul(of_sum(&rest, space));
    }
    let mut sum = Range::new(0.0, 0.0);
    for (m, c) in &form.0 {
        sum = sum.add(of_product(m, space).mul(Range::exactly(c)));
    }
    match by_diagonal(form, space) {
        Some(bound) => sum.intersect(Range::new(-bound, bound)),
        None => sum,
    }
}

/// Σ cᵢ·⟨x,z⟩^k·fᵢ(x)·fᵢ(z) with all cᵢ ≥ 0 is at most the supremum of its value at z = x, by Cauchy and Schwarz.
fn by_diagonal(form: &Form, space: &Space) -> Option<f64> {
    let is_dot = |a: &Atom| matches!(a, Atom::Dot(_));
    if !form.0.keys().any(|m| m.0.keys().any(is_dot) && m.0.keys().any(|a| matches!(a, Atom::Power(_)))) {
        return None;
    }
    let mut diagonal = Form::zero();
    for (m, c) in &form.0 {
        let (dots, apart) = m.split(is_dot);
        let (of_x, rest) = apart.split(|a| a.dependence().x);
        let (of_z, constant) = rest.split(|a| a.dependence().z);
        let of_x = Form::term(Q::one(), of_x);
        let d = of_x.dependence();
        let symmetric = of_x.swapped(space)? == Form::term(Q::one(), of_z);
        let whole = dots.0.values().all(|e| e.is_integer() && e.is_positive());
        if c.is_negative() || d.pair || d.z || d.var || !symmetric || !whole || !constant.0.is_empty() {
            return None;
        }
        let mut term = of_x.mul(&of_x, space)?.scale(c);
        for (atom, e) in &dots.0 {
            if let Atom::Dot(cols) = atom {
                term = term
                    .mul(&Form::norm(Atom::NormX(cols.clone()), space).power(&(e * int(2)), space)?, space)?;
            }
        }
        diagonal = diagonal.add(&term);
    }
    Some(of_sum(&diagonal, space).hi)
}

/// The powers shared by all terms, and the form without them.
fn factor(form: &Form, _space: &Space) -> (Monomial, Form) {
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

fn of_product(m: &Monomial, space: &Space) -> Range {
    let mut product = Range::new(1.0, 1.0);
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
        if shared.is_positive() {
            let lowest = if space.domain == Domain::Orthant { 0.0 } else { -1.0 };
            product = product.mul(Range::new(lowest, 1.0).power(&shared));
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
            Atom::Exp(inner) => of_product(inner, space).mul(Range::exactly(e)).monotone(f64::exp),
            _ => of_atom(atom, space).power(e),
        };
        product = product.mul(factor);
    }
    product
}

fn of_atom(atom: &Atom, space: &Space) -> Range {
    let infinity = f64::INFINITY;
    let radius = match space.domain {
        Domain::Ball(r) => r,
        Domain::Sphere => 1.0,
        Domain::All | Domain::Orthant => infinity,
    };
    let squared = if radius == 1.0 { 1.0 } else { up(up(up(radius * radius))) };
    match atom {
        Atom::Var => EVERYTHING,
        Atom::Dot(_) => Range::new(if space.domain == Domain::Orthant { 0.0 } else { -squared }, squared),
        Atom::Distance(_) => Range::new(0.0, 2.0 * radius),
        Atom::Distance1(cols) => match space.width(cols) {
            Some(d) => Range::new(0.0, up(2.0 * radius * up((d as f64).sqrt()))),
            None => Range::new(0.0, infinity),
        },
        Atom::NormX(cols) | Atom::NormZ(cols) if space.on_sphere(cols) => Range::new(1.0, 1.0),
        Atom::NormX(_) | Atom::NormZ(_) => Range::new(0.0, radius),
        Atom::Named(kernel) => {
            let range = kernel.named.family.range(&kernel.named, space);
            range.map_or(EVERYTHING, |(low, high)| Range::new(low, high))
        }
        Atom::Pi => Range::new(down(std::f64::consts::PI), up(std::f64::consts::PI)),
        Atom::Exp(m) => of_product(m, space).monotone(f64::exp),
        Atom::Power(form) => Range::of(form, space),
        Atom::Call(fun, args) => {
            let ranges: Vec<Range> = args.iter().map(|a| Range::of(a, space)).collect();
            of_call(*fun, &ranges)
        }
    }
}

fn of_call(fun: Fun, args: &[Range]) -> Range {
    let a = args[0];
    let half_pi = up(std::f64::consts::FRAC_PI_2);
    match fun {
        Fun::Log => Range::new(a.lo.max(0.0), a.hi.max(0.0)).monotone(f64::ln),
        Fun::Cos if a.lo >= -3.1 && a.hi <= 3.1 => {
            let size = a.abs();
            Range::new(down(down(size.hi.cos())), if size.lo == 0.0 { 1.0 } else { up(up(size.lo.cos())) })
        }
        Fun::Sin | Fun::Cos => Range::new(-1.0, 1.0),
        Fun::Tan if a.lo > -1.57 && a.hi < 1.57 => a.monotone(f64::tan),
        Fun::Tan => EVERYTHING,
        Fun::Sinh => a.monotone(f64::sinh),
        Fun::Cosh => {
            let grown = a.abs().monotone(f64::cosh);
            Range::new(grown.lo.max(1.0), grown.hi)
        }
        Fun::Tanh => a.monotone(f64::tanh).intersect(Range::new(-1.0, 1.0)),
        Fun::Asin => Range::new(a.lo.max(-1.0), a.hi.min(1.0))
            .monotone(f64::asin)
            .intersect(Range::new(-half_pi, half_pi)),
        Fun::Atan => a.monotone(f64::atan).intersect(Range::new(-half_pi, half_pi)),
        Fun::Abs => a.abs(),
        Fun::Min => args[1..].iter().fold(a, |m, r| Range::new(m.lo.min(r.lo), m.hi.min(r.hi))),
        Fun::Max => args[1..].iter().fold(a, |m, r| Range::new(m.lo.max(r.lo), m.hi.max(r.hi))),
    }
}
