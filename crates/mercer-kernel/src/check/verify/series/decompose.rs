//! Decomposes functions of t into terms with known coefficients.

use num_traits::{One, Signed};

use super::term::{Kind, Term};
use super::waves::Waves;
use super::{Limit, Radius};
use crate::check::exact::{Q, ratio};
use crate::check::form::{Atom, Form, Fun, Monomial};
use crate::check::verify::pattern::natural;
use crate::check::verify::value;

/// The highest power of t in front of a function.
const LARGEST_SHIFT: usize = 120;

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
pub(super) fn decompose(m: &Monomial, c: &Q, radius: &mut Radius) -> Result<Vec<Term>, String> {
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
            Atom::Var => shift = natural(e).ok_or_else(unsupported)?,
            Atom::Exp(inner) => match linear(&Form::term(e.clone(), inner.clone())) {
                Some(_) => wave(None, &Form::term(e.clone(), inner.clone()), &Q::one())?,
                None if grows(inner, e) && other.is_none() => other = Some((Kind::Positive, 1)),
                None => return Err(unsupported()),
            },
            Atom::Call(fun @ (Fun::Sin | Fun::Cos | Fun::Sinh | Fun::Cosh), args) if e.is_positive() => {
                wave(Some(*fun), &args[0], e)?;
            }
            _ if other.is_some() => return Err(unsupported()),
            _ => {
                let (kind, j, reversed) = with_a_singularity(atom, e, radius).ok_or_else(unsupported)?;
                if reversed {
                    (low, high) = (-high, -low);
                }
                other = Some((kind, j));
            }
        }
    }
    if shift > LARGEST_SHIFT && (other.is_some() || step.is_some()) {
        return Err("a function times a high power".into());
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

/// The kind of a function of t^j with a singularity, j, and whether it is negated; its limit is added to
/// `radius`. `None` if its coefficients are not known.
fn with_a_singularity(atom: &Atom, e: &Q, radius: &mut Radius) -> Option<(Kind, usize, bool)> {
    // The first poles of tan and sec lie at π/2 > 1.57.
    let up_to_a_pole = |c: Q, j: usize| Limit { b: c * ratio(100, 157), j, closed: false };
    let (kind, limit, reversed) = match atom {
        // −log cos has the derivative tan, so it and sec^a = exp(−a·log cos) have coefficients ≥ 0.
        Atom::Call(Fun::Cos, args) => {
            let (c, j) = linear(&args[0])?;
            (Kind::Positive, up_to_a_pole(c, j), false)
        }
        Atom::Call(Fun::Log, args) if e.is_one() => match log_cosine(&args[0]) {
            Some((c, j)) => (Kind::Positive, up_to_a_pole(c, j), true),
            None => {
                let (b, j) = affine(&args[0])?;
                (Kind::Logarithm(b.clone()), Limit { b, j, closed: false }, false)
            }
        },
        Atom::Power(base) => {
            let (b, j) = affine(base)?;
            if natural(e).is_some() {
                // A polynomial: it converges everywhere.
                return b.is_positive().then_some((Kind::Positive, j, false));
            }
            let kind = Kind::Binomial { b: b.clone(), e: e.clone() };
            (kind, Limit { b, j, closed: e.is_positive() }, false)
        }
        Atom::Call(fun @ (Fun::Asin | Fun::Atan | Fun::Tan), args) if e.is_one() => {
            let (c, j) = linear(&args[0])?;
            match fun {
                Fun::Asin => (Kind::Arcsine(c.clone()), Limit { b: c, j, closed: true }, false),
                Fun::Atan => (Kind::Arctangent(c.clone()), Limit { b: c, j, closed: false }, false),
                // tan has coefficients ≥ 0 (Euler's zigzag numbers).
                _ if c.is_positive() => (Kind::Tangent(c.clone()), up_to_a_pole(c, j), false),
                _ => return None,
            }
        }
        _ => return None,
    };
    let j = limit.j;
    radius.0.push(limit);
    Some((kind, j, reversed))
}

/// Whether e^(e·m) is e^(c·t^j) with an irrational c > 0.
fn grows(m: &Monomial, e: &Q) -> bool {
    let (variable, constant) = m.split(|a| a.dependence().var);
    let power = matches!(variable.single(), Some((Atom::Var, k)) if natural(k).is_some());
    let factor = Form::term(e.clone(), constant);
    power && value::constant(&factor, 128).is_ok_and(|v| v.is_positive())
}

fn weight(constant: &Monomial, c: &Q) -> Result<(Q, Q), String> {
    if constant.0.is_empty() {
        return Ok((c.clone(), c.clone()));
    }
    let value = value::constant(&Form::term(c.clone(), constant.clone()), 256);
    value.map(|v| v.bounds()).map_err(|_| "a constant has no known value".into())
}
