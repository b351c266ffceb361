//! f = Φθ: one coordinate per feature.

use crate::data::Matrix;
use crate::design::{Access, Design, DesignError, KeptError};
use crate::linalg::vectors::subtract_from;
use crate::watch::{Stopped, Unwatched, Watch};

use super::coordinates::Coordinates;
use super::dual::centre_columns;

/// The coordinates θ of f = Φθ for a design Φ; with an intercept its columns are centred.
pub struct Primal<'a> {
    design: &'a dyn Design,
    /// φ̄, the mean of the rows.
    means: Option<Vec<f64>>,
    failure: KeptError,
}

/// Rows read at a time.
const ROWS: usize = 256;

/// Samples visited between two checks of the watch.
const VISITS: usize = 64;

impl<'a> Primal<'a> {
    /// f = Φθ, or f = (Φ − 1φ̄ᵀ)θ where `centred`.
    ///
    /// One pass over the rows where `centred`.
    ///
    /// # Errors
    /// If rows cannot be computed or can be read in order only, or if `watch` asks to stop.
    pub fn new(design: &'a dyn Design, centred: bool, watch: &dyn Watch) -> Result<Self, DesignError> {
        if design.access() == Access::Sequential {
            return Err(DesignError::Sequential);
        }
        let width = design.ncols();
        let mut means = None;
        if centred {
            let mut sums = vec![0.0; width];
            design.blocks(ROWS, watch, &mut |_, phi| {
                let rows = phi.chunks_exact(width.max(1));
                rows.for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += v));
                Ok(())
            })?;
            sums.iter_mut().for_each(|sum| *sum /= design.nrows().max(1) as f64);
            means = Some(sums);
        }
        Ok(Self { design, means, failure: KeptError::default() })
    }

    /// Why the descent was stopped.
    pub fn failure(&self) -> DesignError {
        self.failure.take()
    }

    /// b of f(x) = ⟨θ,φ(x)⟩ + b, from the means that were subtracted from the targets: b = ȳ − ⟨θ,φ̄⟩.
    #[must_use]
    pub fn intercepts(&self, unknown: &Matrix<f64>, target_means: &[f64]) -> Vec<f64> {
        let mut intercepts = target_means.to_vec();
        for (j, mean) in self.means.iter().flatten().enumerate() {
            intercepts.iter_mut().zip(unknown.row(j)).for_each(|(b, weight)| *b -= mean * weight);
        }
        intercepts
    }

    /// Φᵀ·rhs. With centred features the right-hand side is centred first, which is the same.
    fn transposed(&self, rhs: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let centred = self.means.as_ref().map(|_| {
            let mut centred = rhs.clone();
            centre_columns(&mut centred);
            centred
        });
        let rhs = centred.as_ref().unwrap_or(rhs);
        self.failure.keep(self.design.apply_transposed(rhs, out, watch))
    }
}

impl Coordinates for Primal<'_> {
    fn nsamples(&self) -> usize {
        self.design.nrows()
    }

    fn ncoordinates(&self) -> usize {
        self.design.ncols()
    }

    /// θ follows Φᵀr, and the fit ΦΦᵀr.
    fn pull(
        &self,
        residual: &Matrix<f64>,
        direction: &mut Matrix<f64>,
        image: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        self.transposed(residual, direction, watch)?;
        self.fitted(direction, image, watch)
    }

    fn fitted(&self, unknown: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.failure.keep(self.design.apply(unknown, out, watch))?;
        if self.means.is_some() {
            centre_columns(out);
        }
        Ok(())
    }

    /// O(D) for each sample, and one product with Φ for the residual at the end.
    fn visit(
        &self,
        order: &[usize],
        step: f64,
        targets: &Matrix<f64>,
        unknown: &mut Matrix<f64>,
        residual: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let width = self.design.ncols();
        let mut phi = vec![0.0; VISITS * width];
        let mut change = vec![0.0; targets.ncols()];
        for visited in order.chunks(VISITS) {
            watch.check()?;
            let phi = &mut phi[..visited.len() * width];
            self.failure.keep(self.design.fill_at(visited, (&mut *phi).into(), watch))?;
            for (&i, feature) in visited.iter().zip(phi.chunks_exact_mut(width.max(1))) {
                if let Some(means) = &self.means {
                    feature.iter_mut().zip(means).for_each(|(f, m)| *f -= m);
                }
                change.copy_from_slice(targets.row(i));
                for (j, f) in feature.iter().enumerate() {
                    change.iter_mut().zip(unknown.row(j)).for_each(|(e, weight)| *e -= f * weight);
                }
                change.iter_mut().for_each(|e| *e *= step);
                for (j, f) in feature.iter().enumerate() {
                    unknown.row_mut(j).iter_mut().zip(&change).for_each(|(weight, c)| *weight += f * c);
                }
            }
        }
        self.fitted(unknown, residual, watch)?;
        subtract_from(targets, residual);
        Ok(())
    }

    /// NaN if rows cannot be computed.
    fn squared_norms(&self) -> Vec<f64> {
        let width = self.design.ncols().max(1);
        let mean = |j: usize| self.means.as_ref().map_or(0.0, |means| means[j]);
        let mut norms = Vec::with_capacity(self.design.nrows());
        let pass = self.design.blocks(ROWS, &Unwatched, &mut |_, phi| {
            let norm = |row: &[f64]| row.iter().enumerate().map(|(j, f)| (f - mean(j)).powi(2)).sum::<f64>();
            norms.extend(phi.chunks_exact(width).map(norm));
            Ok(())
        });
        if self.failure.keep(pass).is_err() {
            norms = vec![f64::NAN; self.design.nrows()];
        }
        norms
    }
}
