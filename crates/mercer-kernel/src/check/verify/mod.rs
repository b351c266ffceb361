//! The checker: accepts a proof only where every rule application follows from the tree alone.
//!
//! It shares no code with [`search`](super::search). What both stand on is the normal form, whose reading of the
//! formula is compared here with the formula's own values at sample points.

pub mod defined;
pub mod density;
mod finite_rank;
pub mod gegenbauer;
mod pattern;
mod polya;
pub mod polynomial;
pub mod radial;
pub mod range;
mod rewrite;
pub mod series;
mod step;

use num_traits::Signed;

use super::exact::int;
use super::form::{Form, Space};
use super::proof::{Failure, Proof, Property, Rule};
use super::{Dim, Domain};
use crate::expr::Expr;
pub use pattern::askey;
use step::step;

/// Why a proof was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {reason}")]
pub struct Rejection {
    /// The rule that was misapplied.
    pub rule: &'static str,
    /// What is wrong.
    pub reason: String,
}

/// Checks that `proof` proves `expr` positive semidefinite on the question's space.
///
/// # Errors
/// The first rule application that does not follow.
pub fn verify(proof: &Proof, expr: &Expr, dim: Dim, domain: Domain) -> Result<(), Rejection> {
    super::form::refuel();
    let space = Space { dim, domain };
    let reject = |reason: &str| Rejection { rule: proof.rule.name(), reason: reason.into() };
    if proof.rule != Rule::Formula || proof.premises.len() != 1 {
        return Err(reject("a proof starts at the formula"));
    }
    if proof.claim.space() != space || proof.claim.property != Property::PositiveSemidefinite {
        return Err(reject("it proves another claim"));
    }
    let form = Form::of(expr, &space).ok_or_else(|| reject("the formula has no form"))?;
    if form != proof.claim.form || form != proof.premises[0].claim.form {
        return Err(reject("the form is not the formula's"));
    }
    if proof.premises[0].claim.space() != space {
        return Err(reject("the premise holds elsewhere"));
    }
    if !defined::is_defined(expr, &space) {
        return Err(reject("the formula may be undefined on the domain"));
    }
    if !agrees(expr, &form, &space) {
        return Err(reject("the form and the formula differ in value"));
    }
    check(&proof.premises[0])
}

/// Whether the form has the formula's values at points spread over the domain.
fn agrees(expr: &Expr, form: &Form, space: &Space) -> bool {
    let dim = match space.dim {
        Dim::Any => 3.max(defined::least_dim(expr)),
        Dim::Exactly(d) => d,
    };
    // A fixed low-discrepancy sequence: the golden ratio's multiples.
    let coordinate = |i: usize| ((i as f64 + 1.0) * 0.618_033_988_749_895).fract() * 2.0 - 1.0;
    let point = |index: usize| {
        let mut p: Vec<f64> = (0..dim).map(|j| coordinate(index * dim + j * 7 + 3)).collect();
        if space.domain == Domain::Orthant {
            p.iter_mut().for_each(|c| *c = c.abs());
        }
        let norm = p.iter().map(|c| c * c).sum::<f64>().sqrt();
        let scale = match space.domain {
            Domain::Sphere => 1.0 / norm,
            Domain::Ball(radius) => 0.9 * radius / norm.max(1.0),
            _ => 1.0,
        };
        p.iter_mut().for_each(|c| *c *= scale);
        p
    };
    (0..12).all(|i| {
        let (x, z) = (point(2 * i), point(2 * i + 1));
        let Ok(direct) = crate::eval::eval(expr, &x, &z) else { return true };
        let through = form.value(&x, &z);
        !direct.is_finite() || !through.is_finite() || (direct - through).abs() <= 1e-6 * (1.0 + direct.abs())
    })
}

/// Whether the last step of a proof follows from its premises' claims, which are not looked into.
pub fn follows(proof: &Proof) -> bool {
    step(&proof.claim, &proof.rule, &proof.premises.iter().map(|p| &p.claim).collect::<Vec<_>>()).is_ok()
}

fn check(proof: &Proof) -> Result<(), Rejection> {
    step(&proof.claim, &proof.rule, &proof.premises.iter().map(|p| &p.claim).collect::<Vec<_>>())
        .map_err(|reason| Rejection { rule: proof.rule.name(), reason })?;
    proof.premises.iter().try_for_each(check)
}

/// Checks a theorem that refutes: its condition fails for the formula in a dimension the question asks about.
pub fn fails(failure: &Failure, expr: &Expr, dim: Dim, domain: Domain) -> bool {
    super::form::refuel();
    let at = |d: usize| {
        (dim == Dim::Any || dim == Dim::Exactly(d)).then_some(Space { dim: Dim::Exactly(d), domain })
    };
    let is_formula = |form: &Form, space: &Space| Form::of(expr, space).as_ref() == Some(form);
    match failure {
        Failure::Density { form, dim: d, v } => at(*d).is_some_and(|space| {
            domain == Domain::All
                && defined::is_defined(expr, &space)
                && is_formula(form, &space)
                && density::is_negative_at(form, *d, v)
        }),
        Failure::Askey { form, dim: d } => at(*d).is_some_and(|space| {
            domain == Domain::All
                && is_formula(form, &space)
                && askey(form).is_some_and(|(cols, l)| cols.is_none() && l * int(2) < int(*d as i64 + 1))
        }),
        Failure::Mixture { form } => {
            let space = Space { dim, domain };
            dim == Dim::Any
                && domain == Domain::All
                && defined::is_defined(expr, &space)
                && is_formula(form, &space)
                && radial::has_negative_atom(form)
        }
        Failure::Gegenbauer { form, dim: d, degree } => at(*d).is_some_and(|space| {
            is_formula(form, &space)
                && gegenbauer::coefficients(form, &space)
                    .is_ok_and(|c| c.get(*degree).is_some_and(Signed::is_negative))
        }),
    }
}
