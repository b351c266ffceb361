//! One-class estimation: where samples like these are.

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::error::LearnError;
use crate::learn::weights::check_weights;
use crate::session::Session;
use crate::solve::svm::{BoxQp, SvmSettings};
use crate::watch::Watch;

use super::training::{SupportVectors, Training, load};

/// One-class estimation: a function that is positive on most samples; ν bounds the fraction left outside from above and that of
/// support vectors from below (Schölkopf et al. 2001).
#[derive(Debug, Clone, PartialEq)]
pub struct OneClass {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// ν, above 0 and at most 1.
    pub nu: f64,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// How the problem is solved.
    pub settings: SvmSettings,
}

impl OneClass {
    /// One-class estimation with this kernel and ν, and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, nu: f64) -> Self {
        Self { kernel, nu, admission: Admission::Check, settings: SvmSettings::default() }
    }

    /// Fits to the samples.
    ///
    /// O(sn) kernel values for s support vectors of n samples.
    ///
    /// # Errors
    /// Where the input does not line up, a parameter is out of range, or the kernel is not one.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<SupportVectors, LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let resident = load(samples, session)?;
        self.admission.decide(&self.kernel, samples)?;
        self.fit_on(&Training::new(&*resident, &self.kernel)?, weights, session)
    }

    /// As [`fit`](Self::fit), on a matrix that is ready; the kernel is not looked at.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_on(
        &self,
        training: &Training<'_>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<SupportVectors, LearnError> {
        let rows = training.nrows();
        check_weights(rows, weights)?;
        let ones = vec![1.0; rows];
        let all: Vec<usize> = (0..rows).collect();
        let qp = BoxQp::one_class(&all, self.nu, weights.unwrap_or(&ones))?;
        session.begin("support vectors", 0);
        let solution = training.solve(&qp, &self.settings, session)?;
        let rho = solution.rho();
        Ok(SupportVectors::new(&solution.beta, rho, solution.report))
    }
}
