//! Named kernels found in canonical formulas.

use super::canonical::split_coefficient;
use super::expr::{Expr, Function};
use super::family::linear::LINEAR;
use super::family::{FAMILIES, FamilyId, Pattern};
use super::named::{Named, Value};

/// `<x,z>`.
pub(super) fn linear() -> Expr {
    Expr::Named(Named::with_defaults(LINEAR))
}

/// The canonical form of a named kernel.
pub(super) fn named(named: &Named) -> Expr {
    named.family.canonical(named).unwrap_or_else(|| Expr::Named(named.clone()))
}

fn find(pattern: Pattern<'_>) -> Option<Expr> {
    FAMILIES.iter().find_map(|family| family.recognise(pattern)).map(Expr::Named)
}

/// A sum or atom to a constant power.
pub(super) fn power(base: Expr, exponent: f64) -> Expr {
    find(Pattern::Power { base: &base, exponent }).unwrap_or_else(|| base.power(exponent))
}

/// A function of canonical arguments.
pub(super) fn call(function: Function, arguments: Vec<Expr>) -> Expr {
    let recognised = match function {
        Function::Exp => {
            let (coefficient, of) = split_coefficient(arguments[0].clone());
            let rate = -coefficient;
            usable(rate).then(|| find(Pattern::Decay { rate, of: &of })).flatten()
        }
        _ => find(Pattern::Call(function, &arguments[0])),
    };
    recognised.unwrap_or(Expr::Call(function, arguments))
}

/// Combines two factors of a product if they form a named kernel.
pub(super) fn factors(mut factors: Vec<Expr>) -> Vec<Expr> {
    let found = FAMILIES.iter().find_map(|family| family.recognise_factors(&factors));
    if let Some((named, [kept, gone])) = found {
        factors[kept] = Expr::Named(named);
        factors.remove(gone);
        factors.sort_by_cached_key(ToString::to_string);
    }
    factors
}

/// Slope and intercept of a canonical expression that is affine in `atom`.
pub(super) fn affine(expr: &Expr, atom: &Expr) -> Option<(f64, f64)> {
    let slope = |term: &Expr| {
        let (slope, rest) = split_coefficient(term.clone());
        (rest == *atom).then_some(slope)
    };
    match expr {
        Expr::Sum(terms) => match terms.as_slice() {
            [Expr::Number(intercept), term] => Some((slope(term)?, *intercept)),
            _ => None,
        },
        term => Some((slope(term)?, 0.0)),
    }
}

/// Whether a rate or a length has a valid text.
pub(super) fn usable(value: f64) -> bool {
    value.is_normal() && value > 0.0
}

/// Whether two numbers are equal up to the rounding of a few operations.
pub(super) fn agrees(a: f64, b: f64) -> bool {
    (a - b).abs() <= 16.0 * f64::EPSILON * b.abs()
}

/// The short decimal that equals a value up to rounding: 0.3 for 0.30000000000000004.
pub(super) fn tidy(value: f64) -> f64 {
    match format!("{value:.13e}").parse::<f64>() {
        Ok(short) if (short - value).abs() <= 4.0 * f64::EPSILON * value.abs() => short,
        _ => value,
    }
}

/// The named kernel with these numbers, if each is allowed.
pub(super) fn named_kernel(family: FamilyId, numbers: &[f64]) -> Option<Named> {
    let mut named = Named::with_defaults(family);
    for (slot, &number) in numbers.iter().enumerate() {
        if !family.slots()[slot].spellings[0].allowed.contains(number) {
            return None;
        }
        named.arguments[slot].value = Value::Number(number);
    }
    Some(named)
}
