//! The best intercepts for given coefficients: Σᵢgᵢ = 0, a small convex problem in b alone.

use crate::data::Matrix;

use super::cg::norm;
use super::iterate::shift_rows;
use super::labels::Labels;
use super::loss::{Curvature, Loss};

/// The most Newton steps.
const STEPS: usize = 50;

/// Sets the intercepts of f = `image` + 1bᵀ to the minimum of the loss, and returns that loss. O(n) a step.
pub(super) fn settle(labels: &Labels<'_>, image: &Matrix<f64>, intercepts: &mut [f64]) -> Loss {
    let at = |b: &[f64]| {
        let mut f = image.clone();
        shift_rows(&mut f, 1.0, b);
        Loss::at(labels, &f)
    };
    let mut loss = at(intercepts);
    for _ in 0..STEPS {
        let pull = loss.pull();
        let size = pull.iter().map(|p| p * p).sum::<f64>().sqrt();
        // The gradient is at the limit of rounding.
        if size <= 4.0 * f64::EPSILON * (1.0 + norm(&loss.gradient) * (labels.nrows() as f64).sqrt()) {
            break;
        }
        let step = Curvature::new(labels, &loss.probabilities, true).pooled(&pull);
        let mut factor = 1.0;
        let next = loop {
            let moved: Vec<f64> = intercepts.iter().zip(&step).map(|(b, s)| b - factor * s).collect();
            let next = at(&moved);
            if next.total <= loss.total || factor < 1e-12 {
                break (moved, next);
            }
            factor *= 0.5;
        };
        if next.1.total > loss.total {
            break;
        }
        intercepts.copy_from_slice(&next.0);
        loss = next.1;
    }
    loss
}
