//! Kernels from Rust: the named ones, and their sums, products and powers.
//!
//! Whatever is made here can be written as text and read again. What would be too large, or would hold a number that
//! its place does not allow, is an error; so `+` and `*` give a [`Result`]:
//!
//! ```
//! use mercer_kernel::Kernel;
//! let kernel = ((Kernel::gaussian(2.0)? * 0.5)? + Kernel::linear().pow(2)?)?;
//! assert_eq!(kernel.to_string(), "0.5*rbf(sigma=2) + linear^2");
//! # Ok::<(), mercer_kernel::ComposeError>(())
//! ```

use std::ops::{Add, Mul};

use super::Kernel;
use super::eval::constant;
use super::expr::Expr;
use super::named::{Family, Named, Value};
use super::size::{TooLarge, check_size};

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
    /// A factor, or a constant it makes, that is not finite.
    #[error("a constant of a kernel must be a finite number, received {value}")]
    NotFinite {
        /// The number.
        value: f64,
    },
}

/// The family with its first spellings at these numbers.
fn named(family: Family, numbers: &[f64]) -> Result<Kernel, ComposeError> {
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
    Ok(Kernel::from_expr(Expr::Named(named)))
}

/// Named kernels. Each is an error where a hyper-parameter is outside of its range.
impl Kernel {
    /// `linear`: ⟨x,z⟩.
    #[must_use]
    pub fn linear() -> Self {
        Self::from_expr(Expr::Named(Named::with_defaults(Family::Linear)))
    }

    /// `poly`: (γ⟨x,z⟩ + c)^degree with degree ≥ 0 and γ ≥ 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn polynomial(degree: f64, gamma: f64, c: f64) -> Result<Self, ComposeError> {
        named(Family::Polynomial, &[degree, gamma, c])
    }

    /// `rbf`: exp(−|x−z|²/(2σ²)) with σ > 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn gaussian(sigma: f64) -> Result<Self, ComposeError> {
        named(Family::Gaussian, &[sigma])
    }

    /// `laplacian`: exp(−γ|x−z|₁) with γ > 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn laplacian(gamma: f64) -> Result<Self, ComposeError> {
        named(Family::Laplacian, &[gamma])
    }

    /// `matern`: the Matérn function of √(2ν)|x−z|/ℓ with ν > 0 and ℓ > 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn matern(nu: f64, length: f64) -> Result<Self, ComposeError> {
        named(Family::Matern, &[nu, length])
    }

    /// `rq`: (1 + |x−z|²/(2αℓ²))^(−α) with α > 0 and ℓ > 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn rational_quadratic(alpha: f64, length: f64) -> Result<Self, ComposeError> {
        named(Family::RationalQuadratic, &[alpha, length])
    }

    /// `periodic`: exp(−2 Σⱼ sin²(π(xⱼ−zⱼ)/p)/ℓ²) with p > 0 and ℓ > 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn periodic(period: f64, length: f64) -> Result<Self, ComposeError> {
        named(Family::Periodic, &[period, length])
    }

    /// `cosine`: ⟨x,z⟩/(|x||z|), 0 where either is the zero vector.
    #[must_use]
    pub fn cosine() -> Self {
        Self::from_expr(Expr::Named(Named::with_defaults(Family::Cosine)))
    }

    /// `chi2`: exp(−γ Σⱼ (xⱼ−zⱼ)²/(xⱼ+zⱼ)) with γ > 0.
    ///
    /// # Errors
    /// Where a hyper-parameter is outside of its range.
    pub fn chi_squared(gamma: f64) -> Result<Self, ComposeError> {
        named(Family::ChiSquared, &[gamma])
    }

    /// `arccos`: the arc-cosine kernel of order 0, 1 or 2.
    ///
    /// # Errors
    /// Where the order is another one.
    pub fn arc_cosine(order: f64) -> Result<Self, ComposeError> {
        named(Family::ArcCosine, &[order])
    }

    /// `sigmoid`: tanh(γ⟨x,z⟩ + c).
    ///
    /// # Errors
    /// Where a hyper-parameter is not finite.
    pub fn sigmoid(gamma: f64, c: f64) -> Result<Self, ComposeError> {
        named(Family::Sigmoid, &[gamma, c])
    }
}

/// Compositions.
impl Kernel {
    /// The sum of kernels; 0 where there are none.
    ///
    /// # Errors
    /// Where it would be larger than a kernel may be.
    pub fn sum(kernels: &[Self]) -> Result<Self, ComposeError> {
        let terms = kernels.iter().flat_map(|kernel| match &kernel.expr {
            Expr::Sum(terms) => terms.clone(),
            other => vec![other.clone()],
        });
        checked(several(terms.collect(), 0.0, Expr::Sum))
    }

    /// The product of kernels; 1 where there are none.
    ///
    /// # Errors
    /// Where it would be larger than a kernel may be.
    pub fn product(kernels: &[Self]) -> Result<Self, ComposeError> {
        let factors = kernels.iter().flat_map(|kernel| match &kernel.expr {
            Expr::Product(factors) => factors.clone(),
            other => vec![other.clone()],
        });
        checked(several(factors.collect(), 1.0, Expr::Product))
    }

    /// The kernel times a number.
    ///
    /// # Errors
    /// Where the number is not finite, or where the kernel would be larger than one may be.
    pub fn scaled(&self, factor: f64) -> Result<Self, ComposeError> {
        if !factor.is_finite() {
            return Err(ComposeError::NotFinite { value: factor });
        }
        Self::product(&[Self::from_expr(Expr::Number(factor)), self.clone()])
    }

    /// The kernel to an integer power.
    ///
    /// # Errors
    /// Where it would be larger than a kernel may be.
    pub fn pow(&self, exponent: u32) -> Result<Self, ComposeError> {
        let exponent = Expr::Number(f64::from(exponent));
        checked(Expr::Pow(Box::new(self.expr.clone()), Box::new(exponent)))
    }
}

fn several(mut operands: Vec<Expr>, neutral: f64, build: fn(Vec<Expr>) -> Expr) -> Expr {
    match operands.len() {
        0 => Expr::Number(neutral),
        1 => operands.remove(0),
        _ => build(operands),
    }
}

fn checked(expr: Expr) -> Result<Kernel, ComposeError> {
    check_size(&expr)?;
    match constant(&expr) {
        Some(value) if !value.is_finite() => Err(ComposeError::NotFinite { value }),
        _ => Ok(Kernel::from_expr(expr)),
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
    use crate::{MAX_DEPTH, MAX_NODES};

    #[test]
    fn compositions_are_what_their_text_says() {
        let k = Kernel::gaussian(2.0).unwrap();
        let l = Kernel::linear();
        let sum = ((-0.5 * k.clone()).unwrap() + (l.clone() + Kernel::cosine()).unwrap()).unwrap();
        assert_eq!(sum.to_string(), "-0.5*rbf(sigma=2) + linear + cosine");
        let product = (sum * l.pow(3).unwrap()).unwrap();
        assert_eq!(product.to_string(), "(-0.5*rbf(sigma=2) + linear + cosine)*linear^3");
        assert_eq!(product.to_string().parse::<Kernel>().unwrap(), product);
        assert_eq!(Kernel::sum(&[]).unwrap().to_string(), "0");
    }

    #[test]
    fn bad_numbers_and_sizes_are_errors() {
        assert!(matches!(Kernel::gaussian(0.0), Err(ComposeError::OutOfRange { parameter: "sigma", .. })));
        assert!(Kernel::matern(f64::NAN, 1.0).is_err() && Kernel::arc_cosine(1.5).is_err());
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
