//! The kernel smoother.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{AnySamples, Matrix};
use crate::gram::{TileMut, Wanted};
use crate::kernel::Kernel;
use crate::model::{Neighbours, Rule, smooth_leaving_out};
use crate::session::Session;
use crate::tile::Program;

use super::error::LearnError;
use super::knn::validate;
use super::loss::Loss;

/// Rows whose kernel values are looked at where the formula does not show their sign.
const SAMPLE: usize = 256;

/// The kernel smoother: f(x) = Σᵢ k(x,xᵢ)yᵢ / Σᵢ k(x,xᵢ) (Nadaraya, 1964; Watson, 1964).
///
/// The kernel is a weight: it must be of distances alone and nowhere negative, but need not be positive semidefinite. For classes
/// give one column of targets per class, 1 for a row's own and 0 for the others: the outputs are then shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoother {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
}

impl Smoother {
    /// Keeps the samples and `targets` (one row per sample, one column per target). O(nd).
    ///
    /// # Errors
    /// Where the input does not line up or is not finite, and where the kernel does not fit the samples or is no weight.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<Neighbours, LearnError> {
        validate(samples, targets)?;
        self.check(samples, session)?;
        let rule = Rule::Smoother { kernel: self.kernel.clone() };
        Ok(Neighbours { rows: samples.view().into_owned(), targets: targets.clone(), rule })
    }

    /// The mean loss of predicting each row from all the others. O(n²d) time, no n² memory.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), where there is one row only, and where the session is stopped.
    pub fn leave_one_out(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        loss: Loss,
        session: &Session<'_>,
    ) -> Result<f64, LearnError> {
        validate(samples, targets)?;
        if samples.nrows() < 2 {
            return Err(LearnError::TooManyNeighbours { k: 1, rows: 0 });
        }
        self.check(samples, session)?;
        let predicted = smooth_leaving_out(&self.kernel, samples, targets, session)?;
        Ok(loss.mean(&predicted, targets))
    }

    /// Whether the kernel is a weight on these samples: by its formula, else by its values at pairs of some of them.
    ///
    /// # Errors
    /// Where it is not, and where it does not fit the samples.
    pub fn check(&self, samples: &AnySamples<'_>, session: &Session<'_>) -> Result<(), LearnError> {
        let no_weight = |reason: String| LearnError::NotAWeight { kernel: self.kernel.to_string(), reason };
        Program::compile(&self.kernel, samples.ncols())?;
        if !self.kernel.is_radial() {
            let allowed = "a smoother takes rbf, laplacian, matern, rq and formulas of |x-z| and |x-z|_1";
            return Err(no_weight(allowed.into()));
        }
        if self.kernel.is_visibly_nonnegative() {
            return Ok(());
        }
        let n = samples.nrows();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let rows = index::sample(&mut random, n, n.min(SAMPLE)).into_vec();
        let some = session.load(&samples.select(&rows))?;
        let places: Vec<usize> = (0..rows.len()).collect();
        let mut values = vec![0f64; rows.len() * rows.len()];
        some.gram(&self.kernel, Wanted::Exact)?.block(
            &places,
            &places,
            TileMut::new(&mut values, rows.len()),
        );
        match values.iter().position(|value| value.is_nan() || *value < 0.0) {
            None => Ok(()),
            Some(place) => {
                let (i, j) = (rows[place / rows.len()], rows[place % rows.len()]);
                Err(no_weight(format!(
                    "it is {} at rows {i} and {j}; weights must be 0 or more",
                    values[place]
                )))
            }
        }
    }
}
