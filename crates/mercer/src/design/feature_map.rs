//! Explicit feature maps φ.
//!
//! | text | features | ⟨φ(x),φ(z)⟩ |
//! | --- | --- | --- |
//! | `poly(degree=3, gamma=1, c=1)` | weighted monomials | (γ⟨x,z⟩ + c)^degree |
//! | `series(a0, a1, …)` | weighted monomials | Σₖ aₖ⟨x,z⟩ᵏ, every aₖ ≥ 0 |
//! | `monomials(degree=3)` | 1, x₀, x₁, …, x₀², x₀x₁, …: plain monomials up to the degree, the constant among them | |
//! | `taylor(sigma=1, degree=8)` | weighted monomials times a Gaussian | exp(−‖x−z‖²/(2σ²)), up to [`FeatureMap::error_bound`] |
//! | `x, x^2, log(abs(x)+1), x0*x1` | formulas: with `x` one feature per column, with `x0`, `x1`, … or names of columns one | |

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;

use crate::data::{AnySamples, Matrix};
use crate::kernel::Shortest;
use crate::memory;
use crate::real::Precision;
use crate::session::Session;

use super::error::DesignError;
use super::features::RowFeatures;
use super::formula::{Formulas, quoted_where_needed};
use super::monomials::{Weight, counts_by_degree};
use super::text::named::{Kind, Refused};
use super::text::{self, FeatureTextError};
use super::transform::Transform;
use super::{of_kernel, truncation};

/// The largest degree of a named map.
pub const MAX_DEGREE: u32 = 1_000;

/// A map of samples to features.
///
/// ```
/// use mercer::design::FeatureMap;
/// let map: FeatureMap = "poly(degree=2)".parse()?;
/// assert_eq!(map.to_string(), "poly(degree=2, gamma=1, c=1)");
/// assert_eq!(map.names(&["a".into(), "b".into()])?, ["1", "a", "b", "a^2", "a*b", "b^2"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FeatureMap {
    /// √(aₖ·k!/α!)·x^α for every |α| = k ≤ degree with aₖ the coefficients of (γt + c)^degree; γ ≥ 0 and c ≥ 0.
    Polynomial {
        /// At most [`MAX_DEGREE`].
        degree: u32,
        /// γ.
        gamma: f64,
        /// c.
        c: f64,
    },
    /// √(aₖ·k!/α!)·x^α for every |α| = k with aₖ > 0; none may be negative.
    Series(Vec<f64>),
    /// x^α for every |α| ≤ degree.
    Monomials {
        /// At most [`MAX_DEGREE`].
        degree: u32,
    },
    /// e^{−‖x‖²/(2σ²)}·(x/σ)^α/√α! for every |α| ≤ degree: the Gaussian's Taylor series, cut off.
    ///
    /// Cotter, Keshet and Srebro (2011), equation 6.
    Taylor {
        /// σ > 0.
        sigma: f64,
        /// At most [`MAX_DEGREE`].
        degree: u32,
    },
    /// Formulas of columns.
    Formulas(Formulas),
}

impl FeatureMap {
    /// The number of features of samples with this many columns.
    ///
    /// # Errors
    /// [`DesignError::TooMany`], with the exact number, if it is beyond 64 bits.
    pub fn count(&self, columns: usize) -> Result<u64, DesignError> {
        let count = match self.squares() {
            Some((_, squares)) => self.big_count(columns, |k| squares[k] > 0.0, squares.len()),
            None => self.formulas().count(columns).into(),
        };
        u64::try_from(&count).map_err(|_| DesignError::TooMany {
            map: self.to_string(),
            columns,
            count: count.to_string(),
        })
    }

    pub(super) fn big_count(
        &self,
        columns: usize,
        chosen: impl Fn(usize) -> bool,
        degrees: usize,
    ) -> BigUint {
        counts_by_degree(columns).take(degrees).enumerate().filter(|(k, _)| chosen(*k)).map(|(_, n)| n).sum()
    }

    /// The name of each feature, in order: `1`, `a`, `a^2*b`, without the weights. `taylor` names its monomials.
    ///
    /// # Errors
    /// As [`over`](Self::over).
    pub fn names(&self, columns: &[String]) -> Result<Vec<String>, DesignError> {
        let transform = self.bind(columns)?.over(columns.len(), memory::default_budget())?;
        let columns: Vec<String> = columns.iter().map(|name| quoted_where_needed(name)).collect();
        Ok((0..transform.count()).map(|index| transform.name(index, &columns)).collect())
    }

    /// The same map with names of columns replaced by their indices, so that it no longer needs names.
    ///
    /// # Errors
    /// If there is no column of a name, or if `x` or `x0`, `x1`, … is the name of another column than the one it stands
    /// for.
    pub fn bind(&self, columns: &[String]) -> Result<Self, DesignError> {
        match self {
            Self::Formulas(formulas) => formulas.bind(columns).map(Self::Formulas),
            named => Ok(named.clone()),
        }
    }

    /// Whether samples with this many columns have these features.
    ///
    /// # Errors
    /// If a parameter is out of its range, or if a formula uses a column that does not exist.
    pub fn check_columns(&self, columns: usize) -> Result<(), DesignError> {
        self.check_parameters().map_err(|refused| self.refuse(refused))?;
        if let Self::Formulas(formulas) = self {
            formulas.check_columns(columns)?;
        }
        match self.squares() {
            Some((_, squares)) if !squares.iter().all(|a| a.is_finite()) => Err(DesignError::MapParameter {
                map: "poly",
                parameter: "degree",
                received: self.to_string(),
                allowed: "such that the expanded power has finite coefficients",
            }),
            _ => Ok(()),
        }
    }

    fn refuse(&self, refused: Refused) -> DesignError {
        let map = self.kind().map_or("formulas", Kind::name);
        let Refused { parameter, allowed, .. } = refused;
        DesignError::MapParameter { map, parameter, received: self.to_string(), allowed }
    }

    /// The map prepared for samples with this many columns.
    ///
    /// O(D) time and memory for D features.
    ///
    /// # Errors
    /// As [`check_columns`](Self::check_columns), and if 3D numbers do not fit `budget` bytes.
    pub fn over(&self, columns: usize, budget: u64) -> Result<Transform, DesignError> {
        Transform::new(self, columns, budget)
    }

    /// The features of every sample, one row per sample.
    ///
    /// O(nD) time, O(1) for each feature; 8nD bytes.
    ///
    /// # Errors
    /// As [`over`](Self::over), if the features do not fit the memory budget, if one is not a finite number, and the
    /// session is stopped.
    pub fn transform(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, DesignError> {
        let transform = RowFeatures::Map(self.over(samples.ncols(), session.memory())?);
        Ok(transform.transform(samples, Precision::Double, session)?.into_f64())
    }

    /// The largest |k(x,z) − ⟨φ(x),φ(z)⟩| over all x and z of at most this norm, in any dimension; `None` for a map
    /// that approximates no kernel.
    ///
    /// 0 for `poly` and `series`, which are exact. For `taylor` of degree m it is P(N > m) for a Poisson variable N of mean
    /// (R/σ)², and is attained: at x = z of norm R.
    #[must_use]
    pub fn error_bound(&self, max_norm: f64) -> Option<f64> {
        match self {
            Self::Polynomial { .. } | Self::Series(_) => Some(0.0),
            Self::Taylor { sigma, degree } => {
                Some(truncation::poisson_tail((max_norm / sigma).powi(2), *degree as usize))
            }
            Self::Monomials { .. } | Self::Formulas(_) => None,
        }
    }

    /// The weight of each monomial and the factor aₖ of each degree; `None` for formulas.
    pub(super) fn squares(&self) -> Option<(Weight, Vec<f64>)> {
        match self {
            Self::Polynomial { degree, gamma, c } => {
                Some((Weight::Multinomial, of_kernel::power_coefficients(*degree, *gamma, *c)))
            }
            Self::Series(coefficients) => Some((Weight::Multinomial, coefficients.clone())),
            Self::Monomials { degree } => Some((Weight::One, vec![1.0; *degree as usize + 1])),
            Self::Taylor { degree, .. } => Some((Weight::InverseFactorial, vec![1.0; *degree as usize + 1])),
            Self::Formulas(_) => None,
        }
    }

    /// The formulas; none of a named map.
    pub(super) fn formulas(&self) -> &Formulas {
        const NONE: &Formulas = &Formulas(Vec::new());
        if let Self::Formulas(formulas) = self { formulas } else { NONE }
    }
}

impl fmt::Display for FeatureMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(kind) = self.kind() else { return self.formulas().fmt(f) };
        write!(f, "{}(", kind.name())?;
        for (slot, value) in self.values().into_iter().enumerate() {
            f.write_str(if slot == 0 { "" } else { ", " })?;
            if let Some(name) = kind.parameters().get(slot) {
                write!(f, "{name}=")?;
            }
            write!(f, "{}", Shortest(value))?;
        }
        f.write_str(")")
    }
}

/// Reads a feature map; [`Display`](fmt::Display) is the inverse.
impl FromStr for FeatureMap {
    type Err = FeatureTextError;

    fn from_str(text: &str) -> Result<Self, FeatureTextError> {
        text::parse(text)
    }
}

impl serde::Serialize for FeatureMap {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for FeatureMap {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
