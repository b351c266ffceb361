//! Smooth losses of linear functions of features, with a ridge penalty.
//!
//! Minimises F(W, b) = Σᵢ ℓᵢ(Wᵀφᵢ + b) + (λ/2)‖W‖² over the weights W of D features and m outputs, the intercepts b not
//! penalised, by limited-memory BFGS (Liu and Nocedal 1989) with the inverse of a bound on the curvature,
//!
//! ```text
//! H₀ = c·Σwᵢ(φᵢ − φ̄)(φᵢ − φ̄)ᵀ + λI for each output,     c·wᵢ ≥ ‖ℓᵢ″‖ (Böhning 1992),
//! ```
//!
//! in place of the usual multiple of the identity: the updates then only model the difference between the curvature and
//! its bound. If the bound is far from the mean curvature of the rows, the mean replaces it, at the cost of another
//! factorisation: this halves the steps for well-separated classes.

use crate::data::Matrix;
use crate::design::{DesignError, LabelledRows, Loss};
use crate::linalg::vectors::{add_multiple, dot, norm};
use crate::linalg::{Intercept, NormalEquations, RidgeFactor};
use crate::watch::Watch;

use super::quasi_newton::Memory;
use super::report::{Report, Status};

/// The number of steps stored for the curvature.
const MEMORY: usize = 30;

/// Steps after which c is compared with the mean curvature.
const COMPARED_AFTER: [usize; 4] = [3, 8, 20, 50];

/// The factor between c and the mean curvature above which another factorisation pays.
const DIFFERENT: f64 = 1.6;

/// The stopping rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearLossSettings {
    /// λ > 0.
    pub lambda: f64,
    /// Whether there are intercepts.
    pub intercept: Intercept,
    /// The tolerance on the gradient, relative to that at W = 0; more than 0.
    pub tolerance: f64,
    /// The most steps.
    pub max_iter: usize,
}

/// f(x) = Wᵀφ(x) + b.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearLossFit {
    /// W: one row per feature, one column per output.
    pub weights: Matrix<f64>,
    /// b, one per output.
    pub intercepts: Vec<f64>,
    /// F.
    pub objective: f64,
    /// The report; its residual is the gradient relative to that at W = 0.
    pub report: Report,
}

/// Minimises, from `start` if given. `sums` are over the same rows and weights, with any targets.
///
/// O(nDm) and the time of the features for a step, O(D²m) for its direction.
///
/// # Errors
/// If features cannot be computed, if the sums do not fit or their factorisation fails, or if `watch` asks to stop.
pub fn minimise(
    rows: &dyn LabelledRows,
    loss: Loss,
    sums: &NormalEquations,
    settings: &LinearLossSettings,
    start: Option<&LinearLossFit>,
    watch: &dyn Watch,
) -> Result<LinearLossFit, DesignError> {
    let (d, m) = (rows.features(), rows.outputs());
    let intercept = settings.intercept;
    let curvature = loss.curvature(m);
    let factor = sums.factor(settings.lambda / curvature, intercept, watch)?;
    let mut problem = Problem {
        rows,
        loss,
        lambda: settings.lambda,
        means: sums.feature_means(intercept)?,
        factor,
        curvature,
        weight: sums.weight(),
        intercept: intercept != Intercept::None,
        watch,
    };
    let mut x = Matrix::zeros(d + 1, m);
    let mut at = problem.at(&x)?;
    let first = norm(at.gradient.entries()).max(f64::MIN_POSITIVE);
    if let Some(start) = start {
        x = problem.centred(&start.weights, &start.intercepts);
        at = problem.at(&x)?;
    }
    let mut memory = Memory::new(MEMORY);
    let (mut status, mut iterations) = (Status::OutOfIterations, 0);
    watch.begin("steps", settings.max_iter as u64);
    while iterations < settings.max_iter {
        if norm(at.gradient.entries()) <= settings.tolerance * first {
            status = Status::Converged;
            break;
        }
        if let Some(mean) = at.curvature.filter(|_| COMPARED_AFTER.contains(&iterations)) {
            problem.update_curvature(mean, sums, intercept);
        }
        let mut direction = problem.direction(&at.gradient, &memory)?;
        if dot(direction.entries(), at.gradient.entries()) >= 0.0 {
            memory.clear();
            direction = problem.direction(&at.gradient, &memory)?;
        }
        let Some((there, value)) = problem.line_search(&x, &at, &direction)? else {
            status = Status::Stagnated;
            break;
        };
        iterations += 1;
        watch.advance(1);
        watch.note(&format!("gradient {:.1e}", norm(value.gradient.entries()) / first));
        let change = along(&value.gradient, &at.gradient, -1.0);
        memory.push(along(&there, &x, -1.0).into_entries(), change.into_entries());
        (x, at) = (there, value);
    }
    let residual = norm(at.gradient.entries()) / first;
    let (weights, intercepts) = problem.uncentred(&x);
    let report = Report::new(status, "l-bfgs on features", iterations, residual);
    Ok(LinearLossFit { weights, intercepts, objective: at.objective, report })
}

struct Value {
    objective: f64,
    gradient: Matrix<f64>,
    /// The mean of the rows' estimates of c.
    curvature: Option<f64>,
}

struct Problem<'a> {
    rows: &'a dyn LabelledRows,
    loss: Loss,
    lambda: f64,
    means: Vec<f64>,
    factor: RidgeFactor<'a>,
    curvature: f64,
    weight: f64,
    intercept: bool,
    watch: &'a dyn Watch,
}

impl<'a> Problem<'a> {
    /// Replaces c by the mean curvature, and the factorisation with it, if they differ much.
    fn update_curvature(&mut self, mean: f64, sums: &'a NormalEquations, intercept: Intercept) {
        if mean > 0.0
            && (mean / self.curvature).ln().abs() > DIFFERENT.ln()
            // If the mean is too small for the factorisation, c does not change.
            && let Ok(factor) = sums.factor(self.lambda / mean, intercept, self.watch)
        {
            (self.factor, self.curvature) = (factor, mean);
        }
    }

    /// F and its gradient.
    fn at(&self, x: &Matrix<f64>) -> Result<Value, DesignError> {
        let (d, m) = (self.rows.features(), x.ncols());
        let weights = Matrix::from_entries(d, m, x.entries()[..d * m].to_vec());
        let shift = self.mean_output(&weights);
        let constant: Vec<f64> = x.row(d).iter().zip(shift).map(|(b, s)| b - s).collect();
        let mut of_weights = Matrix::zeros(d, m);
        let sums = self.rows.loss(self.loss, &weights, &constant, &mut of_weights, self.watch)?;
        let mut squares = 0.0;
        for (k, mean) in self.means.iter().enumerate() {
            let row = of_weights.row_mut(k).iter_mut().zip(x.row(k)).zip(&sums.pull);
            for ((g, w), pull) in row {
                *g += self.lambda * w - mean * pull;
                squares += w * w;
            }
        }
        let mut entries = of_weights.into_entries();
        entries.extend(sums.pull.iter().map(|pull| if self.intercept { *pull } else { 0.0 }));
        Ok(Value {
            objective: sums.value + 0.5 * self.lambda * squares,
            gradient: Matrix::from_entries(d + 1, m, entries),
            curvature: sums.curvature.map(|curvature| curvature / self.weight),
        })
    }

    /// W over rows of features, and in the last row the intercepts of the centred features.
    fn centred(&self, weights: &Matrix<f64>, intercepts: &[f64]) -> Matrix<f64> {
        let shift = self.mean_output(weights);
        let last = intercepts.iter().zip(shift).map(|(b, s)| if self.intercept { b + s } else { 0.0 });
        let entries = weights.entries().iter().copied().chain(last).collect();
        Matrix::from_entries(weights.nrows() + 1, weights.ncols(), entries)
    }

    /// W and b from the result of [`centred`](Self::centred).
    fn uncentred(&self, x: &Matrix<f64>) -> (Matrix<f64>, Vec<f64>) {
        let (d, m) = (self.rows.features(), x.ncols());
        let weights = Matrix::from_entries(d, m, x.entries()[..d * m].to_vec());
        let shift = self.mean_output(&weights);
        let intercepts = x.row(d).iter().zip(shift).map(|(b, s)| if self.intercept { b - s } else { 0.0 });
        (weights, intercepts.collect())
    }

    /// The first of x + d, x + d/2, x + d/4, … that satisfies Armijo's rule; `None` if the step vanishes.
    fn line_search(
        &self,
        x: &Matrix<f64>,
        at: &Value,
        direction: &Matrix<f64>,
    ) -> Result<Option<(Matrix<f64>, Value)>, DesignError> {
        let slope = dot(direction.entries(), at.gradient.entries());
        let mut step = 1.0;
        while step >= 1e-10 {
            let there = along(x, direction, step);
            let value = self.at(&there)?;
            if value.objective <= at.objective + 1e-4 * step * slope {
                return Ok(Some((there, value)));
            }
            step /= 2.0;
        }
        Ok(None)
    }

    /// φ̄ᵀW.
    fn mean_output(&self, weights: &Matrix<f64>) -> Vec<f64> {
        let mut mean = vec![0.0; weights.ncols()];
        for (k, phi) in self.means.iter().enumerate() {
            mean.iter_mut().zip(weights.row(k)).for_each(|(m, w)| *m += phi * w);
        }
        mean
    }

    /// −Hg with H the estimate of the inverse curvature from the steps so far.
    fn direction(&self, gradient: &Matrix<f64>, memory: &Memory) -> Result<Matrix<f64>, DesignError> {
        let mut q = gradient.clone();
        let (d, m) = (self.rows.features(), q.ncols());
        memory.apply(q.entries_mut(), |q| {
            let mut upper = Matrix::from_entries(d, m, q[..d * m].to_vec());
            self.factor.solve(&mut upper, self.watch)?;
            q.iter_mut().zip(upper.entries()).for_each(|(to, from)| *to = from / self.curvature);
            q[d * m..].iter_mut().for_each(|b| *b /= self.curvature * self.weight);
            Ok::<_, DesignError>(())
        })?;
        q.entries_mut().iter_mut().for_each(|v| *v = -*v);
        Ok(q)
    }
}

/// x + s·direction.
fn along(x: &Matrix<f64>, direction: &Matrix<f64>, s: f64) -> Matrix<f64> {
    let mut there = x.clone();
    add_multiple(&mut there, s, direction);
    there
}
