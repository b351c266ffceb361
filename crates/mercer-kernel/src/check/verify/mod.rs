//! The checker: accepts a proof only if every rule application follows from the tree alone.
//!
//! It shares no code with [`search`](super::search), and it does not rely on the algebra of the normal form alone: two forms are
//! equal to it, or one is the formula, if the algebra says so ([`derive`]) and enclosures of their values at exact points of
//! the domain agree ([`value`]).

mod branches;
mod compact;
mod cosine_series;
mod damped;
pub mod defined;
pub mod density;
mod derive;
pub mod far;
mod finite_rank;
pub mod gegenbauer;
mod half_line;
pub mod monotone;
mod pattern;
mod piecewise;
mod polya;
pub mod polynomial;
pub mod radial;
pub mod range;
mod rewrite;
pub mod series;
mod step;
mod unscale;
mod value;

use num_traits::Signed;

use super::exact::int;
use super::form::{Form, Space};
use super::proof::{Claim, Failure, Proof, Property, Rule};
use super::{Dim, Domain};
use crate::formula::Formula;
pub use pattern::askey;
pub(super) use rewrite::decided;
use step::step;
use value::{Care, Ground, of_form};
pub(crate) use value::{is_nonnegative_constant, is_unknown_constant};

/// Why a proof was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {reason}")]
pub struct Rejection {
    /// The rule that was misapplied.
    pub rule: &'static str,
    /// The reason.
    pub reason: String,
}

/// Checks that `proof` proves `formula` positive semidefinite on the question's space.
///
/// # Errors
/// The first rule application that does not follow.
pub fn verify(proof: &Proof, formula: &Formula, dim: Dim, domain: Domain) -> Result<(), Rejection> {
    verify_claim(Property::PositiveSemidefinite, proof, formula, Space { dim, domain })
}

/// Checks that `proof` proves `formula` to be of negative type on the question's space.
///
/// # Errors
/// The first rule application that does not follow.
pub fn verify_negative_type(
    proof: &Proof,
    formula: &Formula,
    dim: Dim,
    domain: Domain,
) -> Result<(), Rejection> {
    verify_claim(Property::NegativeType, proof, formula, Space { dim, domain })
}

fn verify_claim(property: Property, proof: &Proof, formula: &Formula, space: Space) -> Result<(), Rejection> {
    super::form::refuel();
    if proof.claim.property != property {
        return Err(Rejection { rule: proof.rule.name(), reason: "it proves another claim".into() });
    }
    let premises: Vec<_> = proof.premises.iter().map(|p| &p.claim).collect();
    root(&proof.claim, &proof.rule, &premises, formula, space)?;
    proof.premises.iter().try_for_each(check)
}

/// Whether a form is shown to have two different values on the space.
pub(super) fn varies(form: &Form, space: &Space) -> bool {
    Ground::of(&[form], space, Care::Full).has_two_values(&|p, bits| of_form(form, p, bits))
}

/// A form with the same values at z = x.
pub(super) fn diagonal(form: &Form, space: &Space) -> Option<Form> {
    rewrite::diagonal(form, space)
}

/// Checks the root of a proof about `formula` on the question's space.
pub(super) fn root(
    claim: &Claim,
    rule: &Rule,
    premises: &[&Claim],
    formula: &Formula,
    space: Space,
) -> Result<(), Rejection> {
    let reject = |reason: &str| Rejection { rule: rule.name(), reason: reason.into() };
    let (Rule::Formula, [premise]) = (rule, premises) else {
        return Err(reject("a proof starts at the formula"));
    };
    if claim.space() != space {
        return Err(reject("it proves another claim"));
    }
    if *premise != claim {
        return Err(reject("the premise is another claim"));
    }
    if !defined::is_defined(formula, &space) {
        return Err(reject("the formula may be undefined on the domain"));
    }
    if !defined::is_form_of(&claim.form, formula, &space) {
        return Err(reject("the form and the formula differ in value"));
    }
    if !derive::is_read_as(formula, &claim.form, &space) {
        return Err(reject("the formula is not read as this form"));
    }
    Ok(())
}

/// Checks that a claim follows by a rule from the premises' claims.
pub(super) fn follows_from(claim: &Claim, rule: &Rule, premises: &[&Claim]) -> Result<(), Rejection> {
    let reject = |reason| Rejection { rule: rule.name(), reason };
    if super::steps::are_spent() {
        return Err(reject("the steps are used up".into()));
    }
    step(claim, rule, premises, Care::Full).map_err(reject)
}

fn check_step(proof: &Proof, care: Care) -> Result<(), Rejection> {
    let premises: Vec<_> = proof.premises.iter().map(|p| &p.claim).collect();
    step(&proof.claim, &proof.rule, &premises, care)
        .map_err(|reason| Rejection { rule: proof.rule.name(), reason })
}

/// Whether the last step of a proof follows from its premises' claims, which are not verified.
pub fn follows(proof: &Proof) -> bool {
    check_step(proof, Care::Full).is_ok()
}

/// Whether the last step of a proof may follow: as [`follows`], with values compared at few points.
pub(super) fn may_follow(proof: &Proof) -> bool {
    check_step(proof, Care::Quick).is_ok()
}

fn check(proof: &Proof) -> Result<(), Rejection> {
    let premises: Vec<_> = proof.premises.iter().map(|p| &p.claim).collect();
    follows_from(&proof.claim, &proof.rule, &premises)?;
    proof.premises.iter().try_for_each(check)
}

/// Checks a theorem that refutes: its condition fails for the formula in a dimension the question asks about.
pub fn fails(failure: &Failure, formula: &Formula, dim: Dim, domain: Domain) -> bool {
    super::form::refuel();
    let at = |d: usize| {
        (dim == Dim::Any || dim == Dim::Exactly(d)).then_some(Space { dim: Dim::Exactly(d), domain })
    };
    let is_formula = |form: &Form, space: &Space| {
        defined::is_form_of(form, formula, space) && derive::is_read_as(formula, form, space)
    };
    match failure {
        Failure::Density { form, dim: d, v } => at(*d).is_some_and(|space| {
            domain == Domain::All
                && defined::is_defined(formula, &space)
                && is_formula(form, &space)
                && density::is_negative_at(form, *d, v)
        }),
        Failure::Askey { form, dim: d } => at(*d).is_some_and(|space| {
            domain == Domain::All
                && is_formula(form, &space)
                && askey(form)
                    .map(|(cols, l)| (cols, l, 0))
                    .or_else(|| radial::wendland(form))
                    .is_some_and(|(cols, l, k)| cols.is_none() && l * int(2) < int(*d as i64 + 2 * k + 1))
        }),
        Failure::Mixture { form } => {
            let space = Space { dim, domain };
            dim == Dim::Any
                && domain == Domain::All
                && defined::is_defined(formula, &space)
                && is_formula(form, &space)
                && radial::has_negative_atom(form)
        }
        Failure::Far { form, least } => {
            let space = Space { dim, domain };
            matches!(domain, Domain::All | Domain::Orthant)
                && least.is_positive()
                && defined::is_defined(formula, &space)
                && is_formula(form, &space)
                && far::greatest_beyond(form, least).is_some_and(|bound| bound.is_negative())
        }
        Failure::Difference { form, side, skip, order } => {
            let space = Space { dim, domain };
            dim == Dim::Any
                && matches!(domain, Domain::All | Domain::Orthant)
                && defined::is_defined(formula, &space)
                && is_formula(form, &space)
                && monotone::sole_distance(form).is_some()
                && monotone::is_violated(form, side, *skip, *order)
        }
        Failure::Coefficient { function, order } => {
            let space = Space { dim, domain };
            matches!(domain, Domain::All | Domain::Ball(_) | Domain::Orthant)
                && defined::is_defined(formula, &space)
                && defined::is_function_of_dot(function, formula, &space)
                && function
                    .at(&Form::dot(&None, &space), &space)
                    .is_some_and(|form| derive::is_read_as(formula, &form, &space))
                && series::is_negative_at(function, *order)
        }
        Failure::Gegenbauer { form, dim: d, degree } => at(*d).is_some_and(|space| {
            is_formula(form, &space)
                && gegenbauer::coefficients(form, &space)
                    .is_ok_and(|c| c.get(*degree).is_some_and(Signed::is_negative))
        }),
    }
}
