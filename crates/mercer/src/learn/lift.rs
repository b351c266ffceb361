//! How samples are lifted: by a kernel, by explicit features, or by features that approximate a kernel.

use crate::data::AnySamples;
use crate::design::{Approximation, FeatureMap};
use crate::kernel::Kernel;
use crate::session::Session;

use super::approx_choice::choose_approximation;
use super::error::LearnError;

/// Rows on which both kinds of features are tried where the approximation is chosen, at most.
const TRIED: usize = 10_000;

/// How samples are lifted. `auto` in a kernel is resolved from the samples.
#[derive(Debug, Clone, PartialEq)]
pub enum Lift {
    /// A kernel as it is.
    Kernel(Kernel),
    /// Explicit features, with every column by its place ([`FeatureMap::bind`]).
    Features(FeatureMap),
    /// Features that approximate a kernel.
    Approximate {
        /// The kernel.
        kernel: Kernel,
        /// Its approximation.
        approx: Approximation,
    },
    /// The kernel as it is, or an approximation where there are too many rows for it.
    Auto(Kernel),
}

impl Lift {
    /// The kernel; none for explicit features.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Kernel(kernel) | Self::Auto(kernel) | Self::Approximate { kernel, .. } => Some(kernel),
            Self::Features(_) => None,
        }
    }

    /// The same with every hyper-parameter of the kernel a number, and with [`Lift::Auto`] replaced by the kernel or, where these
    /// samples ask for one, an approximation.
    ///
    /// # Errors
    /// Where the kernel does not fit the samples, and where the session is stopped.
    pub fn resolved(&self, samples: &AnySamples<'_>, session: &Session<'_>) -> Result<Self, LearnError> {
        let resolved = |kernel: &Kernel| -> Result<Kernel, LearnError> {
            kernel.check_columns(samples.ncols())?;
            Ok(kernel.resolve_auto(&session.scales(samples))?)
        };
        Ok(match self {
            Self::Kernel(kernel) => Self::Kernel(resolved(kernel)?),
            Self::Features(map) => Self::Features(map.clone()),
            Self::Approximate { kernel, approx } => (resolved(kernel)?, *approx).into(),
            Self::Auto(kernel) => {
                let (kernel, rows) = (resolved(kernel)?, samples.nrows());
                let some: Vec<usize> = (0..rows).step_by(rows / TRIED + 1).collect();
                match choose_approximation(&kernel, &samples.select(&some), rows as u64, session)? {
                    Some((approximation, _)) => (kernel, approximation).into(),
                    None => kernel.into(),
                }
            }
        })
    }
}

impl From<Kernel> for Lift {
    fn from(kernel: Kernel) -> Self {
        Self::Kernel(kernel)
    }
}

impl From<FeatureMap> for Lift {
    fn from(map: FeatureMap) -> Self {
        Self::Features(map)
    }
}

impl From<(Kernel, Approximation)> for Lift {
    fn from((kernel, approx): (Kernel, Approximation)) -> Self {
        Self::Approximate { kernel, approx }
    }
}
