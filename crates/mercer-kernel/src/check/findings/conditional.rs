//! Conditionally positive definite formulas: Σᵢⱼ wᵢwⱼk(xᵢ,xⱼ) ≥ 0 for all weights with Σᵢ wᵢp(xᵢ) = 0 for every polynomial p
//! of degree below m.
//!
//! Negatives of functions of negative type have order 1, by the rules of proof. Functions of higher orders on every R^d
//! are (−1)^⌈β/2⌉·r^β, (−1)^⌈β⌉·(1 + r²)^β and (−1)^(k+1)·r^(2k)·log r with r = |x−z| (Wendland 2005, Theorems 8.15 to
//! 8.17), and r^(2j) of either sign: each of its terms has degree at most j in x or in z, so that order j + 1 takes it
//! to 0.

use std::fmt;

use num_traits::{One, Signed, ToPrimitive};
use serde_json::{Value as Json, json};

use super::About;
use crate::check::exact::{Q, int};
use crate::check::form::{Atom, Form, Fun, Monomial, Space};
use crate::check::{Proof, verify};
use crate::expr::Function;
use crate::formula::Formula;

/// Shows that a formula is conditionally positive definite.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Conditional {
    /// The order m: weights annihilate the polynomials of degree below m. A smaller order is not ruled out.
    pub order: u32,
    /// The proof that the formula's negative is of negative type, for order 1.
    pub proof: Option<Proof>,
    /// Whether the formula was given the value 0 at x = z, where its logarithm has none.
    pub completed: bool,
    space: Space,
}

pub(super) fn find(about: About<'_>) -> Option<Conditional> {
    let space = Space { dim: about.dim, domain: about.domain };
    let negative = Formula::Neg(Box::new(about.formula.clone()));
    if let Some(proof) = about.with(&negative).negative_type() {
        return Some(Conditional { order: 1, proof: Some(proof), completed: false, space });
    }
    let form = Form::of(about.formula, &space)?;
    let order = form.0.iter().map(|(m, c)| order_of(m, c)).try_fold(1, |most, o| Some(o?.max(most)))?;
    if !verify::defined::is_form_of(&form, about.formula, &space) {
        return None;
    }
    // Except log |x−z| at x = z, every part of the formula has a value everywhere.
    if !verify::defined::is_defined(&without_logarithm(about.formula), &space) {
        return None;
    }
    let completed = !verify::defined::is_defined(about.formula, &space);
    // The value 0 at x = z in place of the limit L takes L from the diagonal, which is harmless for L ≤ 0.
    let vanishes = |m: &Monomial| m.0.keys().any(|atom| matches!(atom, Atom::Distance(_)));
    if completed && form.0.iter().any(|(m, c)| !vanishes(m) && c.is_positive()) {
        return None;
    }
    Some(Conditional { order, proof: None, completed, space })
}

/// The formula with log |x−z| replaced by |x−z|.
fn without_logarithm(formula: &Formula) -> Formula {
    let mut changed = formula.clone();
    changed.replace(&mut |part| match part {
        Formula::Call(Function::Log, args) => match &args[0] {
            Formula::Distance => Some(Formula::Distance),
            Formula::Pow(base, power) => match (base.as_ref(), power.as_ref()) {
                (Formula::Distance, Formula::Number(e)) if e.is_positive() => Some(Formula::Distance),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    changed
}

fn ceiling(q: &Q) -> Option<u32> {
    q.ceil().to_integer().to_u32().filter(|n| *n <= 64)
}

/// The order of c·m, if known.
fn order_of(m: &Monomial, c: &Q) -> Option<u32> {
    // Whether the sign is (−1)^n.
    let has_sign = |n: u32| c.is_negative() == (n % 2 == 1);
    let atoms: Vec<(&Atom, &Q)> = m.0.iter().collect();
    match atoms.as_slice() {
        [] => Some(1),
        [(Atom::Distance(_), power)] if power.is_positive() => {
            let half = *power / int(2);
            let n = ceiling(&half)?;
            if half.is_integer() { Some(n + 1) } else { has_sign(n).then_some(n) }
        }
        [(Atom::Power(base), power)] if power.is_positive() && !power.is_integer() => {
            let rest = base.without_constant();
            let (inner, b) = rest.single()?;
            let squared = matches!(inner.single()?, (Atom::Distance(_), e) if *e == int(2));
            let n = ceiling(power)?;
            (squared && b.is_positive() && base.constant_term().is_positive() && has_sign(n)).then_some(n)
        }
        [(Atom::Distance(cols), power), (Atom::Call(Fun::Log, args), one)] if one.is_one() => {
            let (inner, scale) = args[0].single()?;
            let fits = scale.is_one()
                && matches!(inner.single()?, (Atom::Distance(list), e) if list == cols && e.is_positive());
            let half = *power / int(2);
            let k = ceiling(&half).filter(|_| half.is_integer() && half.is_positive())?;
            (fits && has_sign(k + 1)).then_some(k + 1)
        }
        _ => None,
    }
}

impl Conditional {
    fn reference(&self) -> &'static str {
        if self.proof.is_some() {
            "Schoenberg 1938; Berg, Christensen, Ressel 1984, Harmonic Analysis on Semigroups, 3.2"
        } else {
            "Wendland 2005, Scattered Data Approximation, Theorems 8.15 to 8.17"
        }
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "order": self.order,
            "reference": self.reference(),
            "zero_at_equal_points": self.completed,
            "proof": self.proof.as_ref().map(Proof::to_json),
            "text": self.to_string(),
        })
    }
}

impl fmt::Display for Conditional {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.completed {
            write!(f, "with the value 0 at x = z it is ")?;
        }
        let weights = match self.order {
            1 => "weights that sum to 0".into(),
            m => format!("weights that annihilate the polynomials of degree below {m}"),
        };
        write!(
            f,
            "conditionally positive definite of order {} on {}: for {weights}",
            self.order, self.space
        )?;
        write!(f, " ({})", self.reference())
    }
}
