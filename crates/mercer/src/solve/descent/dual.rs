//! f = Kβ: one coordinate per sample.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::{Gram, TileMut};
use crate::watch::{Stopped, Watch};

use super::coordinates::Coordinates;

/// The coordinates β of f = Kβ, or with an intercept those of f = HKHβ, H = I − 11ᵀ/n, against centred targets.
pub struct Dual<'a> {
    gram: &'a dyn Gram,
    centring: Option<Centring>,
    all: Vec<usize>,
}

/// The means that turn K into HKH: kᵢⱼ − mᵢ − mⱼ + m̄.
struct Centring {
    /// mᵢ, the mean of row i.
    rows: Vec<f64>,
    /// m̄, the mean of all entries.
    grand: f64,
}

/// Entries of K in memory while single samples are visited: 64 MiB.
const HELD: usize = 1 << 23;

/// Samples that are visited between two updates of all of f.
const SAMPLES_PER_UPDATE: usize = 128;

/// Rows of f that one task updates: their part of a block of K is in the cache of one core.
const ROWS: usize = 2_048;

impl<'a> Dual<'a> {
    /// f = Kβ.
    #[must_use]
    pub fn new(gram: &'a dyn Gram) -> Self {
        Self { gram, centring: None, all: (0..gram.nrows()).collect() }
    }

    /// f = HKHβ. Applies K once, for the means of its rows.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn centred(gram: &'a dyn Gram, watch: &dyn Watch) -> Result<Self, Stopped> {
        let n = gram.nrows();
        let mut rows = Matrix::zeros(n, 1);
        gram.apply(&mut rows, &Matrix::from_entries(n, 1, vec![1.0 / n as f64; n]), watch)?;
        let rows = rows.into_entries();
        let grand = rows.iter().sum::<f64>() / n as f64;
        Ok(Self { centring: Some(Centring { rows, grand }), ..Self::new(gram) })
    }

    /// a and b of f(x) = Σᵢ aᵢ k(xᵢ, x) + b from β and the means that were subtracted from the targets: with centring
    /// a = Hβ and b = ȳ − mᵀa.
    ///
    /// # Panics
    /// If there is not one mean per column of β.
    #[must_use]
    pub fn expand(&self, mut unknown: Matrix<f64>, target_means: &[f64]) -> (Matrix<f64>, Vec<f64>) {
        assert_eq!(unknown.ncols(), target_means.len(), "one mean per target");
        let mut intercepts = target_means.to_vec();
        if let Some(centring) = &self.centring {
            centre_columns(&mut unknown);
            for (i, mean) in centring.rows.iter().enumerate() {
                intercepts.iter_mut().zip(unknown.row(i)).for_each(|(b, a)| *b -= mean * a);
            }
        }
        (unknown, intercepts)
    }

    /// Rows `block` of the matrix, all columns.
    fn rows(&self, block: &[usize], out: &mut Vec<f64>) {
        let n = self.all.len();
        out.resize(block.len() * n, 0.0);
        self.gram.block(block, &self.all, TileMut::new(&mut *out, n));
        if let Some(Centring { rows, grand }) = &self.centring {
            out.par_chunks_mut(n).zip(block).for_each(|(row, &i)| {
                row.iter_mut().zip(rows).for_each(|(k, mean)| *k += grand - rows[i] - mean);
            });
        }
    }
}

impl Coordinates for Dual<'_> {
    fn nsamples(&self) -> usize {
        self.all.len()
    }

    fn ncoordinates(&self) -> usize {
        self.all.len()
    }

    /// β follows the residual itself.
    fn pull(
        &self,
        residual: &Matrix<f64>,
        direction: &mut Matrix<f64>,
        image: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        direction.entries_mut().copy_from_slice(residual.entries());
        self.fitted(residual, image, watch)
    }

    fn fitted(&self, unknown: &Matrix<f64>, out: &mut Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        if self.centring.is_none() {
            return self.gram.apply(out, unknown, watch);
        }
        let mut centred = unknown.clone();
        centre_columns(&mut centred);
        self.gram.apply(out, &centred, watch)?;
        centre_columns(out);
        Ok(())
    }

    /// O(n) for each sample. A block of rows of K is computed at a time: within it the steps follow each other, and
    /// then all of them are applied to the other entries of f together, in the same order.
    fn visit(
        &self,
        order: &[usize],
        step: f64,
        _targets: &Matrix<f64>,
        unknown: &mut Matrix<f64>,
        residual: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let (n, outputs) = (self.all.len(), residual.ncols());
        let mut rows = Vec::new();
        for block in order.chunks((HELD / n.max(1)).clamp(8, SAMPLES_PER_UPDATE)) {
            watch.check()?;
            self.rows(block, &mut rows);
            let mut moves = Matrix::zeros(block.len(), outputs);
            for (p, &i) in block.iter().enumerate() {
                moves.row_mut(p).copy_from_slice(residual.row(i));
            }
            for (p, &i) in block.iter().enumerate() {
                moves.row_mut(p).iter_mut().for_each(|e| *e *= step);
                let (done, to_come) = moves.entries_mut().split_at_mut((p + 1) * outputs);
                let change = &done[p * outputs..];
                unknown.row_mut(i).iter_mut().zip(change).for_each(|(b, c)| *b += c);
                for (e, &j) in to_come.chunks_exact_mut(outputs).zip(&block[p + 1..]) {
                    let k = rows[p * n + j];
                    e.iter_mut().zip(change).for_each(|(e, c)| *e -= k * c);
                }
            }
            residual.entries_mut().par_chunks_mut(ROWS * outputs).enumerate().for_each(|(chunk, out)| {
                let (first, count) = (chunk * ROWS, out.len() / outputs);
                for p in 0..block.len() {
                    let values = &rows[p * n + first..][..count];
                    take_away(out, values, moves.row(p));
                }
            });
        }
        Ok(())
    }

    fn squared_norms(&self) -> Vec<f64> {
        let mut diagonal = self.gram.diagonal().into_owned();
        if let Some(Centring { rows, grand }) = &self.centring {
            diagonal.iter_mut().zip(rows).for_each(|(k, mean)| *k += grand - 2.0 * mean);
        }
        diagonal
    }
}

/// `out[j] −= values[j]·moves` for every row j of `out`.
fn take_away(out: &mut [f64], values: &[f64], moves: &[f64]) {
    if let [only] = moves {
        out.iter_mut().zip(values).for_each(|(o, k)| *o -= k * only);
        return;
    }
    for (out, k) in out.chunks_exact_mut(moves.len()).zip(values) {
        out.iter_mut().zip(moves).for_each(|(o, m)| *o -= k * m);
    }
}

/// Centres every column and returns the means.
pub(super) fn centre_columns(matrix: &mut Matrix<f64>) -> Vec<f64> {
    let mut means = vec![0.0; matrix.ncols()];
    for i in 0..matrix.nrows() {
        means.iter_mut().zip(matrix.row(i)).for_each(|(m, v)| *m += v);
    }
    means.iter_mut().for_each(|m| *m /= matrix.nrows().max(1) as f64);
    for i in 0..matrix.nrows() {
        matrix.row_mut(i).iter_mut().zip(&means).for_each(|(v, m)| *v -= m);
    }
    means
}
