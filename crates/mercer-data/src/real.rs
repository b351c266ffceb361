//! The two storage precisions, `f32` and `f64`, behind one trait.

use std::fmt::{self, Debug, Display};

use serde::{Deserialize, Serialize};

use crate::{AnySamples, Samples};

/// A storage precision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// `f32`.
    #[serde(rename = "f32")]
    Single,
    /// `f64`.
    #[default]
    #[serde(rename = "f64")]
    Double,
}

impl Precision {
    /// Bytes of one number.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

impl Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Single => f32::NAME,
            Self::Double => f64::NAME,
        })
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The precision in which data and kernel tiles are stored: `f32` or `f64`. Solvers and coefficients always use `f64`.
pub trait Real:
    Copy + Default + PartialOrd + Debug + Display + Send + Sync + sealed::Sealed + 'static
{
    /// Distance from 1 to the next larger number.
    const EPSILON: f64;
    /// The name of the precision: `f32` or `f64`.
    const NAME: &'static str;
    /// The precision.
    const PRECISION: Precision;

    /// Rounds to this precision.
    fn from_f64(value: f64) -> Self;

    /// Widens, exactly.
    fn to_f64(self) -> f64;

    /// Wraps samples of this precision as [`AnySamples`].
    fn any_samples(samples: Samples<'_, Self>) -> AnySamples<'_>;
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const NAME: &'static str = "f32";
    const PRECISION: Precision = Precision::Single;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn any_samples(samples: Samples<'_, Self>) -> AnySamples<'_> {
        AnySamples::F32(samples)
    }
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const NAME: &'static str = "f64";
    const PRECISION: Precision = Precision::Double;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    fn any_samples(samples: Samples<'_, Self>) -> AnySamples<'_> {
        AnySamples::F64(samples)
    }
}
