//! Forms seen as functions of one of their parts.

use std::collections::BTreeSet;

use num_traits::{One, Signed, Zero};

use crate::check::exact::{Q, as_integer};
use crate::check::form::{Atom, Form, Monomial, Space};

/// `form` as a function of t = `base`; `None` if it depends on the points in another way.
pub fn as_function_of(form: &Form, base: &Form, space: &Space) -> Option<Form> {
    if let Some(function) = affine_in(form, base) {
        return Some(function);
    }
    let mut sum = Form::zero();
    for (m, c) in &form.0 {
        sum = sum.add(&term_as_function_of(m, base, space)?.scale(c));
    }
    Some(sum)
}

/// a + b·base as a + b·t.
fn affine_in(form: &Form, base: &Form) -> Option<Form> {
    let (ours, theirs) = (form.without_constant(), base.without_constant());
    let (m, c) = theirs.0.iter().next()?;
    let factor = ours.0.get(m)? / c;
    if ours != theirs.scale(&factor) {
        return None;
    }
    let constant = form.constant_term() - base.constant_term() * &factor;
    Some(Form::constant(constant).add(&Form::var().scale(&factor)))
}

/// One term as a function of t.
pub fn term_as_function_of(m: &Monomial, base: &Form, space: &Space) -> Option<Form> {
    let (power, rest) = match base.single() {
        Some((part, c)) if c.is_one() => divide(m, part),
        _ => (Q::zero(), m.clone()),
    };
    let mut product = Form::var().power(&power, space)?;
    for (atom, e) in &rest.0 {
        let factor = if atom.dependence().is_constant() {
            Form::term(Q::one(), Monomial([(atom.clone(), e.clone())].into()))
        } else {
            match atom {
                Atom::Exp(inner) => {
                    as_function_of(&Form::term(e.clone(), inner.clone()), base, space)?.exp(space)?
                }
                Atom::Power(inner) => as_function_of(inner, base, space)?.power(e, space)?,
                Atom::Call(fun, args) => {
                    let args =
                        args.iter().map(|a| as_function_of(a, base, space)).collect::<Option<Vec<_>>>()?;
                    Form::call(*fun, args, space)?.power(e, space)?
                }
                _ => return None,
            }
        };
        product = product.mul(&factor, space)?;
    }
    Some(product)
}

/// The natural number k and the remaining factor with m = part^k·rest, with k as large as possible in one step.
fn divide(m: &Monomial, part: &Monomial) -> (Q, Monomial) {
    let mut times: Option<Q> = None;
    for (atom, e) in &part.0 {
        let k = m.0.get(atom).map_or_else(Q::zero, |have| have / e);
        match &times {
            Some(other) if *other != k => return (Q::zero(), m.clone()),
            _ => times = Some(k),
        }
    }
    let times = times.filter(|k| as_integer(k).is_some_and(|n| n > 0)).unwrap_or_else(Q::zero);
    if times.is_zero() {
        return (times, m.clone());
    }
    let rest =
        m.0.iter().filter(|(a, _)| !part.0.contains_key(a)).map(|(a, e)| (a.clone(), e.clone())).collect();
    (times, Monomial(rest))
}

/// Parts of which a form may be a function, simple ones first.
pub fn bases(form: &Form) -> Vec<Form> {
    let mut atoms = BTreeSet::new();
    let mut parts = BTreeSet::new();
    collect(form, &mut atoms, &mut parts);
    let mut bases: Vec<Form> = atoms.into_iter().map(Form::atom).collect();
    let mut composed: Vec<Form> = parts.into_iter().filter(|p| !bases.contains(p)).collect();
    composed.sort_by_key(size);
    bases.append(&mut composed);
    bases.truncate(40);
    bases
}

fn size(form: &Form) -> usize {
    form.to_string().len()
}

fn collect(form: &Form, atoms: &mut BTreeSet<Atom>, parts: &mut BTreeSet<Form>) {
    for m in form.0.keys() {
        let (varying, _) = m.split(|a| !a.dependence().is_constant());
        let d = varying.dependence();
        if d.pair || (d.x && d.z) {
            parts.insert(Form::term(Q::one(), varying.clone()));
        }
        for (atom, e) in &varying.0 {
            let d = atom.dependence();
            if !(d.pair || (d.x && d.z)) {
                continue;
            }
            if !matches!(atom, Atom::Exp(_)) {
                parts.insert(Form::term(Q::one(), Monomial([(atom.clone(), Q::one())].into())));
            } else {
                parts.insert(Form::term(Q::one(), Monomial([(atom.clone(), e.clone())].into())));
            }
            match atom {
                Atom::Dot(_) | Atom::Named(_) => {
                    atoms.insert(atom.clone());
                }
                Atom::Exp(inner) => {
                    let inside = Form::term(Q::one(), inner.clone());
                    collect(&inside, atoms, parts);
                }
                Atom::Power(inner) => collect_argument(inner, atoms, parts),
                Atom::Call(_, args) => args.iter().for_each(|a| collect_argument(a, atoms, parts)),
                _ => {}
            }
        }
    }
}

fn collect_argument(form: &Form, atoms: &mut BTreeSet<Atom>, parts: &mut BTreeSet<Form>) {
    let varying = form.without_constant();
    if varying.0.len() > 1 {
        parts.insert(varying.clone());
        parts.insert(varying.neg());
    } else if let Some((m, c)) = varying.single() {
        let unit = Form::term(if c.is_negative() { -Q::one() } else { Q::one() }, m.clone());
        if c.is_positive() {
            parts.insert(unit);
        }
    }
    collect(form, atoms, parts);
}
