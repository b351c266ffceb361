//! How samples are lifted: by a kernel, by explicit features, or by features that approximate a kernel.

use crate::data::AnySamples;
use crate::design::{Approximation, FeatureMap, Features};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::session::Session;

use super::admission::Admission;
use super::error::LearnError;
use super::ridge::choose_approximation;

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

    /// The same with another kernel; explicit features stay as they are.
    #[must_use]
    pub(super) fn with_kernel(&self, kernel: Kernel) -> Self {
        match self {
            Self::Kernel(_) => Self::Kernel(kernel),
            Self::Features(map) => Self::Features(map.clone()),
            Self::Approximate { approx, .. } => Self::Approximate { kernel, approx: *approx },
            Self::Auto(_) => Self::Auto(kernel),
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

/// Features that approximate a kernel, ready for rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// φ.
    pub features: Features,
    /// Columns of the samples.
    pub columns: usize,
    /// Where the kernel is proven to be positive semidefinite.
    pub domain: Option<Domain>,
    /// What the user should know.
    pub warning: Option<String>,
}

impl Prepared {
    /// Draws frequencies or chooses landmarks among `samples`, for a kernel whose hyper-parameters are all numbers.
    ///
    /// `admission` says whether a kernel on landmarks must be proven to be one; one with random features is, by its spectral
    /// density.
    ///
    /// # Errors
    /// Where there are no samples, where the kernel has no such features or is refuted, and where the session is stopped.
    pub fn new(
        kernel: &Kernel,
        approximation: Approximation,
        admission: Admission,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        kernel.check_columns(columns)?;
        let features = approximation.of(kernel, samples, session)?;
        let (domain, warning) = match &features {
            // A spectral density is a proof (Bochner).
            Features::Fourier(_) | Features::Map(_) => (Some(Domain::All), None),
            Features::Landmarks(_) => {
                let admitted = admission.decide(kernel, samples)?;
                (admitted.domain, admitted.warning)
            }
        };
        Ok(Self { features, columns, domain, warning })
    }

    /// As [`new`](Self::new) for `rows` rows of which `sample` is a part: a kernel that is proven only where the sample is has no
    /// domain.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_sample(
        kernel: &Kernel,
        approximation: Approximation,
        admission: Admission,
        (sample, rows): (&AnySamples<'_>, u64),
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let mut prepared = Self::new(kernel, approximation, admission, sample, session)?;
        if let Some(domain) = prepared.domain.filter(|domain| *domain != Domain::All)
            && rows > sample.nrows() as u64
        {
            prepared.domain = None;
            prepared.warning = Some(format!(
                "{kernel} is proven positive semidefinite on the {domain} of a sample only, not where all rows are"
            ));
        }
        Ok(prepared)
    }
}
