//! Latent functions at new points, and the probabilities of classes that follow from them.

use faer::MatMut;

use crate::data::Matrix;
use crate::design::fourier::normal_quantile;
use crate::design::{sigmoid, softmax};
use crate::linalg::products;
use crate::linalg::vectors::dot;

/// What the variances of latent functions at new points need.
#[derive(Debug, Clone)]
pub(crate) enum Latent {
    /// One function.
    Single {
        /// The Cholesky factor of K + W⁻¹, with zeros above the diagonal.
        lower: Matrix<f64>,
    },
    /// One function for each class.
    PerClass {
        /// E_c for each class.
        inverses: Vec<Matrix<f64>>,
        /// The factor M of Σ_c E_c; what is above the diagonal is unspecified.
        pooled: Matrix<f64>,
    },
}

impl Latent {
    /// The covariance of the latent functions at one point, row-major. `k` are the kernel values with the training rows, `own` is
    /// k(x, x). n² multiply-adds for each function.
    pub fn covariance(&self, k: &[f64], own: f64) -> Vec<f64> {
        match self {
            Self::Single { lower } => {
                let half = solved(lower, k.to_vec());
                vec![(own - dot(&half, &half)).max(0.0)]
            }
            Self::PerClass { inverses, pooled } => {
                let classes = inverses.len();
                let images: Vec<Vec<f64>> =
                    inverses.iter().map(|e| (0..k.len()).map(|i| dot(e.row(i), k)).collect()).collect();
                let halves: Vec<Vec<f64>> =
                    images.iter().map(|image| solved(pooled, image.clone())).collect();
                let mut covariance = vec![0.0; classes * classes];
                for c in 0..classes {
                    for d in 0..=c {
                        let mut value = dot(&halves[c], &halves[d]);
                        if c == d {
                            value = (value + own - dot(&images[c], k)).max(0.0);
                        }
                        covariance[c * classes + d] = value;
                        covariance[d * classes + c] = value;
                    }
                }
                covariance
            }
        }
    }
}

/// L⁻¹v.
fn solved(lower: &Matrix<f64>, mut v: Vec<f64>) -> Vec<f64> {
    let rows = v.len();
    products::solve_lower(products::view(lower), MatMut::from_row_major_slice_mut(&mut v, rows, 1));
    v
}

/// Nodes of the rule for several classes; each counts twice, with its mirror image.
const NODES: usize = 1_024;

/// Standard deviations on either side that the rule for one function covers.
const REACH: f64 = 9.0;

/// Averages the probabilities of classes over Gaussian latent functions.
///
/// For one function, the trapezoidal rule, whose error for the logistic function is below 1e-14. For several, a quasi-random rule of
/// 2,048 nodes (the Kronecker sequence of Roberts 2018), with errors of about 1e-4.
#[derive(Debug, Clone)]
pub(crate) struct ClassRule {
    classes: usize,
    /// Standard normal nodes, one row per node; none for two classes.
    nodes: Vec<f64>,
}

impl ClassRule {
    /// For this many classes.
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

    /// The probabilities of the classes where the latent functions have this mean and covariance (row-major).
    pub fn probabilities(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        if self.classes == 2 {
            let p = mean_sigmoid(mean[0], covariance[0].sqrt());
            // Not 1 − p, which has no digits where p is near 1.
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
