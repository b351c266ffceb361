//! The iterate of a solver: coefficients, the fit at the samples, and the residual.

use crate::data::Matrix;
use crate::linalg::vectors::add_multiple;
use crate::solve::report::{Report, Status};
use crate::watch::{Stopped, Watch};

use super::LogisticSolution;
use super::cg::dot;
use super::labels::Labels;
use super::loss::Loss;
use super::products::Products;

/// Coefficients with the fit at the samples.
#[derive(Debug, Clone)]
pub(super) struct Iterate {
    /// a.
    pub dual: Matrix<f64>,
    /// Ka.
    pub image: Matrix<f64>,
    /// b.
    pub intercepts: Vec<f64>,
}

impl Iterate {
    /// The iterate with f = 0.
    pub fn zero(rows: usize, outputs: usize) -> Self {
        let zeros = Matrix::zeros(rows, outputs);
        Self { dual: zeros.clone(), image: zeros, intercepts: vec![0.0; outputs] }
    }

    /// The iterate with these coefficients.
    pub fn new(
        products: &Products<'_>,
        dual: Matrix<f64>,
        intercepts: Vec<f64>,
        watch: &dyn Watch,
    ) -> Result<Self, Stopped> {
        let image = Matrix::zeros(dual.nrows(), dual.ncols());
        let mut at = Self { dual, image, intercepts };
        at.update_image(products, watch)?;
        Ok(at)
    }

    /// Recomputes Ka.
    pub fn update_image(&mut self, products: &Products<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
        products.exact().apply(&mut self.image, &self.dual, watch)
    }

    /// f = Ka + 1bᵀ.
    pub fn logits(&self) -> Matrix<f64> {
        let mut f = self.image.clone();
        shift_rows(&mut f, 1.0, &self.intercepts);
        f
    }

    /// (λ/2)·tr aᵀKa.
    pub fn penalty(&self, lambda: f64) -> f64 {
        0.5 * lambda * dot(&self.dual, &self.image)
    }

    /// The iterate as a solution with this loss and this residual.
    pub fn solution(
        self,
        loss: f64,
        (residual, tol): (f64, f64),
        solver: &str,
        iterations: usize,
    ) -> LogisticSolution {
        let status = if residual <= tol { Status::Converged } else { Status::OutOfIterations };
        let report = Report::new(status, solver, iterations, residual);
        LogisticSolution { dual: self.dual, intercepts: self.intercepts, loss, report }
    }
}

/// f + factor·1bᵀ in place of f.
pub(super) fn shift_rows(f: &mut Matrix<f64>, factor: f64, b: &[f64]) {
    for i in 0..f.nrows() {
        f.row_mut(i).iter_mut().zip(b).for_each(|(f, b)| *f += factor * b);
    }
}

/// The residual.
pub(super) struct Residual {
    /// λa + g.
    pub entries: Matrix<f64>,
    /// Σᵢ gᵢ; zero without intercepts.
    pub pull: Vec<f64>,
    /// The norm that is compared with the tolerance.
    pub size: f64,
}

impl Residual {
    /// The residual at coefficients `at` with this loss.
    pub fn new(
        products: &Products<'_>,
        labels: &Labels<'_>,
        lambda: f64,
        intercept: bool,
        at: &Iterate,
        loss: &Loss,
        watch: &dyn Watch,
    ) -> Result<Self, Stopped> {
        let penalised = Self::penalised(labels, lambda, intercept, at, loss);
        if lambda > 0.0 {
            return Ok(penalised);
        }
        let Self { entries, pull, .. } = penalised;
        let mut image = Matrix::zeros(entries.nrows(), entries.ncols());
        products.exact().apply(&mut image, &entries, watch)?;
        let own = dot(&entries, &image).max(0.0) / products.largest_diagonal().max(f64::MIN_POSITIVE);
        Ok(Self::of(labels, entries, pull, own))
    }

    /// The residual at coefficients `at` with this loss, for λ > 0.
    pub fn penalised(labels: &Labels<'_>, lambda: f64, intercept: bool, at: &Iterate, loss: &Loss) -> Self {
        let mut entries = loss.gradient.clone();
        add_multiple(&mut entries, lambda, &at.dual);
        let pull = if intercept { loss.pull() } else { vec![0.0; entries.ncols()] };
        let own = dot(&entries, &entries);
        Self::of(labels, entries, pull, own)
    }

    fn of(labels: &Labels<'_>, entries: Matrix<f64>, pull: Vec<f64>, own: f64) -> Self {
        let pulled = pull.iter().map(|p| p * p).sum::<f64>() / labels.nrows() as f64;
        let size = (own + pulled).sqrt() / labels.scale();
        Self { entries, pull, size }
    }
}
