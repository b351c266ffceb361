//! Preconditioners: approximate inverses that make conjugate gradients converge in few steps.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::solve::{Cholesky, CholeskyError, Moments, MomentsError, PivotedCholesky};
use crate::watch::{Stopped, Watch};

use super::CgError;
use super::tall::{add_transposed, times};

/// A symmetric positive definite approximation of the inverse of a matrix.
pub trait Preconditioner: Sync {
    /// `out` = P⁻¹·`residual`, for every column.
    ///
    /// # Errors
    /// [`Stopped`] where `watch` asks for it.
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;

    /// In a few words, for the report.
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
#[derive(Debug)]
pub struct LowRank {
    factor: Matrix<f32>,
    /// Of FᵀF + λI.
    small: Cholesky<f64>,
    lambda: f64,
}

/// Rows whose sums are taken by one task, in a fixed order.
const BAND: usize = 2048;

impl LowRank {
    /// From a factor of K, for K + λI, or for SKS + λI where there are roots of sample weights.
    ///
    /// nk² multiply-adds for rank k, in double precision: an error in FᵀF of the size of λ would make P⁻¹ indefinite.
    ///
    /// # Errors
    /// Where λ is not positive, where the factor is not finite, and where `watch` asks to stop.
    pub fn new(
        factor: PivotedCholesky<f32>,
        lambda: f64,
        root_weights: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<Self, CgError> {
        if !lambda.is_finite() || lambda <= 0.0 {
            return Err(CgError::Lambda { received: lambda });
        }
        let mut factor = factor.factor;
        let (n, k) = (factor.nrows(), factor.ncols());
        if let Some(roots) = root_weights {
            for (i, root) in roots.iter().enumerate() {
                factor.row_mut(i).iter_mut().for_each(|v| *v *= *root as f32);
            }
        }
        let mut moments = Moments::new(k, 0);
        watch.begin("preconditioner", n as u64);
        for first in (0..n).step_by(BAND) {
            let rows = first..n.min(first + BAND);
            let wide = factor.entries()[rows.start * k..rows.end * k].iter().map(|v| f64::from(*v)).collect();
            let wide = Matrix::from_entries(rows.len(), k, wide);
            match moments.add(&wide, &Matrix::zeros(rows.len(), 0), None, watch) {
                Err(MomentsError::Stopped(stopped)) => return Err(stopped.into()),
                other => other.map_err(|_| CgError::Preconditioner)?,
            }
            watch.advance(rows.len() as u64);
        }
        let mut small = moments.lower();
        (0..k).for_each(|i| small[i * k + i] += lambda);
        let small = match Cholesky::factor(k, small, watch) {
            Err(CholeskyError::Stopped(stopped)) => return Err(stopped.into()),
            other => other.map_err(|_| CgError::Preconditioner)?,
        };
        Ok(Self { factor, small, lambda })
    }

    /// The rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.factor.ncols()
    }

    /// Fᵀr: bands of rows side by side, then added in their order.
    fn transposed_times(&self, residual: &Matrix<f64>) -> Matrix<f64> {
        let (k, t) = (self.rank(), residual.ncols());
        let partial: Vec<Vec<f64>> = self
            .factor
            .entries()
            .par_chunks((BAND * k).max(1))
            .enumerate()
            .map(|(band, rows)| {
                let mut sums = vec![0.0; k * t];
                let first = band * BAND * t;
                let numbers = &residual.entries()[first..first + rows.len() / k * t];
                add_transposed(rows, k, numbers, t, &mut sums);
                sums
            })
            .collect();
        let mut out = Matrix::zeros(k, t);
        for sums in &partial {
            for (o, sums) in sums.chunks_exact(k.max(1)).enumerate() {
                sums.iter().enumerate().for_each(|(j, s)| out.row_mut(j)[o] += s);
            }
        }
        out
    }
}

impl Preconditioner for LowRank {
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        watch.check()?;
        let (k, t) = (self.rank(), residual.ncols());
        if k == 0 {
            out.entries_mut().iter_mut().zip(residual.entries()).for_each(|(o, r)| *o = r / self.lambda);
            return Ok(());
        }
        let mut inner = self.transposed_times(residual);
        self.small.solve(&mut inner, watch)?;
        let columns: Vec<f64> =
            (0..t).flat_map(|o| (0..k).map(move |j| (j, o))).map(|(j, o)| inner.row(j)[o]).collect();
        let bands = self.factor.entries().par_chunks(BAND * k).zip(residual.entries().par_chunks(BAND * t));
        out.entries_mut().par_chunks_mut(BAND * t).zip(bands).for_each(|(out, (rows, residual))| {
            times(rows, k, &columns, t, out);
            out.iter_mut().zip(residual).for_each(|(o, r)| *o = (r - *o) / self.lambda);
        });
        Ok(())
    }

    fn describe(&self) -> String {
        format!("pivoted Cholesky of rank {}", self.rank())
    }
}
