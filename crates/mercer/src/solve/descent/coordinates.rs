//! The coordinates of a function, as gradient descent uses them.

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::watch::{Stopped, Watch};

/// Coordinates u of functions whose values at the samples, f, are linear in u; K = ∂f/∂u·(∂f/∂u)ᵀ for features.
pub trait Coordinates: Sync {
    /// Number of samples n.
    fn nsamples(&self) -> usize;

    /// Number of coordinates.
    fn ncoordinates(&self) -> usize;

    /// The gradient of the coordinates for `residual`, and the change K·`residual` of the fit by a unit step.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn pull(
        &self,
        residual: &Matrix<f64>,
        direction: &mut Matrix<f64>,
        image: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped>;

    /// f at the samples.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn fitted(&self, unknown: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;

    /// One step for each sample of `order`, one after the other; `residual` is y − f before and after.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn visit(
        &self,
        order: &[usize],
        step: f64,
        targets: &Matrix<f64>,
        unknown: &mut Matrix<f64>,
        residual: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped>;

    /// kᵢᵢ = ‖φ(xᵢ)‖² for every sample.
    fn squared_norms(&self) -> Vec<f64>;
}

/// K as an operator on residuals.
pub(super) struct Pull<'a>(pub &'a dyn Coordinates);

impl LinearOperator for Pull<'_> {
    fn nrows(&self) -> usize {
        self.0.nsamples()
    }

    fn ncols(&self) -> usize {
        self.0.nsamples()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let mut direction = Matrix::zeros(self.0.ncoordinates(), rhs.ncols());
        self.0.pull(rhs, &mut direction, out, watch)
    }
}
