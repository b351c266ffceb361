//! The lift of samples: a kernel, explicit features, or features that approximate a kernel.

use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, ScaleMethod, SurveyOptions};
use crate::design::{Approximation, FeatureMap, Features};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::session::Session;

use super::error::LearnError;
use super::kernel_check::KernelCheck;
use super::problem::{Inputs, Problem};
use super::ridge::choose_approximation;

/// The most rows on which both kinds of approximate features are compared.
const SAMPLE: usize = 10_000;

/// The lift of samples. `auto` in a kernel is resolved from the samples.
///
/// Written as `kernel` and `approx`, or as `features`; how frequencies are drawn or landmarks chosen is not written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Words", into = "Words")]
pub enum Lift {
    /// An exact kernel.
    Kernel(Kernel),
    /// Explicit features, with every column by its index ([`FeatureMap::bind`]).
    Features(FeatureMap),
    /// Features that approximate a kernel.
    Approximate {
        /// The kernel.
        kernel: Kernel,
        /// Its approximation.
        approx: Approximation,
    },
    /// The exact kernel, or an approximation if there are too many rows for it.
    Auto(Kernel),
}

impl Lift {
    /// The kernel; `None` for explicit features.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Kernel(kernel) | Self::Auto(kernel) | Self::Approximate { kernel, .. } => Some(kernel),
            Self::Features(_) => None,
        }
    }

    /// The kernel and its approximation.
    ///
    /// # Errors
    /// If it is not an approximation.
    pub(super) fn approximation(&self) -> Result<(&Kernel, Approximation), LearnError> {
        match self {
            Self::Approximate { kernel, approx } => Ok((kernel, *approx)),
            _ => Err(LearnError::Unsupported("this needs an approximation of a kernel")),
        }
    }

    /// The same lift with another kernel; explicit features do not change.
    #[must_use]
    pub(super) fn with_kernel(&self, kernel: Kernel) -> Self {
        match self {
            Self::Kernel(_) => Self::Kernel(kernel),
            Self::Features(map) => Self::Features(map.clone()),
            Self::Approximate { approx, .. } => Self::Approximate { kernel, approx: *approx },
            Self::Auto(_) => Self::Auto(kernel),
        }
    }

    /// The same lift with every hyper-parameter of the kernel a number, and with [`Lift::Auto`] replaced by the kernel
    /// or, for too many rows, an approximation, with the reason for the choice. For a stream, its sample decides.
    ///
    /// # Errors
    /// If the problem has no samples, if the kernel does not fit them, or if the session is stopped.
    pub fn resolved(
        &self,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<(Self, Option<String>), LearnError> {
        let (samples, rows) = problem.sample()?;
        let resolved = |kernel: &Kernel| -> Result<Kernel, LearnError> {
            kernel.check_columns(samples.ncols())?;
            Ok(kernel.resolve_auto(&session.scales(samples))?)
        };
        let lift = match self {
            Self::Kernel(kernel) => Self::Kernel(resolved(kernel)?),
            Self::Features(map) => Self::Features(map.clone()),
            Self::Approximate { kernel, approx } => (resolved(kernel)?, *approx).into(),
            Self::Auto(kernel) => {
                let kernel = resolved(kernel)?;
                let sample = match problem.inputs {
                    Inputs::Stream(_) => samples.view(),
                    _ => {
                        let step = samples.nrows() / SAMPLE + 1;
                        samples.select(&(0..samples.nrows()).step_by(step).collect::<Vec<_>>())
                    }
                };
                match choose_approximation(&kernel, &sample, rows, session)? {
                    Some((approximation, reason)) => {
                        return Ok(((kernel, approximation).into(), Some(reason)));
                    }
                    None => kernel.into(),
                }
            }
        };
        Ok((lift, None))
    }

    /// The rows that the sample of a stream needs: 10,000, and four for each landmark to choose it from.
    #[must_use]
    pub fn sample_rows(&self) -> usize {
        match self {
            Self::Approximate { approx: Approximation::Nystrom { landmarks, .. }, .. } => {
                SAMPLE.max(landmarks.saturating_mul(4))
            }
            _ => SAMPLE,
        }
    }

    /// The settings of the survey of a file to train on; its rows may take a quarter of the memory budget.
    #[must_use]
    pub fn survey(&self, scale: ScaleMethod, held_out: f64, session: &Session<'_>) -> SurveyOptions {
        let (sample, seed, memory) = (self.sample_rows(), session.seed(), session.memory() / 4);
        SurveyOptions { scale, sample, seed, held_out, memory }
    }
}

/// A Gaussian whose width follows from the samples.
impl Default for Lift {
    fn default() -> Self {
        Kernel::gaussian_auto().into()
    }
}

/// A lift in settings.
#[derive(Serialize, Deserialize)]
struct Words {
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Kernel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<FeatureMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approx: Option<String>,
}

impl From<Lift> for Words {
    fn from(lift: Lift) -> Self {
        let (kernel, features, approx) = match lift {
            Lift::Kernel(kernel) => (Some(kernel), None, None),
            Lift::Features(map) => (None, Some(map), None),
            Lift::Approximate { kernel, approx } => (Some(kernel), None, Some(approx.to_string())),
            Lift::Auto(kernel) => (Some(kernel), None, Some("auto".to_owned())),
        };
        Self { kernel, features, approx }
    }
}

impl TryFrom<Words> for Lift {
    type Error = String;

    fn try_from(words: Words) -> Result<Self, String> {
        let Words { kernel, features, approx } = words;
        if let Some(map) = features {
            return match (kernel, approx) {
                (None, None) => Ok(map.into()),
                _ => Err("features are explicit: they have no kernel and no approximation".to_owned()),
            };
        }
        let kernel = kernel.unwrap_or_else(Kernel::gaussian_auto);
        Ok(match approx.as_deref() {
            None | Some("none") => kernel.into(),
            Some("auto") => Self::Auto(kernel),
            Some(text) => (kernel, text.parse().map_err(|error| format!("{error}"))?).into(),
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

/// Features that approximate a kernel, prepared for samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// φ.
    pub features: Features,
    /// Columns of the samples.
    pub columns: usize,
    /// The domain on which the kernel is proven to be positive semidefinite.
    pub domain: Option<Domain>,
    /// A warning for the user.
    pub warning: Option<String>,
}

impl Prepared {
    /// Draws frequencies or chooses landmarks for a kernel whose hyper-parameters are all numbers, and for `rows` rows of which
    /// `sample` is all or a part.
    ///
    /// `kernel_check` says whether a kernel on landmarks must be proven positive semidefinite; one with random features
    /// is, by its spectral density. A kernel that is proven only on a domain of some of the rows gets no domain.
    ///
    /// # Errors
    /// If there are no samples, if the kernel has no such features or is refuted, or if the session is stopped.
    pub fn new(
        kernel: &Kernel,
        approximation: Approximation,
        kernel_check: KernelCheck,
        (sample, rows): (&AnySamples<'_>, u64),
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let columns = sample.ncols();
        if sample.nrows() == 0 || columns == 0 {
            return Err(LearnError::Empty { rows: sample.nrows(), columns });
        }
        kernel.check_columns(columns)?;
        let (mut domain, mut warning) = match approximation {
            // A spectral density is a proof (Bochner).
            Approximation::Fourier { .. } => (Some(Domain::All), None),
            Approximation::Nystrom { .. } => {
                let checked = kernel_check.decide(kernel, sample)?;
                (checked.domain, checked.warning)
            }
        };
        if let Some(proven) = domain.filter(|domain| *domain != Domain::All)
            && rows > sample.nrows() as u64
        {
            domain = None;
            warning = Some(format!(
                "{kernel} is proven positive semidefinite on the {proven} of a sample only, not where all rows are"
            ));
        }
        Ok(Self { features: approximation.of(kernel, sample, session)?, columns, domain, warning })
    }
}
