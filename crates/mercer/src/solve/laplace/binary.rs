//! Two classes: one latent function, algorithms 3.1 and 5.1 of Rasmussen and Williams (2006).
//!
//! With S = W^½ and B = I + SKS, (W⁻¹ + K)⁻¹ = S B⁻¹ S =: R.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::Cholesky;
use crate::watch::{Stopped, Watch};

use super::super::SolveError;
use super::{Latent, Point, damped_factor, times};

/// A lower bound of the curvature, so that its root has an inverse.
const TINY: f64 = 1e-290;

pub(super) struct Binary {
    /// The factor of B.
    factor: Cholesky<f64>,
    /// The diagonal of S.
    roots: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Binary {
    /// The factor at latent values with ∇ log p(y | f) = `gradient`.
    pub fn at(k: &Matrix<f64>, gradient: &[f64], watch: &dyn Watch) -> Result<Self, SolveError> {
        // |∇ log p| is the probability of the other class without cancellation, and W = p(1 − p).
        let curvature = |g: &f64| (g.abs() * (1.0 - g.abs())).max(TINY);
        let roots: Vec<f64> = gradient.iter().map(|g| curvature(g).sqrt()).collect();
        let probabilities = gradient.iter().map(|&g| if g > 0.0 { 1.0 - g } else { -g }).collect();
        let factor = damped_factor(k, &roots, watch)?;
        Ok(Self { factor, roots, probabilities })
    }

    pub fn log_determinant(&self) -> f64 {
        self.factor.log_determinant()
    }

    /// b − R K b with b = Wf + ∇ log p(y | f).
    pub fn newton_target(
        &self,
        k: &Matrix<f64>,
        at: &Point,
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, Stopped> {
        let mode = at.mode.entries().iter().zip(&self.roots).zip(at.gradient.entries());
        let b: Vec<f64> = mode.map(|((f, s), g)| s * s * f + g).collect();
        let b = Matrix::from_entries(b.len(), 1, b);
        let mut target = self.r_times(times(k, &b), watch)?;
        target.entries_mut().iter_mut().zip(b.entries()).for_each(|(t, b)| *t = b - *t);
        Ok(target)
    }

    /// Rv.
    fn r_times(&self, mut v: Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let scale =
            |v: &mut Matrix<f64>| v.entries_mut().iter_mut().zip(&self.roots).for_each(|(v, s)| *v *= s);
        scale(&mut v);
        self.factor.solve(&mut v, watch)?;
        scale(&mut v);
        Ok(v)
    }

    /// ½(aaᵀ − R) + ½(uaᵀ + auᵀ), u = (I − RK)s, s = ∂ log q/∂f̂.
    ///
    /// The mode moves by (I − KR)(∂K/∂θ)∇ log p, and ∇ log p = a. With Σ = (K⁻¹ + W)⁻¹, sᵢ = ½ Σᵢᵢ ∇³ log p(yᵢ | fᵢ), and
    /// SΣS = I − B⁻¹, so that sᵢ = −½ (1 − (B⁻¹)ᵢᵢ)(1 − 2πᵢ).
    pub fn gradient_weights(
        &self,
        k: &Matrix<f64>,
        a: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, Stopped> {
        let n = self.roots.len();
        let mut weights = self.factor.inverse(watch)?;
        let s = (0..n).map(|i| -0.5 * (1.0 - weights.row(i)[i]) * (1.0 - 2.0 * self.probabilities[i]));
        let s = Matrix::from_entries(n, 1, s.collect());
        let back = self.r_times(times(k, &s), watch)?;
        let u: Vec<f64> = s.entries().iter().zip(back.entries()).map(|(s, back)| s - back).collect();
        let (a, roots) = (a.entries(), &self.roots);
        weights.entries_mut().par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
            for (j, w) in row.iter_mut().enumerate() {
                *w = 0.5 * (a[i] * a[j] - roots[i] * *w * roots[j] + u[i] * a[j] + a[i] * u[j]);
            }
        });
        Ok(weights)
    }

    /// The variance at x is k(x, x) − ‖F⁻¹k‖² with F = S⁻¹L the Cholesky factor of K + W⁻¹.
    pub fn into_latent(self) -> Latent {
        let n = self.roots.len();
        let mut lower = self.factor.into_lower();
        for (i, row) in lower.chunks_exact_mut(n.max(1)).enumerate() {
            row[..=i].iter_mut().for_each(|l| *l /= self.roots[i]);
        }
        Latent::Single { factor: Cholesky::from_lower(n, lower) }
    }
}
