//! Ridge regression from sums: one λ by Cholesky, a path of them by one eigen-decomposition.
//!
//! Minimises Σw(y − ⟨φ,β⟩ − b)² + λ|β|². With an intercept b, which is not penalised, β solves the problem of the
//! centred features:
//!
//! ```text
//! (G + λI)β = c,   G = Σwφφᵀ − Σw·φ̄φ̄ᵀ,   c = Σwφy − Σw·φ̄ȳ,   b = ȳ − ⟨φ̄,β⟩.
//! ```

use faer::MatRef;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::linalg::{CholeskyFactor, Eigen, HostMatrix, SymmetricMatrix, products};
use crate::watch::{Stopped, Watch};

use super::{NormalEquations, NormalEquationsError};

/// How the regression function gets a constant term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intercept {
    /// No constant term: the kernel or the features alone.
    None,
    /// A constant that is not penalised.
    #[default]
    #[serde(alias = "centered")]
    Centred,
    /// X and y are centred and a constant feature is added, k + 1. A problem on features that are already centred uses
    /// the constant of [`Centred`](Self::Centred).
    Column,
}

/// f(x) = ⟨φ(x),β⟩ + b for each target.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearFit {
    /// β: one row per feature, one column per target.
    pub weights: Matrix<f64>,
    /// b, one per target.
    pub intercepts: Vec<f64>,
}

impl NormalEquations {
    /// Ridge regression with one λ.
    ///
    /// D³/3 multiply-adds for D features, D² numbers of memory.
    ///
    /// # Errors
    /// If there are no samples, if λ is negative, if λ = 0 and the features are linearly dependent, or if `watch` asks
    /// to stop.
    pub fn ridge(
        &self,
        lambda: f64,
        intercept: Intercept,
        watch: &dyn Watch,
    ) -> Result<LinearFit, NormalEquationsError> {
        self.factor(lambda, intercept, watch)?.solution(watch)
    }

    /// The factor that [`ridge`](Self::ridge) uses.
    ///
    /// # Errors
    /// As [`ridge`](Self::ridge).
    pub fn factor(
        &self,
        lambda: f64,
        intercept: Intercept,
        watch: &dyn Watch,
    ) -> Result<RidgeFactor<'_>, NormalEquationsError> {
        let store = |order, lower| -> Box<dyn SymmetricMatrix> { Box::new(HostMatrix::new(order, lower)) };
        self.factor_in(lambda, intercept, &store, watch)
    }

    /// As [`factor`](Self::factor); `store` receives the order of the matrix and its lower triangle, row-major.
    ///
    /// # Errors
    /// As [`ridge`](Self::ridge).
    pub fn factor_in(
        &self,
        lambda: f64,
        intercept: Intercept,
        store: &dyn Fn(usize, Vec<f64>) -> Box<dyn SymmetricMatrix>,
        watch: &dyn Watch,
    ) -> Result<RidgeFactor<'_>, NormalEquationsError> {
        check_lambda(lambda)?;
        let Centred { mut gram, cross, means } = self.centred(intercept)?;
        let d = self.features;
        let largest = (0..d).map(|i| gram[i * d + i]).fold(0.0, f64::max);
        (0..d).for_each(|i| gram[i * d + i] += lambda);
        let singular = || match lambda {
            0.0 => self.rank_deficient(intercept),
            _ => NormalEquationsError::Indefinite { lambda },
        };
        let factor = store(d, gram).try_factor(watch)?.map_err(|_| singular())?;
        if lambda == 0.0 && factor.smallest_pivot() <= d as f64 * f64::EPSILON * largest {
            return Err(singular());
        }
        Ok(RidgeFactor { equations: self, lambda, means, factor, cross })
    }

    /// The decomposition that gives the fit for every λ.
    ///
    /// O(D³) time for D features, on one thread.
    ///
    /// # Errors
    /// If there are no samples, or the sums are not finite.
    pub fn ridge_path(&self, intercept: Intercept) -> Result<RidgePath, NormalEquationsError> {
        let Centred { gram, cross, means } = self.centred(intercept)?;
        let eigen = Eigen::of(self.features, &gram)?;
        let rotated = product(products::view(&eigen.vectors), &cross);
        Ok(RidgePath { means, eigen, rotated })
    }

    /// Σ(y − f)²w over the samples of these sums, for each target: the validation error of a fit if the sums are over
    /// held-out samples.
    ///
    /// # Errors
    /// If the fit is of other features or targets.
    pub fn squared_errors(&self, fit: &LinearFit) -> Result<Vec<f64>, NormalEquationsError> {
        for (what, found, expected) in [
            ("features", fit.weights.nrows(), self.features),
            ("targets", fit.weights.ncols(), self.targets),
            ("intercepts", fit.intercepts.len(), self.targets),
        ] {
            if found != expected {
                return Err(NormalEquationsError::Shape { what, found, expected });
            }
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Ok((0..self.targets)
            .into_par_iter()
            .map(|o| {
                let beta: Vec<f64> = (0..self.features).map(|k| fit.weights.row(k)[o]).collect();
                let cross: Vec<f64> = (0..self.features).map(|k| self.cross.row(k)[o]).collect();
                let b = fit.intercepts[o];
                let squares =
                    self.target_squares[o] - 2.0 * dot(&beta, &cross) + dot(&beta, &self.gram_times(&beta));
                let linear = dot(&beta, &self.feature_sums) - self.target_sums[o];
                // Rounding must not make an error negative.
                (squares + 2.0 * b * linear + b * b * self.weight).max(0.0)
            })
            .collect())
    }

    /// φ̄, or zero where there is no intercept.
    ///
    /// # Errors
    /// If there are no samples.
    pub fn feature_means(&self, intercept: Intercept) -> Result<Vec<f64>, NormalEquationsError> {
        Ok(self.means(intercept)?.features)
    }

    fn means(&self, intercept: Intercept) -> Result<Means, NormalEquationsError> {
        if self.weight.is_nan() || self.weight <= 0.0 {
            return Err(NormalEquationsError::Empty);
        }
        let mean = |sums: &[f64]| match intercept {
            Intercept::None => vec![0.0; sums.len()],
            Intercept::Centred | Intercept::Column => sums.iter().map(|s| s / self.weight).collect(),
        };
        Ok(Means { features: mean(&self.feature_sums), targets: mean(&self.target_sums) })
    }

    fn centred(&self, intercept: Intercept) -> Result<Centred, NormalEquationsError> {
        let means = self.means(intercept)?;
        let Means { features, targets } = &means;
        let (mut gram, mut cross) = (self.lower(), self.cross.clone());
        gram.par_chunks_exact_mut(self.features.max(1)).enumerate().for_each(|(i, row)| {
            let scaled = self.weight * features[i];
            row[..=i].iter_mut().zip(features).for_each(|(g, m)| *g -= scaled * m);
        });
        for (i, mean) in features.iter().enumerate() {
            let scaled = self.weight * mean;
            cross.row_mut(i).iter_mut().zip(targets).for_each(|(c, m)| *c -= scaled * m);
        }
        Ok(Centred { gram, cross, means })
    }

    fn rank_deficient(&self, intercept: Intercept) -> NormalEquationsError {
        match self.ridge_path(intercept) {
            Ok(path) => path.rank_deficient(),
            Err(error) => error,
        }
    }
}

struct Centred {
    gram: Vec<f64>,
    cross: Matrix<f64>,
    means: Means,
}

/// φ̄ and ȳ, or zeros where there is no intercept.
#[derive(Debug, Clone)]
struct Means {
    features: Vec<f64>,
    targets: Vec<f64>,
}

impl Means {
    /// The fit with these weights: b = ȳ − ⟨φ̄,β⟩.
    fn with_intercepts(&self, weights: Matrix<f64>) -> LinearFit {
        let mut intercepts = self.targets.clone();
        for (k, mean) in self.features.iter().enumerate() {
            intercepts.iter_mut().zip(weights.row(k)).for_each(|(b, w)| *b -= mean * w);
        }
        LinearFit { weights, intercepts }
    }
}

fn product(a: MatRef<'_, f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    products::assign(products::view_mut(&mut out), 1.0, a, products::view(b));
    out
}

fn check_lambda(lambda: f64) -> Result<(), NormalEquationsError> {
    if lambda.is_finite() && lambda >= 0.0 {
        Ok(())
    } else {
        Err(NormalEquationsError::Lambda { received: lambda })
    }
}

/// G + λI, factored.
pub struct RidgeFactor<'a> {
    equations: &'a NormalEquations,
    lambda: f64,
    means: Means,
    factor: Box<dyn CholeskyFactor>,
    /// c.
    cross: Matrix<f64>,
}

/// Random vectors for the estimate of a trace.
const PROBES: usize = 16;

impl RidgeFactor<'_> {
    /// β and b. O(D²) for each target.
    ///
    /// # Errors
    /// If `watch` asks to stop.
    pub fn solution(&self, watch: &dyn Watch) -> Result<LinearFit, NormalEquationsError> {
        let mut weights = self.cross.clone();
        self.factor.solve(&mut weights, watch)?;
        Ok(self.means.with_intercepts(weights))
    }

    /// (G + λI)⁻¹ applied to each column of `rhs`, in place.
    ///
    /// # Errors
    /// If `watch` asks to stop.
    pub fn solve(&self, rhs: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.factor.solve(rhs, watch)
    }

    /// ‖c − (G + λI)β‖/‖c‖ of a fit, the largest over the targets.
    #[must_use]
    pub fn residual(&self, fit: &LinearFit) -> f64 {
        let means = &self.means.features;
        let column = |matrix: &Matrix<f64>, o: usize| -> Vec<f64> {
            (0..matrix.nrows()).map(|k| matrix.row(k)[o]).collect()
        };
        let of_target = |o: usize| {
            let (beta, right) = (column(&fit.weights, o), column(&self.cross, o));
            let product = self.equations.gram_times(&beta);
            let mean: f64 = means.iter().zip(&beta).map(|(m, b)| m * b).sum();
            let (mut left_out, mut size) = (0.0, 0.0);
            for k in 0..beta.len() {
                let left = product[k] - self.equations.weight * mean * means[k] + self.lambda * beta[k];
                left_out += (right[k] - left).powi(2);
                size += right[k].powi(2);
            }
            if left_out == 0.0 { 0.0 } else { (left_out / size).sqrt() }
        };
        (0..self.equations.targets).into_par_iter().map(of_target).reduce(|| 0.0, f64::max)
    }

    /// An estimate of tr G(G + λI)⁻¹, the effective dimension of the fit.
    ///
    /// D − λ·tr (G + λI)⁻¹ with the trace from 16 random vectors of signs (Hutchinson 1990), O(D²); its standard
    /// deviation is at most √(d/8) where the effective dimension is d.
    ///
    /// # Errors
    /// If `watch` asks to stop.
    pub fn effective_dimension(&self, watch: &dyn Watch) -> Result<f64, NormalEquationsError> {
        let d = self.equations.features;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let signs = (0..d * PROBES).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 });
        let signs = Matrix::from_entries(d, PROBES, signs.collect());
        let mut solved = signs.clone();
        self.factor.solve(&mut solved, watch)?;
        let sum: f64 = signs.entries().iter().zip(solved.entries()).map(|(z, x)| z * x).sum();
        Ok((d as f64 - self.lambda * sum / PROBES as f64).clamp(0.0, d as f64))
    }
}

/// Ridge regression for every λ, from G = UΛUᵀ: β = U(Λ + λI)⁻¹Uᵀc.
#[derive(Debug, Clone)]
pub struct RidgePath {
    means: Means,
    eigen: Eigen,
    /// Uᵀc.
    rotated: Matrix<f64>,
}

impl RidgePath {
    /// The eigenvalues of the (centred) second moment, ascending.
    #[must_use]
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigen.values
    }

    /// Σ μ/(μ + λ) over the eigenvalues: the effective dimension of the fit.
    #[must_use]
    pub fn effective_dimension(&self, lambda: f64) -> f64 {
        self.eigen.values.iter().map(|m| m.max(0.0)).filter(|m| *m > 0.0).map(|m| m / (m + lambda)).sum()
    }

    /// The number of eigenvalues above D·ε times the largest.
    #[must_use]
    pub fn rank(&self) -> usize {
        let values = &self.eigen.values;
        let largest = values.last().copied().unwrap_or(0.0);
        values.iter().filter(|m| **m > values.len() as f64 * f64::EPSILON * largest).count()
    }

    /// The fit for one λ. O(D²) for each target.
    ///
    /// # Errors
    /// If λ is negative, or 0 and the features are linearly dependent, or below the rounding error of the sums.
    pub fn solution(&self, lambda: f64) -> Result<LinearFit, NormalEquationsError> {
        check_lambda(lambda)?;
        if lambda == 0.0 && self.rank() < self.eigen.values.len() {
            return Err(self.rank_deficient());
        }
        if self.eigen.values.first().is_some_and(|m| m + lambda <= 0.0) {
            return Err(NormalEquationsError::Indefinite { lambda });
        }
        let mut shrunk = self.rotated.clone();
        for (k, m) in self.eigen.values.iter().enumerate() {
            shrunk.row_mut(k).iter_mut().for_each(|v| *v /= m + lambda);
        }
        Ok(self.means.with_intercepts(product(products::view(&self.eigen.vectors).transpose(), &shrunk)))
    }

    fn rank_deficient(&self) -> NormalEquationsError {
        let largest = self.eigen.values.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let floor = 100.0 * self.eigen.values.len() as f64 * f64::EPSILON * largest;
        NormalEquationsError::RankDeficient {
            rank: self.rank(),
            features: self.eigen.values.len(),
            suggestion: 10f64.powi(floor.log10().ceil() as i32),
        }
    }
}
