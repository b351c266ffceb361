//! What predicts: one of three kinds behind one `predict`.

use crate::data::{AnySamples, Dtype, Matrix};
use crate::features::Lift;
use crate::kernel::Kernel;
use crate::watch::Watch;

use super::{Expansion, Linear, ModelError, Neighbours, Rule};

/// A function learnt from samples, with one or several outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictor {
    /// f(x) = Σᵢ aᵢ k(cᵢ, x) + b: the dual methods.
    Expansion(Expansion),
    /// f(x) = ⟨w, φ(x)⟩ + b: the primal methods.
    Linear(Linear),
    /// A mean of the targets of the rows near x: the smoother and k nearest neighbours.
    Neighbours(Neighbours),
}

impl Predictor {
    /// Number of columns a sample has.
    #[must_use]
    pub fn ncols(&self) -> usize {
        match self {
            Self::Expansion(expansion) => expansion.centres.ncols(),
            Self::Linear(linear) => linear.ncols(),
            Self::Neighbours(neighbours) => neighbours.ncols(),
        }
    }

    /// Number of outputs.
    #[must_use]
    pub fn noutputs(&self) -> usize {
        match self {
            Self::Expansion(expansion) => expansion.noutputs(),
            Self::Linear(linear) => linear.noutputs(),
            Self::Neighbours(neighbours) => neighbours.noutputs(),
        }
    }

    /// The samples that are kept in the model; none for a linear one.
    #[must_use]
    pub fn rows(&self) -> Option<&AnySamples<'static>> {
        match self {
            Self::Expansion(expansion) => Some(&expansion.centres),
            Self::Linear(_) => None,
            Self::Neighbours(neighbours) => Some(&neighbours.rows),
        }
    }

    /// The kernel, where there is one.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Expansion(expansion) => Some(&expansion.kernel),
            Self::Neighbours(Neighbours { rule: Rule::Smoother { kernel }, .. }) => Some(kernel),
            Self::Linear(Linear { map: Lift::Random(fourier), .. }) => Some(&fourier.spec.kernel),
            Self::Linear(_) | Self::Neighbours(_) => None,
        }
    }

    /// The expansion, where it is one.
    #[must_use]
    pub fn expansion(&self) -> Option<&Expansion> {
        match self {
            Self::Expansion(expansion) => Some(expansion),
            _ => None,
        }
    }

    /// The precision that samples are read in.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        match self.rows() {
            Some(AnySamples::F32(_)) => Dtype::F32,
            Some(AnySamples::F64(_)) | None => Dtype::F64,
        }
    }

    /// The outputs at scaled samples: one row per sample, one column per output.
    ///
    /// # Errors
    /// Where the samples do not have the columns, are outside of the kernel's domain, and where `watch` asks to stop.
    pub fn predict(&self, samples: &AnySamples<'_>, watch: &dyn Watch) -> Result<Matrix<f64>, ModelError> {
        match self {
            Self::Expansion(expansion) => expansion.predict(samples, watch),
            Self::Linear(linear) => linear.predict(samples, watch),
            Self::Neighbours(neighbours) => neighbours.predict(samples, watch),
        }
    }
}

impl From<Expansion> for Predictor {
    fn from(expansion: Expansion) -> Self {
        Self::Expansion(expansion)
    }
}

impl From<Linear> for Predictor {
    fn from(linear: Linear) -> Self {
        Self::Linear(linear)
    }
}

impl From<Neighbours> for Predictor {
    fn from(neighbours: Neighbours) -> Self {
        Self::Neighbours(neighbours)
    }
}
