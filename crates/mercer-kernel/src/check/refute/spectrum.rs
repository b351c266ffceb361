//! Gram matrices of small point sets and their most negative directions, in doubles: candidates only.

use super::configurations::Pool;
use super::jacobi;
use crate::check::steps;
use crate::eval::eval;
use crate::expr::Expr;

/// A symmetric Gram matrix, row-major, with the points it belongs to.
pub struct Gram {
    pub n: usize,
    pub entries: Vec<f64>,
}

impl Gram {
    /// The symmetrised Gram matrix; `None` where some entry has no finite value.
    pub fn of(expr: &Expr, points: &Pool) -> Option<Self> {
        let n = points.len();
        steps::count(n * n * value_steps(expr, points.first().map_or(0, Vec::len)));
        let mut entries = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let forward = eval(expr, &points[i], &points[j]).ok()?;
                let backward = if i == j { forward } else { eval(expr, &points[j], &points[i]).ok()? };
                let value = 0.5 * (forward + backward);
                if !value.is_finite() {
                    return None;
                }
                entries[i * n + j] = value;
                entries[j * n + i] = value;
            }
        }
        Some(Self { n, entries })
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.n + j]
    }

    pub fn scale(&self) -> f64 {
        self.entries.iter().fold(0.0, |m, v| f64::max(m, v.abs()))
    }

    /// The principal submatrix of `chosen`.
    pub fn restrict(&self, chosen: &[usize]) -> Self {
        let entries = chosen.iter().flat_map(|&i| chosen.iter().map(move |&j| self.at(i, j))).collect();
        Self { n: chosen.len(), entries }
    }

    /// The least eigenvalue and its unit eigenvector.
    pub fn lowest(&self) -> (f64, Vec<f64>) {
        steps::count(self.n * self.n * (self.n + 8) / 20);
        jacobi::lowest(self.n, self.entries.clone())
    }

    /// The least eigenvalue relative to the largest entry.
    pub fn relative_lowest(&self) -> Option<f64> {
        let scale = self.scale();
        (scale > 0.0).then(|| self.lowest().0 / scale)
    }

    pub fn form(&self, weights: &[f64]) -> f64 {
        (0..self.n).map(|i| (0..self.n).map(|j| weights[i] * weights[j] * self.at(i, j)).sum::<f64>()).sum()
    }
}

/// The steps of one value of `expr` at points of R^dim.
pub fn value_steps(expr: &Expr, dim: usize) -> usize {
    fn nodes(expr: &Expr) -> usize {
        1 + expr.children().into_iter().map(nodes).sum::<usize>()
    }
    1 + nodes(expr) * (8 + dim) / 32
}

/// Weights with few digits near a direction of negative curvature: small integers if these are enough.
pub fn round_weights(gram: &Gram, vector: &[f64], lowest: f64) -> Vec<f64> {
    let largest = vector.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
    let sign =
        if vector.iter().find(|v| v.abs() > 0.3 * largest).is_some_and(|v| *v < 0.0) { -1.0 } else { 1.0 };
    for steps in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0, 50.0, 100.0, 1e3, 1e4, 1e6, 1e9] {
        let weights: Vec<f64> = vector.iter().map(|v| (sign * v / largest * steps).round()).collect();
        let squared: f64 = weights.iter().map(|w| w * w).sum();
        if gram.form(&weights) < 0.4 * lowest * squared {
            return weights;
        }
    }
    vector.iter().map(|v| sign * v / largest).collect()
}
