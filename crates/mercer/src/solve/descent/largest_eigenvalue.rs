//! Lower and upper bounds of the largest eigenvalue of a symmetric operator.

use faer::{Mat, Side};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::vectors::{dot, norm};
use crate::watch::{Stopped, Watch};

/// Bounds of the largest eigenvalue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EigenvalueBound {
    /// A Rayleigh quotient, which is a lower bound.
    pub lower: f64,
    /// The quotient plus the norm of its residual and a hundredth: an upper bound, except for starts of probability
    /// near 0.
    pub upper: f64,
}

/// The most applications of the operator.
const STEPS: usize = 60;

/// The fewest applications, unless they span the whole space sooner: an eigenvector with a small component in the start
/// takes some steps to appear.
const FIRST_STEPS: usize = 20;

/// The tolerance on the residual, as a fraction of the quotient.
const ACCURACY: f64 = 0.002;

/// Eigenvalues closer together than this are not resolved in a few steps, so the upper bound allows for them.
const MARGIN: f64 = 0.01;

/// The seed of the random start.
const SEED: u64 = 0x6c61_6e63_7a6f_7321;

/// λmax of a symmetric `operator` by Lanczos' method from a random start, with all vectors kept orthogonal.
///
/// The best Ritz value θ with vector v is a lower bound, as in power iteration: used alone it would make 1/λ̂max too
/// large. Some eigenvalue is within ‖Av − θv‖ of θ, so θ + ‖Av − θv‖, plus a hundredth of θ for clustered eigenvalues,
/// is the upper bound (Y. Zhou and R.-C. Li, Bounding the spectrum of large Hermitian matrices, 2011). Few applications
/// of the operator, at most 60, and as many vectors of memory. Both bounds are NaN where it is not finite.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn largest_eigenvalue(
    operator: &dyn LinearOperator,
    watch: &dyn Watch,
) -> Result<EigenvalueBound, Stopped> {
    let n = operator.nrows();
    watch.begin("largest eigenvalue", 0);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut next: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
    let mut length = norm(&next);
    let (mut basis, mut diagonal, mut off): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) = Default::default();
    let mut bound = EigenvalueBound { lower: 0.0, upper: 0.0 };
    let mut image = Matrix::zeros(n, 1);
    while basis.len() < STEPS.min(n) {
        next.iter_mut().for_each(|v| *v /= length);
        let vector = Matrix::from_entries(n, 1, next.clone());
        operator.apply(&mut image, &vector, watch)?;
        diagonal.push(dot(&next, image.entries()));
        basis.push(next);
        next = image.entries().to_vec();
        // Two passes are enough (Kahan and Parlett): the first one leaves only rounding errors.
        for _ in 0..2 {
            for known in &basis {
                let along = dot(known, &next);
                next.iter_mut().zip(known).for_each(|(v, k)| *v -= along * k);
            }
        }
        length = norm(&next);
        let Some((ritz, last)) = largest_of_tridiagonal(&diagonal, &off, length) else {
            return Ok(EigenvalueBound { lower: f64::NAN, upper: f64::NAN });
        };
        let residual = length * last.abs();
        bound = EigenvalueBound { lower: ritz, upper: ritz + residual + MARGIN * ritz.abs() };
        let scale = diagonal.iter().chain(&off).fold(0.0, |most: f64, v| most.max(v.abs()));
        let accurate = residual <= ACCURACY * ritz && basis.len() >= FIRST_STEPS;
        if accurate || length <= f64::EPSILON * n as f64 * scale {
            break;
        }
        off.push(length);
    }
    Ok(bound)
}

/// The largest eigenvalue of a tridiagonal matrix and the last entry of its unit eigenvector; `None` where an entry,
/// or `next`, the entry that would follow, is not finite.
fn largest_of_tridiagonal(diagonal: &[f64], off: &[f64], next: f64) -> Option<(f64, f64)> {
    if !next.is_finite() || !diagonal.iter().chain(off).all(|v| v.is_finite()) {
        return None;
    }
    let k = diagonal.len();
    let matrix = Mat::from_fn(k, k, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off[i.min(j)],
        _ => 0.0,
    });
    let eigen = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    Some((eigen.S().column_vector()[k - 1], eigen.U()[(k - 1, k - 1)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::DenseGram;
    use crate::watch::Unwatched;
    use proptest::prelude::*;

    /// Householder reflection of a diagonal matrix: known eigenvalues, no zero entries.
    fn with_eigenvalues(values: &[f64]) -> DenseGram<'static, f64> {
        let n = values.len();
        let u: Vec<f64> = (0..n).map(|i| (i as f64 + 1.0).sin()).collect();
        let squared = dot(&u, &u);
        let h = |i: usize, j: usize| f64::from(i == j) - 2.0 * u[i] * u[j] / squared;
        let entry = |i: usize, j: usize| (0..n).map(|k| h(i, k) * values[k] * h(k, j)).sum();
        DenseGram::new(n, (0..n * n).map(|e| entry(e / n, e % n)).collect::<Vec<f64>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]
        #[test]
        fn encloses_the_largest(values in prop::collection::vec(-1.0..10.0f64, 1..40)) {
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assume!(largest > 0.1);
            let bound = largest_eigenvalue(&with_eigenvalues(&values), &Unwatched).unwrap();
            prop_assert!(bound.lower <= largest * (1.0 + 1e-12), "{bound:?}, {largest}");
            // The start may have almost no component along an eigenvector whose neighbour is a few hundredths away.
            prop_assert!(bound.upper >= largest * 0.97, "{bound:?}, {largest}");
            prop_assert!(bound.upper <= 1.013 * largest, "{bound:?}, {largest}");
        }
    }

    #[test]
    fn zero_and_not_finite() {
        let zero = largest_eigenvalue(&DenseGram::new(3, vec![0.0; 9]), &Unwatched).unwrap();
        assert_eq!(zero, EigenvalueBound { lower: 0.0, upper: 0.0 });
        let nan = largest_eigenvalue(&DenseGram::new(2, vec![1.0, f64::NAN, 0.0, 1.0]), &Unwatched).unwrap();
        assert!(nan.upper.is_nan());
    }
}
