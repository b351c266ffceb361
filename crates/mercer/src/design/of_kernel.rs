//! The finite feature map of a kernel, if it has one.

use crate::kernel::eval::constant;
use crate::kernel::family::PowerSeries;
use crate::kernel::{Expr, Kernel};

use super::{FeatureMap, MAX_DEGREE};

impl FeatureMap {
    /// The feature map φ with k(x,z) = ⟨φ(x),φ(z)⟩, where the kernel is a polynomial in ⟨x,z⟩ over all columns with no
    /// negative coefficient: `linear`, `poly` of integer degree, and sums, products and integer powers of them.
    ///
    /// ```
    /// use mercer::design::FeatureMap;
    /// let map = FeatureMap::of_kernel(&"2*(<x,z>+1)^2 + 3".parse()?, 5);
    /// assert_eq!(map.unwrap().to_string(), "series(5, 4, 2)");
    /// assert_eq!(FeatureMap::of_kernel(&"rbf(sigma=1)".parse()?, 5), None);
    /// # Ok::<(), mercer::kernel::ParseError>(())
    /// ```
    #[must_use]
    pub fn of_kernel(kernel: &Kernel, columns: usize) -> Option<Self> {
        if let Expr::Named(named) = kernel.expr()
            && let Some(PowerSeries::Power { degree, gamma, c }) = named.family.power_series(named)
        {
            let map = Self::Polynomial { degree: integer(degree)?, gamma, c };
            let fits = map.check_columns(columns).is_ok() && map.count(columns).is_ok_and(|count| count > 0);
            return fits.then_some(map);
        }
        let mut coefficients = polynomial(kernel.expr(), columns)?;
        while coefficients.last() == Some(&0.0) {
            coefficients.pop();
        }
        let map = Self::Series(coefficients);
        map.check_columns(columns).is_ok().then_some(map)
    }
}

/// The coefficients of (γt + c)ᵖ: the binomial of p over k, times γᵏ·cᵖ⁻ᵏ.
pub(super) fn power_coefficients(degree: u32, gamma: f64, c: f64) -> Vec<f64> {
    let mut binomial = 1.0;
    let coefficient = |k: u32| {
        let value = binomial * gamma.powi(k as i32) * c.powi((degree - k) as i32);
        binomial *= f64::from(degree - k) / f64::from(k + 1);
        value
    };
    (0..=degree).map(coefficient).collect()
}

/// The exponent as a degree, if it is one.
fn integer(value: f64) -> Option<u32> {
    (value.fract() == 0.0 && (0.0..=f64::from(MAX_DEGREE)).contains(&value)).then_some(value as u32)
}

/// The coefficients by degree of an expression that is a polynomial in ⟨x,z⟩ over all columns.
fn polynomial(expr: &Expr, columns: usize) -> Option<Vec<f64>> {
    if let Some(value) = constant(expr) {
        return Some(vec![value]);
    }
    match expr {
        Expr::Dot => Some(vec![0.0, 1.0]),
        Expr::Named(named) => match named.family.power_series(named)? {
            PowerSeries::Coefficients(coefficients) => Some(coefficients),
            PowerSeries::Power { degree, gamma, c } => Some(power_coefficients(integer(degree)?, gamma, c)),
        },
        // An inner product does not depend on the order of its coordinates.
        Expr::Columns(inner, chosen) if chosen.len() == columns && chosen.span() == columns => {
            polynomial(inner, columns)
        }
        Expr::Sum(terms) => terms.iter().try_fold(Vec::new(), |sum, term| {
            let term = polynomial(term, columns)?;
            let at = |p: &[f64], k: usize| p.get(k).copied().unwrap_or(0.0);
            Some((0..sum.len().max(term.len())).map(|k| at(&sum, k) + at(&term, k)).collect())
        }),
        Expr::Product(factors) => factors
            .iter()
            .try_fold(vec![1.0], |product, factor| multiply(&product, &polynomial(factor, columns)?)),
        Expr::Neg(inner) => Some(polynomial(inner, columns)?.into_iter().map(|a| -a).collect()),
        Expr::Div(numerator, denominator) => {
            let divisor = constant(denominator)?;
            Some(polynomial(numerator, columns)?.into_iter().map(|a| a / divisor).collect())
        }
        Expr::Pow(base, exponent) => {
            let (base, exponent) = (polynomial(base, columns)?, integer(constant(exponent)?)?);
            // By repeated squaring: the degree is at most MAX_DEGREE, so this takes at most a few thousand products.
            let (mut power, mut square) = (vec![1.0], base);
            let mut left = exponent;
            while left > 0 {
                if left % 2 == 1 {
                    power = multiply(&power, &square)?;
                }
                left /= 2;
                if left > 0 {
                    square = multiply(&square, &square)?;
                }
            }
            Some(power)
        }
        _ => None,
    }
}

/// The product of two polynomials; `None` if its degree is too large.
fn multiply(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let length = (a.len() + b.len()).saturating_sub(1);
    if length > MAX_DEGREE as usize + 1 {
        return None;
    }
    let mut product = vec![0.0; length];
    for (i, x) in a.iter().enumerate() {
        for (p, y) in product[i..].iter_mut().zip(b) {
            *p += x * y;
        }
    }
    Some(product)
}
