//! Estimates of the spectrum of a matrix from the steps of conjugate gradients.

use crate::data::Matrix;
use crate::linalg::{Eigen, EigenError};

use super::state::CgState;

/// The Lanczos matrices T of P⁻¹ᐟ²AP⁻¹ᐟ² for right-hand sides P¹ᐟ²v, from the coefficients of conjugate gradients.
///
/// ```text
/// Tⱼⱼ = 1/αⱼ + βⱼ/αⱼ₋₁,   Tⱼ,ⱼ₊₁ = √βⱼ₊₁/αⱼ,      vᵀf(P⁻¹ᐟ²AP⁻¹ᐟ²)v ≈ |v|²·e₁ᵀf(T)e₁
/// ```
///
/// is a Gauss quadrature, exact for polynomials of degree 2k − 1 after k steps (Golub and Meurant 2009, chapter 7; Saad 2003,
/// section 6.7.3). The mean over random v of |v|² = n estimates the trace of f (Ubaru, Chen and Saad 2017).
#[derive(Debug, Clone)]
pub struct Lanczos {
    /// The right-hand sides that are followed.
    columns: Vec<usize>,
    chains: Vec<Chain>,
}

/// αⱼ and ⟨r, P⁻¹r⟩ of the steps of one right-hand side.
#[derive(Debug, Clone, Default)]
struct Chain {
    steps: Vec<(f64, f64)>,
    /// Whether the recurrence has ended or restarted.
    ended: bool,
}

impl Lanczos {
    /// For some of the right-hand sides, before the first step.
    #[must_use]
    pub fn new(columns: Vec<usize>) -> Self {
        let chains = vec![Chain::default(); columns.len()];
        Self { columns, chains }
    }

    /// Adds the state after one more step.
    pub fn record(&mut self, state: &CgState) {
        for (&column, chain) in self.columns.iter().zip(&mut self.chains) {
            if !chain.ended && state.iterations > 0 {
                chain.steps.push((state.lengths[column], state.rho[column]));
                chain.ended = !state.is_running(column);
            }
        }
    }

    /// e₁ᵀ log(T) e₁ for each right-hand side that is followed.
    ///
    /// O(k³) time for k steps.
    ///
    /// # Errors
    /// If the eigenvalues of a T cannot be found.
    pub fn logarithms(&self) -> Result<Vec<f64>, EigenError> {
        self.chains.iter().map(Chain::logarithm).collect()
    }
}

impl Chain {
    fn logarithm(&self) -> Result<f64, EigenError> {
        let k = self.steps.len();
        let mut t = Matrix::zeros(k, k);
        for (j, &(alpha, rho)) in self.steps.iter().enumerate() {
            t.row_mut(j)[j] += 1.0 / alpha;
            if let Some(&(_, next)) = self.steps.get(j + 1) {
                let beta = next / rho;
                t.row_mut(j + 1)[j] = beta.sqrt() / alpha;
                t.row_mut(j + 1)[j + 1] = beta / alpha;
            }
        }
        let eigen = Eigen::of(k, t.entries())?;
        let part = |(place, value): (usize, &f64)| {
            let first = eigen.vectors.row(place)[0];
            // T is positive definite up to rounding.
            first * first * value.max(f64::MIN_POSITIVE).ln()
        };
        Ok(eigen.values.iter().enumerate().map(part).sum())
    }
}

#[cfg(test)]
mod tests {
    use crate::gram::DenseGram;
    use crate::solve::{CgProblem, CgState, ConjugateGradient, Unconditioned};
    use crate::watch::Unwatched;

    use super::*;

    /// In n steps Lanczos' method is exact: for a diagonal A, vᵀ log(A) v = Σ vᵢ² log aᵢ.
    #[test]
    fn the_logarithm_of_a_diagonal_matrix_matches_its_entries() {
        let n = 12;
        let values: Vec<f64> = (0..n).map(|i| 0.1 + 1.7 * i as f64).collect();
        let entries =
            (0..n * n).map(|e| if e / n == e % n { values[e / n] } else { 0.0 }).collect::<Vec<f64>>();
        let gram = DenseGram::<f64>::new(n, entries);
        let rhs = Matrix::from_entries(n, 2, (0..2 * n).map(|e| 1.0 + (e as f64).sin()).collect());
        let problem = CgProblem {
            coarse: None,
            operator: &gram,
            exact: None,
            rhs: &rhs,
            preconditioner: &Unconditioned,
        };
        let solver = ConjugateGradient { tolerance: 1e-14, ..ConjugateGradient::default() };
        let (mut state, mut lanczos) = (CgState::start(&rhs), Lanczos::new(vec![1]));
        solver.run(&problem, &mut state, &Unwatched, &mut |state| lanczos.record(state)).unwrap();
        let v: Vec<f64> = (0..n).map(|i| rhs.row(i)[1]).collect();
        let square: f64 = v.iter().map(|v| v * v).sum();
        let expected: f64 = v.iter().zip(&values).map(|(v, a)| v * v * a.ln()).sum();
        let found = square * lanczos.logarithms().unwrap()[0];
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found} against {expected}");
    }
}
