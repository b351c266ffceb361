//! Dual models: f(x) = Σᵢ aᵢ k(cᵢ, x) + b.

use std::borrow::Cow;

use crate::data::{AnySamples, Matrix, Samples, with_samples};
use crate::gram::GramError;
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::real::Real;
use crate::session::Session;

use super::domain::check_samples;
use super::error::ModelError;

/// f(x) = Σᵢ aᵢ k(cᵢ, x − s) + b, for each of several outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    /// k, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// The domain on which k is proven to be positive semidefinite; `None` if that was assumed or is undecided.
    pub domain: Option<Domain>,
    /// The centres cᵢ.
    pub centres: AnySamples<'static>,
    /// s, subtracted from every sample first; `None` means zero.
    pub shift: Option<Vec<f64>>,
    /// a: one row per centre, one column per output.
    pub coefficients: Matrix<f64>,
    /// b: one per output.
    pub intercepts: Vec<f64>,
}

impl Expansion {
    /// Number of outputs.
    #[must_use]
    pub fn noutputs(&self) -> usize {
        self.intercepts.len()
    }

    /// f at every sample: one row per sample, one column per output.
    ///
    /// O(mnd) time for m samples and n centres; a few tiles of memory beyond the samples and the answer.
    ///
    /// # Errors
    /// If the samples do not have the centres' columns or are outside of the kernel's domain, or if the session is
    /// stopped.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        let columns = self.centres.ncols();
        check_samples(samples, columns, None)?;
        let shifted = self.shift.as_ref().map(|shift| subtract(samples, shift));
        let samples = &shifted.unwrap_or_else(|| samples.view());
        check_samples(samples, columns, self.domain)?;
        let queries = session.load(samples)?;
        let centres = session.load(&self.centres)?;
        let mut out = Matrix::zeros(samples.nrows(), self.noutputs());
        let cross = queries.cross(&self.kernel, &*centres)?;
        cross.apply(&mut out, &self.coefficients, session).map_err(GramError::from)?;
        for i in 0..out.nrows() {
            out.row_mut(i).iter_mut().zip(&self.intercepts).for_each(|(f, b)| *f += b);
        }
        Ok(out)
    }
}

/// `samples` with `shift` subtracted from every row.
pub(crate) fn subtract(samples: &AnySamples<'_>, shift: &[f64]) -> AnySamples<'static> {
    fn dense<T: Real>(samples: &Samples<'_, T>, shift: &[f64]) -> Samples<'static, T> {
        let mut row = vec![0.0; samples.ncols()];
        let mut entries = Vec::with_capacity(samples.nrows() * samples.ncols());
        for i in 0..samples.nrows() {
            samples.copy_row(i, &mut row);
            entries.extend(row.iter().zip(shift).map(|(x, s)| T::from_f64(x - s)));
        }
        Samples::dense(samples.nrows(), samples.ncols(), Cow::Owned(entries))
            .expect("as many entries as before")
    }
    with_samples!(samples, samples => dense(samples, shift).into())
}
