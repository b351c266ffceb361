//! The linear system of kernel ridge regression.

use crate::data::Matrix;
use crate::gram::{Gram, LinearOperator, Penalty};
use crate::linalg::SymmetricMatrix;
use crate::real::Precision;
use crate::watch::{Stopped, Watch};

/// SKS + λI, with S the diagonal of the square roots of the sample weights (the identity without weights).
pub struct Regularised<'a> {
    gram: &'a dyn Gram,
    lambda: f64,
    root_weights: Option<&'a [f64]>,
}

impl<'a> Regularised<'a> {
    /// The system of `gram` with λ and, where samples are weighted, the square roots of their weights.
    #[must_use]
    pub fn new(gram: &'a dyn Gram, lambda: f64, root_weights: Option<&'a [f64]>) -> Self {
        Self { gram, lambda, root_weights }
    }

    /// λ.
    #[must_use]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The Gram matrix inside.
    #[must_use]
    pub fn gram(&self) -> &dyn Gram {
        self.gram
    }

    /// The matrix in this precision, to be factored.
    pub(super) fn stored(
        &self,
        precision: Precision,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let penalty = Penalty { lambda: self.lambda, root_weights: self.root_weights, noise: None };
        self.gram.regularised(penalty, precision, watch)
    }

    /// The largest entry of the diagonal.
    pub(super) fn largest(&self) -> f64 {
        let weight = |i: usize| self.root_weights.map_or(1.0, |root| root[i] * root[i]);
        let diagonal = self.gram.diagonal();
        diagonal.iter().enumerate().map(|(i, k)| k * weight(i) + self.lambda).fold(0.0, f64::max)
    }
}

impl LinearOperator for Regularised<'_> {
    fn nrows(&self) -> usize {
        self.gram.nrows()
    }

    fn ncols(&self) -> usize {
        self.gram.ncols()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let Self { gram, lambda, root_weights } = *self;
        Penalised { matrix: gram, lambda, root_weights }.apply(out, rhs, watch)
    }
}

/// SKS + λI for a K given only by its products.
#[derive(Clone, Copy)]
pub struct Penalised<'a> {
    /// K.
    pub matrix: &'a dyn LinearOperator,
    /// λ.
    pub lambda: f64,
    /// The diagonal of S, the square roots of sample weights; `None` for the identity.
    pub root_weights: Option<&'a [f64]>,
}

impl LinearOperator for Penalised<'_> {
    fn nrows(&self) -> usize {
        self.matrix.nrows()
    }

    fn ncols(&self) -> usize {
        self.matrix.ncols()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        match self.root_weights {
            None => self.matrix.apply(out, rhs, watch)?,
            Some(root) => {
                let mut scaled = rhs.clone();
                scale_rows(&mut scaled, root);
                self.matrix.apply(out, &scaled, watch)?;
                scale_rows(out, root);
            }
        }
        for (o, r) in out.entries_mut().iter_mut().zip(rhs.entries()) {
            *o += self.lambda * r;
        }
        Ok(())
    }
}

/// Multiplies row i of `matrix` by `factors[i]`.
pub(crate) fn scale_rows(matrix: &mut Matrix<f64>, factors: &[f64]) {
    let width = matrix.ncols().max(1);
    for (row, factor) in matrix.entries_mut().chunks_mut(width).zip(factors) {
        row.iter_mut().for_each(|entry| *entry *= factor);
    }
}

/// The right-hand sides of (SKS + λI)[U v] = S[Y 1] for some columns of the targets; S·1 is present only for an
/// unpenalised intercept.
pub(crate) fn bordered_right_hand_sides(
    targets: &Matrix<f64>,
    columns: &[usize],
    intercept: bool,
    root_weights: Option<&[f64]>,
) -> Matrix<f64> {
    let mut rhs = Matrix::zeros(targets.nrows(), columns.len() + usize::from(intercept));
    for i in 0..targets.nrows() {
        let row = rhs.row_mut(i);
        row.fill(1.0);
        columns.iter().zip(row).for_each(|(&column, r)| *r = targets.row(i)[column]);
    }
    if let Some(root) = root_weights {
        scale_rows(&mut rhs, root);
    }
    rhs
}

/// From [U v] to A = S(U − v·bᵀ) and b = (S1)ᵀU / (S1)ᵀv for this many targets; where there is no v, b = 0.
pub(crate) fn bordered_solution(
    solution: &Matrix<f64>,
    targets: usize,
    root_weights: Option<&[f64]>,
) -> (Matrix<f64>, Vec<f64>) {
    let root = |i: usize| root_weights.map_or(1.0, |r| r[i]);
    let sum = |o: usize| (0..solution.nrows()).map(|i| solution.row(i)[o] * root(i)).sum::<f64>();
    let bordered = solution.ncols() > targets;
    let intercepts: Vec<f64> =
        (0..targets).map(|o| if bordered { sum(o) / sum(targets) } else { 0.0 }).collect();
    let mut dual = Matrix::zeros(solution.nrows(), targets);
    for i in 0..solution.nrows() {
        let row = solution.row(i);
        let constant = if bordered { row[targets] } else { 0.0 };
        for (o, a) in dual.row_mut(i).iter_mut().enumerate() {
            *a = root(i) * (row[o] - intercepts[o] * constant);
        }
    }
    (dual, intercepts)
}
