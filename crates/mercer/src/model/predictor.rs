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
            Self::Linear(linear) => linear.ncols(),
            _ => self.rows().map_or(0, AnySamples::ncols),
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

    /// The kernel, the domain on which it is proven, and its centres; `None` for linear predictors and means of neighbours.
    #[must_use]
    pub fn basis(&self) -> Option<(&Kernel, Option<Domain>, &AnySamples<'static>)> {
        match self {
            Self::Expansion(Expansion { kernel, domain, centres, .. })
            | Self::GaussianProcess(GaussianProcess {
                mean: Expansion { kernel, domain, centres, .. },
                ..
            })
            | Self::GaussianClasses(GaussianClasses { latent: Expansion { kernel, domain, centres, .. } })
            | Self::Voted(Voted { kernel, domain, centres, .. })
            | Self::Pairs(Pairs { kernel, domain, centres, .. }) => Some((kernel, *domain, centres)),
            Self::Linear(_) | Self::Neighbours(_) => None,
        }
    }

    /// The samples that are kept in the model; `None` for a linear one.
    #[must_use]
    pub fn rows(&self) -> Option<&AnySamples<'static>> {
        match self {
            Self::Neighbours(neighbours) => Some(&neighbours.rows),
            _ => self.basis().map(|(.., centres)| centres),
        }
    }

    /// The kernel, where there is one.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Neighbours(Neighbours { rule: Rule::Smoother { kernel }, .. }) => Some(kernel),
            Self::Linear(Linear { map, .. }) => map.kernel(),
            _ => self.basis().map(|(kernel, ..)| kernel),
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
        self.basis().and_then(|(_, domain, _)| domain)
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
