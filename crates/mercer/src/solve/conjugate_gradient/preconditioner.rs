//! Preconditioners: approximate inverses that make conjugate gradients converge in few steps.

use crate::data::Matrix;
use crate::gram::LowRankFactor;
use crate::linalg::CholeskyFactor;
use crate::watch::{Stopped, Watch};

use crate::solve::SolveError;

/// A symmetric positive definite approximation of the inverse of a matrix.
pub trait Preconditioner: Sync {
    /// `out` = P⁻¹·`residual`, for every column.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;

    /// A short description, for the report.
    fn describe(&self) -> String;
}

/// P = I.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unconditioned;

impl Preconditioner for Unconditioned {
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, _: &dyn Watch) -> Result<(), Stopped> {
        out.entries_mut().copy_from_slice(residual.entries());
        Ok(())
    }

    fn describe(&self) -> String {
        "no preconditioner".into()
    }
}

/// P = FFᵀ + λI with a low-rank factor F of the Gram matrix, inverted by Woodbury's identity:
///
/// ```text
/// P⁻¹ = (I − F(FᵀF + λI)⁻¹Fᵀ)/λ.
/// ```
///
/// With a randomly pivoted factor of a rank near the effective dimension at λ the number of steps does not depend on n
/// (Díaz, Epperly, Frangella, Tropp and Webber 2023).
pub struct LowRank {
    factor: Box<dyn LowRankFactor>,
    /// Of FᵀF + λI.
    small: Box<dyn CholeskyFactor>,
    lambda: f64,
}

impl LowRank {
    /// Creates the preconditioner from a factor of K, for K + λI, or for SKS + λI if there are roots of sample weights.
    ///
    /// nk² multiply-adds for rank k.
    ///
    /// # Errors
    /// If λ is not positive, if the factor is not finite, or if `watch` asks to stop.
    pub fn new(
        mut factor: Box<dyn LowRankFactor>,
        lambda: f64,
        root_weights: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<Self, SolveError> {
        SolveError::require_positive(lambda)?;
        if let Some(roots) = root_weights {
            factor.scale_rows(roots)?;
        }
        let small = factor.second_moment(lambda, watch)?;
        let small = small.try_factor(watch)?.map_err(|_| SolveError::Preconditioner)?;
        Ok(Self { factor, small, lambda })
    }

    /// The rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.factor.ncols()
    }

    /// F, with the roots of sample weights.
    #[must_use]
    pub fn factor(&self) -> &dyn LowRankFactor {
        &*self.factor
    }

    /// log|P|.
    #[must_use]
    pub fn log_determinant(&self) -> f64 {
        let beside = self.factor.nrows() as f64 - self.rank() as f64;
        self.small.log_determinant() + beside * self.lambda.ln()
    }

    /// F·`left` + √λ·`right`: where the entries of both are standard normal, each column is drawn from N(0, P).
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// If `left` does not have a row for each column of F, or `right` one for each row.
    pub fn drawn(
        &self,
        left: &Matrix<f64>,
        right: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, Stopped> {
        assert!(
            left.nrows() == self.rank() && right.nrows() == self.factor.nrows(),
            "normal numbers for each of F's sides"
        );
        let mut out = right.clone();
        out.entries_mut().iter_mut().for_each(|entry| *entry *= self.lambda.sqrt());
        if self.rank() > 0 && right.ncols() > 0 {
            let mut opposite = left.clone();
            opposite.entries_mut().iter_mut().for_each(|entry| *entry = -*entry);
            self.factor.subtract_product(&opposite, &mut out, watch)?;
        }
        Ok(out)
    }
}

impl Preconditioner for LowRank {
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        watch.check()?;
        out.entries_mut().copy_from_slice(residual.entries());
        if self.rank() > 0 {
            let mut inner = self.factor.transposed_times(residual, watch)?;
            self.small.solve(&mut inner, watch)?;
            self.factor.subtract_product(&inner, out, watch)?;
        }
        out.entries_mut().iter_mut().for_each(|o| *o /= self.lambda);
        Ok(())
    }

    fn describe(&self) -> String {
        format!("pivoted Cholesky of rank {}", self.rank())
    }
}
