//! The canonical form: a unique text for the many texts of a kernel.
//!
//! A bottom-up rewrite: the operands are made canonical, then put together by [`sum`], [`product`], [`power`] and
//! [`call`], each of which keeps the form of its result. In that form
//!
//! - there is no `-a`, `a/b` or `sqrt`: they are `-1*a`, `a*b^-1` and `a^0.5`;
//! - sums hold no sums and products no products; constants are folded, equal terms and factors collected, and
//!   operands sorted by their text, constants first;
//! - a subset of columns that all operands share stands outside of them, and subsets of subsets are composed;
//! - formulas of named kernels are those named kernels ([`recognise`]);
//! - parts with a `?` are never collected, because two `?` are two unknowns.
//!
//! Every rule keeps the value wherever the expression has one, up to rounding: exponents are added and multiplied only
//! if that does not remove a division by zero or a root of a square. A part that depends on the points never becomes a
//! constant, not even `a^0`: a constant without a value, such as `(-1)^0.5`, could not be written.

use std::collections::BTreeMap;

use super::expr::{Expr, Function};
use super::recognise;
use super::shared_columns::{Groups, choose, key, regroup, share_columns};

/// The canonical form of an expression. O(n·depth·log n) time for n parts.
pub(super) fn canonical(expr: &Expr) -> Expr {
    let all = |operands: &[Expr]| operands.iter().map(canonical).collect::<Vec<_>>();
    match expr {
        Expr::Number(_) | Expr::Distance | Expr::Distance1 | Expr::NormX | Expr::NormZ => expr.clone(),
        Expr::Dot => recognise::linear(),
        Expr::Named(named) => recognise::named(named),
        Expr::Columns(inner, columns) => choose(canonical(inner), columns.clone()),
        Expr::Sum(terms) => sum(all(terms)),
        Expr::Product(factors) => product(all(factors)),
        Expr::Neg(inner) => product(vec![Expr::Number(-1.0), canonical(inner)]),
        Expr::Div(numerator, denominator) => quotient(canonical(numerator), canonical(denominator)),
        Expr::Pow(base, exponent) => power(canonical(base), canonical(exponent)),
        Expr::Call(function, arguments) => call(*function, all(arguments)),
    }
}

/// The sum of canonical terms.
pub(super) fn sum(terms: Vec<Expr>) -> Expr {
    let (mut numbers, mut groups) = (Vec::new(), Groups::new());
    for term in terms {
        collect_terms(term, 1.0, &[], &mut numbers, &mut groups);
    }
    regroup(groups, numbers, flat_sum)
}

/// Adds the terms of `factor * expr` on `columns` to the collection.
fn collect_terms(
    expr: Expr,
    factor: f64,
    columns: &[(usize, usize)],
    numbers: &mut Vec<f64>,
    groups: &mut Groups,
) {
    match expr {
        Expr::Number(value) if (factor * value).is_finite() => numbers.push(factor * value),
        Expr::Sum(terms) => {
            terms.into_iter().for_each(|term| collect_terms(term, factor, columns, numbers, groups));
        }
        Expr::Columns(inner, chosen)
            if columns.is_empty() && matches!(*inner, Expr::Sum(_) | Expr::Product(_)) =>
        {
            collect_terms(*inner, factor, &key(&chosen), numbers, groups);
        }
        Expr::Columns(inner, chosen) if columns.is_empty() => {
            groups.entry(key(&chosen)).or_default().push(scaled(factor, *inner));
        }
        Expr::Product(factors) => {
            let (coefficient, rest) = split_coefficient(Expr::Product(factors));
            let product = factor * coefficient;
            match rest {
                Expr::Sum(_) if product.is_normal() => collect_terms(rest, product, columns, numbers, groups),
                rest => groups
                    .entry(columns.to_vec())
                    .or_default()
                    .push(scaled(factor, scaled(coefficient, rest))),
            }
        }
        other => groups.entry(columns.to_vec()).or_default().push(scaled(factor, other)),
    }
}

/// Combines numbers and terms that are not sums: numbers folded, equal terms collected, sorted.
fn flat_sum(numbers: Vec<f64>, terms: Vec<Expr>) -> Expr {
    let mut collected = fold(numbers, 0.0, |a, b| a + b, f64::is_finite);
    let mut like: BTreeMap<String, (f64, Expr)> = BTreeMap::new();
    let mut apart = Vec::new();
    for term in terms {
        let (coefficient, rest) = split_coefficient(term);
        if has_unknown(&rest) {
            apart.push(scaled(coefficient, rest));
            continue;
        }
        match like.get_mut(&rest.to_string()) {
            Some((total, _)) if (*total + coefficient).is_finite() => *total += coefficient,
            Some(_) => apart.push(scaled(coefficient, rest)),
            None => {
                like.insert(rest.to_string(), (coefficient, rest));
            }
        }
    }
    collected.extend(like.into_values().map(|(coefficient, rest)| scaled(coefficient, rest)));
    apart.sort_by_cached_key(ToString::to_string);
    collected.extend(apart);
    match collected.len() {
        0 => Expr::Number(0.0),
        1 => collected.remove(0),
        _ => Expr::Sum(collected),
    }
}

/// Combines numbers in ascending order: into one number, into none if the result is neutral, or all of them unchanged
/// if an intermediate result would overflow.
fn fold(mut numbers: Vec<f64>, neutral: f64, join: fn(f64, f64) -> f64, fits: fn(f64) -> bool) -> Vec<Expr> {
    numbers.sort_by(f64::total_cmp);
    numbers.retain(|&number| number != neutral);
    let mut joined = neutral;
    for &number in &numbers {
        joined = join(joined, number);
        if !fits(joined) {
            return numbers.into_iter().map(Expr::Number).collect();
        }
    }
    if joined == neutral { Vec::new() } else { vec![Expr::Number(joined)] }
}

/// The constant factor of a canonical expression, and the expression without it.
pub(super) fn split_coefficient(expr: Expr) -> (f64, Expr) {
    match expr {
        Expr::Product(mut factors) => match factors[0] {
            Expr::Number(coefficient) => {
                factors.remove(0);
                let rest = if factors.len() == 1 { factors.remove(0) } else { Expr::Product(factors) };
                (coefficient, rest)
            }
            _ => (1.0, Expr::Product(factors)),
        },
        other => (1.0, other),
    }
}

/// A canonical expression times a number; its inverse is [`split_coefficient`].
fn scaled(coefficient: f64, expr: Expr) -> Expr {
    match expr {
        expr if coefficient == 1.0 => expr,
        Expr::Number(value) if (coefficient * value).is_finite() => Expr::Number(coefficient * value),
        expr => product(vec![Expr::Number(coefficient), expr]),
    }
}

/// The product of canonical factors.
pub(super) fn product(factors: Vec<Expr>) -> Expr {
    let (mut numbers, mut groups) = (Vec::new(), Groups::new());
    for factor in factors {
        collect_factors(factor, &[], &mut numbers, &mut groups);
    }
    regroup(groups, numbers, flat_product)
}

fn collect_factors(expr: Expr, columns: &[(usize, usize)], numbers: &mut Vec<f64>, groups: &mut Groups) {
    match expr {
        Expr::Number(value) => numbers.push(value),
        Expr::Product(factors) => {
            factors.into_iter().for_each(|factor| collect_factors(factor, columns, numbers, groups));
        }
        Expr::Columns(inner, chosen) if columns.is_empty() => {
            collect_factors(*inner, &key(&chosen), numbers, groups);
        }
        other => groups.entry(columns.to_vec()).or_default().push(other),
    }
}

/// Combines numbers and factors that are not products: numbers folded, equal bases collected, sorted.
fn flat_product(numbers: Vec<f64>, factors: Vec<Expr>) -> Expr {
    let may_fold = |value: f64| value.is_normal();
    let mut numbers = if numbers.contains(&0.0) {
        vec![Expr::Number(0.0)]
    } else {
        fold(numbers, 1.0, |a, b| a * b, may_fold)
    };
    let mut powers: BTreeMap<String, Vec<(Expr, f64)>> = BTreeMap::new();
    for factor in factors {
        let (base, exponent) = split_exponent(factor);
        let same_base = powers.entry(base.to_string()).or_default();
        let collects = |base: &Expr, other: f64| exponents_add(base, exponent, other) && !has_unknown(base);
        match same_base.iter_mut().find(|(base, other)| collects(base, *other)) {
            Some((_, total)) => *total += exponent,
            None => same_base.push((base, exponent)),
        }
    }
    for same_base in powers.values_mut() {
        same_base.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    let factors: Vec<Expr> =
        powers.into_values().flatten().map(|(base, exponent)| power(base, Expr::Number(exponent))).collect();
    let factors = recognise::factors(factors);
    match (numbers.len(), factors.len()) {
        (0, 0) => Expr::Number(1.0),
        (1, 0) => numbers.remove(0),
        (0, 1) => factors.into_iter().next().unwrap_or(Expr::Number(1.0)),
        _ => {
            numbers.extend(factors);
            Expr::Product(numbers)
        }
    }
}

fn split_exponent(expr: Expr) -> (Expr, f64) {
    match expr {
        Expr::Pow(base, exponent) => match *exponent {
            Expr::Number(exponent) => (*base, exponent),
            exponent => (Expr::Pow(base, Box::new(exponent)), 1.0),
        },
        other => (other, 1.0),
    }
}

/// Whether b^p·b^q and b^(p+q) are equal and defined at the same points.
fn exponents_add(base: &Expr, p: f64, q: f64) -> bool {
    let same_sign = (p > 0.0) == (q > 0.0);
    same_sign && ((is_integer(p) && is_integer(q)) || is_nonnegative(base)) && (p + q).is_finite()
}

/// Whether (b^p)^q and b^(pq) are equal and defined at the same points.
fn exponents_multiply(base: &Expr, p: f64, q: f64) -> bool {
    ((is_integer(p) && is_integer(q)) || is_nonnegative(base)) && (p * q).is_normal()
}

/// Whether a hyper-parameter of the expression is `?`.
fn has_unknown(expr: &Expr) -> bool {
    match expr {
        Expr::Named(named) => named.arguments.iter().any(|argument| argument.value.is_unknown()),
        _ => expr.children().into_iter().any(has_unknown),
    }
}

fn is_integer(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 1e9
}

/// Whether a canonical expression is visibly 0 or more wherever it is defined.
fn is_nonnegative(expr: &Expr) -> bool {
    match expr {
        Expr::Number(value) => *value >= 0.0,
        Expr::Distance | Expr::Distance1 | Expr::NormX | Expr::NormZ => true,
        Expr::Named(named) => named.bounds().is_some_and(|(low, _)| low >= 0.0),
        Expr::Columns(inner, _) => is_nonnegative(inner),
        Expr::Sum(operands) | Expr::Product(operands) => operands.iter().all(is_nonnegative),
        Expr::Pow(base, exponent) => {
            matches!(**exponent, Expr::Number(n) if is_integer(n) && is_integer(n / 2.0))
                || is_nonnegative(base)
        }
        Expr::Call(Function::Exp | Function::Abs | Function::Cosh, _) => true,
        _ => false,
    }
}

/// The quotient of canonical operands, a product with a power unless the divisor is a number without reciprocal.
fn quotient(numerator: Expr, denominator: Expr) -> Expr {
    match (numerator, denominator) {
        (Expr::Number(a), Expr::Number(b)) if (a / b).is_finite() => Expr::Number(a / b),
        (numerator, Expr::Number(b)) if !(1.0 / b).is_normal() => {
            Expr::Div(Box::new(numerator), Box::new(Expr::Number(b)))
        }
        (numerator, denominator) => product(vec![numerator, power(denominator, Expr::Number(-1.0))]),
    }
}

/// The power of a canonical base to a canonical exponent.
pub(super) fn power(base: Expr, exponent: Expr) -> Expr {
    match (base, exponent) {
        (base, Expr::Number(1.0)) => base,
        (Expr::Number(0.0), Expr::Number(exponent)) if exponent > 0.0 => Expr::Number(0.0),
        (Expr::Number(base), Expr::Number(exponent)) if base.powf(exponent).is_normal() => {
            Expr::Number(base.powf(exponent))
        }
        (Expr::Number(base), exponent)
            if base > 0.0 && base != 1.0 && !matches!(exponent, Expr::Number(_)) =>
        {
            call(Function::Exp, vec![product(vec![Expr::Number(base.ln()), exponent])])
        }
        (Expr::Columns(inner, columns), Expr::Number(exponent)) => {
            choose(power(*inner, Expr::Number(exponent)), columns)
        }
        (Expr::Product(factors), Expr::Number(exponent)) => power_of_product(factors, exponent),
        (Expr::Pow(base, p), Expr::Number(q)) => match *p {
            Expr::Number(p) if exponents_multiply(&base, p, q) => power(*base, Expr::Number(p * q)),
            p => Expr::Pow(Box::new(Expr::Pow(base, Box::new(p))), Box::new(Expr::Number(q))),
        },
        (base, Expr::Number(exponent)) => recognise::power(base, exponent),
        (base, exponent) => share_columns(vec![base, exponent], |mut operands| {
            let exponent = operands.remove(1);
            Expr::Pow(Box::new(operands.remove(0)), Box::new(exponent))
        }),
    }
}

/// (ab)^q: all factors are taken out for integer q or if none can be negative, otherwise only a positive number. A
/// single factor must not be: √(0·−1) is 0, but √0·√−1 is undefined.
fn power_of_product(factors: Vec<Expr>, exponent: f64) -> Expr {
    let raised = |factor: Expr| power(factor, Expr::Number(exponent));
    let kept = |factors| Expr::Pow(Box::new(Expr::Product(factors)), Box::new(Expr::Number(exponent)));
    let number_fits = factors.iter().all(|factor| match factor {
        Expr::Number(value) => value.powf(exponent).is_normal(),
        _ => true,
    });
    if !number_fits {
        return kept(factors);
    }
    if is_integer(exponent) || factors.iter().all(is_nonnegative) {
        return product(factors.into_iter().map(raised).collect());
    }
    let (coefficient, rest) = split_coefficient(Expr::Product(factors));
    match rest {
        Expr::Product(factors) if coefficient > 0.0 => {
            let rest = kept(factors);
            if coefficient == 1.0 {
                rest
            } else {
                product(vec![Expr::Number(coefficient.powf(exponent)), rest])
            }
        }
        Expr::Product(mut factors) => {
            factors.insert(0, Expr::Number(coefficient));
            kept(factors)
        }
        factor if coefficient > 0.0 => {
            product(vec![Expr::Number(coefficient.powf(exponent)), raised(factor)])
        }
        factor => kept(vec![Expr::Number(coefficient), factor]),
    }
}

/// A function of canonical arguments.
pub(super) fn call(function: Function, mut arguments: Vec<Expr>) -> Expr {
    if function.is_variadic() {
        arguments = extremes(function, arguments);
        if arguments.len() == 1 {
            return arguments.remove(0);
        }
    }
    let numbers: Option<Vec<f64>> =
        arguments.iter().map(|a| if let Expr::Number(value) = a { Some(*value) } else { None }).collect();
    if let Some(value) = numbers.map(|numbers| function.apply(&numbers)).filter(|value| value.is_finite()) {
        return Expr::Number(value);
    }
    match function {
        Function::Sqrt => power(arguments.remove(0), Expr::Number(0.5)),
        Function::Abs if is_nonnegative(&arguments[0]) => arguments.remove(0),
        _ => share_columns(arguments, |arguments| recognise::call(function, arguments)),
    }
}

/// The arguments of `min` or `max`: nested calls opened, equal ones dropped, numbers folded, sorted.
fn extremes(function: Function, arguments: Vec<Expr>) -> Vec<Expr> {
    let opened = arguments.into_iter().flat_map(|argument| match argument {
        Expr::Call(inner, nested) if inner == function => nested,
        other => vec![other],
    });
    let mut number: Option<f64> = None;
    let mut others = BTreeMap::new();
    let mut apart = Vec::new();
    for argument in opened {
        match argument {
            Expr::Number(value) => {
                number = Some(number.map_or(value, |n| function.apply(&[n, value])));
            }
            other if has_unknown(&other) => apart.push(other),
            other => {
                others.insert(other.to_string(), other);
            }
        }
    }
    apart.sort_by_cached_key(ToString::to_string);
    number.map(Expr::Number).into_iter().chain(others.into_values()).chain(apart).collect()
}
