//! Preconditioners: approximate inverses that make conjugate gradients converge in few steps.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::PivotedCholesky;
use crate::linalg::{Cholesky, NormalEquations, NormalEquationsError, RowProducts, combined_rows};
use crate::watch::{Stopped, Watch};

use crate::solve::SolveError;

/// A symmetric positive definite approximation of the inverse of a matrix.
pub trait Preconditioner: Sync {
    /// `out` = P⁻¹·`residual`, for every column.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
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

/// Rows of the factor that are widened at a time.
const BAND: usize = 2048;

/// Rows of the factor that stay in cache while each column is multiplied.
const CACHED: usize = 64;

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
    ) -> Result<Self, SolveError> {
        SolveError::require_positive(lambda)?;
        let mut factor = factor.factor;
        let (n, k) = (factor.nrows(), factor.ncols());
        if let Some(roots) = root_weights {
            for (i, root) in roots.iter().enumerate() {
                factor.row_mut(i).iter_mut().for_each(|v| *v *= *root as f32);
            }
        }
        let mut equations = NormalEquations::new(k, 0);
        watch.begin("preconditioner", n as u64);
        for first in (0..n).step_by(BAND) {
            let rows = first..n.min(first + BAND);
            let wide = factor.entries()[rows.start * k..rows.end * k].iter().map(|v| f64::from(*v)).collect();
            let wide = Matrix::from_entries(rows.len(), k, wide);
            match equations.add(&wide, &Matrix::zeros(rows.len(), 0), None, watch) {
                Err(NormalEquationsError::Stopped(stopped)) => return Err(stopped.into()),
                other => other.map_err(|_| SolveError::Preconditioner)?,
            }
            watch.advance(rows.len() as u64);
        }
        let mut small = equations.lower();
        (0..k).for_each(|i| small[i * k + i] += lambda);
        let small = Cholesky::try_factor(k, small, watch)?.map_err(|_| SolveError::Preconditioner)?;
        Ok(Self { factor, small, lambda })
    }

    /// The rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.factor.ncols()
    }

    /// F, with the roots of sample weights.
    #[must_use]
    pub fn factor(&self) -> &Matrix<f32> {
        &self.factor
    }

    /// log|P|.
    #[must_use]
    pub fn log_determinant(&self) -> f64 {
        let beside = self.factor.nrows() as f64 - self.rank() as f64;
        self.small.log_determinant() + beside * self.lambda.ln()
    }

    /// F·`left` + √λ·`right`: where the entries of both are standard normal, each column is drawn from N(0, P).
    ///
    /// # Panics
    /// Where `left` does not have a row for each column of F, or `right` one for each row.
    #[must_use]
    pub fn drawn(&self, left: &Matrix<f64>, right: &Matrix<f64>) -> Matrix<f64> {
        let (k, t) = (self.rank(), right.ncols());
        assert!(
            left.nrows() == k && right.nrows() == self.factor.nrows(),
            "normal numbers for each of F's sides"
        );
        let mut out = right.clone();
        out.entries_mut().iter_mut().for_each(|entry| *entry *= self.lambda.sqrt());
        if k == 0 || t == 0 {
            return out;
        }
        let columns: Vec<Vec<f64>> = (0..t).map(|o| (0..k).map(|j| left.row(j)[o]).collect()).collect();
        let bands = self.factor.entries().par_chunks(CACHED * k);
        out.entries_mut().par_chunks_mut(CACHED * t).zip(bands).for_each(|(out, rows)| {
            let mut dots = vec![0.0; rows.len() / k];
            for (o, column) in columns.iter().enumerate() {
                RowProducts::new(rows, k).dot(column, &mut dots);
                dots.iter().enumerate().for_each(|(r, dot)| out[r * t + o] += dot);
            }
        });
        out
    }

    /// Fᵀr, one column after the other.
    fn transposed_times(&self, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<Vec<f64>, Stopped> {
        let t = residual.ncols();
        combined_rows(&self.factor, t, watch, |_, first, by_output| {
            let rows = by_output.len() / t.max(1);
            for r in 0..rows {
                (0..t).for_each(|o| by_output[o * rows + r] = residual.row(first + r)[o]);
            }
        })
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
        let columns = self.transposed_times(residual, watch)?;
        let mut inner = Matrix::zeros(k, t);
        for (o, column) in columns.chunks_exact(k).enumerate() {
            column.iter().enumerate().for_each(|(j, v)| inner.row_mut(j)[o] = *v);
        }
        self.small.solve(&mut inner, watch)?;
        let columns: Vec<Vec<f64>> = (0..t).map(|o| (0..k).map(|j| inner.row(j)[o]).collect()).collect();
        let bands =
            self.factor.entries().par_chunks(CACHED * k).zip(residual.entries().par_chunks(CACHED * t));
        out.entries_mut().par_chunks_mut(CACHED * t).zip(bands).for_each(|(out, (rows, residual))| {
            let mut dots = vec![0.0; rows.len() / k];
            for (o, column) in columns.iter().enumerate() {
                RowProducts::new(rows, k).dot(column, &mut dots);
                for (r, dot) in dots.iter().enumerate() {
                    out[r * t + o] = (residual[r * t + o] - dot) / self.lambda;
                }
            }
        });
        Ok(())
    }

    fn describe(&self) -> String {
        format!("pivoted Cholesky of rank {}", self.rank())
    }
}
