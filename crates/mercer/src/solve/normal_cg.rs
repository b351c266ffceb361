//! Ridge regression on features without their second moment, by conjugate gradients on the normal equations.
//!
//! ```text
//! (G + λI)β = c,   G = Σw(φ − φ̄)(φ − φ̄)ᵀ,   c = Σw(φ − φ̄)y
//! ```
//!
//! by conjugate gradients: a product with G is one pass over the features, with nD multiply-adds each for Φ and Φᵀ,
//! instead of the nD²/2 for forming G. The preconditioner is the factor of the same matrix over a sample of s rows,
//! scaled by the ratio of the sums of weights. If the sample represents the other rows, the condition number is about
//! ((1 + √(D/s))/(1 − √(D/s)))² for all features and λ: 9 at s = 4D, which gives two digits in seven passes.

use crate::data::Matrix;
use crate::design::{Design, DesignError, KeptError};
use crate::gram::LinearOperator;
use crate::linalg::{Intercept, LinearFit, NormalEquations, NormalEquationsError, RidgeFactor};
use crate::real::Precision;
use crate::watch::{Stopped, Watch};

use super::conjugate_gradient::{CgProblem, CgState, ConjugateGradient, Preconditioner};
use super::error::SolveError;
use super::report::{Report, Status};

/// The largest accepted relative residual: eight times the unit roundoff of single precision, and the target for
/// features in single precision.
const TOLERANCE: f64 = 1e-6;

/// The target of the relative residual for features in double precision.
const AIM: f64 = 1e-10;

/// D/48 passes cost as much as the sums: a pass reads nD numbers from memory, the sums take nD² operations (measured at
/// n = 50,000, D = 2,048, in single precision).
const FEATURES_PER_PASS: usize = 48;

/// Passes between two estimates of the remaining number.
const ESTIMATE_EVERY: u64 = 4;

/// The factor by which a pass reduces the residual if the sample represents the other rows.
const CONTRACTION: f64 = 0.5;

/// The target of the residual.
fn aim(precision: Precision) -> f64 {
    if precision == Precision::Double { AIM } else { TOLERANCE }
}

/// The passes for each of `fits` fits that together cost as much as the sums over this many features; `None` if more are
/// expected even if a sample represents the other rows.
#[must_use]
pub fn affordable_passes(features: usize, precision: Precision, fits: u64) -> Option<u64> {
    let most = (features / FEATURES_PER_PASS) as u64 / fits;
    let expected = aim(precision).ln() / CONTRACTION.ln();
    (expected <= most as f64).then_some(most)
}

/// Ridge regression on the rows of a design.
#[derive(Clone, Copy)]
pub struct NormalCg<'a> {
    /// Φ.
    pub design: &'a dyn Design,
    /// One row per sample, one column per target.
    pub targets: &'a Matrix<f64>,
    /// w; `None` means ones.
    pub weights: Option<&'a [f64]>,
    /// Whether there is an unpenalised intercept.
    pub intercept: Intercept,
    /// The most passes: if more are expected, there is no fit.
    pub passes: u64,
}

/// A fit by passes, and that on a sample of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalCgFit {
    /// β and b.
    pub fit: LinearFit,
    /// Σw(y − f)² over the rows, for each target.
    pub squared_errors: Vec<f64>,
    /// The report.
    pub report: Report,
    /// The fit on the sample only, with its own targets and λ times its share of the weights.
    pub of_sample: LinearFit,
    /// An estimate of its effective dimension.
    pub effective_dimension: f64,
}

impl NormalCg<'_> {
    /// The fit for one λ > 0; `sample` are sums over the features φ of some of the rows, with any targets. `None` if
    /// the sample does not represent the other rows, so that too many passes would be needed.
    ///
    /// O(nD) for each pass, O(D³) for the factor of the sample.
    ///
    /// # Errors
    /// If all weights are 0, or if `watch` asks to stop.
    pub fn solve(
        &self,
        lambda: f64,
        sample: &NormalEquations,
        watch: &dyn Watch,
    ) -> Result<Option<NormalCgFit>, DesignError> {
        let first = self.first_pass(watch)?;
        if first.weight.is_nan() || first.weight <= 0.0 {
            return Err(NormalEquationsError::Empty.into());
        }
        let share = sample.weight() / first.weight;
        let factor = match sample.factor(lambda * share, self.intercept, watch) {
            Ok(factor) => factor,
            Err(NormalEquationsError::Stopped(stopped)) => return Err(stopped.into()),
            Err(_) => return Ok(None),
        };
        let centre = Some((first.weight, first.features.as_slice()));
        let operator = NormalOperator::new(self.design, self.weights, centre, lambda);
        let problem = CgProblem {
            operator: &operator,
            coarse: None,
            exact: None,
            rhs: &first.cross,
            preconditioner: &OfSample { factor: &factor, share },
        };
        let (weights, mut report) = match self.conjugate_gradients(&problem, watch) {
            Ok(Some(solved)) => solved,
            Err(SolveError::Stopped(_)) => return Err(operator.failure()),
            Ok(None) | Err(_) => return Ok(None),
        };
        // A badly conditioned factor L limits how small the residual can become.
        if report.residual.is_nan() || report.residual > TOLERANCE {
            return Ok(None);
        }
        (report.status, report.reasons) = (Status::Converged, Vec::new());
        let (fit, squared_errors) = first.finish(weights, lambda);
        let (of_sample, effective_dimension) = (factor.solution(watch)?, factor.effective_dimension(watch)?);
        Ok(Some(NormalCgFit { fit, squared_errors, report, of_sample, effective_dimension }))
    }

    /// Solves while the number of passes so far plus the estimated remaining ones is within the limit.
    fn conjugate_gradients(
        &self,
        problem: &CgProblem<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<(Matrix<f64>, Report)>, SolveError> {
        let (tolerance, most) = (aim(self.design.precision()), self.passes);
        let solver = ConjugateGradient { tolerance, iterations: most, check_every: most };
        let mut state = CgState::start(problem.rhs);
        while !state.is_done() && state.iterations() < most {
            let done = state.iterations();
            solver.advance(problem, &mut state, done + ESTIMATE_EVERY, watch, &mut |_| {})?;
            let left = solver.steps_to_go(problem.rhs, &state);
            if !state.is_done() && state.iterations() as f64 + left > most as f64 {
                return Ok(None);
            }
        }
        let report = solver.run(problem, &mut state, watch, &mut |_| {})?;
        Ok(Some((state.solution().clone(), report)))
    }

    /// Means, and c.
    fn first_pass(&self, watch: &dyn Watch) -> Result<FirstPass, DesignError> {
        let (n, t) = (self.design.nrows(), self.targets.ncols());
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        let centred = self.intercept != Intercept::None;
        let mut targets = vec![0.0; t];
        if centred {
            for i in 0..n {
                targets.iter_mut().zip(self.targets.row(i)).for_each(|(m, y)| *m += weight(i) * y / total);
            }
        }
        // A column for Σwφ in addition to those for Σwφ(y − ȳ).
        let mut factors = Matrix::zeros(n, t + 1);
        let mut squares = vec![0.0; t];
        for i in 0..n {
            let (w, y, factors) = (weight(i), self.targets.row(i), factors.row_mut(i));
            (0..t).for_each(|o| factors[o] = w * (y[o] - targets[o]));
            factors[t] = w;
            let y = y.iter().zip(&targets);
            squares.iter_mut().zip(y).for_each(|(s, (y, m))| *s += w * (y - m) * (y - m));
        }
        let d = self.design.ncols();
        let mut sums = Matrix::zeros(d, t + 1);
        self.design.apply_transposed(&factors, &mut sums, watch)?;
        let features: Vec<f64> = (0..d).map(|k| if centred { sums.row(k)[t] / total } else { 0.0 }).collect();
        let mut cross = Matrix::zeros(d, t);
        (0..d).for_each(|k| cross.row_mut(k).copy_from_slice(&sums.row(k)[..t]));
        Ok(FirstPass { weight: total, features, targets, cross, squares })
    }
}

/// The sums of one pass over the rows.
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

/// ΦᵀWΦ − Σw·φ̄φ̄ᵀ + λI, each product by one pass over the rows of Φ.
pub struct NormalOperator<'a> {
    design: &'a dyn Design,
    weights: Option<&'a [f64]>,
    /// Σw and φ̄.
    centre: Option<(f64, &'a [f64])>,
    lambda: f64,
    failure: KeptError,
}

impl<'a> NormalOperator<'a> {
    /// For weights W (ones where there are none), the means φ̄ of the features with the sum of the weights (none where features are
    /// not centred), and λ.
    #[must_use]
    pub fn new(
        design: &'a dyn Design,
        weights: Option<&'a [f64]>,
        centre: Option<(f64, &'a [f64])>,
        lambda: f64,
    ) -> Self {
        Self { design, weights, centre, lambda, failure: KeptError::default() }
    }

    /// Why a product was stopped.
    pub fn failure(&self) -> DesignError {
        self.failure.take()
    }
}

impl LinearOperator for NormalOperator<'_> {
    fn nrows(&self) -> usize {
        self.design.ncols()
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.failure.keep(self.design.normal(rhs, self.weights, out, watch))?;
        if let Some((weight, means)) = self.centre {
            let mut level = vec![0.0; rhs.ncols()];
            for (k, mean) in means.iter().enumerate() {
                level.iter_mut().zip(rhs.row(k)).for_each(|(l, v)| *l += weight * mean * v);
            }
            for (k, mean) in means.iter().enumerate() {
                out.row_mut(k).iter_mut().zip(&level).for_each(|(out, level)| *out -= level * mean);
            }
        }
        out.entries_mut().iter_mut().zip(rhs.entries()).for_each(|(out, v)| *out += self.lambda * v);
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
