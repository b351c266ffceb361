//! Classes by Gaussian processes: probabilities averaged over latent functions.

use crate::data::{AnySamples, Matrix};
use crate::gram::{GramError, Part, Wanted};
use crate::session::Session;
use crate::solve::{ClassRule, Latent};

use super::domain::check_samples;
use super::error::ModelError;
use super::expansion::Expansion;

/// Laplace's approximation of the posterior of latent functions, one for two classes, else one for each class.
///
/// The means of the latent functions are an expansion over the training rows whose coefficients are ∇ log p(y | f̂) at
/// the mode f̂. They determine the probabilities at the training rows and hence, with the kernel, the variances, which
/// need no further numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianClasses {
    /// The means of the latent functions.
    pub latent: Expansion,
}

/// Samples whose probabilities are computed at a time.
const AT_ONCE: usize = 512;

impl GaussianClasses {
    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.latent.noutputs().max(2)
    }

    /// The probability of each class at every sample: one row per sample, one column per class.
    ///
    /// O(n³) time for n training rows and O(n²) a sample and latent function; O(n²) memory for each.
    ///
    /// # Errors
    /// As [`Expansion::predict`].
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        check_samples(samples, self.latent.centres.ncols(), self.latent.domain)?;
        let kernel = &self.latent.kernel;
        let centres = session.load(&self.latent.centres.widened())?;
        let n = centres.nrows();
        let mut k = Matrix::zeros(n, n);
        let gram = centres.gram(kernel, Wanted::Double)?;
        gram.fill(Part::Full, k.entries_mut().into(), session).map_err(GramError::from)?;
        let latent = Latent::at_mode(&k, &self.latent.coefficients, session)?;
        drop(k);
        let rule = ClassRule::new(self.classes());
        let mut probabilities = Vec::with_capacity(samples.nrows() * self.classes());
        for start in (0..samples.nrows()).step_by(AT_ONCE) {
            let rows: Vec<usize> = (start..samples.nrows().min(start + AT_ONCE)).collect();
            let queries = session.load(&samples.select(&rows).widened())?;
            let own = queries.gram(kernel, Wanted::Double)?.diagonal().into_owned();
            let mut cross = Matrix::zeros(rows.len(), n);
            let values = queries.cross(kernel, &*centres)?;
            values.fill(Part::Full, cross.entries_mut().into(), session).map_err(GramError::from)?;
            let covariances = latent.covariances(&cross, &own, session).map_err(GramError::from)?;
            let mut means = Matrix::zeros(rows.len(), self.latent.noutputs());
            values.apply(&mut means, &self.latent.coefficients, session).map_err(GramError::from)?;
            probabilities.extend(rule.all(&means, &covariances).into_entries());
        }
        Ok(Matrix::from_entries(samples.nrows(), self.classes(), probabilities))
    }

    /// The problem with the parts, if any.
    pub(super) fn fault(&self) -> Option<String> {
        let outside = |a: &&f64| a.is_nan() || a.abs() > 1.0;
        let coefficients = self.latent.coefficients.entries();
        if let Some(a) = coefficients.iter().find(outside) {
            return Some(format!("a coefficient of {a}, which is no difference of probabilities"));
        }
        let shifted = self.latent.intercepts.iter().any(|b| *b != 0.0) || self.latent.shift.is_some();
        shifted.then(|| "latent functions with an intercept".to_owned())
    }
}
