//! The search for a proof: rules that may give a form, and their premises. It may guess; the checker decides.

mod coefficients;
mod expression;
mod negative_type;
mod positive;
mod theorem;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use super::form::{Form, Space};
use super::proof::{Claim, Proof, Property, Rule};
use super::refute::Hints;
use super::steps::Limit;
use super::verdict::Theorem;
use super::verify;
use super::{Dim, Domain};
use crate::formula::Formula;

/// The result of the search.
pub struct Found {
    /// A proof, not yet checked as a whole.
    pub proof: Option<Proof>,
    /// A theorem that refutes, not yet checked.
    pub theorem: Option<Theorem>,
    /// Hints for finding points.
    pub hints: Hints,
}

/// Searches for a proof that `formula` is positive semidefinite, on the domain itself and then on larger sets.
pub fn prove(formula: &Formula, dim: Dim, domain: Domain, limit: Limit) -> Found {
    let mut found = Found { proof: None, theorem: None, hints: Hints::default() };
    let space = Space { dim, domain };
    let Some(form) = Form::of(formula, &space) else { return found };
    if !verify::defined::is_defined(formula, &space) {
        theorem::hints(&form, &space, &mut found);
        return found;
    }
    let mut inner = Prover::new(space, limit).expression(formula, &form);
    let wider = match domain {
        Domain::All => vec![],
        Domain::Box(..) if domain.is_in_orthant() => vec![Domain::Orthant, Domain::All],
        _ => vec![Domain::All],
    };
    for domain in wider {
        if inner.is_some() {
            break;
        }
        let larger = Space { dim, domain };
        inner = Form::of(formula, &larger).and_then(|wide| {
            let premise = Prover::new(larger, limit).expression(formula, &wide)?;
            Prover::new(space, limit).conclude(
                Property::PositiveSemidefinite,
                form.clone(),
                Rule::Restriction,
                vec![premise],
            )
        });
    }
    let mut form = form;
    if inner.is_none()
        && let Some(split) = form.over_disjoint_columns(&space)
    {
        inner = Prover::new(space, limit).positive(&split);
        if inner.is_some() {
            form = split;
        }
    }
    match inner {
        Some(premise) => {
            let claim = Claim { property: Property::PositiveSemidefinite, form, dim, domain };
            found.proof = Some(Proof { claim, rule: Rule::Formula, premises: vec![premise], note: None });
        }
        None => theorem::hints(&form, &space, &mut found),
    }
    found
}

/// Searches for a proof that `formula` is of negative type, on the domain itself and then on all of R^d.
pub fn prove_negative_type(formula: &Formula, dim: Dim, domain: Domain, limit: Limit) -> Option<Proof> {
    let space = Space { dim, domain };
    let form = Form::of(formula, &space)?;
    if !verify::defined::is_defined(formula, &space) {
        return None;
    }
    let mut prover = Prover::new(space, limit);
    let premise = prover.negative(&form).or_else(|| {
        let everywhere = Space { dim, domain: Domain::All };
        let wide = Form::of(formula, &everywhere)?;
        let premise = Prover::new(everywhere, limit).negative(&wide)?;
        prover.of_negative_type(form.clone(), Rule::Restriction, vec![premise])
    })?;
    let claim = Claim { property: Property::NegativeType, form, dim, domain };
    Some(Proof { claim, rule: Rule::Formula, premises: vec![premise], note: None })
}

/// The deepest nesting of rules.
const DEEPEST: usize = 14;

/// A search on one space, with its cached results.
struct Prover {
    space: Space,
    limit: Limit,
    depth: usize,
    polarised: bool,
    known: BTreeMap<(bool, Form), Proof>,
    failed: BTreeSet<(bool, Form)>,
}

impl Prover {
    fn new(space: Space, limit: Limit) -> Self {
        // Half of the steps are left for counter-examples.
        Self {
            space,
            limit: limit.part(2),
            depth: 0,
            polarised: false,
            known: BTreeMap::new(),
            failed: BTreeSet::new(),
        }
    }

    /// The step, if the checker accepts it.
    fn conclude(&self, property: Property, form: Form, rule: Rule, premises: Vec<Proof>) -> Option<Proof> {
        let claim = Claim { property, form, dim: self.space.dim, domain: self.space.domain };
        let proof = Proof { claim, rule, premises, note: None };
        verify::may_follow(&proof).then_some(proof)
    }

    fn kernel(&self, form: Form, rule: Rule, premises: Vec<Proof>) -> Option<Proof> {
        self.conclude(Property::PositiveSemidefinite, form, rule, premises)
    }

    fn of_negative_type(&self, form: Form, rule: Rule, premises: Vec<Proof>) -> Option<Proof> {
        self.conclude(Property::NegativeType, form, rule, premises)
    }

    /// Runs a search once per form and remembers its outcome.
    fn once(
        &mut self,
        positive: bool,
        form: &Form,
        search: impl FnOnce(&mut Self, &Form) -> Option<Proof>,
    ) -> Option<Proof> {
        let key = (positive, form.clone());
        if let Some(proof) = self.known.get(&key) {
            return Some(proof.clone());
        }
        if self.failed.contains(&key) || self.depth >= DEEPEST || self.limit.is_reached() {
            return None;
        }
        self.depth += 1;
        // A form is not proven from itself.
        self.failed.insert(key.clone());
        let found = search(self, form);
        self.depth -= 1;
        if let Some(proof) = &found {
            self.failed.remove(&key);
            self.known.insert(key, proof.clone());
        }
        found
    }
}
