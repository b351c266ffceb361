//! Products with the kernel matrix: exact ones, and fast ones for directions.

use rayon::prelude::*;

use crate::gram::{Gram, LinearOperator};
use crate::real::Real;
use crate::watch::{Stopped, Watch};

use super::labels::Labels;
use super::stored::Stored;

/// The kernel matrix, held in memory where it fits.
pub(super) struct Products<'a> {
    gram: &'a dyn Gram,
    held: Held,
    /// Bytes left.
    left: u64,
    diagonal: Vec<f64>,
}

enum Held {
    Double(Stored<f64>),
    Single(Stored<f32>),
    Nothing,
}

/// Rows of the matrix that are read at a time.
const BAND: usize = 64;

impl<'a> Products<'a> {
    /// Holds `gram` in the precision that λ ≥ `smallest` asks for, or not at all beyond `budget` bytes.
    pub fn new(
        gram: &'a dyn Gram,
        labels: &Labels<'_>,
        smallest: f64,
        budget: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Stopped> {
        let n = gram.nrows();
        let entries = (n as u64).saturating_mul(n as u64);
        let diagonal = gram.diagonal();
        let mut products = Self { gram, held: Held::Nothing, left: budget, diagonal };
        // Rounded to single precision K moves by about ε·√n·max kᵢᵢ in norm. Ten times less than λ/‖D‖ does not show.
        let moved = <f32 as Real>::EPSILON * (n as f64).sqrt() * products.largest_diagonal();
        let single = smallest > 10.0 * moved * labels.largest_curvature();
        let (bytes, held) = if single && entries.saturating_mul(4) <= budget {
            (entries * 4, Held::Single(Stored::single(gram, watch)?))
        } else if entries.saturating_mul(8) <= budget {
            (entries * 8, Held::Double(Stored::double(gram, watch)?))
        } else {
            (0, Held::Nothing)
        };
        products.held = held;
        products.left -= bytes;
        Ok(products)
    }

    /// The matrix itself.
    pub fn gram(&self) -> &dyn Gram {
        self.gram
    }

    /// Whether a factor in double precision fits beside what is held.
    pub fn factor_fits(&self) -> bool {
        let n = self.gram.nrows() as u64;
        n.saturating_mul(n).saturating_mul(8) <= self.left
    }

    /// K to the precision of its values.
    pub fn exact(&self) -> &dyn LinearOperator {
        match &self.held {
            Held::Double(stored) => stored,
            _ => self.gram,
        }
    }

    /// K to some six digits at least: enough for a direction, which an exact product then judges.
    pub fn fast(&self) -> &dyn LinearOperator {
        match &self.held {
            Held::Double(stored) => stored,
            Held::Single(stored) => stored,
            Held::Nothing => self.gram,
        }
    }

    /// kᵢᵢ for every i.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// max kᵢᵢ.
    pub fn largest_diagonal(&self) -> f64 {
        self.diagonal.iter().copied().fold(0.0, f64::max)
    }

    /// Rows of K, row after row into `out`.
    pub fn rows(&self, rows: &[usize], out: &mut [f64]) {
        match &self.held {
            Held::Double(stored) => {
                let n = self.gram.nrows();
                for (&i, out) in rows.iter().zip(out.chunks_exact_mut(n)) {
                    out.copy_from_slice(stored.row(i));
                }
            }
            _ => {
                let all: Vec<usize> = (0..self.gram.nrows()).collect();
                self.gram.block(rows, &all, out);
            }
        }
    }

    /// maxᵢ Σⱼ|kᵢⱼ|, which no eigenvalue is beyond.
    pub fn largest_row_sum(&self, watch: &dyn Watch) -> Result<f64, Stopped> {
        let n = self.gram.nrows();
        let mut band = vec![0.0; BAND.min(n) * n];
        let mut largest = 0.0f64;
        for first in (0..n).step_by(BAND) {
            watch.check()?;
            let rows: Vec<usize> = (first..n.min(first + BAND)).collect();
            let band = &mut band[..rows.len() * n];
            self.rows(&rows, band);
            let sums: Vec<f64> = band.par_chunks(n).map(|row| row.iter().map(|k| k.abs()).sum()).collect();
            // Written so that a NaN is kept.
            largest = sums.into_iter().fold(largest, |l, s| if s <= l { l } else { s });
        }
        Ok(largest)
    }
}
