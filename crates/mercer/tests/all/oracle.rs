//! Test data, and slow, obvious computations of the expected results.

use mercer::data::{AnySamples, Matrix};
use mercer::learn::{Fitted, LearnError, Learner, Problem};
use mercer::model::{Expansion, Linear, Predictor};
use mercer::session::Session;
use mercer::solve::Report;

/// Trains on samples with targets and weights.
pub fn train(
    learner: &dyn Learner,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    session: &Session<'_>,
) -> Result<Fitted, LearnError> {
    learner.train(&Problem::new(samples.view(), targets).weighted(weights), session)
}

/// The expansion that a learner found, and how its solver ended.
pub fn expansion(fitted: Fitted) -> (Expansion, Report) {
    match fitted.model.predictor {
        Predictor::Expansion(expansion) => (expansion, fitted.report.unwrap()),
        other => panic!("not an expansion: {other:?}"),
    }
}

/// The linear function of features that a learner found, and how its solver ended.
pub fn linear(fitted: Fitted) -> (Linear, Report) {
    match fitted.model.predictor {
        Predictor::Linear(linear) => (linear, fitted.report.unwrap()),
        other => panic!("not linear: {other:?}"),
    }
}

/// Numbers in [−1, 1) that look random and are the same everywhere.
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        })
        .collect()
}

/// Solves A·X = B by elimination with partial pivoting.
pub fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, below) = a.split_at_mut(i);
            below[0][k..].iter_mut().zip(&above[k][k..]).for_each(|(x, y)| *x -= factor * y);
            for c in 0..b[0].len() {
                b[i][c] -= factor * b[k][c];
            }
        }
    }
    for k in (0..n).rev() {
        for c in 0..b[0].len() {
            let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j][c]).sum();
            b[k][c] = (b[k][c] - known) / a[k][k];
        }
    }
    b
}
