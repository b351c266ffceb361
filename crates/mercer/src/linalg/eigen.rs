//! Eigen-decomposition of a symmetric matrix.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{
    ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::{Auto, MatMut, MatRef, Par, Spec};

use crate::data::Matrix;

/// Why there is no eigen-decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EigenError {
    /// An entry is not a finite number.
    #[error("entry ({row}, {column}) of the matrix is not a finite number")]
    NonFinite {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
    },
    /// The iteration for the eigenvalues did not converge.
    #[error("the eigenvalues of the matrix of order {order} did not converge")]
    NoConvergence {
        /// The matrix's order.
        order: usize,
    },
}

/// A = UΛUᵀ with Λ ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// The eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Eigenvectors, one a row: Uᵀ.
    pub vectors: Matrix<f64>,
}

impl Eigen {
    /// Decomposes the symmetric matrix whose lower triangle `matrix` holds, row-major.
    ///
    /// About 9n³ multiply-adds, on one thread: the bits do not depend on the number of threads.
    ///
    /// # Errors
    /// If an entry is not finite, or if the iteration does not converge.
    ///
    /// # Panics
    /// If `matrix` does not have `order²` entries.
    pub fn of(order: usize, matrix: &[f64]) -> Result<Self, EigenError> {
        assert_eq!(matrix.len(), order * order, "a square matrix of order {order}");
        for row in 0..order {
            if let Some(column) = matrix[row * order..][..=row].iter().position(|v| !v.is_finite()) {
                return Err(EigenError::NonFinite { row, column });
            }
        }
        let params = Spec::new(<SelfAdjointEvdParams as Auto<f64>>::auto());
        let mut scratch = MemBuffer::new(self_adjoint_evd_scratch::<f64>(
            order,
            ComputeEigenvectors::Yes,
            Par::Seq,
            params,
        ));
        let mut values = vec![0.0; order];
        let mut vectors = Matrix::zeros(order, order);
        // Column-major, so that each eigenvector is a row of the row-major matrix.
        let columns = MatMut::from_column_major_slice_mut(vectors.entries_mut(), order, order);
        self_adjoint_evd(
            MatRef::from_row_major_slice(matrix, order, order),
            DiagMut::from_slice_mut(&mut values),
            Some(columns),
            Par::Seq,
            MemStack::new(&mut scratch),
            params,
        )
        .map_err(|_| EigenError::NoConvergence { order })?;
        Ok(Self { values, vectors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_the_matrix() {
        for n in [1, 2, 33, 200] {
            let entry = |i: usize, j: usize| ((i * j + i + j) as f64).sin();
            // What is above the diagonal is not read.
            let matrix: Vec<f64> =
                (0..n * n).map(|k| if k % n <= k / n { entry(k / n, k % n) } else { f64::NAN }).collect();
            let eigen = Eigen::of(n, &matrix).unwrap();
            assert!(eigen.values.windows(2).all(|w| w[0] <= w[1]));
            for i in 0..n {
                for j in 0..=i {
                    let sum: f64 = (0..n)
                        .map(|k| eigen.values[k] * eigen.vectors.row(k)[i] * eigen.vectors.row(k)[j])
                        .sum();
                    assert!((sum - entry(i, j)).abs() < 1e-12 * n as f64, "{n}: {i} {j}");
                }
            }
        }
        assert_eq!(Eigen::of(1, &[f64::NAN]).unwrap_err(), EigenError::NonFinite { row: 0, column: 0 });
    }
}
