//! Ridge regression on features that are all held in memory, without their second moment.
//!
//! ```text
//! (G + λI)β = c,   G = Σw(φ − φ̄)(φ − φ̄)ᵀ,   c = Σw(φ − φ̄)y
//! ```
//!
//! by conjugate gradients: a product with G is one pass over the features, nD multiply-adds forth and back in place of the nD²/2
//! that G itself takes. The preconditioner is the same matrix over a sample of s rows, times Σw over the sample's, factored.
//! Where the rows of the sample are like the others, the condition number is about ((1 + √(D/s))/(1 − √(D/s)))² whatever the
//! features and λ: 9 at s = 4D, which is two digits in seven passes.
//!
//! Features may be given as φ = L⁻¹k by the rows k and the factor L: two triangular solves for each pass take the place of one
//! for each row.

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, MatRef, Par};

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::{
    Intercept, LinearFit, NormalEquations, NormalEquationsError, RidgeFactor, RowProducts, combined_rows,
};
use crate::real::Real;
use crate::watch::{Stopped, Watch};

use super::conjugate_gradient::{CgError, CgProblem, ConjugateGradient, Preconditioner};
use super::report::{Report, Status};

/// Relative residual of the answer at most: eight times what single precision tells numbers apart by, and what is aimed at where
/// the features are in single precision.
const TOLERANCE: f64 = 1e-6;

/// Relative residual that is aimed at where the features are in double precision.
const AIM: f64 = 1e-10;

/// Passes after which the sample is not like the other rows, and the sums themselves are cheaper.
const PASSES: u64 = 60;

/// Features of all rows, φ or the k of φ = L⁻¹k, with the targets and weights of the rows.
#[derive(Clone, Copy)]
pub struct HeldRidge<'a, T> {
    /// One row per sample.
    pub rows: &'a Matrix<T>,
    /// L, row-major with zeros above the diagonal, where rows are k.
    pub whitening: Option<&'a [f64]>,
    /// One row per sample, one column per target.
    pub targets: &'a Matrix<f64>,
    /// w; none for ones.
    pub weights: Option<&'a [f64]>,
    /// Whether there is a constant that is not penalised.
    pub intercept: Intercept,
}

/// An answer and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldFit {
    /// β and b.
    pub fit: LinearFit,
    /// Σw(y − f)² over the rows, for each target.
    pub squared_errors: Vec<f64>,
    /// How good the answer is.
    pub report: Report,
    /// The fit on the sample alone, of its own targets, with λ times its share.
    pub of_sample: LinearFit,
    /// An estimate of its effective dimension.
    pub effective_dimension: f64,
}

impl<T: Real> HeldRidge<'_, T> {
    /// The fit for one λ > 0; `sample` are sums over the features φ of some of the rows, with any targets. None where the sample is
    /// not like the other rows, so that too many passes would be needed.
    ///
    /// O(nD) for each pass, O(D³) for the factor of the sample.
    ///
    /// # Errors
    /// Where nothing has weight, and where `watch` asks to stop.
    pub fn fit(
        &self,
        lambda: f64,
        sample: &NormalEquations,
        watch: &dyn Watch,
    ) -> Result<Option<HeldFit>, NormalEquationsError> {
        let first = self.first_pass(watch)?;
        if first.weight.is_nan() || first.weight <= 0.0 {
            return Err(NormalEquationsError::Empty);
        }
        let share = sample.weight() / first.weight;
        let factor = match sample.factor(lambda * share, self.intercept, watch) {
            Ok(factor) => factor,
            Err(NormalEquationsError::Stopped(stopped)) => return Err(stopped.into()),
            Err(_) => return Ok(None),
        };
        let operator = Normal { problem: self, first: &first, lambda };
        let problem = CgProblem {
            operator: &operator,
            coarse: None,
            exact: None,
            rhs: &first.cross,
            preconditioner: &OfSample { factor: &factor, share },
        };
        let tolerance = if size_of::<T>() == size_of::<f64>() { AIM } else { TOLERANCE };
        let solver = ConjugateGradient { tolerance, iterations: PASSES, check_every: PASSES };
        let (weights, mut report) = match solver.solve(&problem, watch) {
            Ok(solved) => solved,
            Err(CgError::Stopped(stopped)) => return Err(stopped.into()),
            Err(_) => return Ok(None),
        };
        // A factor L that is badly conditioned lets the residual fall so far and no further.
        if report.residual.is_nan() || report.residual > TOLERANCE {
            return Ok(None);
        }
        (report.status, report.warnings) = (Status::Converged, Vec::new());
        let (fit, squared_errors) = first.finish(weights, lambda);
        let (of_sample, effective_dimension) = (factor.fit(watch)?, factor.effective_dimension(watch)?);
        Ok(Some(HeldFit { fit, squared_errors, report, of_sample, effective_dimension }))
    }

    /// Means, and c.
    fn first_pass(&self, watch: &dyn Watch) -> Result<FirstPass, Stopped> {
        let (n, t) = (self.rows.nrows(), self.targets.ncols());
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        let centred = self.intercept == Intercept::Unpenalised;
        let mut targets = vec![0.0; t];
        if centred {
            for i in 0..n {
                targets.iter_mut().zip(self.targets.row(i)).for_each(|(m, y)| *m += weight(i) * y / total);
            }
        }
        // A column for Σwφ beside those for Σwφ(y − ȳ).
        let sums = self.pass(t + 1, watch, |_, first, by_output| {
            let rows = by_output.len() / (t + 1);
            for r in 0..rows {
                let w = weight(first + r);
                let y = self.targets.row(first + r);
                (0..t).for_each(|o| by_output[o * rows + r] = w * (y[o] - targets[o]));
                by_output[t * rows + r] = w;
            }
        })?;
        let mut squares = vec![0.0; t];
        for i in 0..n {
            let y = self.targets.row(i).iter().zip(&targets);
            squares.iter_mut().zip(y).for_each(|(s, (y, m))| *s += weight(i) * (y - m) * (y - m));
        }
        let d = self.rows.ncols();
        let features: Vec<f64> = (0..d).map(|k| if centred { sums.row(k)[t] / total } else { 0.0 }).collect();
        let mut cross = Matrix::zeros(d, t);
        (0..d).for_each(|k| cross.row_mut(k).copy_from_slice(&sums.row(k)[..t]));
        Ok(FirstPass { weight: total, features, targets, cross, squares })
    }

    /// L⁻¹Σᵢ vᵢ·(row i), as [`combined_rows`] tells.
    fn pass(
        &self,
        outputs: usize,
        watch: &dyn Watch,
        factors: impl Fn(RowProducts<'_, T>, usize, &mut [f64]) + Sync,
    ) -> Result<Matrix<f64>, Stopped> {
        let sums = combined_rows(self.rows, outputs, watch, factors)?;
        Ok(self.whitened(transposed(&sums, outputs, self.rows.ncols())))
    }

    /// L⁻¹·`sums`.
    fn whitened(&self, mut sums: Matrix<f64>) -> Matrix<f64> {
        if let Some(lower) = self.whitening {
            let (d, t) = (sums.nrows(), sums.ncols());
            let out = MatMut::from_row_major_slice_mut(sums.entries_mut(), d, t);
            solve_lower_triangular_in_place(MatRef::from_row_major_slice(lower, d, d), out, Par::Seq);
        }
        sums
    }

    /// L⁻ᵀ·`weights`.
    fn unwhitened(&self, weights: &Matrix<f64>) -> Matrix<f64> {
        let mut weights = weights.clone();
        if let Some(lower) = self.whitening {
            let (d, t) = (weights.nrows(), weights.ncols());
            let out = MatMut::from_row_major_slice_mut(weights.entries_mut(), d, t);
            let upper = MatRef::from_row_major_slice(lower, d, d).transpose();
            solve_upper_triangular_in_place(upper, out, Par::Seq);
        }
        weights
    }
}

/// What one pass over the rows tells.
struct FirstPass {
    /// Σw.
    weight: f64,
    /// φ̄, zero without an intercept.
    features: Vec<f64>,
    /// ȳ, zero without an intercept.
    targets: Vec<f64>,
    /// Σwφ(y − ȳ), which is c.
    cross: Matrix<f64>,
    /// Σw(y − ȳ)².
    squares: Vec<f64>,
}

impl FirstPass {
    /// The fit, its errors from (G + λI)β = c: Σw(y − f)² = Σw(y − ȳ)² − ⟨β,c⟩ − λ|β|².
    fn finish(&self, weights: Matrix<f64>, lambda: f64) -> (LinearFit, Vec<f64>) {
        let (mut intercepts, mut squared_errors) = (self.targets.clone(), self.squares.clone());
        for k in 0..weights.nrows() {
            for (o, beta) in weights.row(k).iter().enumerate() {
                intercepts[o] -= self.features[k] * beta;
                squared_errors[o] -= beta * (self.cross.row(k)[o] + lambda * beta);
            }
        }
        // Rounding must not make an error negative.
        squared_errors.iter_mut().for_each(|error| *error = error.max(0.0));
        (LinearFit { weights, intercepts }, squared_errors)
    }
}

/// G + λI by a pass over the rows.
struct Normal<'a, T> {
    problem: &'a HeldRidge<'a, T>,
    first: &'a FirstPass,
    lambda: f64,
}

impl<T: Real> LinearOperator for Normal<'_, T> {
    fn nrows(&self) -> usize {
        self.problem.rows.ncols()
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (d, t) = (rhs.nrows(), rhs.ncols());
        let weights = transposed(self.problem.unwhitened(rhs).entries(), d, t);
        let sums = self.problem.pass(t, watch, |block, first, by_output| {
            let rows = by_output.len() / t;
            for (u, v) in by_output.chunks_exact_mut(rows).zip(weights.entries().chunks_exact(d)) {
                block.dot(v, u);
                if let Some(w) = self.problem.weights {
                    u.iter_mut().zip(&w[first..]).for_each(|(u, w)| *u *= w);
                }
            }
        })?;
        let mut level = vec![0.0; t];
        for (k, mean) in self.first.features.iter().enumerate() {
            level.iter_mut().zip(rhs.row(k)).for_each(|(l, v)| *l += self.first.weight * mean * v);
        }
        for (k, mean) in self.first.features.iter().enumerate() {
            let from = sums.row(k).iter().zip(rhs.row(k)).zip(&level);
            let to = out.row_mut(k).iter_mut().zip(from);
            to.for_each(|(out, ((sum, v), level))| *out = sum - level * mean + self.lambda * v);
        }
        Ok(())
    }
}

/// The inverse of (G + λI over a sample)/share.
struct OfSample<'a> {
    factor: &'a RidgeFactor<'a>,
    share: f64,
}

impl Preconditioner for OfSample<'_> {
    fn apply(&self, out: &mut Matrix<f64>, residual: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let scaled = residual.entries().iter().map(|r| r * self.share);
        out.entries_mut().iter_mut().zip(scaled).for_each(|(out, r)| *out = r);
        self.factor.solve(out, watch)
    }

    fn describe(&self) -> String {
        "a sample of the rows".to_owned()
    }
}

/// The transpose of a row-major `rows × columns` matrix.
fn transposed(entries: &[f64], rows: usize, columns: usize) -> Matrix<f64> {
    let mut out = Matrix::zeros(columns, rows);
    for (r, row) in entries.chunks_exact(columns.max(1)).enumerate() {
        row.iter().enumerate().for_each(|(c, v)| out.row_mut(c)[r] = *v);
    }
    out
}
