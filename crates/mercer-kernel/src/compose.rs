//! Kernels from Rust: the named ones, and their sums, products and powers.
//!
//! Every composed kernel can be written as text and read again. A kernel that is too large, or contains a number that
//! is not allowed, is an error; so `+` and `*` return a [`Result`]:
//!
//! ```
//! use mercer_kernel::Kernel;
//! let kernel = ((Kernel::gaussian(2.0)? * 0.5)? + Kernel::linear().pow(2)?)?;
//! assert_eq!(kernel.to_string(), "0.5*rbf(sigma=2) + linear^2");
//! # Ok::<(), mercer_kernel::ComposeError>(())
//! ```

use std::ops::{Add, Mul};
use std::sync::Arc;

use super::Kernel;
use super::eval::constant;
use super::expr::Expr;
use super::family::FamilyId;
use super::named::{Named, Value};
use super::size::{TooLarge, check_size};
use crate::formula::Formula;

/// Why a kernel could not be composed.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// The kernel would be larger than a kernel may be.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A hyper-parameter outside of its range.
    #[error("{family}: {parameter} must be {allowed}, received {value}")]
    OutOfRange {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
        /// The numbers it takes.
        allowed: &'static str,
        /// The number received.
        value: f64,
    },
    /// A factor, or a resulting constant, that is not finite.
    #[error("a constant of a kernel must be a finite number, received {value}")]
    NotFinite {
        /// The number.
        value: f64,
    },
}

/// Named kernels.
impl Kernel {
    /// The named kernel with these hyper-parameters, each in its first spelling; the others take their defaults.
    ///
    /// # Errors
    /// If a hyper-parameter is outside of its range.
    ///
    /// # Panics
    /// If there are more numbers than hyper-parameters.
    pub fn named(family: FamilyId, numbers: &[f64]) -> Result<Self, ComposeError> {
        let mut named = Named::with_defaults(family);
        for (slot, &value) in numbers.iter().enumerate() {
            let spelling = named.spelling(slot);
            if !spelling.allowed.contains(value) {
                return Err(ComposeError::OutOfRange {
                    family: family.name(),
                    parameter: spelling.name,
                    allowed: spelling.allowed.describe(),
                    value,
                });
            }
            named.arguments[slot].value = Value::Number(value);
        }
        Ok(Self::from_expr(Expr::Named(named)))
    }
}

/// Compositions.
impl Kernel {
    /// The sum of kernels; 0 without any.
    ///
    /// # Errors
    /// If it would be larger than a kernel may be.
    pub fn sum(kernels: &[Self]) -> Result<Self, ComposeError> {
        let terms = kernels.iter().flat_map(|kernel| match &kernel.expr {
            Expr::Sum(terms) => terms.clone(),
            other => vec![other.clone()],
        });
        checked(several(terms.collect(), 0.0, Expr::Sum), of_parts(kernels, Formula::Sum))
    }

    /// The product of kernels; 1 without any.
    ///
    /// # Errors
    /// If it would be larger than a kernel may be.
    pub fn product(kernels: &[Self]) -> Result<Self, ComposeError> {
        let factors = kernels.iter().flat_map(|kernel| match &kernel.expr {
            Expr::Product(factors) => factors.clone(),
            other => vec![other.clone()],
        });
        checked(several(factors.collect(), 1.0, Expr::Product), of_parts(kernels, Formula::Product))
    }

    /// The kernel times a number.
    ///
    /// # Errors
    /// If the number is not finite, or if the kernel would be larger than one may be.
    pub fn scaled(&self, factor: f64) -> Result<Self, ComposeError> {
        if !factor.is_finite() {
            return Err(ComposeError::NotFinite { value: factor });
        }
        Self::product(&[Self::from_expr(Expr::Number(factor)), self.clone()])
    }

    /// The kernel to an integer power.
    ///
    /// # Errors
    /// If it would be larger than a kernel may be.
    pub fn pow(&self, exponent: u32) -> Result<Self, ComposeError> {
        let number = Expr::Number(f64::from(exponent));
        let written = Formula::Pow(Box::new(self.formula()), Box::new(Formula::of(&number)));
        checked(Expr::Pow(Box::new(self.expr.clone()), Box::new(number)), Some(written))
    }
}

fn several(mut operands: Vec<Expr>, neutral: f64, build: fn(Vec<Expr>) -> Expr) -> Expr {
    match operands.len() {
        0 => Expr::Number(neutral),
        1 => operands.remove(0),
        _ => build(operands),
    }
}

/// The combination of the kernels' formulas as written; `None` if there are fewer than two.
fn of_parts(kernels: &[Kernel], build: fn(Vec<Formula>) -> Formula) -> Option<Formula> {
    (kernels.len() > 1).then(|| build(kernels.iter().map(Kernel::formula).collect()))
}

fn checked(expr: Expr, written: Option<Formula>) -> Result<Kernel, ComposeError> {
    check_size(&expr)?;
    match constant(&expr) {
        Some(value) if !value.is_finite() => Err(ComposeError::NotFinite { value }),
        _ => Ok(Kernel { expr, written: written.map(Arc::new) }),
    }
}

impl Add for Kernel {
    type Output = Result<Self, ComposeError>;

    fn add(self, other: Self) -> Self::Output {
        Self::sum(&[self, other])
    }
}

impl Mul for Kernel {
    type Output = Result<Self, ComposeError>;

    fn mul(self, other: Self) -> Self::Output {
        Self::product(&[self, other])
    }
}

impl Mul<f64> for Kernel {
    type Output = Result<Self, ComposeError>;

    fn mul(self, factor: f64) -> Self::Output {
        self.scaled(factor)
    }
}

impl Mul<Kernel> for f64 {
    type Output = Result<Kernel, ComposeError>;

    fn mul(self, kernel: Kernel) -> Self::Output {
        kernel.scaled(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{arc_cosine::ARC_COSINE, cosine::COSINE, matern::MATERN};
    use crate::{MAX_DEPTH, MAX_NODES};

    #[test]
    fn compositions_agree_with_their_text() {
        let k = Kernel::gaussian(2.0).unwrap();
        let l = Kernel::linear();
        let sum = ((-0.5 * k.clone()).unwrap() + (l.clone() + Kernel::named(COSINE, &[]).unwrap()).unwrap())
            .unwrap();
        assert_eq!(sum.to_string(), "-0.5*rbf(sigma=2) + linear + cosine");
        let product = (sum * l.pow(3).unwrap()).unwrap();
        assert_eq!(product.to_string(), "(-0.5*rbf(sigma=2) + linear + cosine)*linear^3");
        assert_eq!(product.to_string().parse::<Kernel>().unwrap(), product);
        assert_eq!(Kernel::sum(&[]).unwrap().to_string(), "0");
    }

    #[test]
    fn bad_numbers_and_sizes_are_errors() {
        assert!(matches!(Kernel::gaussian(0.0), Err(ComposeError::OutOfRange { parameter: "sigma", .. })));
        assert!(
            Kernel::named(MATERN, &[f64::NAN, 1.0]).is_err() && Kernel::named(ARC_COSINE, &[1.5]).is_err()
        );
        assert!(matches!(Kernel::linear().scaled(f64::INFINITY), Err(ComposeError::NotFinite { .. })));
        let huge: Kernel = "1e300".parse().unwrap();
        assert!(matches!(huge.clone() * huge, Err(ComposeError::NotFinite { .. })));
        let many = vec![Kernel::linear(); MAX_NODES];
        assert!(matches!(Kernel::sum(&many), Err(ComposeError::TooLarge(_))));
        let mut deep = Kernel::linear();
        for _ in 0..MAX_DEPTH - 1 {
            deep = deep.pow(2).unwrap();
        }
        assert_eq!(deep.to_string().parse::<Kernel>().unwrap(), deep);
        assert!(matches!(deep.pow(2), Err(ComposeError::TooLarge(TooLarge { depth: 101, .. }))));
    }
}
