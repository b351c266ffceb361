//! Predictors: several kinds behind one `predict`.

use crate::data::{AnySamples, Matrix};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::real::Precision;
use crate::session::Session;

use super::{
    Expansion, GaussianClasses, GaussianProcess, Linear, ModelError, Neighbours, Pairs, Rule, Voted,
};

/// A function learnt from samples, with one or several outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictor {
    /// f(x) = Σᵢ aᵢ k(cᵢ, x) + b: the dual methods.
    Expansion(Expansion),
    /// f(x) = ⟨w, φ(x)⟩ + b: the primal methods.
    Linear(Linear),
    /// A mean of the targets of the rows near x: the smoother and k nearest neighbours.
    Neighbours(Neighbours),
    /// The votes of many functions: the voted perceptron.
    Voted(Voted),
    /// Σₛ aₛ k(cₛ, x) − ρ for every pair of classes: support vector machines.
    Pairs(Pairs),
    /// A mean and a variance: Gaussian processes.
    GaussianProcess(GaussianProcess),
    /// Probabilities of classes averaged over latent functions: classification by Gaussian processes.
    GaussianClasses(GaussianClasses),
}

impl Predictor {
    /// Number of columns a sample has.
    #[must_use]
    pub fn ncols(&self) -> usize {
        match self {
            Self::Expansion(expansion) => expansion.centres.ncols(),
            Self::Linear(linear) => linear.ncols(),
            Self::Neighbours(neighbours) => neighbours.ncols(),
            Self::Voted(voted) => voted.centres.ncols(),
            Self::Pairs(pairs) => pairs.centres.ncols(),
            Self::GaussianProcess(process) => process.mean.centres.ncols(),
            Self::GaussianClasses(classes) => classes.latent.centres.ncols(),
        }
    }

    /// Number of outputs.
    #[must_use]
    pub fn noutputs(&self) -> usize {
        match self {
            Self::Expansion(expansion) => expansion.noutputs(),
            Self::Linear(linear) => linear.noutputs(),
            Self::Neighbours(neighbours) => neighbours.noutputs(),
            Self::Voted(voted) => voted.classes,
            Self::Pairs(pairs) => pairs.noutputs(),
            Self::GaussianProcess(process) => process.mean.noutputs(),
            Self::GaussianClasses(classes) => classes.classes(),
        }
    }

    /// Whether the number of outputs fits this many classes: one for each, one for the second of two, or one for each
    /// pair.
    #[must_use]
    pub fn tells_apart(&self, classes: usize) -> bool {
        match self {
            Self::Pairs(pairs) => pairs.nclasses() == classes,
            _ => classes == self.noutputs() || (classes, self.noutputs()) == (2, 1),
        }
    }

    /// The samples that are kept in the model; `None` for a linear one.
    #[must_use]
    pub fn rows(&self) -> Option<&AnySamples<'static>> {
        match self {
            Self::Expansion(expansion) => Some(&expansion.centres),
            Self::Linear(_) => None,
            Self::Neighbours(neighbours) => Some(&neighbours.rows),
            Self::Voted(voted) => Some(&voted.centres),
            Self::Pairs(pairs) => Some(&pairs.centres),
            Self::GaussianProcess(process) => Some(&process.mean.centres),
            Self::GaussianClasses(classes) => Some(&classes.latent.centres),
        }
    }

    /// The kernel, where there is one.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Expansion(expansion) => Some(&expansion.kernel),
            Self::Voted(voted) => Some(&voted.kernel),
            Self::Pairs(pairs) => Some(&pairs.kernel),
            Self::GaussianProcess(process) => Some(&process.mean.kernel),
            Self::GaussianClasses(classes) => Some(&classes.latent.kernel),
            Self::Neighbours(Neighbours { rule: Rule::Smoother { kernel }, .. }) => Some(kernel),
            Self::Linear(Linear { map, .. }) => map.kernel(),
            Self::Neighbours(_) => None,
        }
    }

    /// The expansion, if the predictor is one or has one as its mean.
    #[must_use]
    pub fn expansion(&self) -> Option<&Expansion> {
        match self {
            Self::Expansion(expansion) => Some(expansion),
            Self::GaussianProcess(process) => Some(&process.mean),
            _ => None,
        }
    }

    /// The domain on which the kernel is proven; `None` if there is no kernel or no proof.
    #[must_use]
    pub fn domain(&self) -> Option<Domain> {
        match self {
            Self::Expansion(expansion) => expansion.domain,
            Self::Pairs(pairs) => pairs.domain,
            Self::GaussianProcess(process) => process.mean.domain,
            Self::GaussianClasses(classes) => classes.latent.domain,
            Self::Voted(voted) => voted.domain,
            Self::Linear(_) | Self::Neighbours(_) => None,
        }
    }

    /// The precision in which samples are read.
    #[must_use]
    pub fn dtype(&self) -> Precision {
        match self.rows() {
            Some(AnySamples::F32(_)) => Precision::Single,
            Some(AnySamples::F64(_)) | None => Precision::Double,
        }
    }

    /// The outputs at scaled samples: one row per sample, one column per output.
    ///
    /// # Errors
    /// If the samples do not have the columns, are outside of the kernel's domain, or if the session is stopped.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        match self {
            Self::Expansion(expansion) => expansion.predict(samples, session),
            Self::Linear(linear) => linear.predict(samples, session),
            Self::Neighbours(neighbours) => neighbours.predict(samples, session),
            Self::Voted(voted) => voted.predict(samples, session),
            Self::Pairs(pairs) => pairs.predict(samples, session),
            Self::GaussianProcess(process) => process.predict(samples, session),
            Self::GaussianClasses(classes) => classes.predict(samples, session),
        }
    }
}

macro_rules! from_kind {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Predictor {
            fn from(predictor: $kind) -> Self {
                Self::$kind(predictor)
            }
        }
    )*};
}

from_kind!(Expansion, Linear, Neighbours, Voted, Pairs, GaussianProcess, GaussianClasses);
