//! The named feature maps: their parameters, defaults and ranges, in one table.

use crate::design::{FeatureMap, MAX_DEGREE};

/// A feature map with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::design) enum Kind {
    Polynomial,
    Series,
    Monomials,
    Taylor,
}

/// A rejected parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::design) struct Refused {
    pub slot: usize,
    pub parameter: &'static str,
    pub allowed: &'static str,
}

const DEGREE: &str = "an integer from 0 to 1000";
const NON_NEGATIVE: &str = "a finite number, 0 or more";

impl Kind {
    pub const ALL: [Self; 4] = [Self::Polynomial, Self::Series, Self::Monomials, Self::Taylor];

    pub fn name(self) -> &'static str {
        match self {
            Self::Polynomial => "poly",
            Self::Series => "series",
            Self::Monomials => "monomials",
            Self::Taylor => "taylor",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The names of the parameters, in the order they are printed.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Polynomial => &["degree", "gamma", "c"],
            Self::Series => &[],
            Self::Monomials => &["degree"],
            Self::Taylor => &["sigma", "degree"],
        }
    }

    /// The same in words.
    pub fn known(self) -> &'static str {
        match self {
            Self::Polynomial => "degree, gamma, c",
            Self::Series => "coefficients without names",
            Self::Monomials => "degree",
            Self::Taylor => "sigma, degree",
        }
    }

    /// The default of each parameter.
    pub fn defaults(self) -> Vec<f64> {
        match self {
            Self::Polynomial => vec![3.0, 1.0, 1.0],
            Self::Series => Vec::new(),
            Self::Monomials => vec![3.0],
            Self::Taylor => vec![1.0, 8.0],
        }
    }

    /// The map with these values of the parameters.
    pub fn map(self, values: &[f64]) -> Result<FeatureMap, Refused> {
        let degree = |slot: usize| {
            let value = values[slot];
            let fits = value.fract() == 0.0 && (0.0..=f64::from(MAX_DEGREE)).contains(&value);
            fits.then_some(value as u32).ok_or(Refused { slot, parameter: "degree", allowed: DEGREE })
        };
        let map = match self {
            Self::Polynomial => FeatureMap::Polynomial { degree: degree(0)?, gamma: values[1], c: values[2] },
            Self::Series => FeatureMap::Series(values.to_vec()),
            Self::Monomials => FeatureMap::Monomials { degree: degree(0)? },
            Self::Taylor => FeatureMap::Taylor { sigma: values[0], degree: degree(1)? },
        };
        map.check_parameters().map(|()| map)
    }
}

impl FeatureMap {
    /// The kind of a named map.
    pub(in crate::design) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Polynomial { .. } => Some(Kind::Polynomial),
            Self::Series(_) => Some(Kind::Series),
            Self::Monomials { .. } => Some(Kind::Monomials),
            Self::Taylor { .. } => Some(Kind::Taylor),
            Self::Formulas(_) => None,
        }
    }

    /// The values of the parameters of a named map, in the order they are printed.
    pub(in crate::design) fn values(&self) -> Vec<f64> {
        match self {
            Self::Polynomial { degree, gamma, c } => vec![f64::from(*degree), *gamma, *c],
            Self::Series(coefficients) => coefficients.clone(),
            Self::Monomials { degree } => vec![f64::from(*degree)],
            Self::Taylor { sigma, degree } => vec![*sigma, f64::from(*degree)],
            Self::Formulas(_) => Vec::new(),
        }
    }

    /// Whether every parameter is in its range.
    pub(in crate::design) fn check_parameters(&self) -> Result<(), Refused> {
        let require = |holds: bool, slot: usize, parameter: &'static str, allowed: &'static str| {
            if holds { Ok(()) } else { Err(Refused { slot, parameter, allowed }) }
        };
        let non_negative = |value: f64| value.is_finite() && value >= 0.0;
        match self {
            Self::Polynomial { degree, gamma, c } => {
                require(*degree <= MAX_DEGREE, 0, "degree", DEGREE)?;
                require(non_negative(*gamma), 1, "gamma", NON_NEGATIVE)?;
                require(non_negative(*c), 2, "c", NON_NEGATIVE)
            }
            Self::Series(coefficients) => {
                let wrong = coefficients.iter().position(|a| !non_negative(*a));
                require(wrong.is_none(), wrong.unwrap_or(0), "coefficient", NON_NEGATIVE)?;
                let count = 1..=MAX_DEGREE as usize + 1;
                require(
                    count.contains(&coefficients.len()),
                    MAX_DEGREE as usize + 1,
                    "number of coefficients",
                    "1 to 1001",
                )?;
                let some = coefficients.iter().any(|a| *a > 0.0);
                require(some, 0, "coefficient", "more than 0 for at least one degree")
            }
            Self::Monomials { degree } => require(*degree <= MAX_DEGREE, 0, "degree", DEGREE),
            Self::Taylor { sigma, degree } => {
                let positive = sigma.is_finite() && *sigma > 0.0;
                require(positive, 0, "sigma", "a finite number, more than 0")?;
                require(*degree <= MAX_DEGREE, 1, "degree", DEGREE)
            }
            Self::Formulas(_) => Ok(()),
        }
    }
}
