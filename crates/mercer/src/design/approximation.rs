//! The choice between approximations of a kernel, as text: `fourier:1024`, `nystrom:500`.

use std::fmt;
use std::str::FromStr;

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::session::Session;

use super::error::DesignError;
use super::features::Features;
use super::fourier::{Form, Fourier, RandomSpec, Sampling};
use super::landmarks::{LandmarkChoice, Landmarks};

/// How a kernel is approximated by finitely many features.
///
/// ```
/// use mercer::design::Approximation;
/// let approximation: Approximation = "nystrom:500".parse()?;
/// assert_eq!(approximation.to_string(), "nystrom:500");
/// assert!("fourier:0".parse::<Approximation>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approximation {
    /// Random features ([`RandomSpec`]), for kernels of x − z with a known spectral density.
    Fourier {
        /// D, the number of features.
        features: usize,
        /// How frequencies are drawn.
        sampling: Sampling,
        /// What a frequency becomes.
        form: Form,
    },
    /// Landmarks among the samples ([`Landmarks`]), for every kernel.
    Nystrom {
        /// M, the number of landmarks.
        landmarks: usize,
        /// How they are chosen.
        choice: LandmarkChoice,
    },
}

impl Approximation {
    /// Orthogonal cosine and sine pairs.
    #[must_use]
    pub fn fourier(features: usize) -> Self {
        Self::Fourier { features, sampling: Sampling::default(), form: Form::default() }
    }

    /// Uniform landmarks.
    #[must_use]
    pub fn nystrom(landmarks: usize) -> Self {
        Self::Nystrom { landmarks, choice: LandmarkChoice::default() }
    }

    /// The number of features, at most.
    #[must_use]
    pub fn features(&self) -> usize {
        match *self {
            Self::Fourier { features, .. } => features,
            Self::Nystrom { landmarks, .. } => landmarks,
        }
    }

    /// The features of a kernel whose hyper-parameters are all numbers. Landmarks are chosen among `samples`; random features
    /// depend on the number of their columns only.
    ///
    /// # Errors
    /// As [`RandomSpec::draw`] and [`Landmarks::choose`].
    pub fn of(
        &self,
        kernel: &Kernel,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Features, DesignError> {
        match *self {
            Self::Fourier { features, sampling, form } => {
                let spec =
                    RandomSpec { kernel: kernel.clone(), features, sampling, form, seed: session.seed() };
                let features = spec.draw(samples.ncols())?;
                Ok(Fourier { spec, features }.into())
            }
            Self::Nystrom { landmarks, choice } => {
                Ok(Landmarks::choose(kernel, samples, landmarks, choice, session)?.into())
            }
        }
    }
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fourier { features, .. } => write!(f, "fourier:{features}"),
            Self::Nystrom { landmarks, .. } => write!(f, "nystrom:{landmarks}"),
        }
    }
}

/// A text that does not name an approximation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{received}` is not an approximation: write fourier:D with an even number D of random features, or nystrom:M with \
     a number M of landmarks"
)]
pub struct UnknownApproximation {
    /// The text.
    pub received: String,
}

/// Reads `fourier:D` or `nystrom:M`.
impl FromStr for Approximation {
    type Err = UnknownApproximation;

    fn from_str(text: &str) -> Result<Self, UnknownApproximation> {
        let unknown = || UnknownApproximation { received: text.to_owned() };
        let (kind, count) = text.split_once(':').ok_or_else(unknown)?;
        let count: usize = count.parse().map_err(|_| unknown())?;
        match kind {
            "fourier" if count > 0 && count.is_multiple_of(2) => Ok(Self::fourier(count)),
            "nystrom" if count > 0 => Ok(Self::nystrom(count)),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;
    use crate::real::Precision;

    fn samples() -> AnySamples<'static> {
        let entries = (0..60).map(|k| (k as f64 * 0.7).sin()).collect::<Vec<_>>();
        AnySamples::F64(Samples::dense(20, 3, entries).unwrap())
    }

    #[test]
    fn texts_that_name_none_are_refused() {
        for text in [
            "",
            "fourier",
            "fourier:",
            "fourier:0",
            "fourier:7",
            "nystrom:0",
            "nystrom:-1",
            "nys:3",
            "fourier:1e3",
        ] {
            let error = text.parse::<Approximation>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }

    /// Half of the features, times c, have inner products of the same kernel.
    #[test]
    fn half_of_the_features_are_features_of_the_same_kernel() {
        let kernel: Kernel = "rbf(sigma=1.5)".parse().unwrap();
        let session = Session::default();
        for approximation in [Approximation::fourier(4096), Approximation::nystrom(18)] {
            let features = approximation.of(&kernel, &samples(), &session.with_seed(1)).unwrap();
            let (kept, square) = features.half().unwrap();
            assert_eq!(kept.len(), features.count(3).unwrap() / 2);
            let ready = features.ready(3, None, &session).unwrap();
            let phi = ready.transform(&samples(), Precision::Double, &session).unwrap().into_f64();
            let (mut x, mut z) = ([0.0; 3], [0.0; 3]);
            for (i, j) in [(0, 1), (3, 17), (5, 5)] {
                samples().copy_row(i, &mut x);
                samples().copy_row(j, &mut z);
                let found: f64 = kept.iter().map(|&k| square * phi.row(i)[k] * phi.row(j)[k]).sum();
                let exact = kernel.eval(&x, &z).unwrap();
                assert!((found - exact).abs() < 0.06, "{approximation}: {found} for {exact}");
            }
        }
    }
}
