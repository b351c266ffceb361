//! Latent functions at new points, and the resulting probabilities of classes.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::design::fourier::normal_quantile;
use crate::design::{sigmoid, softmax};
use crate::linalg::dense::multiply;
use crate::linalg::vectors::{column_dots, dot};
use crate::linalg::{Cholesky, products};
use crate::watch::{Stopped, Watch};

/// The factors for variances of latent functions at new points.
#[derive(Debug)]
pub enum Latent {
    /// One function.
    Single {
        /// The factor of K + W⁻¹.
        factor: Cholesky<f64>,
    },
    /// One function for each class.
    PerClass {
        /// E_c = (K + D_c⁻¹)⁻¹ for each class, with D_c its probabilities at the mode.
        inverses: Vec<Matrix<f64>>,
        /// The factor of Σ_c E_c.
        pooled: Cholesky<f64>,
    },
}

impl Latent {
    /// The covariances of the latent functions at new points: a row for each, with the entries of its matrix row-major. `cross` has
    /// the kernel values of the points (rows) with the training rows, `own` those with themselves.
    ///
    /// n² multiply-adds for each function and point.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// If `cross` does not have a column for each training row, and `own` a number for each of its rows.
    pub fn covariances(
        &self,
        cross: &Matrix<f64>,
        own: &[f64],
        watch: &dyn Watch,
    ) -> Result<Matrix<f64>, Stopped> {
        let points = cross.nrows();
        assert_eq!(own.len(), points, "one value k(x, x) for each point");
        match self {
            Self::Single { factor } => {
                let mut half = transposed(cross);
                factor.solve_lower(&mut half, watch)?;
                let reductions = column_dots(&half, &half);
                let variances = own.iter().zip(reductions).map(|(own, reduction)| (own - reduction).max(0.0));
                Ok(Matrix::from_entries(points, 1, variances.collect()))
            }
            Self::PerClass { inverses, pooled } => {
                let classes = inverses.len();
                let mut halves = Vec::with_capacity(classes);
                let mut covariances = Matrix::zeros(points, classes * classes);
                for (c, inverse) in inverses.iter().enumerate() {
                    let image = multiply(products::view(cross), products::view(inverse), watch)?;
                    for (i, own) in own.iter().enumerate() {
                        covariances.row_mut(i)[c * classes + c] = own - dot(image.row(i), cross.row(i));
                    }
                    let mut half = transposed(&image);
                    pooled.solve_lower(&mut half, watch)?;
                    halves.push(half);
                }
                for c in 0..classes {
                    for d in 0..=c {
                        for (i, value) in column_dots(&halves[c], &halves[d]).into_iter().enumerate() {
                            let row = covariances.row_mut(i);
                            row[c * classes + d] += value;
                            if c == d {
                                row[c * classes + c] = row[c * classes + c].max(0.0);
                            } else {
                                row[d * classes + c] = row[c * classes + d];
                            }
                        }
                    }
                }
                Ok(covariances)
            }
        }
    }
}

fn transposed(a: &Matrix<f64>) -> Matrix<f64> {
    let (n, m) = (a.nrows(), a.ncols());
    Matrix::from_entries(m, n, (0..n * m).map(|e| a.row(e % n)[e / n]).collect())
}

/// Nodes of the rule for several classes; each is used with its mirror image.
const NODES: usize = 1_024;

/// Standard deviations on both sides that the rule for one function covers.
const REACH: f64 = 9.0;

/// Averages the probabilities of classes over Gaussian latent functions.
///
/// For one function, the trapezoidal rule, whose error for the logistic function is below 1e-14. For several, a quasi-random rule of
/// 2,048 nodes (the Kronecker sequence of Roberts 2018), with errors of about 1e-4.
#[derive(Debug, Clone)]
pub struct ClassRule {
    classes: usize,
    /// Standard normal nodes, one row per node; none for two classes.
    nodes: Vec<f64>,
}

impl ClassRule {
    /// For this many classes, 2 or more.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        if classes <= 2 {
            return Self { classes: 2, nodes: Vec::new() };
        }
        // The root above 1 of x^(C + 1) = x + 1.
        let mut root = 2.0f64;
        for _ in 0..64 {
            root = (1.0 + root).powf(1.0 / (classes as f64 + 1.0));
        }
        let node = |at: usize, axis: usize| {
            let place = (0.5 + (at + 1) as f64 * root.powi(-(axis as i32 + 1))).fract();
            normal_quantile(place.clamp(1e-12, 1.0 - 1e-12))
        };
        let nodes = (0..NODES * classes).map(|k| node(k / classes, k % classes)).collect();
        Self { classes, nodes }
    }

    /// The probabilities at many points: rows of `means` have one number for each latent function, rows of `covariances` its matrix.
    ///
    /// # Panics
    /// If the shapes are not those of the latent functions of these classes.
    #[must_use]
    pub fn all(&self, means: &Matrix<f64>, covariances: &Matrix<f64>) -> Matrix<f64> {
        let functions = if self.classes == 2 { 1 } else { self.classes };
        assert_eq!(means.ncols(), functions, "one mean for each latent function");
        assert_eq!((covariances.nrows(), covariances.ncols()), (means.nrows(), functions * functions));
        let rows = (0..means.nrows()).into_par_iter();
        let found: Vec<Vec<f64>> =
            rows.map(|i| self.probabilities(means.row(i), covariances.row(i))).collect();
        Matrix::from_entries(means.nrows(), self.classes, found.concat())
    }

    /// The probabilities of the classes for latent functions with this mean and covariance (row-major).
    #[must_use]
    pub fn probabilities(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        if self.classes == 2 {
            let p = mean_sigmoid(mean[0], covariance[0].sqrt());
            // 1 − p would lose all digits for p near 1.
            return vec![mean_sigmoid(-mean[0], covariance[0].sqrt()), p];
        }
        let c = self.classes;
        let lower = semidefinite_factor(covariance, c);
        let mut total = vec![0.0; c];
        let mut f = vec![0.0; c];
        for node in self.nodes.chunks_exact(c) {
            for sign in [1.0, -1.0] {
                for (i, f) in f.iter_mut().enumerate() {
                    *f = mean[i] + sign * dot(&lower[i * c..=i * c + i], &node[..=i]);
                }
                softmax(&mut f);
                total.iter_mut().zip(&f).for_each(|(total, p)| *total += p);
            }
        }
        total.iter_mut().for_each(|t| *t /= 2.0 * NODES as f64);
        total
    }
}

/// E σ(f) for f ~ N(μ, s²).
///
/// σ(μ + sz) is analytic for |Im z| < π/s, so that the trapezoidal rule of step h has an error of about exp(−2π²/(sh)).
fn mean_sigmoid(mu: f64, s: f64) -> f64 {
    if s == 0.0 {
        return sigmoid(mu);
    }
    let half = (REACH / (0.5 / s).min(0.1)).ceil().min(1e6);
    let h = REACH / half;
    let (mut sum, mut weight) = (0.0, 0.0);
    for k in -(half as i64)..=half as i64 {
        let z = k as f64 * h;
        let w = (-0.5 * z * z).exp();
        sum += w * sigmoid(mu + s * z);
        weight += w;
    }
    sum / weight
}

/// L with LLᵀ = A for a small positive semidefinite A; pivots that rounding made negative count as 0.
fn semidefinite_factor(a: &[f64], n: usize) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for j in 0..n {
        let pivot = a[j * n + j] - dot(&l[j * n..j * n + j], &l[j * n..j * n + j]);
        if pivot <= f64::EPSILON * a[j * n + j] {
            continue;
        }
        let root = pivot.sqrt();
        l[j * n + j] = root;
        for i in j + 1..n {
            l[i * n + j] = (a[i * n + j] - dot(&l[i * n..i * n + j], &l[j * n..j * n + j])) / root;
        }
    }
    l
}
