//! Radial kernels of every dimension are completely monotone functions of |x−z|² (Schoenberg 1938).
//!
//! Let a be a length, φ(s) the value of k where |x−z|² = s·a², and Sₛ = Σⱼ (−1)^j·C(n,j)·φ(s + j). Take the points (p, c) with p one of
//! N points at squared distance s·a² from each other and c a corner of a cube of side a in n dimensions, and weights (−1)^(number
//! of coordinates of c that are not 0). Then wᵀKw = N·2ⁿ·(S₀ + (N−1)·Sₛ) ≥ 0 for every N, so that Sₛ ≥ 0. The same holds with |x−z|₁ in place
//! of |x−z|² and s·a in place of s·a².

use num_traits::Zero;

use super::value::{Pair, of_form};
use crate::check::exact::{Q, binomial};
use crate::check::form::{Atom, Form, Monomial};
use crate::check::interval::Interval;

/// The most nodes of a difference.
const MOST_NODES: usize = 400;

/// Precisions tried in turn, in bits after the point.
const PRECISIONS: [u32; 3] = [192, 512, 1280];

/// |x−z| or |x−z|₁ over all columns, where a form reads the points through it alone.
pub fn sole_distance(form: &Form) -> Option<Atom> {
    fn each(m: &Monomial, visit: &mut dyn FnMut(&Atom)) {
        for atom in m.0.keys() {
            match atom {
                Atom::Exp(inner) => each(inner, visit),
                Atom::Power(base) => base.0.keys().for_each(|m| each(m, visit)),
                Atom::Call(_, args) => args.iter().flat_map(|arg| arg.0.keys()).for_each(|m| each(m, visit)),
                Atom::Pi => {}
                other => visit(other),
            }
        }
    }
    let mut found: Option<Atom> = None;
    let mut fits = true;
    let mut visit = |atom: &Atom| {
        fits &= matches!(atom, Atom::Distance(None) | Atom::Distance1(None))
            && *found.get_or_insert_with(|| atom.clone()) == *atom;
    };
    form.0.keys().for_each(|m| each(m, &mut visit));
    found.filter(|_| fits)
}

/// φ(first), …, φ(last) for the length a = `side`; `None` where a value is not known.
pub fn values(form: &Form, side: &Q, first: usize, last: usize, bits: u32) -> Option<Vec<Interval>> {
    let coordinate = |j: usize, steps: usize| if j < steps { side.clone() } else { Q::zero() };
    let point = |steps| (0..last.max(1)).map(|j| coordinate(j, steps)).collect();
    (first..=last).map(|steps| of_form(form, &Pair::from_origin(point(steps)), bits).ok()).collect()
}

/// Whether Σⱼ (−1)^j·C(n,j)·φ(s + j) < 0 with s = `skip` and n = `order`, or, for n = 0, φ(s) = 0 < φ(0): a mixture of Gaussians is
/// nowhere 0, and a continuous radial kernel of every dimension is one.
pub fn is_violated(form: &Form, side: &Q, skip: usize, order: usize) -> bool {
    if skip.saturating_add(order) > MOST_NODES {
        return false;
    }
    PRECISIONS.into_iter().any(|bits| {
        let Some(values) = values(form, side, skip, skip + order, bits) else { return false };
        let sum = values.iter().enumerate().fold(Interval::integer(0, bits), |sum, (j, value)| {
            let term = value.mul(&Interval::exact(&binomial(order as u64, j as u64), bits));
            if j % 2 == 0 { sum.add(&term) } else { sum.sub(&term) }
        });
        let vanishes = || order == 0 && sum.is_zero() && is_positive_at_zero(form, bits);
        sum.is_negative() || vanishes()
    })
}

fn is_positive_at_zero(form: &Form, bits: u32) -> bool {
    values(form, &Q::zero(), 0, 0, bits).is_some_and(|values| values[0].is_positive())
}
