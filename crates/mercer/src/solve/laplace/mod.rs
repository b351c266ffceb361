//! Laplace's approximation for Gaussian process classification.
//!
//! Latent functions f have the prior N(0, K), one function for two classes (logistic likelihood), else one for each class
//! (softmax). The posterior is approximated by the Gaussian at its mode f̂, found by Newton's method, with the log marginal
//! likelihood
//!
//! ```text
//! log q(y) = −½ f̂ᵀK⁻¹f̂ + log p(y | f̂) − ½ log|I + KW|,     W = −∇∇ log p(y | f̂).
//! ```
//!
//! Its derivative in a hyper-parameter θ is Σᵢⱼ Gᵢⱼ ∂Kᵢⱼ/∂θ with one matrix G for all θ
//! ([`gradient_weights`](Laplace::gradient_weights)), in which the change of the mode is included. Rasmussen and Williams (2006),
//! sections 3.4, 3.5 and 5.5.

mod binary;
mod latent;
mod softmax;
#[cfg(test)]
mod tests;

use crate::data::Matrix;
use crate::design::logistic_row;
use crate::linalg::vectors::dot;
use crate::linalg::{Cholesky, CholeskyError, zeroed};
use crate::watch::{Stopped, Watch};

use super::SolveError;
use binary::Binary;
pub use latent::{ClassRule, Latent};
use softmax::Softmax;

/// Converged if a full step moves f̂ by less than this, relative to its largest entry: the next step would move it by
/// about the square.
const SMALL: f64 = 1e-9;

/// The approximation at the mode, for a given kernel matrix.
pub struct Laplace {
    state: State,
    /// K⁻¹f̂ = ∇ log p(y | f̂), one column per latent function.
    coefficients: Matrix<f64>,
    log_likelihood: f64,
    iterations: usize,
    converged: bool,
}

enum State {
    Binary(Binary),
    Softmax(Softmax),
}

impl Laplace {
    /// Finds the mode in at most `max_steps` Newton steps, from K·`start` where coefficients of an earlier fit are given.
    ///
    /// `k` is the whole symmetric kernel matrix, `codes` the class of each row from 0. n³/3 multiply-adds a step for two classes;
    /// about Cn³ for C classes, with C + 2 matrices in memory.
    ///
    /// # Errors
    /// If shapes do not fit, if K is not finite or not positive semidefinite, or if `watch` asks to stop.
    pub fn at_mode(
        k: &Matrix<f64>,
        codes: &[usize],
        classes: usize,
        start: Option<&Matrix<f64>>,
        max_steps: usize,
        watch: &dyn Watch,
    ) -> Result<Self, SolveError> {
        let n = codes.len();
        if k.nrows() != n || k.ncols() != n {
            return Err(SolveError::Shape {
                what: "rows of the kernel matrix",
                found: k.nrows(),
                expected: n,
            });
        }
        if classes < 2 || codes.iter().any(|&code| code >= classes) {
            return Err(SolveError::Shape {
                what: "classes",
                found: classes,
                expected: codes.iter().max().map_or(2, |c| c + 1),
            });
        }
        let outputs = if classes == 2 { 1 } else { classes };
        let mut at = Point::at(k, codes, Matrix::zeros(n, outputs));
        if let Some(start) = start.filter(|start| start.nrows() == n && start.ncols() == outputs) {
            let there = Point::at(k, codes, start.clone());
            if there.objective > at.objective {
                at = there;
            }
        }
        let (mut iterations, mut converged) = (0, false);
        loop {
            let state = if outputs == 1 {
                State::Binary(Binary::at(k, at.gradient.entries(), watch)?)
            } else {
                State::Softmax(Softmax::at(k, at.probabilities.clone(), watch)?)
            };
            if converged || iterations == max_steps {
                let log_likelihood = at.objective - 0.5 * state.log_determinant();
                // At the mode the gradient of the log-likelihood equals K⁻¹f̂, without the rounding errors of a solution.
                let coefficients = if converged { at.gradient } else { at.coefficients };
                return Ok(Self { state, coefficients, log_likelihood, iterations, converged });
            }
            let aim = state.newton_target(k, &at, watch)?;
            iterations += 1;
            let whole = Point::at(k, codes, aim);
            let largest = whole.mode.entries().iter().fold(1.0, |m: f64, f| m.max(f.abs()));
            let pairs = whole.mode.entries().iter().zip(at.mode.entries());
            let moved = pairs.map(|(to, from)| (to - from).abs()).fold(0.0, f64::max);
            if !whole.objective.is_finite() {
                return Err(SolveError::NotFinite);
            }
            converged = moved <= SMALL * largest;
            let (from, before) = (at.coefficients, at.objective);
            at = whole;
            // The objective is concave, so that a short enough step increases it.
            let mut part = 0.5;
            while !converged && at.objective < before - 1e-12 * before.abs() && part > 1e-8 {
                let mixed = from.entries().iter().zip(at.coefficients.entries());
                let mixed = mixed.map(|(from, to)| 0.5 * (from + to)).collect();
                at = Point::at(k, codes, Matrix::from_entries(n, outputs, mixed));
                part *= 0.5;
            }
        }
    }

    /// log q(y).
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// K⁻¹f̂, one column per latent function: the latent mean at x is Σᵢ k(x, xᵢ)·coefficient i.
    #[must_use]
    pub fn coefficients(&self) -> &Matrix<f64> {
        &self.coefficients
    }

    /// Newton steps taken.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Whether the mode was found.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// G with ∂ log q/∂θ = Σᵢⱼ Gᵢⱼ ∂Kᵢⱼ/∂θ, symmetric.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn gradient_weights(&self, k: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        match &self.state {
            State::Binary(state) => state.gradient_weights(k, &self.coefficients, watch),
            State::Softmax(state) => state.gradient_weights(k, &self.coefficients, watch),
        }
    }

    /// The factors for latent variances, apart from the coefficients and the kernel.
    #[must_use]
    pub fn into_latent(self) -> Latent {
        match self.state {
            State::Binary(state) => state.into_latent(),
            State::Softmax(state) => state.into_latent(),
        }
    }
}

impl State {
    /// log|I + KW|.
    fn log_determinant(&self) -> f64 {
        match self {
            Self::Binary(state) => state.log_determinant(),
            Self::Softmax(state) => state.log_determinant(),
        }
    }

    /// The coefficients after a full Newton step.
    fn newton_target(&self, k: &Matrix<f64>, at: &Point, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        match self {
            Self::Binary(state) => state.newton_target(k, at, watch),
            Self::Softmax(state) => state.newton_target(k, at, watch),
        }
    }
}

impl Latent {
    /// The variances at the mode that has these coefficients, as [`Laplace::coefficients`] returns them.
    ///
    /// # Errors
    /// As [`Laplace::at_mode`].
    pub fn at_mode(
        k: &Matrix<f64>,
        coefficients: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Self, SolveError> {
        if coefficients.ncols() == 1 {
            return Ok(Binary::at(k, coefficients.entries(), watch)?.into_latent());
        }
        // A coefficient is 1 − p for the row's own class and −p for every other.
        let of = |&a: &f64| if a > 0.0 { 1.0 - a } else { -a };
        let probabilities = coefficients.entries().iter().map(of).collect();
        let probabilities = Matrix::from_entries(coefficients.nrows(), coefficients.ncols(), probabilities);
        Ok(Softmax::at(k, probabilities, watch)?.into_latent())
    }
}

/// The latent functions f = Ka and the likelihood there.
struct Point {
    coefficients: Matrix<f64>,
    mode: Matrix<f64>,
    probabilities: Matrix<f64>,
    /// ∇ log p(y | f).
    gradient: Matrix<f64>,
    /// −½ aᵀf + log p(y | f).
    objective: f64,
}

impl Point {
    fn at(k: &Matrix<f64>, codes: &[usize], coefficients: Matrix<f64>) -> Self {
        let (n, m) = (codes.len(), coefficients.ncols());
        let mode = times(k, &coefficients);
        let (mut probabilities, mut gradient) = (Matrix::zeros(n, m), Matrix::zeros(n, m));
        let mut loss = 0.0;
        for (i, &code) in codes.iter().enumerate() {
            loss += logistic_row(mode.row(i), code, 1.0, probabilities.row_mut(i), gradient.row_mut(i));
        }
        gradient.entries_mut().iter_mut().for_each(|g| *g = -*g);
        let objective = -0.5 * dot(coefficients.entries(), mode.entries()) - loss;
        Self { coefficients, mode, probabilities, gradient, objective }
    }
}

/// Kv for a few columns.
fn times(k: &Matrix<f64>, v: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(k.nrows(), v.ncols());
    crate::design::add_product(out.entries_mut(), k.entries(), v, 1.0);
    out
}

/// The factor of B = I + SKS with S = diag(s).
fn damped_factor(k: &Matrix<f64>, s: &[f64], watch: &dyn Watch) -> Result<Cholesky<f64>, SolveError> {
    use rayon::prelude::*;
    let n = s.len();
    let mut b = zeroed(n * n);
    b.par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
        let values = k.row(i).iter().zip(s).take(i + 1);
        row.iter_mut().zip(values).for_each(|(b, (k, s_j))| *b = s[i] * k * s_j);
        row[i] += 1.0;
    });
    Cholesky::factor(n, b, watch).map_err(|error| match error {
        CholeskyError::Stopped(stopped) => stopped.into(),
        CholeskyError::NotPositiveDefinite { pivot, order } if k.entries().iter().all(|k| k.is_finite()) => {
            SolveError::NegativePivot { pivot, order }
        }
        CholeskyError::NotPositiveDefinite { .. } => SolveError::NotFinite,
    })
}
