//! Products with the kernel matrix: exact ones, and fast ones for directions.

use crate::gram::{Gram, LinearOperator, StoreAs, Stored, TileMut};
use crate::real::{Precision, Real};
use crate::watch::{Stopped, Watch};

use super::labels::Labels;

/// The kernel matrix, stored if it fits the memory.
pub(super) struct Products<'a> {
    gram: &'a dyn Gram,
    stored: Option<Box<dyn Gram>>,
    /// Bytes left.
    left: u64,
    diagonal: Vec<f64>,
    all: Vec<usize>,
}

impl<'a> Products<'a> {
    /// Stores `gram` in the precision that λ ≥ `smallest` requires, if it fits `budget` bytes.
    pub fn new(
        gram: &'a dyn Gram,
        labels: &Labels<'_>,
        smallest: f64,
        budget: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Stopped> {
        let n = gram.nrows();
        let diagonal = gram.diagonal().into_owned();
        let mut products = Self { gram, stored: None, left: budget, diagonal, all: (0..n).collect() };
        // Rounding to single precision changes K by about ε·√n·max kᵢᵢ in norm. A tenth of λ/‖D‖ is negligible.
        let moved = <f32 as Real>::EPSILON * (n as f64).sqrt() * products.largest_diagonal();
        let single = smallest > 10.0 * moved * labels.largest_curvature();
        let forms = [StoreAs::F32, StoreAs::F64];
        let fits = |form: &StoreAs| form.bytes(n) <= budget && (single || *form == StoreAs::F64);
        if let Some(form) = forms.into_iter().find(fits)
            && let Stored::Gram(stored) = gram.store(form, watch)?
        {
            products.stored = Some(stored);
            products.left -= form.bytes(n);
        }
        Ok(products)
    }

    /// The matrix itself.
    pub fn gram(&self) -> &dyn Gram {
        self.gram
    }

    /// Whether a factor in double precision fits the remaining memory.
    pub fn factor_fits(&self) -> bool {
        StoreAs::F64.bytes(self.gram.nrows()) <= self.left
    }

    /// The matrix to the precision of its values.
    fn values(&self) -> &dyn Gram {
        self.stored.as_deref().filter(|stored| stored.precision() == Precision::Double).unwrap_or(self.gram)
    }

    /// K to the precision of its values.
    pub fn exact(&self) -> &dyn LinearOperator {
        self.values()
    }

    /// K to about six digits at least: enough for a direction, which an exact product then verifies.
    pub fn fast(&self) -> &dyn LinearOperator {
        self.stored.as_deref().unwrap_or(self.gram)
    }

    /// kᵢᵢ for every i.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// max kᵢᵢ.
    pub fn largest_diagonal(&self) -> f64 {
        self.diagonal.iter().copied().fold(0.0, f64::max)
    }

    /// Row `i` of K.
    pub fn row(&self, i: usize, out: &mut [f64]) {
        self.values().block(&[i], &self.all, TileMut::new(out, self.all.len()));
    }

    /// maxᵢ Σⱼ|kᵢⱼ|, an upper bound of the eigenvalues.
    pub fn largest_row_sum(&self, watch: &dyn Watch) -> Result<f64, Stopped> {
        self.values().largest_row_sum(watch)
    }
}
