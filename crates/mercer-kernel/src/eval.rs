//! The value of a kernel at one pair of points: slow and simple, the reference for every faster path.

use super::error::EvalError;
use super::expr::Expr;

/// The value of `expr` at `(x, z)`; NaN if the formula is undefined there.
///
/// # Errors
/// If a hyper-parameter is still `auto` or `?`, or if the points do not have the columns that the kernel uses.
pub fn eval(expr: &Expr, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
    if x.len() != z.len() {
        return Err(EvalError::Lengths { x: x.len(), z: z.len() });
    }
    Ok(match expr {
        Expr::Number(value) => *value,
        Expr::Dot => dot(x, z),
        Expr::Distance => squared_distance(x, z).sqrt(),
        Expr::Distance1 => distance1(x, z),
        Expr::NormX => dot(x, x).sqrt(),
        Expr::NormZ => dot(z, z).sqrt(),
        Expr::Named(named) => named.family.eval(named, x, z)?,
        Expr::Columns(inner, columns) => {
            if columns.span() > x.len() {
                return Err(EvalError::MissingColumn { column: columns.span() - 1, available: x.len() });
            }
            let chosen = |p: &[f64]| columns.iter().map(|c| p[c]).collect::<Vec<_>>();
            eval(inner, &chosen(x), &chosen(z))?
        }
        Expr::Sum(terms) => {
            let mut sum = 0.0;
            for term in terms {
                sum += eval(term, x, z)?;
            }
            sum
        }
        Expr::Product(factors) => {
            let mut product = 1.0;
            for factor in factors {
                product *= eval(factor, x, z)?;
            }
            product
        }
        Expr::Neg(inner) => -eval(inner, x, z)?,
        Expr::Div(numerator, denominator) => eval(numerator, x, z)? / eval(denominator, x, z)?,
        Expr::Pow(base, exponent) => eval(base, x, z)?.powf(eval(exponent, x, z)?),
        Expr::Call(function, arguments) => {
            let values = arguments.iter().map(|a| eval(a, x, z)).collect::<Result<Vec<_>, _>>()?;
            function.apply(&values)
        }
    })
}

/// The value of an expression without atoms and named kernels; `None` if it has one.
///
/// A choice of columns does not change a constant.
#[must_use]
pub fn constant(expr: &Expr) -> Option<f64> {
    let all = |operands: &[Expr]| operands.iter().map(constant).collect::<Option<Vec<f64>>>();
    Some(match expr {
        Expr::Number(value) => *value,
        Expr::Columns(inner, _) => constant(inner)?,
        Expr::Sum(terms) => all(terms)?.iter().sum(),
        Expr::Product(factors) => all(factors)?.iter().product(),
        Expr::Neg(inner) => -constant(inner)?,
        Expr::Div(numerator, denominator) => constant(numerator)? / constant(denominator)?,
        Expr::Pow(base, exponent) => constant(base)?.powf(constant(exponent)?),
        Expr::Call(function, arguments) => function.apply(&all(arguments)?),
        _ => return None,
    })
}

/// ⟨x,z⟩.
pub(super) fn dot(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| a * b).sum()
}

/// |x||z|, by one root where possible: it is then exactly ⟨x,x⟩ for equal points.
pub(super) fn norms(x: &[f64], z: &[f64]) -> f64 {
    let (xx, zz) = (dot(x, x), dot(z, z));
    if (xx * zz).is_normal() { (xx * zz).sqrt() } else { xx.sqrt() * zz.sqrt() }
}

/// ⟨x,z⟩/(|x||z|), and 0 where either is the zero vector. Points whose squares are no normal numbers are scaled first.
pub(super) fn cosine(x: &[f64], z: &[f64]) -> f64 {
    let is_usual = |v: &[f64]| dot(v, v).is_normal();
    if is_usual(x) && is_usual(z) {
        return dot(x, z) / norms(x, z);
    }
    let scaled = |v: &[f64]| {
        let largest = v.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        v.iter().map(|c| if largest == 0.0 { 0.0 } else { c / largest }).collect::<Vec<f64>>()
    };
    let (x, z) = (scaled(x), scaled(z));
    let norms = norms(&x, &z);
    if norms == 0.0 { 0.0 } else { dot(&x, &z) / norms }
}

fn squared_distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn distance1(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b).abs()).sum()
}

/// Σⱼ wⱼ·statistic(xⱼ, zⱼ).
pub(super) fn weighted(weights: &[f64], x: &[f64], z: &[f64], statistic: impl Fn(f64, f64) -> f64) -> f64 {
    weights.iter().zip(x.iter().zip(z)).map(|(w, (a, b))| w * statistic(*a, *b)).sum()
}
