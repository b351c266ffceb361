//! The sigmoid that turns decisions into probabilities.

use crate::model::Sigmoid;

/// The most steps of Newton's method.
const STEPS: usize = 100;

/// The tolerance on both components of the gradient.
const SMALL: f64 = 1e-5;

/// The smallest fraction of a Newton step to try.
const SHORTEST: f64 = 1e-10;

/// Platt's sigmoid p = 1/(1 + e^(af + b)) for decisions f of rows that are positive or not.
///
/// Minimises −Σ tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ), where t is (n₊ + 1)/(n₊ + 2) for the n₊ positive rows and 1/(n₋ + 2) for the n₋
/// others: strictly between 0 and 1, so that separable decisions do not turn the sigmoid into a step function. Newton's
/// method with halved steps, all terms in the form that neither overflows nor cancels (Lin, Lin & Weng 2007). O(n) a
/// step.
///
/// # Panics
/// If there is not a decision for each row.
#[must_use]
pub fn fit_sigmoid(decisions: &[f64], positive: &[bool]) -> Sigmoid {
    assert_eq!(decisions.len(), positive.len(), "a decision for each row");
    let above = positive.iter().filter(|positive| **positive).count() as f64;
    let below = positive.len() as f64 - above;
    let (high, low) = ((above + 1.0) / (above + 2.0), 1.0 / (below + 2.0));
    let rows: Vec<(f64, f64)> = decisions
        .iter()
        .zip(positive)
        .map(|(&f, &positive)| (f, if positive { high } else { low }))
        .collect();
    let mut best = Sigmoid { a: 0.0, b: ((below + 1.0) / (above + 1.0)).ln() };
    let mut loss = loss_of(best, &rows);
    for _ in 0..STEPS {
        let (gradient, direction) = newton(best, &rows);
        if gradient.0.abs() < SMALL && gradient.1.abs() < SMALL {
            break;
        }
        let slope = gradient.0 * direction.0 + gradient.1 * direction.1;
        let halved = std::iter::successors(Some(1.0), |step: &f64| Some(step / 2.0));
        let found = halved.take_while(|step| *step >= SHORTEST).find_map(|step| {
            let next = Sigmoid { a: best.a + step * direction.0, b: best.b + step * direction.1 };
            let value = loss_of(next, &rows);
            (value < loss + 1e-4 * step * slope).then_some((next, value))
        });
        // No shorter step is better: the result is exact to rounding.
        let Some((next, value)) = found else { break };
        (best, loss) = (next, value);
    }
    best
}

/// −Σ t log p + (1 − t) log(1 − p) over rows (f, t).
fn loss_of(sigmoid: Sigmoid, rows: &[(f64, f64)]) -> f64 {
    let term = |(f, t): &(f64, f64)| {
        let z = sigmoid.a * f + sigmoid.b;
        if z >= 0.0 { t * z + (-z).exp().ln_1p() } else { (t - 1.0) * z + z.exp().ln_1p() }
    };
    rows.iter().map(term).sum()
}

/// The gradient, and minus the inverse of the Hessian times it.
fn newton(sigmoid: Sigmoid, rows: &[(f64, f64)]) -> ((f64, f64), (f64, f64)) {
    // The diagonal term keeps the Hessian positive definite if all decisions are equal.
    let (mut aa, mut ab, mut bb) = (1e-12, 0.0, 1e-12);
    let (mut a, mut b) = (0.0, 0.0);
    for &(f, t) in rows {
        let p = sigmoid.at(f);
        let spread = p * Sigmoid { a: -sigmoid.a, b: -sigmoid.b }.at(f);
        aa += f * f * spread;
        ab += f * spread;
        bb += spread;
        a += f * (t - p);
        b += t - p;
    }
    let determinant = aa * bb - ab * ab;
    ((a, b), (-(bb * a - ab * b) / determinant, -(aa * b - ab * a) / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decisions whose shares of positive rows are those of a known sigmoid.
    #[test]
    fn a_known_sigmoid_is_found() {
        let truth = Sigmoid { a: -1.7, b: 0.4 };
        let (mut decisions, mut positive) = (Vec::new(), Vec::new());
        for k in -40..=40 {
            let f = f64::from(k) / 10.0;
            let count = (truth.at(f) * 1_000.0).round() as usize;
            decisions.extend([f; 1_000]);
            positive.extend((0..1_000).map(|i| i < count));
        }
        let found = fit_sigmoid(&decisions, &positive);
        assert!((found.a - truth.a).abs() < 0.01 && (found.b - truth.b).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn separable_and_equal_decisions_have_finite_answers() {
        let apart = fit_sigmoid(&[-1e3, -2.0, 1.0, 1e3], &[false, false, true, true]);
        assert!(apart.a < 0.0 && apart.a.is_finite() && apart.b.is_finite());
        assert!(apart.at(1e3) > 0.5 && apart.at(-1e3) < 0.5);
        let equal = fit_sigmoid(&[0.7; 6], &[true, true, true, true, false, false]);
        // The mean of the targets: (4·5/6 + 2·1/4)/6.
        assert!((equal.at(0.7) - (4.0 * 5.0 / 6.0 + 0.5) / 6.0).abs() < 1e-4, "{equal:?}");
    }
}
