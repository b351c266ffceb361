//! Forms read again: on a smaller space, with |x−z| written out, at z = x, at z = 0.

use num_traits::{One, Signed};

use super::range::Range;
use crate::check::exact::{Q, int, ratio};
use crate::check::form::{Atom, Form, Monomial, Space};
use crate::check::{Dim, Domain};

/// Whether every point of one space belongs to the other.
pub(super) fn contains(larger: &Space, smaller: &Space) -> bool {
    let dims = larger.dim == Dim::Any || larger.dim == smaller.dim;
    dims && match (larger.domain, smaller.domain) {
        (Domain::All, _) | (Domain::Orthant, Domain::Orthant) | (Domain::Sphere, Domain::Sphere) => true,
        (Domain::Ball(big), Domain::Ball(small)) => small <= big,
        (Domain::Ball(big), Domain::Sphere) => big >= 1.0,
        _ => false,
    }
}

fn power_of(atom: Atom, e: &Q) -> Form {
    Form::term(Q::one(), Monomial([(atom, e.clone())].into()))
}

/// A form read again on a smaller space, where its atoms may be worth more.
pub(super) fn restrict(form: &Form, space: &Space) -> Option<Form> {
    form.replace(
        &|atom, e| match atom {
            Atom::NormX(cols) | Atom::NormZ(cols) if space.on_sphere(cols) => Some(Form::constant(Q::one())),
            Atom::Distance1(cols) if space.width(cols) == Some(1) => {
                Some(power_of(Atom::Distance(cols.clone()), e))
            }
            Atom::Dot(cols) if space.width(cols) == Some(1) && space.domain == Domain::Orthant => {
                power_of(Atom::NormX(cols.clone()), e).mul(&power_of(Atom::NormZ(cols.clone()), e), space)
            }
            _ => None,
        },
        space,
    )
}

/// Every |x−z| written as (|x|² + |z|² − 2⟨x,z⟩)^½.
pub(super) fn polarise(form: &Form, space: &Space) -> Option<Form> {
    form.replace(
        &|atom, e| match atom {
            Atom::Distance(cols) => {
                let square = |norm: Atom| Form::norm(norm, space).power(&int(2), space);
                square(Atom::NormX(cols.clone()))?
                    .add(&square(Atom::NormZ(cols.clone()))?)
                    .sub(&power_of(Atom::Dot(cols.clone()), &Q::one()).scale(&int(2)))
                    .power(&(e * ratio(1, 2)), space)
            }
            _ => None,
        },
        space,
    )
}

/// A lower bound of ψ of negative type: ψ(x,z) ≥ (ψ(x,x) + ψ(z,z))/2, from the weights 1 and −1.
pub(super) fn least_of_negative_type(form: &Form, space: &Space) -> f64 {
    let direct = Range::of(form, space).lo;
    match diagonal(form, space) {
        Some(diagonal) if diagonal != *form => direct.max(Range::of(&diagonal, space).lo),
        _ => direct,
    }
}

/// The form at z = x.
pub(super) fn diagonal(form: &Form, space: &Space) -> Option<Form> {
    if form.0.keys().any(|m| m.0.keys().any(|a| mentions(a, &|b| matches!(b, Atom::Named(_))))) {
        // Named kernels: bounded ones are bounded by their value at z = x anyway.
        return Some(form.clone());
    }
    let on_diagonal = form.replace(
        &|atom, e| match atom {
            Atom::Distance(_) | Atom::Distance1(_) => Form::zero().power(e, space),
            Atom::Dot(cols) => Form::norm(Atom::NormX(cols.clone()), space).power(&(e * int(2)), space),
            Atom::NormZ(cols) => Form::norm(Atom::NormX(cols.clone()), space).power(e, space),
            _ => None,
        },
        space,
    )?;
    // A negative power of a distance has no value at z = x.
    let left_over = |a: &Atom| matches!(a, Atom::Distance(_) | Atom::Distance1(_));
    let holds_one = on_diagonal.0.keys().any(|m| m.0.keys().any(|a| mentions(a, &left_over)));
    if holds_one { None } else { Some(on_diagonal) }
}

/// The form at z = 0.
pub(super) fn at_origin(form: &Form, space: &Space) -> Option<Form> {
    if form
        .0
        .keys()
        .any(|m| m.0.keys().any(|a| mentions(a, &|b| matches!(b, Atom::Named(_) | Atom::Distance1(_)))))
    {
        return None;
    }
    let negative_power_of_zero = |atom: &Atom| matches!(atom, Atom::Dot(_) | Atom::NormZ(_));
    if form.0.keys().any(|m| m.0.iter().any(|(a, e)| negative_power_of_zero(a) && e.is_negative())) {
        return None;
    }
    form.replace(
        &|atom, e| match atom {
            Atom::Dot(_) | Atom::NormZ(_) => Form::zero().power(e, space),
            Atom::Distance(cols) => Some(power_of(Atom::NormX(cols.clone()), e)),
            _ => None,
        },
        space,
    )
}

fn mentions(atom: &Atom, what: &dyn Fn(&Atom) -> bool) -> bool {
    let inside = |form: &Form| form.0.keys().any(|m| m.0.keys().any(|a| mentions(a, what)));
    what(atom)
        || match atom {
            Atom::Exp(m) => m.0.keys().any(|a| mentions(a, what)),
            Atom::Power(form) => inside(form),
            Atom::Call(_, args) => args.iter().any(inside),
            _ => false,
        }
}
