//! The features of a linear model: written out, or random.

use std::fmt;
use std::str::FromStr;

use super::approximation::KernelFeatures;
use super::random::{RandomFeatures, RandomSpec};
use super::{FeatureMap, FeatureTextError};

/// The features of a linear model.
#[derive(Debug, Clone, PartialEq)]
pub enum Lift {
    /// A finite map, written as text.
    Map(FeatureMap),
    /// Random features that stand in for a kernel.
    Random(Box<Fourier>),
}

/// Random features together with what they were drawn from.
///
/// The frequencies alone decide the features: a model stays what it is, should another version draw others from the same
/// seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fourier {
    /// What they were drawn from.
    pub spec: RandomSpec,
    /// The frequencies.
    pub features: RandomFeatures,
}

impl From<FeatureMap> for Lift {
    fn from(map: FeatureMap) -> Self {
        Self::Map(map)
    }
}

impl From<Fourier> for Lift {
    fn from(fourier: Fourier) -> Self {
        Self::Random(Box::new(fourier))
    }
}

/// Reads a finite map; random features have no text that holds them.
impl FromStr for Lift {
    type Err = FeatureTextError;

    fn from_str(text: &str) -> Result<Self, FeatureTextError> {
        text.parse().map(Self::Map)
    }
}

impl fmt::Display for Lift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(map) => map.fmt(f),
            Self::Random(fourier) => {
                write!(f, "fourier:{} of {}", fourier.features.features(), fourier.spec.kernel)
            }
        }
    }
}
