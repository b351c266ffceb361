//! Ridge regression on the kernel matrix.
//!
//! f = Σᵢ aᵢ k(xᵢ, ·) (+ b): with S the diagonal of the √wᵢ,
//!
//! ```text
//! bias none      (SKS + λI) u = Sy,  a = Su
//! bias centred   the intercept b is not penalised: (K + λW⁻¹)a + b·1 = y and 1ᵀa = 0. With (SKS + λI)[u v] = S[y 1],
//!                b = (S1)ᵀu / (S1)ᵀv and a = S(u − b·v)
//! bias column    X and y are centred, 1 is added to the kernel, and the constant is penalised like the rest
//! ```

use std::borrow::Cow;

use crate::data::{AnySamples, Matrix};
use crate::gram::{Gram, TileMut};
use crate::kernel::Kernel;
use crate::session::Session;
use crate::solve::{
    Factor, Regularised, Report, SolveError, bordered_right_hand_sides, bordered_solution, solve_double,
    solve_single,
};

use super::super::basis::Basis;
use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::problem::Problem;
use super::super::targets::{centred, weighted_means};
use super::{Intercept, Ridge, RidgeSolver, check_matrix_memory, roots, targets_by_lambda};

/// The coefficients of f(xⱼ) = Σᵢ aᵢ k(xᵢ, xⱼ) + b for each target.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// a, one column per target.
    pub dual: Matrix<f64>,
    /// b, one per target.
    pub intercepts: Vec<f64>,
    /// The report on the solution.
    pub report: Report,
}

impl Ridge {
    /// The fit on samples or on a kernel matrix. O(n²d + n³/3) time, O(n²) memory.
    pub(super) fn dual(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (targets, weights) = (problem.numbers()?, problem.weights());
        self.solver.check_memory(problem.nrows(), session)?;
        let basis = Basis::new(kernel, self.intercept, self.kernel_check, problem, session)?;
        let (centred, means) = match self.intercept {
            Intercept::Column => {
                let (centred, means) = centred(targets, weights);
                (Cow::Owned(centred), Some(means))
            }
            Intercept::None | Intercept::Centred => (Cow::Borrowed(targets), None),
        };
        let Coefficients { dual, intercepts, report } = basis
            .with_gram(problem, session, true, |gram| self.solve_gram(gram, &centred, weights, session))?;
        Ok(basis.answer(dual, means.unwrap_or(intercepts), report))
    }

    /// The coefficients on a kernel matrix; the intercepts are 0 unless they are unpenalised.
    fn solve_gram(
        &self,
        gram: &dyn Gram,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Coefficients, LearnError> {
        let factor = match self.solver {
            RidgeSolver::Cholesky => Factor::Double,
            RidgeSolver::Mixed => Factor::Mixed,
            _ => Factor::Auto,
        };
        let (roots, columns) = (roots(weights), targets.ncols());
        let intercept = self.intercept == Intercept::Centred;
        let mut dual = Matrix::zeros(gram.nrows(), columns);
        let mut intercepts = vec![0.0; columns];
        let mut report: Option<Report> = None;
        for (lambda, group) in targets_by_lambda(&self.lambda, columns) {
            let system = Regularised::new(gram, lambda, roots.as_deref());
            let rhs = bordered_right_hand_sides(targets, &group, intercept, roots.as_deref());
            let explained = |error: SolveError| explain(gram, error.into());
            let (solution, solved) = match solve_single(&system, &rhs, factor, session).map_err(explained)? {
                Some(answer) => answer,
                None => {
                    check_matrix_memory(gram.nrows(), session)?;
                    solve_double(&system, &rhs, session).map_err(explained)?
                }
            };
            let (a, b) = bordered_solution(&solution, group.len(), roots.as_deref());
            for (place, &column) in group.iter().enumerate() {
                intercepts[column] = b[place];
                (0..gram.nrows()).for_each(|i| dual.row_mut(i)[column] = a.row(i)[place]);
            }
            report = Some(match report {
                Some(worst) if worst.residual >= solved.residual => worst,
                _ => solved,
            });
        }
        let report = report.ok_or(LearnError::Length { what: "targets", rows: gram.nrows(), found: 0 })?;
        Ok(Coefficients { dual, intercepts, report })
    }
}

/// A failed factorisation is often due to a kernel value that is not finite: look for one.
pub(in crate::learn) fn explain(gram: &dyn Gram, error: LearnError) -> LearnError {
    if error.is_stop() {
        return error;
    }
    let n = gram.nrows();
    let all: Vec<usize> = (0..n).collect();
    let mut row = vec![0f64; n];
    for i in 0..n.min(2_000) {
        gram.block(&[i], &all, TileMut::new(&mut row, n));
        if let Some(column) = row.iter().position(|k| !k.is_finite()) {
            return LearnError::KernelValue { row: i, column };
        }
    }
    error
}

pub(in crate::learn) fn column_means(
    samples: &AnySamples<'_>,
    weights: Option<&[f64]>,
) -> Result<Vec<f64>, LearnError> {
    if samples.is_sparse() {
        return Err(LearnError::Unsupported(
            "bias = column centres the samples, which would fill sparse data; use centred or none",
        ));
    }
    Ok(weighted_means(samples.nrows(), samples.ncols(), weights, |i, row| samples.copy_row(i, row)))
}
