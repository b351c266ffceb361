//! Named kernels found in canonical formulas.

use super::canonical::{power as canonical_power, product, split_coefficient, sum};
use super::expr::{Expr, Function};
use super::named::{Argument, Family, Named, Value};

/// `<x,z>`.
pub(super) fn linear() -> Expr {
    Expr::Named(Named::with_defaults(Family::Linear))
}

/// The canonical form of a named kernel: Gaussian widths as sigma, polynomials that are lines or monomials opened.
pub(super) fn named(named: &Named) -> Expr {
    let number = |slot: usize| named.number(slot).ok();
    match named.family {
        Family::Gaussian if named.spelling(0).name == "gamma" => {
            let value = match &named.arguments[0].value {
                Value::Number(gamma) => Value::Number(width(*gamma)),
                Value::PerColumn(gammas) => {
                    Value::PerColumn(gammas.iter().map(|&gamma| width(gamma)).collect())
                }
                other => return Expr::Named(with_value(named, other.clone())),
            };
            Expr::Named(Named { family: Family::Gaussian, arguments: vec![Argument { spelling: 0, value }] })
        }
        Family::Polynomial => match (number(0), number(1), number(2)) {
            (Some(degree), Some(gamma), Some(c)) => {
                polynomial(degree, gamma, c).unwrap_or_else(|| Expr::Named(named.clone()))
            }
            _ => Expr::Named(named.clone()),
        },
        _ => Expr::Named(named.clone()),
    }
}

fn with_value(named: &Named, value: Value) -> Named {
    let mut copy = named.clone();
    copy.arguments[0].value = value;
    copy
}

/// σ with γ = 1/(2σ²).
fn width(gamma: f64) -> f64 {
    tidy((0.5 / gamma).sqrt())
}

/// (γ⟨x,z⟩ + c)^degree without its name, where it is a line or a monomial.
fn polynomial(degree: f64, gamma: f64, c: f64) -> Option<Expr> {
    if degree == 1.0 {
        return Some(sum(vec![product(vec![Expr::Number(gamma), linear()]), Expr::Number(c)]));
    }
    let scale = gamma.powf(degree);
    if c == 0.0 && degree > 0.0 && scale.is_normal() {
        return Some(product(vec![Expr::Number(scale), canonical_power(linear(), Expr::Number(degree))]));
    }
    None
}

/// A sum or atom to a constant power: `poly` and `rq`.
pub(super) fn power(base: Expr, exponent: f64) -> Expr {
    let recognised = match affine(&base, &linear()) {
        Some((gamma, c)) if c != 0.0 && exponent > 0.0 => {
            named_kernel(Family::Polynomial, &[exponent, gamma, c])
        }
        _ => None,
    };
    let recognised = recognised.or_else(|| match affine(&base, &square(Expr::Distance)) {
        Some((slope, 1.0)) if exponent < 0.0 && slope > 0.0 => {
            let length = tidy((0.5 / (-exponent * slope)).sqrt());
            usable(length).then(|| named_kernel(Family::RationalQuadratic, &[-exponent, length]))?
        }
        _ => None,
    });
    recognised.unwrap_or_else(|| Expr::Pow(Box::new(base), Box::new(Expr::Number(exponent))))
}

/// A function of canonical arguments: `rbf`, `laplacian`, `matern(nu=0.5)` and `sigmoid`.
pub(super) fn call(function: Function, arguments: Vec<Expr>) -> Expr {
    let recognised = match function {
        Function::Exp => exponential(&arguments[0]),
        Function::Tanh => {
            affine(&arguments[0], &linear()).and_then(|(gamma, c)| named_kernel(Family::Sigmoid, &[gamma, c]))
        }
        _ => None,
    };
    recognised.unwrap_or(Expr::Call(function, arguments))
}

fn exponential(argument: &Expr) -> Option<Expr> {
    let (coefficient, rest) = split_coefficient(argument.clone());
    let rate = -coefficient;
    if !usable(rate) {
        return None;
    }
    if rest == square(Expr::Distance) {
        let sigma = width(rate);
        return usable(sigma).then(|| named_kernel(Family::Gaussian, &[sigma]))?;
    }
    match rest {
        Expr::Distance1 => named_kernel(Family::Laplacian, &[rate]),
        Expr::Distance => {
            let length = tidy(1.0 / rate);
            usable(length).then(|| named_kernel(Family::Matern, &[0.5, length]))?
        }
        _ => None,
    }
}

/// Factors of a product, with (1 + s)e^(−s) and (1 + s + s²/3)e^(−s) put together to Matérn kernels.
pub(super) fn factors(mut factors: Vec<Expr>) -> Vec<Expr> {
    let exponential = |factor: &Expr| match factor {
        Expr::Named(named) if named.family == Family::Matern && named.number(0) == Ok(0.5) => {
            named.number(1).ok()
        }
        _ => None,
    };
    for i in 0..factors.len() {
        let Some(decay) = exponential(&factors[i]) else { continue };
        let found =
            (0..factors.len()).find_map(|j| Some((j, half_integer_polynomial(&factors[j], 1.0 / decay)?)));
        if let Some((j, kernel)) = found {
            factors[i] = kernel;
            factors.remove(j);
            factors.sort_by_cached_key(ToString::to_string);
            return factors;
        }
    }
    factors
}

/// The Matérn kernel that a polynomial of the distance becomes when multiplied by exp(−rate·|x−z|).
fn half_integer_polynomial(polynomial: &Expr, rate: f64) -> Option<Expr> {
    let Expr::Sum(terms) = polynomial else { return None };
    let coefficient = |power: &Expr| {
        terms
            .iter()
            .map(|term| split_coefficient(term.clone()))
            .find(|(_, rest)| rest == power)
            .map(|(c, _)| c)
    };
    if terms[0] != Expr::Number(1.0) || !agrees(coefficient(&Expr::Distance)?, rate) {
        return None;
    }
    let nu: f64 = match (terms.len(), coefficient(&square(Expr::Distance))) {
        (2, None) => 1.5,
        (3, Some(c)) if agrees(c, rate * rate / 3.0) => 2.5,
        _ => return None,
    };
    let length = tidy((2.0 * nu).sqrt() / rate);
    usable(length).then(|| named_kernel(Family::Matern, &[nu, length]))?
}

/// Slope and intercept of a canonical expression that is affine in `atom`.
fn affine(expr: &Expr, atom: &Expr) -> Option<(f64, f64)> {
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

fn square(expr: Expr) -> Expr {
    Expr::Pow(Box::new(expr), Box::new(Expr::Number(2.0)))
}

fn usable(value: f64) -> bool {
    value.is_normal() && value > 0.0
}

/// Equal up to the rounding of the few operations that made them.
fn agrees(a: f64, b: f64) -> bool {
    (a - b).abs() <= 16.0 * f64::EPSILON * b.abs()
}

/// The short decimal that a value is, where rounding alone makes the difference: 0.30000000000000004 is 0.3.
fn tidy(value: f64) -> f64 {
    match format!("{value:.13e}").parse::<f64>() {
        Ok(short) if (short - value).abs() <= 4.0 * f64::EPSILON * value.abs() => short,
        _ => value,
    }
}

/// The named kernel with these numbers, where each is allowed.
fn named_kernel(family: Family, numbers: &[f64]) -> Option<Expr> {
    let mut named = Named::with_defaults(family);
    for (slot, &number) in numbers.iter().enumerate() {
        if !family.slots()[slot].spellings[0].allowed.contains(number) {
            return None;
        }
        named.arguments[slot].value = Value::Number(number);
    }
    Some(Expr::Named(named))
}
