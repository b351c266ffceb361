//! Ridge regression on landmarks by conjugate gradients: Falkon (Rudi, Carratino and Rosasco 2017).
//!
//! With K the n × M kernel matrix of samples and landmarks, LLᵀ = K_MM that of the landmarks with themselves and
//! Φ = KL⁻ᵀ, the minimiser of |y − Kα|² + λ·αᵀK_MM α is α = L⁻ᵀβ with
//!
//! ```text
//! (ΦᵀWΦ + λI)β = ΦᵀWy,      P = (n/M)LᵀL + λI ≈ ΦᵀWΦ + λI:
//! ```
//!
//! uniformly drawn landmarks represent all samples, and Φ at landmarks is L. There are two Cholesky factors of order M,
//! stored where the engine computed them.

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::CholeskyFactor;
use crate::watch::{Stopped, Watch};

use super::conjugate_gradient::Preconditioner;
use super::error::SolveError;

/// ΦᵀWΦ + λI, with K as an operator that is applied and never stored.
#[derive(Clone, Copy)]
pub struct LandmarkSystem<'a> {
    /// K.
    pub forward: &'a dyn LinearOperator,
    /// Kᵀ.
    pub backward: &'a dyn LinearOperator,
    /// L.
    pub factor: &'a dyn CholeskyFactor,
    /// W; ones if absent.
    pub weights: Option<&'a [f64]>,
    /// Whether the weighted mean of each column of ΦV and of Y is subtracted.
    pub centred: bool,
    /// λ.
    pub lambda: f64,
}

impl LandmarkSystem<'_> {
    /// L⁻ᵀβ: the coefficients of the landmarks' kernels.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn coefficients(&self, beta: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let mut coefficients = beta.clone();
        self.factor.solve_upper(&mut coefficients, watch)?;
        Ok(coefficients)
    }

    /// ΦᵀW(Y − 1ȳ), and ȳ.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn right_hand_side(
        &self,
        targets: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(Matrix<f64>, Vec<f64>), Stopped> {
        let (mut values, means) = (targets.clone(), self.means(targets));
        self.subtract_and_weight(&mut values, &means);
        let mut out = Matrix::zeros(self.nrows(), targets.ncols());
        self.apply_transposed(&values, &mut out, watch)?;
        Ok((out, means))
    }

    /// The weighted mean of each column, zero without centring.
    #[must_use]
    pub fn means(&self, v: &Matrix<f64>) -> Vec<f64> {
        if !self.centred {
            return vec![0.0; v.ncols()];
        }
        let (mut sums, mut total) = (vec![0.0; v.ncols()], 0.0);
        for i in 0..v.nrows() {
            let weight = self.weights.map_or(1.0, |w| w[i]);
            total += weight;
            sums.iter_mut().zip(v.row(i)).for_each(|(sum, v)| *sum += weight * v);
        }
        sums.into_iter().map(|sum| sum / total).collect()
    }

    /// W(V − 1m), in place.
    fn subtract_and_weight(&self, v: &mut Matrix<f64>, means: &[f64]) {
        for i in 0..v.nrows() {
            let weight = self.weights.map_or(1.0, |w| w[i]);
            v.row_mut(i).iter_mut().zip(means).for_each(|(v, mean)| *v = weight * (*v - mean));
        }
    }

    fn apply_transposed(
        &self,
        u: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        self.backward.apply(out, u, watch)?;
        self.factor.solve_lower(out, watch)
    }
}

impl LinearOperator for LandmarkSystem<'_> {
    fn nrows(&self) -> usize {
        self.factor.order()
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let mut values = Matrix::zeros(self.forward.nrows(), rhs.ncols());
        self.forward.apply(&mut values, &self.coefficients(rhs, watch)?, watch)?;
        let means = self.means(&values);
        self.subtract_and_weight(&mut values, &means);
        self.apply_transposed(&values, out, watch)?;
        out.entries_mut().iter_mut().zip(rhs.entries()).for_each(|(out, v)| *out += self.lambda * v);
        Ok(())
    }
}

/// P = (n/M)LᵀL + λI.
pub struct FalkonPreconditioner {
    factor: Box<dyn CholeskyFactor>,
}

impl FalkonPreconditioner {
    /// Creates the preconditioner from the factor L of M landmarks, the total weight `samples`, and λ.
    ///
    /// M³ multiply-adds at most, M² numbers.
    ///
    /// # Errors
    /// If λ is not positive, if L is not finite, or if `watch` asks to stop.
    pub fn new(
        lower: &dyn CholeskyFactor,
        samples: f64,
        lambda: f64,
        watch: &dyn Watch,
    ) -> Result<Self, SolveError> {
        SolveError::require_positive(lambda)?;
        let matrix = lower.transposed_product(samples / lower.order() as f64, lambda, watch)?;
        let factor = matrix.try_factor(watch)?.map_err(|_| SolveError::Preconditioner)?;
        Ok(Self { factor })
    }
}

impl Preconditioner for FalkonPreconditioner {
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        out.entries_mut().copy_from_slice(residual.entries());
        self.factor.solve(out, watch)
    }

    fn describe(&self) -> String {
        format!("{} landmarks", self.factor.order())
    }
}
