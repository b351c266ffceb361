//! Probabilities from decision values.

use serde::{Deserialize, Serialize};

use crate::data::Matrix;

use super::pairs::{classes_of_pairs, pairs_of};

/// The map from the outputs of a support vector machine to probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Calibration {
    /// A sigmoid for each output of a classifier.
    Sigmoids(Vec<Sigmoid>),
    /// The scale σ of the errors of a regression, which have the density e^(−|z|/σ)/(2σ).
    Laplace {
        /// σ, 0 or more.
        scale: f64,
    },
    /// Decisions of a one-class machine in ten steps of equal probability, ascending: below the first the probability of an
    /// inlier is least, above the last it is largest.
    Marks(Vec<f64>),
}

/// p = 1/(1 + e^(af + b)) for a decision f (Platt 2000). A negative a makes p grow with f.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sigmoid {
    /// a.
    pub a: f64,
    /// b.
    pub b: f64,
}

impl Sigmoid {
    /// p at a decision.
    #[must_use]
    pub fn at(self, decision: f64) -> f64 {
        let z = self.a.mul_add(decision, self.b);
        // e^z would overflow for large z before the division.
        if z >= 0.0 { (-z).exp() / (1.0 + (-z).exp()) } else { 1.0 / (1.0 + z.exp()) }
    }
}

impl Calibration {
    /// Why this is not a valid calibration for a model with these outputs and classes; `None` if it is.
    #[must_use]
    pub fn fault(&self, outputs: usize, classes: Option<usize>) -> Option<String> {
        let finite = |mut values: Box<dyn Iterator<Item = f64> + '_>| values.all(f64::is_finite);
        match self {
            Self::Sigmoids(each) if each.len() != outputs || classes.is_none() => {
                Some(format!("{} sigmoids for {outputs} outputs", each.len()))
            }
            Self::Sigmoids(each) if !finite(Box::new(each.iter().flat_map(|s| [s.a, s.b]))) => {
                Some("a sigmoid that is not of finite numbers".into())
            }
            Self::Laplace { scale } if !(scale.is_finite() && *scale >= 0.0) => {
                Some(format!("{scale} as the scale of its errors"))
            }
            Self::Marks(marks) if marks.is_empty() || !finite(Box::new(marks.iter().copied())) => {
                Some("density marks that are not finite numbers".into())
            }
            _ => None,
        }
    }

    /// The probability of each class from decisions: one row per sample, one column per class. `None` for regressions.
    ///
    /// Decisions of one output are of the second of two classes where `votes` is false, of the first where it is true. With
    /// several they are those of each class against all others, whose probabilities are normalised, or with `votes` those of
    /// pairs of classes, whose probabilities are coupled ([`couple`]).
    #[must_use]
    pub fn probabilities(&self, decisions: &Matrix<f64>, votes: bool) -> Option<Matrix<f64>> {
        match self {
            Self::Sigmoids(sigmoids) => Some(classes(sigmoids, decisions, votes)),
            Self::Marks(marks) => {
                let both = decisions.entries().iter().flat_map(|&f| {
                    let inlier = by_marks(marks, f);
                    [1.0 - inlier, inlier]
                });
                Some(Matrix::from_entries(decisions.nrows(), 2, both.collect()))
            }
            Self::Laplace { .. } => None,
        }
    }
}

/// A probability of exactly 0 or 1 would override all other pairs.
const LEAST: f64 = 1e-7;

fn classes(sigmoids: &[Sigmoid], decisions: &Matrix<f64>, votes: bool) -> Matrix<f64> {
    let outputs = decisions.ncols();
    let count = match outputs {
        1 => 2,
        several if votes => classes_of_pairs(several).expect("a decision for every pair of classes"),
        several => several,
    };
    let mut out = Matrix::zeros(decisions.nrows(), count);
    let mut pairwise = vec![0.0; outputs];
    for row in 0..decisions.nrows() {
        let each = pairwise.iter_mut().zip(sigmoids).zip(decisions.row(row));
        each.for_each(|((p, sigmoid), &f)| *p = sigmoid.at(f).clamp(LEAST, 1.0 - LEAST));
        let out = out.row_mut(row);
        match (outputs, votes) {
            (1, true) => out.copy_from_slice(&[pairwise[0], 1.0 - pairwise[0]]),
            (1, false) => out.copy_from_slice(&[1.0 - pairwise[0], pairwise[0]]),
            (_, true) => couple(&pairwise, out),
            (_, false) => {
                let total: f64 = pairwise.iter().sum();
                out.iter_mut().zip(&pairwise).for_each(|(out, p)| *out = p / total);
            }
        }
    }
    out
}

/// The probability of an inlier: a tenth for each mark that the decision is above, and half a tenth in between.
fn by_marks(marks: &[f64], decision: f64) -> f64 {
    let steps = marks.len() as f64;
    match marks.iter().position(|mark| decision < *mark) {
        Some(0) => 0.001,
        Some(above) => above as f64 / steps,
        None => 0.999,
    }
}

/// Probabilities p of classes from r_ij = P(i | i or j) of pairs: minimises Σᵢ Σ_{j≠i} (r_ji pᵢ − r_ij pⱼ)² over the simplex (Wu,
/// Lin & Weng 2004, their second method, by their algorithm 2).
///
/// `pairwise` has r_ij of the pairs (0, 1), (0, 2), …, (1, 2), …, all strictly between 0 and 1; `out` has one entry per
/// class. O(K²) a sweep, at most max(100, K) sweeps.
pub fn couple(pairwise: &[f64], out: &mut [f64]) {
    let k = out.len();
    let mut r = Matrix::zeros(k, k);
    for ((i, j), &p) in pairs_of(k).zip(pairwise) {
        r.row_mut(i)[j] = p;
        r.row_mut(j)[i] = 1.0 - p;
    }
    // The problem is min pᵀQp with Q_tt = Σ r_jt² and Q_tj = −r_jt r_tj.
    let mut q = Matrix::zeros(k, k);
    for t in 0..k {
        for j in (0..k).filter(|&j| j != t) {
            q.row_mut(t)[t] += r.row(j)[t] * r.row(j)[t];
            q.row_mut(t)[j] = -r.row(j)[t] * r.row(t)[j];
        }
    }
    let tolerance = 0.005 / k as f64;
    out.fill(1.0 / k as f64);
    let mut qp = vec![0.0; k];
    for _ in 0..k.max(100) {
        let mut total = 0.0;
        for t in 0..k {
            qp[t] = q.row(t).iter().zip(&*out).map(|(q, p)| q * p).sum();
            total += out[t] * qp[t];
        }
        let worst = qp.iter().map(|value| (value - total).abs()).fold(0.0, f64::max);
        if worst < tolerance {
            break;
        }
        for t in 0..k {
            let step = (total - qp[t]) / q.row(t)[t];
            out[t] += step;
            total = (total + step * (step * q.row(t)[t] + 2.0 * qp[t])) / (1.0 + step) / (1.0 + step);
            for j in 0..k {
                qp[j] = (qp[j] + step * q.row(t)[j]) / (1.0 + step);
                out[j] /= 1.0 + step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoids_do_not_overflow() {
        let sigmoid = Sigmoid { a: -2.0, b: 0.5 };
        for f in [-1e300, -800.0, -1.0, 0.0, 1.0, 800.0, 1e300] {
            let p = sigmoid.at(f);
            assert!((0.0..=1.0).contains(&p), "{p} at {f}");
        }
        assert!((sigmoid.at(0.3) - 1.0 / (1.0 + (-0.1f64).exp())).abs() < 1e-15);
    }

    /// Pairwise probabilities that come from class probabilities, r_ij = pᵢ/(pᵢ + pⱼ), give these back.
    #[test]
    fn consistent_pairs_are_taken_apart() {
        let p = [0.5, 0.2, 0.25, 0.05];
        let pairwise: Vec<f64> = pairs_of(4).map(|(i, j)| p[i] / (p[i] + p[j])).collect();
        let mut found = [0.0; 4];
        couple(&pairwise, &mut found);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (found, p) in found.iter().zip(p) {
            assert!((found - p).abs() < 5e-3, "{found} is not {p}");
        }
    }

    #[test]
    fn marks_are_steps() {
        let marks: Vec<f64> = (0..10).map(|k| k as f64 - 5.0).collect();
        assert_eq!(by_marks(&marks, -9.0), 0.001);
        assert_eq!(by_marks(&marks, 0.5), 0.6);
        assert_eq!(by_marks(&marks, 9.0), 0.999);
    }
}
