//! Rules that may show that a form is of negative type.

use num_traits::{One, Signed};

use super::Prover;
use crate::check::exact::Q;
use crate::check::form::{Atom, Form, Fun, Monomial};
use crate::check::proof::{Proof, Rule};
use crate::check::verify::{is_nonnegative_constant, is_unknown_constant};

impl Prover {
    /// A proof that `form` is of negative type.
    pub(super) fn negative(&mut self, form: &Form) -> Option<Proof> {
        self.once(false, form, Self::search_negative)
    }

    fn search_negative(&mut self, form: &Form) -> Option<Proof> {
        // Distances over choices of columns, some with a minus sign.
        if form.0.len() > 1
            && form.0.values().any(Signed::is_negative)
            && form.0.keys().all(|m| matches!(m.single(), Some((Atom::Distance(_) | Atom::Distance1(_), _))))
            && let Some(proof) = self.of_negative_type(form.clone(), Rule::DistancePower, vec![])
        {
            return Some(proof);
        }
        self.negative_by_terms(form).or_else(|| self.negated(form)).or_else(|| self.polarised(form, false))
    }

    fn negated(&mut self, form: &Form) -> Option<Proof> {
        if form.0.values().all(Signed::is_positive) {
            return None;
        }
        let premise = self.positive(&form.neg())?;
        self.of_negative_type(form.clone(), Rule::NegatedKernel, vec![premise])
    }

    /// f(x) + f(z), and one premise per term that reads both points.
    fn negative_by_terms(&mut self, form: &Form) -> Option<Proof> {
        let (joint, apart) = form.partition(|m, _| {
            let d = m.dependence();
            d.pair || (d.x && d.z)
        });
        let mut weights = Vec::new();
        let mut premises = Vec::new();
        if !apart.is_zero() || joint.is_zero() {
            let half = Form::constant(apart.constant_term() / Q::from_integer(2.into()));
            let of_x = apart.partition(|m, _| m.dependence().x).0;
            let constants = apart
                .without_constant()
                .partition(|m, _| m.dependence().is_constant())
                .0
                .scale(&Q::new(1.into(), 2.into()));
            let function = of_x.add(&half).add(&constants);
            premises.push(self.of_negative_type(apart, Rule::Separable { function }, vec![])?);
            weights.push(Form::constant(Q::one()));
        }
        for (m, c) in &joint.0 {
            let (constant, rest) = m.split(|a| a.dependence().is_constant() || is_unknown_constant(a));
            let weight = Form::term(c.clone(), constant);
            let term = Form::term(Q::one(), rest.clone());
            if is_nonnegative_constant(&weight) {
                premises.push(self.negative_term(&rest)?);
                weights.push(weight);
            } else {
                if !is_nonnegative_constant(&weight.neg()) {
                    return None;
                }
                let kernel = self.positive(&term)?;
                premises.push(self.of_negative_type(term.neg(), Rule::NegatedKernel, vec![kernel])?);
                weights.push(weight.neg());
            }
        }
        if premises.len() == 1 && weights[0] == Form::constant(Q::one()) {
            return premises.pop();
        }
        self.of_negative_type(form.clone(), Rule::Sum { weights }, premises)
    }

    /// One power of one atom.
    fn negative_term(&mut self, m: &Monomial) -> Option<Proof> {
        let form = Form::term(Q::one(), m.clone());
        let rules = [
            Rule::DistancePower,
            Rule::Maximum,
            Rule::DifferencePower,
            Rule::HyperbolicSecant,
            Rule::BoundedBernstein,
        ];
        let leaf = rules.into_iter().find_map(|rule| self.of_negative_type(form.clone(), rule, vec![]));
        if leaf.is_some() {
            return leaf;
        }
        let (atom, e) = m.single()?;
        if !e.is_positive() || *e > Q::one() {
            return None;
        }
        if !e.is_one() {
            let base = match atom {
                Atom::Power(inner) => inner.clone(),
                other => Form::atom(other.clone()),
            };
            let premise = self.negative(&base)?;
            return self.of_negative_type(form, Rule::FractionalPower { power: e.clone() }, vec![premise]);
        }
        match atom {
            Atom::Call(Fun::Log, args) => {
                let premise = self.negative(&args[0])?;
                self.of_negative_type(form, Rule::Logarithm, vec![premise])
            }
            _ => None,
        }
    }
}
