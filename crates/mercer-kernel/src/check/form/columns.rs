//! Forms over choices of columns that overlap, written over disjoint ones.

use num_traits::One;

use super::{Atom, Cols, Form, Monomial, Space};
use crate::check::Dim;
use crate::check::exact::{Q, int};

/// The most groups of columns.
const MOST_GROUPS: usize = 8;

impl Form {
    /// The form with ⟨x,z⟩, |x−z|² and the other sums over columns written as sums over disjoint groups; `None` if that
    /// changes nothing or the dimension is not fixed.
    pub fn over_disjoint_columns(&self, space: &Space) -> Option<Self> {
        let Dim::Exactly(d) = space.dim else { return None };
        let mut choices: Vec<Cols> = Vec::new();
        self.0.keys().for_each(|m| collect(m, &mut choices));
        if choices.len() < 2 || d > 64 {
            return None;
        }
        let holds = |cols: &Cols, j: usize| cols.as_ref().is_none_or(|list| list.contains(&j));
        let mut groups: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
        for j in 0..d {
            let signature: Vec<bool> = choices.iter().map(|c| holds(c, j)).collect();
            match groups.iter_mut().find(|(s, _)| *s == signature) {
                Some((_, list)) => list.push(j),
                None => groups.push((signature, vec![j])),
            }
        }
        let parts_of = |cols: &Cols| -> Vec<Cols> {
            groups
                .iter()
                .filter(|(_, list)| holds(cols, list[0]))
                .map(|(_, list)| Some(list.clone()))
                .collect()
        };
        if groups.len() > MOST_GROUPS {
            return None;
        }
        let sum = |cols: &Cols, atom: &dyn Fn(Cols) -> Atom, power: &Q| {
            let term = |c| Form::term(Q::one(), Monomial([(atom(c), power.clone())].into()));
            parts_of(cols).into_iter().fold(Form::zero(), |sum, c| sum.add(&term(c)))
        };
        let two = int(2);
        let split = self.replace(
            &|atom, e| match atom {
                Atom::Dot(cols) => sum(cols, &Atom::Dot, &Q::one()).power(e, space),
                Atom::Distance1(cols) => sum(cols, &Atom::Distance1, &Q::one()).power(e, space),
                Atom::Distance(cols) => sum(cols, &Atom::Distance, &two).power(&(e / &two), space),
                Atom::NormX(cols) => sum(cols, &Atom::NormX, &two).power(&(e / &two), space),
                Atom::NormZ(cols) => sum(cols, &Atom::NormZ, &two).power(&(e / &two), space),
                _ => None,
            },
            space,
        )?;
        (split != *self).then_some(split)
    }
}

/// Adds the choices of columns that a term reads.
fn collect(m: &Monomial, choices: &mut Vec<Cols>) {
    for atom in m.0.keys() {
        match atom {
            Atom::Dot(cols)
            | Atom::Distance(cols)
            | Atom::Distance1(cols)
            | Atom::NormX(cols)
            | Atom::NormZ(cols) => {
                if !choices.contains(cols) {
                    choices.push(cols.clone());
                }
            }
            Atom::Exp(inner) => collect(inner, choices),
            Atom::Power(base) => base.0.keys().for_each(|m| collect(m, choices)),
            Atom::Call(_, args) => args.iter().flat_map(|f| f.0.keys()).for_each(|m| collect(m, choices)),
            Atom::Var | Atom::Pi | Atom::Named(_) => {}
        }
    }
}
