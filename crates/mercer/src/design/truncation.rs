//! The error of the truncated Taylor map.
//!
//! With a = ‖x‖/σ, b = ‖z‖/σ and t = ⟨x,z⟩/σ², the kernel less its map of degree m is
//!
//! ```text
//! e^{−(a²+b²)/2} Σ_{k>m} tᵏ/k!  ≤  e^{−ab} Σ_{k>m} (ab)ᵏ/k!  =  P(N > m),  N Poisson with mean ab,
//! ```
//!
//! by a² + b² ≥ 2ab and |t| ≤ ab. The right side grows with ab, and x = z of the largest norm R attains it: the largest
//! error on the ball of radius R is P(N > m) for N of mean R²/σ².

/// P(N > m) for a Poisson variable N of this mean ≥ 0. O(m + √mean) time.
pub(super) fn poisson_tail(mean: f64, m: usize) -> f64 {
    if mean == 0.0 {
        return 0.0;
    }
    if mean.is_infinite() {
        return 1.0;
    }
    // Each side of the distribution is a sum of positive terms; the one away from the mean has no cancellation.
    if mean <= m as f64 + 1.0 {
        let (mut term, mut sum, mut k) = (probability(mean, m + 1), 0.0, m + 1);
        while sum + term != sum {
            sum += term;
            k += 1;
            term *= mean / k as f64;
        }
        return sum.min(1.0);
    }
    let (mut term, mut sum) = (probability(mean, m), 0.0);
    for k in (0..=m).rev() {
        sum += term;
        term *= k as f64 / mean;
    }
    (1.0 - sum).clamp(0.0, 1.0)
}

/// e^{−mean}·meanᵏ/k!, through logarithms: each factor alone may overflow or underflow.
fn probability(mean: f64, k: usize) -> f64 {
    let log_factorial: f64 = (2..=k).map(|i| (i as f64).ln()).sum();
    (k as f64 * mean.ln() - mean - log_factorial).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_have_their_closed_forms() {
        for mean in [1e-3f64, 0.5, 1.0, 2.0, 10.0, 300.0] {
            let none = (-mean).exp();
            assert!((poisson_tail(mean, 0) - (1.0 - none)).abs() < 1e-14);
            assert!((poisson_tail(mean, 1) - (1.0 - none * (1.0 + mean))).abs() < 1e-14);
        }
        // In the tail the first term dominates: e^{−1}/21!·(1 + 1/22 + …).
        let first = (-1.0f64).exp() / (2..=21).map(f64::from).product::<f64>();
        let ratio = poisson_tail(1.0, 20) / first;
        assert!(ratio > 1.0 && ratio < 1.05, "{ratio}");
        assert_eq!(poisson_tail(0.0, 3), 0.0);
        assert_eq!(poisson_tail(1e6, 10), 1.0);
        assert_eq!(poisson_tail(f64::INFINITY, 10), 1.0);
    }
}
