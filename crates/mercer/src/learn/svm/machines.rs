//! What predicts, from what training found.

use crate::data::{AnySamples, Matrix};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::model::{Expansion, Pairs};

use super::one_vs_one::OneVsOne;
use super::one_vs_rest::OneVsRest;
use super::training::SupportVectors;

impl OneVsOne {
    /// The machines over their support vectors, taken from the samples trained on. `domain` is where the kernel is proven.
    ///
    /// # Panics
    /// Where a support vector is not a row of the samples.
    #[must_use]
    pub fn pairs(self, kernel: Kernel, domain: Option<Domain>, samples: &AnySamples<'_>) -> Pairs {
        let Self { support, per_class, coefficients, rho, .. } = self;
        Pairs { kernel, domain, centres: samples.select(&support), per_class, coefficients, rho }
    }
}

impl OneVsRest {
    /// One output per machine over the support vectors, taken from the samples trained on. `domain` is where the kernel is
    /// proven.
    ///
    /// # Panics
    /// Where a support vector is not a row of the samples.
    #[must_use]
    pub fn expansion(self, kernel: Kernel, domain: Option<Domain>, samples: &AnySamples<'_>) -> Expansion {
        Expansion {
            kernel,
            domain,
            centres: samples.select(&self.support),
            shift: None,
            coefficients: self.coefficients,
            intercepts: self.rho.iter().map(|rho| -rho).collect(),
        }
    }
}

impl SupportVectors {
    /// Σᵢ aᵢ k(xᵢ, ·) − ρ over the support vectors, taken from the samples trained on. `domain` is where the kernel is proven.
    ///
    /// # Panics
    /// Where a support vector is not a row of the samples.
    #[must_use]
    pub fn expansion(self, kernel: Kernel, domain: Option<Domain>, samples: &AnySamples<'_>) -> Expansion {
        let Self { support, coefficients, rho, .. } = self;
        Expansion {
            kernel,
            domain,
            centres: samples.select(&support),
            shift: None,
            coefficients: Matrix::from_entries(support.len(), 1, coefficients),
            intercepts: vec![-rho],
        }
    }
}
