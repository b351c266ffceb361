//! Rewritten forms: with |x−z| for ⟨x,z⟩, at z = x, at z = 0, or with the points exchanged.
//!
//! The algebra of forms only proposes them; each proposal is accepted if its values agree with those of the original
//! form.

use num_traits::{One, Signed};

use super::derive;
use super::range::Range;
use super::value::{Care, Ground, Pair, of_form};
use crate::check::exact::{Q, int, ratio};
use crate::check::form::{Atom, Form, Fun, Monomial, Space};
use crate::check::{Dim, Domain};

/// Whether every point of one space belongs to the other.
pub(super) fn contains(larger: &Space, smaller: &Space) -> bool {
    let dims = larger.dim == Dim::Any || larger.dim == smaller.dim;
    dims && match (larger.domain, smaller.domain) {
        (Domain::All, _) | (Domain::Orthant, Domain::Orthant) | (Domain::Sphere, Domain::Sphere) => true,
        (Domain::Ball(big), Domain::Ball(small)) => small <= big,
        (Domain::Ball(big), Domain::Sphere) => big >= 1.0,
        (Domain::Orthant, inside @ Domain::Box(..)) => inside.is_in_orthant(),
        (Domain::Box(low, high), Domain::Box(from, to)) => low <= from && to <= high,
        (Domain::Box(low, high), Domain::Ball(radius)) => low <= -radius && radius <= high,
        (Domain::Box(low, high), Domain::Sphere) => low <= -1.0 && 1.0 <= high,
        (big @ Domain::Ball(_), inside @ Domain::Box(..)) => match (smaller.dim, inside.ends()) {
            // The farthest corner.
            (Dim::Exactly(d), Some((low, high))) => big.holds(&vec![low.abs().max(high.abs()); d]),
            _ => false,
        },
        _ => false,
    }
}

fn power_of(atom: Atom, e: &Q) -> Form {
    Form::term(Q::one(), Monomial([(atom, e.clone())].into()))
}

/// The proposal, if its value at every pair is the form's value at the pair mapped by `at`.
fn accepted(proposal: Option<Form>, form: &Form, at: fn(&Pair) -> Pair, space: &Space) -> Option<Form> {
    let proposal = proposal?;
    let ground = Ground::of(&[form, &proposal], space, Care::Full);
    let agrees =
        ground.agree(&|p, bits| of_form(form, &at(p), bits), &|p, bits| of_form(&proposal, &at(p), bits));
    agrees.then_some(proposal)
}

/// ⟨x,z⟩ written as (|x|² + |z|² − |x−z|²)/2; `None` if that changes nothing.
pub(super) fn through_distance(form: &Form, space: &Space) -> Option<Form> {
    let proposal = form.replace(
        &|atom, e| match atom {
            Atom::Dot(cols) if e.is_one() => {
                let square = |n: Atom| Form::norm(n, space).power(&int(2), space);
                let distance = Form::atom(Atom::Distance(cols.clone())).power(&int(2), space)?;
                Some(
                    square(Atom::NormX(cols.clone()))?
                        .add(&square(Atom::NormZ(cols.clone()))?)
                        .sub(&distance)
                        .scale(&ratio(1, 2)),
                )
            }
            _ => None,
        },
        space,
    );
    accepted(proposal.filter(|other| other != form), form, Pair::clone, space)
}

/// A lower bound of ψ of negative type: ψ(x,z) ≥ (ψ(x,x) + ψ(z,z))/2, from the weights 1 and −1.
pub(super) fn least_of_negative_type(form: &Form, space: &Space) -> Range {
    let direct = Range::of(form, space);
    match diagonal(form, space) {
        Some(diagonal) if diagonal != *form => {
            let lo = direct.lo.max(Range::of(&diagonal, space).lo);
            Range { lo, hi: direct.hi }
        }
        _ => direct,
    }
}

/// A form with the same values at z = x: bounds of it there bound the form's diagonal.
pub(super) fn diagonal(form: &Form, space: &Space) -> Option<Form> {
    let is_named = |b: &Atom| matches!(b, Atom::Named(_));
    if mentioned(form, &is_named) {
        return Some(form.clone());
    }
    let proposal = form.replace(
        &|atom, e| match atom {
            Atom::Distance(_) | Atom::Distance1(_) => Form::zero().power(e, space),
            Atom::Dot(cols) => Form::norm(Atom::NormX(cols.clone()), space).power(&(e * int(2)), space),
            Atom::NormZ(cols) => Form::norm(Atom::NormX(cols.clone()), space).power(e, space),
            _ => None,
        },
        space,
    )?;
    // A negative power of a distance has no value at z = x.
    if mentioned(&proposal, &|a| matches!(a, Atom::Distance(_) | Atom::Distance1(_))) {
        return None;
    }
    accepted(Some(proposal), form, Pair::diagonal, space)
}

/// The form at z = 0.
pub(super) fn at_origin(form: &Form, space: &Space) -> Option<Form> {
    if mentioned(form, &|b| matches!(b, Atom::Named(_) | Atom::Distance1(_))) {
        return None;
    }
    let negative_power_of_zero = |atom: &Atom| matches!(atom, Atom::Dot(_) | Atom::NormZ(_));
    if form.0.keys().any(|m| m.0.iter().any(|(a, e)| negative_power_of_zero(a) && e.is_negative())) {
        return None;
    }
    let proposal = form.replace(
        &|atom, e| match atom {
            Atom::Dot(_) | Atom::NormZ(_) => Form::zero().power(e, space),
            Atom::Distance(cols) => Some(power_of(Atom::NormX(cols.clone()), e)),
            _ => None,
        },
        space,
    );
    accepted(proposal, form, Pair::to_origin, space)
}

/// The form with a minimum, a maximum or an absolute value replaced by the argument that bounds show it to take; `None`
/// if they decide nothing.
pub(in crate::check) fn decided(form: &Form, space: &Space) -> Option<Form> {
    if !mentioned(form, &|a| matches!(a, Atom::Call(Fun::Min | Fun::Max | Fun::Abs, _))) {
        return None;
    }
    let is_least =
        |args: &[Form], a: &Form| args.iter().all(|b| Range::of(&b.sub(a), space).is_nonnegative());
    let is_greatest =
        |args: &[Form], a: &Form| args.iter().all(|b| Range::of(&a.sub(b), space).is_nonnegative());
    let proposal = form.replace(
        &|atom, e| {
            let Atom::Call(fun, args) = atom else { return None };
            let taken = match fun {
                Fun::Min => args.iter().find(|a| is_least(args, a)).cloned(),
                Fun::Max => args.iter().find(|a| is_greatest(args, a)).cloned(),
                Fun::Abs if Range::of(&args[0], space).is_nonnegative() => Some(args[0].clone()),
                Fun::Abs if Range::of(&args[0].neg(), space).is_nonnegative() => Some(args[0].neg()),
                _ => None,
            };
            taken?.power(e, space)
        },
        space,
    );
    accepted(proposal.filter(|other| other != form), form, Pair::clone, space)
}

/// Whether one form has the values of the other with the points exchanged.
pub(super) fn are_swapped(a: &Form, b: &Form, space: &Space) -> bool {
    let ground = Ground::of(&[a, b], space, Care::Full);
    a.swapped(space).is_some_and(|swapped| derive::is_same(&swapped, b, space))
        && ground.agree(&|p, bits| of_form(a, p, bits), &|p, bits| of_form(b, &p.swapped(), bits))
}

fn mentioned(form: &Form, what: &dyn Fn(&Atom) -> bool) -> bool {
    form.0.keys().any(|m| m.0.keys().any(|a| mentions(a, what)))
}

fn mentions(atom: &Atom, what: &dyn Fn(&Atom) -> bool) -> bool {
    what(atom)
        || match atom {
            Atom::Exp(m) => m.0.keys().any(|a| mentions(a, what)),
            Atom::Power(form) => mentioned(form, what),
            Atom::Call(_, args) => args.iter().any(|f| mentioned(f, what)),
            _ => false,
        }
}
