//! The preconditioner of ridge regression on landmarks, Falkon (Rudi, Carratino and Rosasco 2017).
//!
//! With K the n × M kernel matrix of samples and landmarks, LLᵀ = K_MM that of the landmarks with themselves and
//! Φ = KL⁻ᵀ, the minimiser of |y − Kα|² + λ·αᵀK_MM α is α = L⁻ᵀβ with
//!
//! ```text
//! (ΦᵀWΦ + λI)β = ΦᵀWy,      P = (n/M)LᵀL + λI ≈ ΦᵀWΦ + λI:
//! ```
//!
//! landmarks that were drawn uniformly represent all samples, and Φ at landmarks is L. Two Cholesky factors of order M
//! in all.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::{Cholesky, products};
use crate::watch::{Stopped, Watch};

use super::conjugate_gradient::Preconditioner;
use super::error::SolveError;

/// P = (n/M)LᵀL + λI.
#[derive(Debug)]
pub struct FalkonPreconditioner {
    factor: Cholesky<f64>,
}

/// Rows of a block that one task multiplies.
const BLOCK: usize = 128;

impl FalkonPreconditioner {
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
    ) -> Result<Self, SolveError> {
        SolveError::require_positive(lambda)?;
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
            products::assign(out, scale, a.transpose(), c);
            Ok::<_, Stopped>(())
        })?;
        (0..m).for_each(|i| matrix[i * m + i] += lambda);
        let factor = Cholesky::try_factor(m, matrix, watch)?.map_err(|_| SolveError::Preconditioner)?;
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
