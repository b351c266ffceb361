//! Where a formula has a value.

use num_traits::Signed;

use super::range::{EVERYTHING, Range};
use crate::check::Dim;
use crate::check::form::{Form, Space};
use crate::expr::{Columns, Expr, Function};
use crate::named::Value;

/// One more than the largest column a formula reads.
pub fn least_dim(expr: &Expr) -> usize {
    match expr {
        Expr::Columns(_, columns) => columns.span(),
        Expr::Sum(parts) | Expr::Product(parts) | Expr::Call(_, parts) => {
            parts.iter().map(least_dim).max().unwrap_or(1)
        }
        Expr::Neg(a) => least_dim(a),
        Expr::Div(a, b) | Expr::Pow(a, b) => least_dim(a).max(least_dim(b)),
        _ => 1,
    }
}

/// Whether every part of a formula has a value at every pair of points of the domain.
pub fn is_defined(expr: &Expr, space: &Space) -> bool {
    defined(expr, None, space)
}

/// Bounds of a formula: those of its form, and those of its parts as written.
fn of_formula(expr: &Expr, columns: Option<&Columns>, space: &Space) -> Range {
    let placed = match columns {
        None => expr.clone(),
        Some(c) => Expr::Columns(Box::new(expr.clone()), c.clone()),
    };
    let by_form = Form::of(&placed, space).map_or(EVERYTHING, |form| Range::of(&form, space));
    let part = |e: &Expr| of_formula(e, columns, space);
    let as_written = match expr {
        Expr::Sum(parts) => parts.iter().fold(Range::new(0.0, 0.0), |sum, p| sum.add(part(p))),
        Expr::Product(parts) => parts.iter().fold(Range::new(1.0, 1.0), |product, p| product.mul(part(p))),
        Expr::Neg(inner) => part(inner).mul(Range::new(-1.0, -1.0)),
        Expr::Div(n, d) => part(n).mul(part(d).recip()),
        Expr::Pow(base, exponent) => match Form::of(exponent, space).and_then(|f| f.as_constant()) {
            Some(e) => part(base).power(&e),
            None => EVERYTHING,
        },
        _ => EVERYTHING,
    };
    by_form.intersect(as_written)
}

fn defined(expr: &Expr, columns: Option<&Columns>, space: &Space) -> bool {
    let range = |part: &Expr| of_formula(part, columns, space);
    let inside = |part: &Expr| defined(part, columns, space);
    match expr {
        Expr::Number(v) => v.is_finite(),
        Expr::Dot | Expr::Distance | Expr::Distance1 | Expr::NormX | Expr::NormZ => true,
        Expr::Named(named) => {
            let width = match (columns, space.dim) {
                (Some(c), _) => Some(c.len()),
                (None, Dim::Exactly(d)) => Some(d),
                (None, Dim::Any) => None,
            };
            let lists_fit = named.arguments.iter().all(|a| match &a.value {
                Value::PerColumn(list) => Some(list.len()) == width,
                _ => true,
            });
            lists_fit && named.family.defined(named, space)
        }
        Expr::Columns(inner, chosen) => {
            let available = match (columns, space.dim) {
                (Some(outer), _) => Some(outer.len()),
                (None, Dim::Exactly(d)) => Some(d),
                (None, Dim::Any) => None,
            };
            if available.is_some_and(|n| chosen.span() > n) {
                return false;
            }
            match columns {
                // A choice within a choice: the inner numbers count within the outer one.
                Some(outer) => {
                    let order: Vec<usize> = outer.iter().collect();
                    let composed = Columns(chosen.iter().map(|c| order[c]..order[c] + 1).collect());
                    defined(inner, Some(&composed), space)
                }
                None => defined(inner, Some(chosen), space),
            }
        }
        Expr::Sum(parts) | Expr::Product(parts) => parts.iter().all(inside),
        Expr::Neg(a) => inside(a),
        Expr::Div(n, d) => {
            let r = range(d);
            inside(n) && inside(d) && (r.lo > 0.0 || r.hi < 0.0)
        }
        Expr::Pow(base, exponent) => {
            if !inside(base) || !inside(exponent) {
                return false;
            }
            let r = range(base);
            match Form::of(exponent, space).and_then(|f| f.as_constant()) {
                Some(e) if e.is_integer() => !e.is_negative() || r.lo > 0.0 || r.hi < 0.0,
                Some(e) => r.lo > 0.0 || (r.lo >= 0.0 && e.is_positive()),
                None => r.lo > 0.0,
            }
        }
        Expr::Call(function, args) => {
            if !args.iter().all(inside) {
                return false;
            }
            let r = range(&args[0]);
            match function {
                Function::Log => r.lo > 0.0,
                Function::Sqrt => r.lo >= 0.0,
                Function::Asin | Function::Acos => r.lo >= -1.0 && r.hi <= 1.0,
                Function::Tan => r.lo > -1.57 && r.hi < 1.57,
                _ => true,
            }
        }
    }
}
