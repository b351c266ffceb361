//! Radial functions in every dimension: mixtures of Gaussians (Schoenberg 1938).

use num_traits::{One, Signed};

use super::compact;
use crate::check::exact::{Q, int, ratio};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial};

/// b·|x−z|^p with b > 0 and 0 < p ≤ 1.
fn grows_with_distance(form: &Form) -> bool {
    match form.single() {
        Some((m, b)) if b.is_positive() => {
            matches!(m.single(), Some((Atom::Distance(_), p)) if p.is_positive() && *p <= Q::one())
        }
        _ => false,
    }
}

/// tanh √s has the derivative sech²(√s)/(2√s) and atan √s has 1/(2√s(1+s)), products of completely monotone functions:
/// both are Bernstein functions, and a bounded one subtracted from its limit is completely monotone.
pub fn bounded_bernstein(form: &Form, as_kernel: bool) -> bool {
    let call = |m: &Monomial, wanted: Fun| match m.single() {
        Some((Atom::Call(fun, args), e)) => *fun == wanted && e.is_one() && grows_with_distance(&args[0]),
        _ => false,
    };
    if !as_kernel {
        let coefficient_one = form.single().filter(|(_, c)| c.is_one());
        return coefficient_one.is_some_and(|(m, _)| call(m, Fun::Tanh) || call(m, Fun::Atan));
    }
    if let Some((m, c)) = form.single() {
        // 1/(1 + e^(bψ)) = (1 − tanh(bψ/2))/2
        let Some((Atom::Power(base), e)) = m.single() else { return false };
        let rest = base.without_constant();
        let exponential =
            match rest.single().and_then(|(n, one)| if one.is_one() { n.single() } else { None }) {
                Some((Atom::Exp(inner), b)) => grows_with_distance(&Form::term(b.clone(), inner.clone())),
                _ => false,
            };
        return c.is_one() && *e == int(-1) && base.constant_term().is_one() && exponential;
    }
    let minus = |fun: Fun| form.0.iter().any(|(m, c)| *c == int(-1) && call(m, fun));
    let pi = form.0.get(&Monomial::atom(Atom::Pi)) == Some(&ratio(1, 2));
    form.0.len() == 2 && ((form.constant_term().is_one() && minus(Fun::Tanh)) || (pi && minus(Fun::Atan)))
}

/// Whether a radial form is a signed mixture of Gaussians with a negative weight on one of them. The mixture of a radial
/// kernel in every dimension is unique and has no such term.
pub fn has_negative_atom(form: &Form) -> bool {
    let mut cols: Option<Cols> = None;
    let mut negative = false;
    for (m, c) in &form.without_constant().0 {
        let distance = |m: &Monomial| match m.single() {
            Some((Atom::Distance(list), p)) => Some((list.clone(), p.clone())),
            _ => None,
        };
        let found = match m.single() {
            Some((Atom::Exp(inner), e)) if e.is_negative() => match distance(inner) {
                Some((list, p)) if p == int(2) => {
                    negative |= c.is_negative();
                    Some(list)
                }
                // A stable law: its mixture has a density.
                Some((list, p)) if p.is_positive() && p < int(2) => Some(list),
                _ => None,
            },
            // A Gamma law: its mixture has a density.
            Some((Atom::Power(base), e)) if e.is_negative() && base.constant_term().is_positive() => {
                let rest = base.without_constant();
                match rest.single() {
                    Some((inner, b)) if b.is_positive() => {
                        distance(inner).filter(|(_, p)| *p == int(2)).map(|(list, _)| list)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        match (found, &cols) {
            (Some(list), None) => cols = Some(list),
            (Some(list), Some(known)) if list == *known => {}
            _ => return false,
        }
    }
    negative && cols == Some(None)
}

/// The columns, ℓ and k of Wendland's φ_{ℓ,k}: (1−u)₊^(ℓ+1)·((ℓ+1)u + 1) or (1−u)₊^(ℓ+2)·((ℓ²+4ℓ+3)u² + (3ℓ+6)u + 3),
/// u = |x−z|/c, times a positive constant; of any k where ℓ is a whole number. It is positive semidefinite on R^d exactly
/// where ℓ ≥ (d+1)/2 + k.
pub fn wendland(form: &Form) -> Option<(Cols, Q, i64)> {
    compact::wendland(form).or_else(|| of_low_order(form))
}

fn of_low_order(form: &Form) -> Option<(Cols, Q, i64)> {
    let mut coefficients = vec![int(0); 3];
    let mut shared: Option<(&Form, &Q)> = None;
    let mut cols = None;
    for (m, c) in &form.0 {
        let mut degree = 0;
        for (atom, e) in &m.0 {
            match atom {
                Atom::Call(Fun::Max, args) if args.len() == 2 => {
                    let line = if args[0].is_zero() { &args[1] } else { &args[0] };
                    if !(args[0].is_zero() || args[1].is_zero()) || shared.is_some_and(|s| s != (line, e)) {
                        return None;
                    }
                    shared = Some((line, e));
                }
                Atom::Distance(list) if degree == 0 && (e.is_one() || *e == int(2)) => {
                    if cols.as_ref().is_some_and(|known| known != list) {
                        return None;
                    }
                    degree = if e.is_one() { 1 } else { 2 };
                    cols = Some(list.clone());
                }
                _ => return None,
            }
        }
        // max(0, line) and max(line, 0) are two atoms with the same line: their product has twice the power.
        if m.0.keys().filter(|a| matches!(a, Atom::Call(..))).count() != 1 {
            return None;
        }
        coefficients[degree] += c;
    }
    let (line, power) = shared?;
    let slope = line.without_constant();
    let (m, b) = slope.single()?;
    let cols = cols?;
    let descends = matches!(m.single(), Some((Atom::Distance(list), e)) if e.is_one() && *list == cols);
    if !descends || !b.is_negative() || !line.constant_term().is_positive() {
        return None;
    }
    // u = r·scale
    let scale = -b / line.constant_term();
    let c = [coefficients[0].clone(), &coefficients[1] / &scale, &coefficients[2] / (&scale * &scale)];
    if !c[0].is_positive() {
        return None;
    }
    let (l1, l2) = (power - int(1), power - int(2));
    if c[2] == int(0) && c[1] == &c[0] * (&l1 + int(1)) {
        return Some((cols, l1, 1));
    }
    let unit = &c[0] / int(3);
    let fits = c[1] == &unit * (int(3) * &l2 + int(6)) && c[2] == &unit * (&l2 * &l2 + int(4) * &l2 + int(3));
    fits.then_some((cols, l2, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_two_maxima_is_not_a_wendland_function() {
        let distance = Atom::Distance(None);
        let line = Form::constant(int(1)).sub(&Form::atom(distance.clone()));
        let first = Atom::Call(Fun::Max, vec![Form::zero(), line.clone()]);
        let second = Atom::Call(Fun::Max, vec![line, Form::zero()]);
        let power =
            |atoms: &[(&Atom, i64)]| Monomial(atoms.iter().map(|(a, e)| ((*a).clone(), int(*e))).collect());
        let once = Form::term(int(1), power(&[(&first, 5)]));
        let with = |m: Monomial| once.add(&Form::term(int(5), m));
        let wendland_function = with(power(&[(&first, 5), (&distance, 1)]));
        assert_eq!(of_low_order(&wendland_function).map(|(_, l, k)| (l, k)), Some((int(4), 1)));
        assert!(of_low_order(&with(power(&[(&first, 5), (&second, 5), (&distance, 1)]))).is_none());
    }
}
