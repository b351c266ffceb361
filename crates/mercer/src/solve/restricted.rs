//! Ridge regression restricted to the span of a few landmarks, for conjugate gradients.
//!
//! With K the n × M kernel matrix of samples and landmarks, LLᵀ = K_MM that of the landmarks with themselves and
//! Φ = KL⁻ᵀ, the minimiser of |y − Kα|² + λ·αᵀK_MM α is α = L⁻ᵀβ with
//!
//! ```text
//! (ΦᵀWΦ + λI)β = ΦᵀWy,      P = (n/M)LᵀL + λI ≈ ΦᵀWΦ + λI:
//! ```
//!
//! landmarks that were drawn uniformly stand for all samples, and Φ at landmarks is L. Two Cholesky factors of order M
//! in all (Rudi, Carratino and Rosasco 2017). An unpenalised intercept takes the (weighted) mean from the columns of Φ.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::{Cholesky, CholeskyError};
use crate::watch::{Stopped, Watch};

use super::conjugate_gradient::{CgError, Preconditioner};

/// ΦᵀWΦ + λI, never formed.
#[derive(Clone, Copy)]
pub struct RestrictedNormal<'a> {
    /// K: samples by landmarks.
    pub forward: &'a dyn LinearOperator,
    /// Kᵀ: landmarks by samples.
    pub backward: &'a dyn LinearOperator,
    /// L, row-major.
    pub lower: &'a [f64],
    /// λ > 0.
    pub lambda: f64,
    /// W; none are ones.
    pub weights: Option<&'a [f64]>,
    /// Whether the mean is taken from the columns of Φ.
    pub centred: bool,
}

impl RestrictedNormal<'_> {
    fn order(&self) -> usize {
        self.backward.nrows()
    }

    fn factor(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(self.lower, self.order(), self.order())
    }

    /// α = L⁻ᵀβ, the coefficients of the landmarks.
    #[must_use]
    pub fn coefficients(&self, beta: &Matrix<f64>) -> Matrix<f64> {
        let mut alpha = beta.clone();
        let (m, t) = (alpha.nrows(), alpha.ncols());
        let out = MatMut::from_row_major_slice_mut(alpha.entries_mut(), m, t);
        solve_upper_triangular_in_place(self.factor().transpose(), out, Par::Seq);
        alpha
    }

    /// ΦᵀW·v with the mean of v taken off where the problem is centred: the right-hand side for targets v.
    ///
    /// # Errors
    /// [`Stopped`] where `watch` asks for it.
    pub fn transposed(&self, v: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let mut v = v.clone();
        let means = if self.centred { self.means(&v) } else { vec![0.0; v.ncols()] };
        for i in 0..v.nrows() {
            let weight = self.weights.map_or(1.0, |w| w[i]);
            v.row_mut(i).iter_mut().zip(&means).for_each(|(v, mean)| *v = weight * (*v - mean));
        }
        let mut out = Matrix::zeros(self.order(), v.ncols());
        self.backward.apply(&mut out, &v, watch)?;
        let (m, t) = (out.nrows(), out.ncols());
        let view = MatMut::from_row_major_slice_mut(out.entries_mut(), m, t);
        solve_lower_triangular_in_place(self.factor(), view, Par::Seq);
        Ok(out)
    }

    /// The weighted mean of each column of `v`.
    #[must_use]
    pub fn means(&self, v: &Matrix<f64>) -> Vec<f64> {
        let (mut sums, mut total) = (vec![0.0; v.ncols()], 0.0);
        for i in 0..v.nrows() {
            let weight = self.weights.map_or(1.0, |w| w[i]);
            total += weight;
            sums.iter_mut().zip(v.row(i)).for_each(|(sum, v)| *sum += weight * v);
        }
        sums.into_iter().map(|sum| sum / total).collect()
    }
}

impl LinearOperator for RestrictedNormal<'_> {
    fn nrows(&self) -> usize {
        self.order()
    }

    fn ncols(&self) -> usize {
        self.order()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let mut values = Matrix::zeros(self.forward.nrows(), rhs.ncols());
        self.forward.apply(&mut values, &self.coefficients(rhs), watch)?;
        *out = self.transposed(&values, watch)?;
        out.entries_mut().iter_mut().zip(rhs.entries()).for_each(|(o, r)| *o += self.lambda * r);
        Ok(())
    }
}

/// P = (n/M)LᵀL + λI.
#[derive(Debug)]
pub struct RestrictedPreconditioner {
    factor: Cholesky<f64>,
}

/// Rows of a block that one task multiplies.
const BLOCK: usize = 128;

impl RestrictedPreconditioner {
    /// For M landmarks with the factor L, row-major with zeros above the diagonal, samples of total weight `samples`, and λ.
    ///
    /// M³ multiply-adds, M² numbers.
    ///
    /// # Errors
    /// Where λ is not positive, where L is not finite, and where `watch` asks to stop.
    ///
    /// # Panics
    /// Where `lower` is not a square.
    pub fn new(
        lower: &[f64],
        landmarks: usize,
        samples: f64,
        lambda: f64,
        watch: &dyn Watch,
    ) -> Result<Self, CgError> {
        if !lambda.is_finite() || lambda <= 0.0 {
            return Err(CgError::Lambda { received: lambda });
        }
        let m = landmarks;
        let l = MatRef::from_row_major_slice(lower, m, m);
        let scale = samples / m as f64;
        let mut matrix = vec![0.0; m * m];
        matrix.par_chunks_mut(BLOCK * m).enumerate().try_for_each(|(b, rows)| {
            watch.check()?;
            let (first, height) = (b * BLOCK, rows.len() / m);
            // Columns of L are zero above the diagonal: only rows from `first` on count.
            let out = MatMut::from_row_major_slice_mut(rows, height, m).subcols_mut(0, first + height);
            let below = l.subrows(first, m - first);
            let (a, c) = (below.subcols(first, height), below.subcols(0, first + height));
            matmul(out, Accum::Replace, a.transpose(), c, scale, Par::Seq);
            Ok::<_, Stopped>(())
        })?;
        (0..m).for_each(|i| matrix[i * m + i] += lambda);
        match Cholesky::factor(m, matrix, watch) {
            Ok(factor) => Ok(Self { factor }),
            Err(CholeskyError::Stopped(stopped)) => Err(stopped.into()),
            Err(CholeskyError::NotPositiveDefinite { .. }) => Err(CgError::Preconditioner),
        }
    }
}

impl Preconditioner for RestrictedPreconditioner {
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        out.entries_mut().copy_from_slice(residual.entries());
        self.factor.solve(out, watch)
    }

    fn describe(&self) -> String {
        format!("{} landmarks", self.factor.order())
    }
}
