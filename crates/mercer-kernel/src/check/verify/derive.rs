//! The conclusion of a rule by the algebra of forms.
//!
//! Values at points do not distinguish two functions that differ by less than the precision of the comparison, or only
//! in a region without such a point. The algebra distinguishes them, but a mistake in it would be a false proof. A
//! claim must therefore pass both: it has the values that its rule requires, and it is the form that the algebra
//! derives.

use num_traits::One;

use super::rewrite::decided;
use crate::check::exact::{Q, int, ratio};
use crate::check::form::{Atom, Cols, Form, Space};
use crate::check::proof::{Claim, Property, Rule};
use crate::formula::Formula;

/// Whether the algebra converts a formula to this form.
pub(super) fn is_read_as(formula: &Formula, form: &Form, space: &Space) -> bool {
    let is_form = |read: &Form| is_same(read, form, space);
    Form::of(formula, space)
        .is_some_and(|read| is_form(&read) || read.over_disjoint_columns(space).is_some_and(|r| is_form(&r)))
}

/// Whether a claim is the form that the algebra derives from the premises by a rule. Rules that do not determine the
/// form accept all.
pub(super) fn is_derived(claim: &Claim, rule: &Rule, premises: &[&Claim]) -> bool {
    let space = &claim.space();
    let forms: Vec<&Form> = premises.iter().map(|p| &p.form).collect();
    let derived = match (rule, forms.as_slice()) {
        (Rule::Restriction | Rule::Polarisation, [form]) => Some((*form).clone()),
        (Rule::DecidedBranch, [form]) => {
            return decided(&claim.form, space).is_some_and(|derived| is_same(&derived, form, space));
        }
        (Rule::Reflection, _) => {
            return premises.iter().any(|premise| {
                reflections(premise, space).iter().any(|derived| is_same(derived, &claim.form, space))
            });
        }
        (Rule::RankOne { function }, _) => function.swapped(space).and_then(|g| function.mul(&g, space)),
        (Rule::Separable { function }, _) => function.swapped(space).map(|g| function.add(&g)),
        (Rule::Sum { weights }, forms) => weights
            .iter()
            .zip(forms)
            .try_fold(Form::zero(), |sum, (w, form)| Some(sum.add(&w.mul(form, space)?))),
        (Rule::Product, forms) => {
            forms.iter().try_fold(Form::constant(Q::one()), |product, form| product.mul(form, space))
        }
        (Rule::PowerSeries { function }, [form]) => function.at(form, space),
        (Rule::Schoenberg, [form]) => form.neg().exp(space),
        (Rule::NegativePower { power }, [form]) => form.power(&-power, space),
        (Rule::FractionalPower { power }, [form]) => form.power(power, space),
        (Rule::Logarithm, [form]) => form.log(),
        (Rule::Anchored | Rule::NegatedKernel, [form]) => Some(form.neg()),
        _ => return true,
    };
    derived.is_some_and(|derived| is_same(&derived, &claim.form, space))
}

/// The forms that follow from a function of |x−z| on a line by [`Rule::Reflection`].
fn reflections(premise: &Claim, space: &Space) -> Vec<Form> {
    let (near, two) = (&premise.form, int(2));
    let at = |distance: &dyn Fn(&Cols) -> Option<Form>| {
        let replace = |atom: &Atom, e: &Q| match atom {
            Atom::Distance(cols) => distance(cols)?.power(e, space),
            _ => None,
        };
        near.replace(&replace, space)
    };
    let of_x = |cols: &Cols| Form::norm(Atom::NormX(cols.clone()), space);
    let of_z = |cols: &Cols| Form::norm(Atom::NormZ(cols.clone()), space);
    // |x+z|, which is |x| + |z| where both are ≥ 0.
    let root = at(&|cols| {
        let squares = of_x(cols).power(&two, space)?.add(&of_z(cols).power(&two, space)?);
        squares.add(&Form::dot(cols, space).scale(&two)).power(&ratio(1, 2), space)
    });
    let sum = at(&|cols| space.domain.is_in_orthant().then(|| of_x(cols).add(&of_z(cols))));
    let alone =
        at(&|cols| Some(of_x(cols))).zip(at(&|cols| Some(of_z(cols)))).zip(at(&|_| Some(Form::zero())));
    let mut found = Vec::new();
    for far in root.into_iter().chain(sum) {
        if premise.property == Property::PositiveSemidefinite {
            found.extend([near.sub(&far), near.add(&far)]);
            continue;
        }
        found.push(far.sub(near));
        if let Some(((x, z), origin)) = &alone {
            found.push(x.add(z).sub(&near.add(&far).scale(&ratio(1, 2))).sub(origin));
        }
    }
    found
}

/// Whether two forms are equal by the algebra.
pub(super) fn is_same(a: &Form, b: &Form, space: &Space) -> bool {
    let written_out = || Some(written_out(a, space)? == written_out(b, space)?);
    a == b || written_out() == Some(true)
}

/// The form as it reads on a space, with |x|² + |z|² − 2⟨x,z⟩ for |x−z|².
fn written_out(form: &Form, space: &Space) -> Option<Form> {
    let two = int(2);
    form.replace(
        &|atom, e| match atom {
            Atom::Dot(cols) => Form::dot(cols, space).power(e, space),
            Atom::NormX(_) | Atom::NormZ(_) => Form::norm(atom.clone(), space).power(e, space),
            Atom::Distance1(cols) if space.width(cols) == Some(1) => {
                written_out(&Form::distance1(cols, space).power(e, space)?, space)
            }
            Atom::Distance(cols) => {
                let square = |norm: Atom| Form::norm(norm, space).power(&two, space);
                square(Atom::NormX(cols.clone()))?
                    .add(&square(Atom::NormZ(cols.clone()))?)
                    .sub(&Form::dot(cols, space).scale(&two))
                    .power(&(e / &two), space)
            }
            _ => None,
        },
        space,
    )
}
