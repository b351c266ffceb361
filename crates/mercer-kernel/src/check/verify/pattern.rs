//! Patterns of forms in rules.

use num_traits::{One, Signed, Zero};

use super::rewrite::are_swapped;
use crate::check::Dim;
use crate::check::exact::{Q, as_integer};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};

/// The atom and power of a form that is one power of one atom with coefficient 1.
pub(super) fn sole_atom(form: &Form) -> Option<(&Atom, &Q)> {
    let (m, c) = form.single()?;
    if c.is_one() { m.single() } else { None }
}

pub(super) fn of_x_alone(form: &Form) -> bool {
    let d = form.dependence();
    !d.z && !d.pair && !d.var
}

/// Whether a form is Σ c_S·a(S) over choices S of columns, a(S) a sum over the columns of S as `columns` reads it, with a weight
/// ≥ 0 in front of each column.
pub(super) fn has_column_weights(
    form: &Form,
    space: &Space,
    columns: impl Fn(&Atom, &Q) -> Option<Cols>,
) -> bool {
    let mut terms: Vec<(Cols, &Q)> = Vec::new();
    for (m, c) in &form.0 {
        match m.single().and_then(|(atom, e)| columns(atom, e)) {
            Some(cols) => terms.push((cols, c)),
            None => return false,
        }
    }
    let mut named: Vec<usize> = terms.iter().flat_map(|(cols, _)| cols.iter().flatten().copied()).collect();
    named.sort_unstable();
    named.dedup();
    // One column outside of all choices represents all such columns.
    let others = match space.dim {
        Dim::Exactly(d) => (0..d).find(|j| named.binary_search(j).is_err()),
        Dim::Any => Some(usize::MAX),
    };
    let weight = |j: usize| {
        let holds = |cols: &Cols| cols.as_ref().is_none_or(|list| list.contains(&j));
        terms.iter().filter(|(cols, _)| holds(cols)).fold(Q::zero(), |sum, (_, c)| sum + *c)
    };
    !terms.is_empty() && named.into_iter().chain(others).all(|j| !weight(j).is_negative())
}

/// Whether a form is f(x) − f(z).
pub(super) fn is_difference(form: &Form, space: &Space) -> bool {
    let (of_x, rest) = form.partition(|m, _| m.dependence().x);
    let d = of_x.dependence();
    !d.z && !d.pair && !d.var && are_swapped(&rest.neg(), &of_x, space)
}

/// The arguments of min or max where they are f₁(x), …, f₁(z), … and constants.
pub(super) fn symmetric_arguments(form: &Form, fun: Fun, space: &Space) -> Option<Vec<Form>> {
    match sole_atom(form)? {
        (Atom::Call(f, args), e) if *f == fun && e.is_one() => symmetric(args, space),
        _ => None,
    }
}

/// The arguments where they are f₁(x), …, f₁(z), … and constants.
pub(super) fn symmetric(args: &[Form], space: &Space) -> Option<Vec<Form>> {
    for arg in args {
        let d = arg.dependence();
        if d.pair || d.var || (d.x && d.z) || !args.iter().any(|other| are_swapped(arg, other, space)) {
            return None;
        }
    }
    Some(args.to_vec())
}

/// The columns of c·|x−z|, c ≠ 0.
pub(super) fn multiple_of_distance(form: &Form) -> Option<Cols> {
    let (m, _) = form.single()?;
    match m.split(|a| !a.dependence().is_constant()).0.single()? {
        (Atom::Distance(cols), e) if e.is_one() => Some(cols.clone()),
        _ => None,
    }
}

/// Whether a form is c·|x−z|^p with c ≠ 0 and 0 < p ≤ 1.
pub(super) fn is_low_power_of_distance(form: &Form) -> bool {
    let varying = form.single().map(|(m, _)| m.split(|a| !a.dependence().is_constant()).0);
    match varying.as_ref().and_then(Monomial::single) {
        Some((Atom::Distance(_), p)) => p.is_positive() && *p <= Q::one(),
        _ => false,
    }
}

/// The columns and ℓ of max(0, a − b|x−z|)^ℓ with a, b > 0.
pub fn askey(form: &Form) -> Option<(Cols, Q)> {
    let (Atom::Call(Fun::Max, args), power) = sole_atom(form)? else { return None };
    let [zero, line] = args.as_slice() else { return None };
    let (zero, line) = if zero.is_zero() { (zero, line) } else { (line, zero) };
    let slope = line.without_constant();
    let (m, b) = slope.single()?;
    let fits = zero.is_zero() && line.constant_term().is_positive() && b.is_negative() && power.is_positive();
    match m.single()? {
        (Atom::Distance(cols), e) if e.is_one() && fits => Some((cols.clone(), power.clone())),
        _ => None,
    }
}

/// A nonnegative integer exponent.
pub(super) fn natural(e: &Q) -> Option<usize> {
    if e.is_zero() { Some(0) } else { as_integer(e).and_then(|n| usize::try_from(n).ok()) }
}
