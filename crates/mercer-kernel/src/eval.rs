//! The value of a kernel at one pair of points: slow, obvious, and the oracle of every faster path.

use std::f64::consts::PI;

use super::error::EvalError;
use super::expr::Expr;
use super::named::{Family, Named};
use super::special;

/// The value of `expr` at `(x, z)`. NaN where the formula is undefined there.
///
/// # Errors
/// Where a hyper-parameter is still `auto` or `?`, or where the points do not have the columns the kernel asks for.
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
        Expr::Named(named) => eval_named(named, x, z)?,
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

/// The value of an expression without atoms and named kernels; none where it has one.
///
/// A choice of columns makes no difference to a constant.
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

fn eval_named(named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
    let number = |slot: usize| named.number(slot);
    let per_column = |slot: usize| named.per_column(slot, x.len());
    Ok(match named.family {
        Family::Linear => dot(x, z),
        Family::Polynomial => (number(1)? * dot(x, z) + number(2)?).powf(number(0)?),
        Family::Gaussian => {
            let gammas = named.gaussian_gammas(x.len())?;
            (-weighted(&gammas, x, z, |a, b| (a - b) * (a - b))).exp()
        }
        Family::Laplacian => (-weighted(&per_column(0)?, x, z, |a, b| (a - b).abs())).exp(),
        Family::Matern => {
            let nu = number(0)?;
            let lengths = per_column(1)?;
            let squared = (0..x.len()).map(|j| ((x[j] - z[j]) / lengths[j]).powi(2)).sum::<f64>();
            special::matern(nu, (2.0 * nu * squared).sqrt())
        }
        Family::RationalQuadratic => {
            let alpha = number(0)?;
            let lengths = per_column(1)?;
            let squared = (0..x.len()).map(|j| ((x[j] - z[j]) / lengths[j]).powi(2)).sum::<f64>();
            (1.0 + squared / (2.0 * alpha)).powf(-alpha)
        }
        Family::Periodic => {
            let (periods, lengths) = (per_column(0)?, per_column(1)?);
            let sum = (0..x.len())
                .map(|j| ((PI * (x[j] - z[j]) / periods[j]).sin() / lengths[j]).powi(2))
                .sum::<f64>();
            (-2.0 * sum).exp()
        }
        Family::Cosine => {
            let norms = norms(x, z);
            if norms == 0.0 { 0.0 } else { dot(x, z) / norms }
        }
        Family::ChiSquared => {
            let gamma = number(0)?;
            let statistic = x
                .iter()
                .zip(z)
                .map(|(a, b)| if a + b == 0.0 && a == b { 0.0 } else { (a - b) * (a - b) / (a + b) });
            (-gamma * statistic.sum::<f64>()).exp()
        }
        Family::ArcCosine => arc_cosine(number(0)?, x, z),
        Family::Sigmoid => (number(0)? * dot(x, z) + number(1)?).tanh(),
    })
}

/// Cho and Saul (2009), equations 3 to 7: (1/π)|x|ⁿ|z|ⁿ Jₙ(θ), and 0 where either point is the zero vector.
fn arc_cosine(order: f64, x: &[f64], z: &[f64]) -> f64 {
    let norms = norms(x, z);
    if norms == 0.0 {
        return 0.0;
    }
    let cosine = (dot(x, z) / norms).clamp(-1.0, 1.0);
    let (angle, sine) = (cosine.acos(), (1.0 - cosine * cosine).sqrt());
    let j = match order {
        0.0 => PI - angle,
        1.0 => sine + (PI - angle) * cosine,
        _ => 3.0 * sine * cosine + (PI - angle) * (1.0 + 2.0 * cosine * cosine),
    };
    norms.powf(order) * j / PI
}

fn dot(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| a * b).sum()
}

/// |x||z|, by one root where possible: it is then exactly ⟨x,x⟩ for equal points.
fn norms(x: &[f64], z: &[f64]) -> f64 {
    let (xx, zz) = (dot(x, x), dot(z, z));
    if (xx * zz).is_normal() { (xx * zz).sqrt() } else { xx.sqrt() * zz.sqrt() }
}

fn squared_distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn distance1(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b).abs()).sum()
}

fn weighted(weights: &[f64], x: &[f64], z: &[f64], statistic: impl Fn(f64, f64) -> f64) -> f64 {
    weights.iter().zip(x.iter().zip(z)).map(|(w, (a, b))| w * statistic(*a, *b)).sum()
}
