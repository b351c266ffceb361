//! Removes irrational lengths: √3·r is r in another unit, and a kernel of r on R^d remains one.

use num_traits::{One, Signed, Zero};

use super::value::constant;
use crate::check::exact::{Q, as_integer, pow};
use crate::check::form::{Atom, Form, Monomial};

/// The form with r/κ for r, where κ is the irrational constant in front of r in an exponent; the form itself where
/// there is none. `None` if constants remain.
pub(super) fn unscaled(form: &Form) -> Option<Form> {
    match form.0.keys().find_map(unit) {
        None => Some(form.clone()),
        Some(unit) => rescaled(form, &unit),
    }
}

fn is_constant(atom: &Atom) -> bool {
    atom.dependence().is_constant()
}

fn is_positive(atom: &Atom) -> bool {
    constant(&Form::atom(atom.clone()), 128).is_ok_and(|v| v.is_positive())
}

/// The constants in front of r^p in an exponent, to the power 1/p.
fn unit(m: &Monomial) -> Option<Monomial> {
    m.0.keys().find_map(|atom| {
        let Atom::Exp(inner) = atom else { return None };
        let (constants, rest) = inner.split(is_constant);
        match rest.single() {
            Some((Atom::Distance(_), p))
                if !constants.0.is_empty() && p.is_positive() && constants.0.keys().all(is_positive) =>
            {
                Some(Monomial(constants.0.into_iter().map(|(a, e)| (a, e / p)).collect()))
            }
            _ => None,
        }
    })
}

fn rescaled(form: &Form, unit: &Monomial) -> Option<Form> {
    let mut sum = Form::zero();
    for (m, c) in &form.0 {
        let (m, factor) = rescaled_term(m, unit)?;
        sum = sum.add(&Form::term(c * factor, m));
    }
    Some(sum)
}

/// A product of powers with r/κ for r, and the rational factor that came out of it.
fn rescaled_term(m: &Monomial, unit: &Monomial) -> Option<(Monomial, Q)> {
    let (constants, varying) = m.split(is_constant);
    let mut constants = constants;
    let mut result = Monomial::one();
    for (atom, e) in &varying.0 {
        match atom {
            Atom::Distance(_) => {
                for (a, k) in &unit.0 {
                    *constants.0.entry(a.clone()).or_insert_with(Q::zero) -= k * e;
                }
                result.0.insert(atom.clone(), e.clone());
            }
            Atom::Exp(inner) => {
                let (inner, factor) = rescaled_term(inner, unit)?;
                let power = result.0.entry(Atom::Exp(inner)).or_insert_with(Q::zero);
                *power += e * factor;
            }
            Atom::Call(fun, args) => {
                let args = args.iter().map(|a| rescaled(a, unit)).collect::<Option<Vec<_>>>()?;
                *result.0.entry(Atom::Call(*fun, args)).or_insert_with(Q::zero) += e;
            }
            _ => return None,
        }
    }
    constants.0.retain(|_, e| !e.is_zero());
    let mut factor = Q::one();
    for (atom, e) in &constants.0 {
        // Whole powers of a positive rational.
        let Atom::Power(base) = atom else { return None };
        factor *= pow(&base.as_constant().filter(Signed::is_positive)?, as_integer(e)?)?;
    }
    Some((result, factor))
}
