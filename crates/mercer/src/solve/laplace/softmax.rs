//! Several classes: one latent function for each, algorithm 3.3 of Rasmussen and Williams (2006).
//!
//! With D_c = diag(π_c), E_c = (K + D_c⁻¹)⁻¹ = D_c^½ B_c⁻¹ D_c^½ where B_c = I + D_c^½ K D_c^½, and MMᵀ = Σ_c E_c,
//!
//! ```text
//! Z = (W⁻¹ + K)⁻¹ has the blocks Z_cd = δ_cd E_c − E_c (MMᵀ)⁻¹ E_d,
//! log|I + KW| = Σ_c log|B_c| + log|MMᵀ|.
//! ```
//!
//! (W is singular; Z = W − W(K⁻¹ + W)⁻¹W.)

use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::dense::gram_of_columns;
use crate::linalg::{Cholesky, CholeskyError, products};
use crate::watch::{Stopped, Watch};

use super::super::SolveError;
use super::{Latent, Point, damped_factor, times};

pub(super) struct Softmax {
    /// E_c for each class.
    inverses: Vec<Matrix<f64>>,
    /// The factor M.
    pooled: Cholesky<f64>,
    /// Σ_c log|B_c|.
    log_determinants: f64,
    probabilities: Matrix<f64>,
}

impl Softmax {
    /// The factors at latent values with these probabilities.
    pub fn at(k: &Matrix<f64>, probabilities: Matrix<f64>, watch: &dyn Watch) -> Result<Self, SolveError> {
        let (n, classes) = (probabilities.nrows(), probabilities.ncols());
        let mut inverses = Vec::with_capacity(classes);
        let mut log_determinants = 0.0;
        let mut sum = vec![0.0; n * n];
        for c in 0..classes {
            let roots: Vec<f64> = (0..n).map(|i| probabilities.row(i)[c].sqrt()).collect();
            let factor = damped_factor(k, &roots, watch)?;
            log_determinants += factor.log_determinant();
            let mut inverse = factor.inverse(watch)?;
            let rows = inverse.entries_mut().par_chunks_mut(n.max(1)).zip(sum.par_chunks_mut(n.max(1)));
            rows.enumerate().for_each(|(i, (row, sum))| {
                for ((e, sum), root) in row.iter_mut().zip(sum).zip(&roots) {
                    *e *= roots[i] * root;
                    *sum += *e;
                }
            });
            inverses.push(inverse);
        }
        let pooled = Cholesky::factor(n, sum, watch).map_err(|error| match error {
            CholeskyError::NotPositiveDefinite { pivot, order } => SolveError::NegativePivot { pivot, order },
            CholeskyError::Stopped(stopped) => stopped.into(),
        })?;
        Ok(Self { inverses, pooled, log_determinants, probabilities })
    }

    pub fn log_determinant(&self) -> f64 {
        self.log_determinants + self.pooled.log_determinant()
    }

    /// b − Z K b with b = Wf + ∇ log p(y | f).
    pub fn newton_target(
        &self,
        k: &Matrix<f64>,
        at: &Point,
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, Stopped> {
        let mut b = at.gradient.clone();
        for i in 0..b.nrows() {
            let (p, f) = (self.probabilities.row(i), at.mode.row(i));
            let mean: f64 = p.iter().zip(f).map(|(p, f)| p * f).sum();
            b.row_mut(i).iter_mut().zip(p.iter().zip(f)).for_each(|(b, (p, f))| *b += p * (f - mean));
        }
        let mut target = self.z_times(&times(k, &b), watch)?;
        target.entries_mut().iter_mut().zip(b.entries()).for_each(|(t, b)| *t = b - *t);
        Ok(target)
    }

    /// Zv.
    fn z_times(&self, v: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let (n, classes) = (v.nrows(), v.ncols());
        let column =
            |m: &Matrix<f64>, c: usize| Matrix::from_entries(n, 1, (0..n).map(|i| m.row(i)[c]).collect());
        let mut out = Matrix::zeros(n, classes);
        let mut sum = Matrix::zeros(n, 1);
        for (c, e) in self.inverses.iter().enumerate() {
            let image = times(e, &column(v, c));
            for (i, value) in image.entries().iter().enumerate() {
                out.row_mut(i)[c] = *value;
                sum.row_mut(i)[0] += value;
            }
        }
        self.pooled.solve(&mut sum, watch)?;
        for (c, e) in self.inverses.iter().enumerate() {
            let image = times(e, &sum);
            image.entries().iter().enumerate().for_each(|(i, value)| out.row_mut(i)[c] -= value);
        }
        Ok(out)
    }

    /// Σ_c ½(a_c a_cᵀ − Z_cc) + ½(u_c a_cᵀ + a_c u_cᵀ), u = (I − ZK)s, s = ∂ log q/∂f̂.
    ///
    /// The mode moves by (I − KZ)(∂K/∂θ)∇ log p, and ∇ log p = a. For one sample with probabilities p, P = diag(p) and
    /// W = P − ppᵀ, ∂W/∂f_c = W P⁻¹(∂W/∂f_c)P⁻¹ W because both have the null vector 1. So s_c = −½ tr((K⁻¹ + W)⁻¹ ∂W/∂f_c) needs only
    /// W(K⁻¹ + W)⁻¹W = W − Z, and simplifies to −½ (h_c − p_c Σ_d h_d) with h_c = 1 − p_c − Z_cc/p_c.
    pub fn gradient_weights(
        &self,
        k: &Matrix<f64>,
        a: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, Stopped> {
        let (n, classes) = (a.nrows(), a.ncols());
        let mut sum: Matrix<f64> = Matrix::zeros(n, n);
        let mut h = Matrix::zeros(n, classes);
        for (c, e) in self.inverses.iter().enumerate() {
            let mut half = e.clone();
            self.pooled.solve_lower(&mut half, watch)?;
            let square = gram_of_columns(products::view(&half), watch)?;
            let rows = sum.entries_mut().par_chunks_mut(n.max(1)).enumerate();
            rows.for_each(|(i, row)| {
                let z = e.row(i).iter().zip(square.row(i));
                row.iter_mut().zip(z).for_each(|(sum, (e, square))| *sum += e - square);
            });
            for i in 0..n {
                let p = self.probabilities.row(i)[c].max(f64::MIN_POSITIVE);
                h.row_mut(i)[c] = 1.0 - p - (e.row(i)[i] - square.row(i)[i]) / p;
            }
        }
        let mut s = h;
        for i in 0..n {
            let total: f64 = s.row(i).iter().sum();
            let p = self.probabilities.row(i);
            s.row_mut(i).iter_mut().zip(p).for_each(|(s, p)| *s = -0.5 * (*s - p * total));
        }
        let mut u = self.z_times(&times(k, &s), watch)?;
        u.entries_mut().iter_mut().zip(s.entries()).for_each(|(u, s)| *u = s - *u);
        sum.entries_mut().par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
            for (j, w) in row.iter_mut().enumerate() {
                let pairs = (0..classes).map(|c| {
                    let (ai, aj, ui, uj) = (a.row(i)[c], a.row(j)[c], u.row(i)[c], u.row(j)[c]);
                    ai * aj + ui * aj + ai * uj
                });
                *w = 0.5 * (pairs.sum::<f64>() - *w);
            }
        });
        Ok(sum)
    }

    pub fn into_latent(self) -> Latent {
        Latent::PerClass { inverses: self.inverses, pooled: self.pooled }
    }
}
