//! Rules that may show that a form is a kernel.

use std::collections::BTreeMap;

use num_traits::{One, Signed};

use super::{Prover, coefficients, view};
use crate::check::exact::{Q, as_integer, int, ratio};
use crate::check::form::{Atom, Form, Fun, Monomial};
use crate::check::proof::{Proof, Rule};
use crate::check::verify::{self, is_nonnegative_constant, series};
use crate::check::{Dim, Domain};

impl Prover {
    /// A proof that `form` is positive semidefinite.
    pub(super) fn positive(&mut self, form: &Form) -> Option<Proof> {
        self.once(true, form, Self::search_positive)
    }

    fn search_positive(&mut self, form: &Form) -> Option<Proof> {
        if form.dependence().is_constant() {
            return self.kernel(form.clone(), Rule::Constant, vec![]);
        }
        if let Some(simpler) = verify::decided(form, &self.space)
            && let Some(premise) = self.positive(&simpler)
        {
            return self.kernel(form.clone(), Rule::DecidedBranch, vec![premise]);
        }
        if form.0.len() == 1 {
            if let Some(proof) = self.one_term(form) {
                return Some(proof);
            }
        } else if let Some(proof) = self.term_by_term(form) {
            return Some(proof);
        }
        self.common_factor(form)
            .or_else(|| self.series(form))
            .or_else(|| self.leaf(form))
            .or_else(|| self.kernel(form.clone(), Rule::Polya, vec![]))
            .or_else(|| self.anchored(form))
            .or_else(|| self.reflected(form))
            .or_else(|| self.in_groups(form))
            .or_else(|| self.by_joint_part(form))
            .or_else(|| self.polarised(form, true))
    }

    /// Every term with a coefficient ≥ 0 and a kernel behind it.
    fn term_by_term(&mut self, form: &Form) -> Option<Proof> {
        let mut weights = Vec::new();
        let mut premises = Vec::new();
        for (m, c) in &form.0 {
            let (weight, rest) = weight(m, c);
            if !is_nonnegative_constant(&weight) {
                return None;
            }
            if rest.0.is_empty() {
                premises.push(self.kernel(weight, Rule::Constant, vec![])?);
                weights.push(Form::constant(Q::one()));
            } else {
                premises.push(self.positive(&Form::term(Q::one(), rest))?);
                weights.push(weight);
            }
        }
        self.kernel(form.clone(), Rule::Sum { weights }, premises)
    }

    fn one_term(&mut self, form: &Form) -> Option<Proof> {
        let (m, c) = form.single()?;
        let (weight, rest) = weight(m, c);
        if weight != Form::constant(Q::one()) {
            if !is_nonnegative_constant(&weight) {
                return None;
            }
            let premise = self.positive(&Form::term(Q::one(), rest))?;
            return self.kernel(form.clone(), Rule::Sum { weights: vec![weight] }, vec![premise]);
        }
        let separate = |a: &Atom| {
            let d = a.dependence();
            !(d.pair || d.x && d.z)
        };
        let (apart, joint) = rest.split(separate);
        let of_x = apart.split(|a| a.dependence().x).0;
        let mut premises = Vec::new();
        if !apart.0.is_empty() {
            let function = Form::term(Q::one(), of_x);
            premises.push(self.kernel(Form::term(Q::one(), apart), Rule::RankOne { function }, vec![])?);
        }
        for (atom, e) in &joint.0 {
            premises.push(self.factor(atom, e)?);
        }
        if premises.len() == 1 {
            return premises.pop().filter(|p| p.claim.form == *form);
        }
        self.kernel(form.clone(), Rule::Product, premises)
    }

    /// A proof for one power of one atom.
    fn factor(&mut self, atom: &Atom, e: &Q) -> Option<Proof> {
        let form = Form::term(Q::one(), Monomial([(atom.clone(), e.clone())].into()));
        let base = Form::atom(atom.clone());
        if let Some(proof) = self.leaf(&form) {
            return Some(proof);
        }
        match atom {
            Atom::Exp(m) => {
                let exponent = Form::term(e.clone(), m.clone());
                if let Some(premise) = self.negative(&exponent.neg()) {
                    return self.kernel(form, Rule::Schoenberg, vec![premise]);
                }
                let premise = self.positive(&exponent)?;
                let function = Form::var().exp(&self.space)?;
                return self.series_of(form, function, premise);
            }
            Atom::Power(inner) if e.is_negative() => {
                if let Some(premise) = self.negative(inner)
                    && let Some(proof) =
                        self.kernel(form.clone(), Rule::NegativePower { power: -e }, vec![premise])
                {
                    return Some(proof);
                }
                let constant = inner.constant_term();
                let kernel = Form::constant(constant.clone()).sub(inner);
                let premise = self.positive(&kernel)?;
                let function = Form::constant(constant).sub(&Form::var()).power(e, &self.space)?;
                return self.series_of(form, function, premise);
            }
            Atom::Call(fun @ (Fun::Asin | Fun::Sinh | Fun::Tan | Fun::Cosh), args) if e.is_one() => {
                let mut argument = args[0].clone();
                let mut premise = self.positive(&argument);
                if premise.is_none() && *fun == Fun::Cosh {
                    argument = argument.neg();
                    premise = self.positive(&argument);
                }
                let function = Form::call(*fun, vec![Form::var()], &self.space)?;
                return self.series_of(form, function, premise?);
            }
            _ => {}
        }
        if e.is_negative() {
            let premise = self.negative(&base)?;
            return self.kernel(form, Rule::NegativePower { power: -e }, vec![premise]);
        }
        let n = as_integer(e).filter(|n| *n >= 2)?;
        let base = if let Atom::Power(inner) = atom { inner.clone() } else { base };
        let premise = self.positive(&base)?;
        let function = Form::var().power(&int(n), &self.space)?;
        self.series_of(form, function, premise)
    }

    /// Rules without premises.
    fn leaf(&self, form: &Form) -> Option<Proof> {
        let try_rule = |rule: Rule| self.kernel(form.clone(), rule, vec![]);
        let reads_norms = |a: &Atom| matches!(a, Atom::Call(Fun::Min | Fun::Max, _));
        if form.0.keys().any(|m| m.0.keys().any(reads_norms))
            && let Some(proof) = try_rule(Rule::IntegratedBrownianMotion)
        {
            return Some(proof);
        }
        if form.0.len() > 1
            && form.0.keys().all(|m| matches!(m.single(), Some((Atom::Dot(_), _))))
            && let Some(proof) = try_rule(Rule::InnerProduct)
        {
            return Some(proof);
        }
        // Without a negative coefficient the powers of ⟨x,z⟩ are enough.
        if self.space.domain == Domain::Sphere
            && form.0.values().any(Signed::is_negative)
            && self.space.dim != Dim::Any
            && let Some(proof) = try_rule(Rule::Gegenbauer)
        {
            return Some(proof);
        }
        if form.0.len() > 1 && !form.dependence().pair {
            let rules = [Rule::FiniteRank, Rule::BrownianBridge, Rule::Minimum];
            return rules.into_iter().find_map(try_rule);
        }
        if form.0.len() == 2
            && let Some(proof) = try_rule(Rule::BoundedBernstein)
        {
            return Some(proof);
        }
        if form.0.len() > 1 || form.single().is_some_and(|(m, _)| m.0.len() > 1) {
            let rules =
                [Rule::Wendland, Rule::SpectralDensity, Rule::CosineOnLine, Rule::PeriodicContinuation];
            return rules.into_iter().find_map(try_rule);
        }
        let mut proof = [
            Rule::InnerProduct,
            Rule::Named,
            Rule::Minimum,
            Rule::CosineOnLine,
            Rule::CosineOfDifference,
            Rule::HyperbolicSecant,
            Rule::BoundedBernstein,
            Rule::Askey,
            Rule::InfinitelyDivisible,
        ]
        .into_iter()
        .find_map(try_rule)
        .or_else(|| {
            // Exponentials and powers have shorter proofs.
            let is_call = matches!(form.single()?.0.single()?.0, Atom::Call(..));
            if is_call { try_rule(Rule::SpectralDensity) } else { None }
        })?;
        if let Some((Atom::Named(kernel), _)) = form.single().and_then(|(m, _)| m.single()) {
            proof.note = kernel.named.family.remark(&kernel.named, self.space.width(&kernel.cols));
        }
        Some(proof)
    }

    /// f(k) with k among the parts of the form; terms that are not functions of k must be kernels themselves.
    fn series(&mut self, form: &Form) -> Option<Proof> {
        for base in view::bases(form) {
            if base == *form {
                continue;
            }
            let (inside, outside) = form.partition(|m, _| {
                !m.dependence().is_constant() && view::term_as_function_of(m, &base, &self.space).is_some()
                    || m.dependence().is_constant()
            });
            if inside.dependence().is_constant() {
                continue;
            }
            let Some(function) = view::as_function_of(&inside, &base, &self.space) else { continue };
            if function == Form::var() || series::nonnegative(&function).is_err() {
                continue;
            }
            let Some(premise) = self.positive(&base) else { continue };
            let Some(part) = self.series_of(inside, function, premise) else { continue };
            if outside.is_zero() {
                return Some(part);
            }
            let Some(rest) = self.positive(&outside) else { continue };
            let one = Form::constant(Q::one());
            return self.kernel(
                form.clone(),
                Rule::Sum { weights: vec![one.clone(), one] },
                vec![part, rest],
            );
        }
        None
    }

    pub(super) fn series_of(&self, form: Form, function: Form, premise: Proof) -> Option<Proof> {
        let note = coefficients::explain(&function, &premise.claim.form);
        let mut proof = self.kernel(form, Rule::PowerSeries { function }, vec![premise])?;
        proof.note = note;
        Some(proof)
    }

    /// The terms that read the distance on a line are k(x−z), or −ψ(x−z), or −ψ(x−z)/2.
    fn reflected(&mut self, form: &Form) -> Option<Proof> {
        if form.0.len() < 2 || self.space.domain == Domain::Sphere {
            return None;
        }
        let on_line = |a: &Atom| matches!(a, Atom::Distance(cols) if self.space.width(cols) == Some(1));
        let (near, rest) = form.partition(|m, _| {
            let mut atoms = Vec::new();
            raw_atoms(m, &mut atoms);
            atoms.iter().any(on_line)
        });
        if near.is_zero() || rest.is_zero() {
            return None;
        }
        // The constant may belong to either part.
        let constant = Form::constant(form.constant_term());
        for near in [near.clone(), near.add(&constant)] {
            if let Some(premise) = self.positive(&near)
                && let Some(proof) = self.kernel(form.clone(), Rule::Reflection, vec![premise])
            {
                return Some(proof);
            }
            for factor in [int(-1), int(-2)] {
                if let Some(premise) = self.negative(&near.scale(&factor))
                    && let Some(proof) = self.kernel(form.clone(), Rule::Reflection, vec![premise])
                {
                    return Some(proof);
                }
            }
        }
        None
    }

    /// −ψ with ψ of negative type and a constant value at the origin.
    fn anchored(&mut self, form: &Form) -> Option<Proof> {
        if !self.space.domain.holds_origin() || form.0.len() < 2 {
            return None;
        }
        let premise = self.negative(&form.neg())?;
        self.kernel(form.clone(), Rule::Anchored, vec![premise])
    }

    /// A factor that all terms share.
    fn common_factor(&mut self, form: &Form) -> Option<Proof> {
        if form.0.len() < 2 {
            return None;
        }
        let mut terms = form.0.keys();
        let mut common = terms.next()?.clone();
        for m in terms {
            common.0.retain(|atom, e| match m.0.get(atom) {
                Some(other) if other.is_positive() == e.is_positive() => {
                    if other.abs() < e.abs() {
                        *e = other.clone();
                    }
                    true
                }
                _ => false,
            });
        }
        if common.0.is_empty() || common.dependence().is_constant() {
            return None;
        }
        let inverse = Monomial(common.0.iter().map(|(a, e)| (a.clone(), -e)).collect());
        let rest = form.mul(&Form::term(Q::one(), inverse), &self.space)?;
        if rest == *form {
            return None;
        }
        let factor = self.positive(&Form::term(Q::one(), common))?;
        let rest = self.positive(&rest)?;
        self.kernel(form.clone(), Rule::Product, vec![factor, rest])
    }

    /// Terms grouped by the statistics they read, the constant in one of the groups.
    fn in_groups(&mut self, form: &Form) -> Option<Proof> {
        let mut groups: Vec<(Vec<Atom>, Form)> = Vec::new();
        for (m, c) in &form.without_constant().0 {
            let mut roots = Vec::new();
            raw_atoms(m, &mut roots);
            let mut joined = Form::term(c.clone(), m.clone());
            let mut kept = Vec::new();
            for (others, part) in groups {
                if others.iter().any(|a| roots.contains(a)) {
                    roots.extend(others);
                    joined = joined.add(&part);
                } else {
                    kept.push((others, part));
                }
            }
            kept.push((roots, joined));
            groups = kept;
        }
        if groups.len() < 2 || groups.len() > 12 {
            return None;
        }
        let constant = Form::constant(form.constant_term());
        let holders = if constant.is_zero() { 1 } else { groups.len() };
        for holder in 0..holders {
            let mut premises = Vec::new();
            for (index, (_, part)) in groups.iter().enumerate() {
                let part = if index == holder { part.add(&constant) } else { part.clone() };
                match self.positive(&part) {
                    Some(proof) => premises.push(proof),
                    None => break,
                }
            }
            if premises.len() == groups.len() {
                let weights = vec![Form::constant(Q::one()); premises.len()];
                return self.kernel(form.clone(), Rule::Sum { weights }, premises);
            }
        }
        None
    }

    /// Σ k(x,z)·Σᵢⱼ cᵢⱼfᵢ(x)fⱼ(z): terms are grouped by their factor in both points, with one kernel and one matrix
    /// (cᵢⱼ) each.
    fn by_joint_part(&mut self, form: &Form) -> Option<Proof> {
        let mut groups: BTreeMap<Monomial, Form> = BTreeMap::new();
        for (m, c) in &form.0 {
            let (joint, apart) = m.split(|a| {
                let d = a.dependence();
                d.pair || (d.x && d.z)
            });
            let group = groups.entry(joint).or_default();
            *group = group.add(&Form::term(c.clone(), apart));
        }
        if groups.values().all(|g| g.0.len() == 1) {
            return None;
        }
        let mut premises = Vec::new();
        for (joint, coefficients) in groups {
            let whole = Form::term(Q::one(), joint.clone()).mul(&coefficients, &self.space)?;
            if whole == *form && !joint.0.is_empty() {
                return None;
            }
            if joint.0.is_empty() {
                premises.push(self.kernel(coefficients, Rule::FiniteRank, vec![])?);
                continue;
            }
            let matrix = self.positive(&coefficients)?;
            let kernel = self.positive(&Form::term(Q::one(), joint))?;
            premises.push(self.kernel(whole, Rule::Product, vec![kernel, matrix])?);
        }
        if premises.len() == 1 {
            return premises.pop();
        }
        let weights = vec![Form::constant(Q::one()); premises.len()];
        self.kernel(form.clone(), Rule::Sum { weights }, premises)
    }

    /// The same form written with ⟨x,z⟩ for |x−z|, or the other way round.
    pub(super) fn polarised(&mut self, form: &Form, positive: bool) -> Option<Proof> {
        if self.polarised {
            return None;
        }
        let space = self.space;
        let half = ratio(1, 2);
        let square = |atom: Atom| Form::norm(atom, &space).power(&int(2), &space);
        let to_dot = form.replace(
            &|atom, e| match atom {
                Atom::Distance(cols)
                    if as_integer(e).is_some_and(|n| n % 2 == 0) || space.on_sphere(cols) =>
                {
                    square(Atom::NormX(cols.clone()))?
                        .add(&square(Atom::NormZ(cols.clone()))?)
                        .sub(&Form::atom(Atom::Dot(cols.clone())).scale(&int(2)))
                        .power(&(e * &half), &space)
                }
                _ => None,
            },
            &space,
        );
        let to_distance = form.replace(
            &|atom, e| match atom {
                Atom::Dot(cols) => square(Atom::NormX(cols.clone()))?
                    .add(&square(Atom::NormZ(cols.clone()))?)
                    .sub(&Form::atom(Atom::Distance(cols.clone())).power(&int(2), &space)?)
                    .scale(&half)
                    .power(e, &space),
                _ => None,
            },
            &space,
        );
        self.polarised = true;
        let mut found = None;
        for other in [to_dot, to_distance].into_iter().flatten().filter(|f| f != form) {
            let premise = if positive { self.positive(&other) } else { self.negative(&other) };
            if let Some(premise) = premise {
                found =
                    self.conclude(premise.claim.property, form.clone(), Rule::Polarisation, vec![premise]);
                if found.is_some() {
                    break;
                }
            }
        }
        self.polarised = false;
        found
    }
}

/// The constant factor of a term, and the term without it.
pub(super) fn weight(m: &Monomial, c: &Q) -> (Form, Monomial) {
    let (constant, rest) = m.split(|a| a.dependence().is_constant());
    (Form::term(c.clone(), constant), rest)
}

/// The statistics of the points that a term reads.
fn raw_atoms(m: &Monomial, atoms: &mut Vec<Atom>) {
    for atom in m.0.keys() {
        match atom {
            Atom::Exp(inner) => raw_atoms(inner, atoms),
            Atom::Power(form) => form.0.keys().for_each(|m| raw_atoms(m, atoms)),
            Atom::Call(_, args) => args.iter().flat_map(|f| f.0.keys()).for_each(|m| raw_atoms(m, atoms)),
            Atom::Pi | Atom::Var => {}
            raw => atoms.push(raw.clone()),
        }
    }
}
