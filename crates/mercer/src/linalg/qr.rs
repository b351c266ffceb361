//! The triangular factor R of a tall matrix, block by block.
//!
//! With [R₁ c₁] the triangle of some rows [Φ₁ y₁], the triangle of [Φ₁ y₁; Φ₂ y₂] is that of [R₁ c₁; Φ₂ y₂]: Q is never
//! formed, and only a few triangles are in memory. Blocks are factored side by side in groups of a fixed size and
//! joined in their order, so the answer does not depend on the number of threads. Demmel, Grigori, Hoemmen and Langou
//! (2012).

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{
    QrParams, qr_in_place, qr_in_place_scratch, recommended_block_size,
};
use faer::{Auto, Mat, Par, Spec};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::watch::Watch;

/// Blocks that are factored in parallel.
const PARALLEL_BLOCKS: usize = 4;

/// The most features for which a message gives the rank: singular values cost more than the factorisation.
const COUNTED: usize = 2_000;

/// The upper triangle R of [Φ y] = QR.
#[derive(Debug, Clone)]
pub(crate) struct Triangle {
    /// D.
    order: usize,
    /// (D + outputs) columns; zeros below the diagonal.
    r: Mat<f64>,
}

/// Columns that are linearly dependent to working precision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dependence {
    /// The numerical rank, if it was computed.
    pub rank: Option<usize>,
    /// A λ that makes the problem solvable.
    pub suggestion: f64,
}

impl Triangle {
    /// Bytes that [`of_rows`](Self::of_rows) takes.
    pub fn bytes(rows: usize, order: usize, outputs: usize) -> u64 {
        let width = (order + outputs) as u64;
        let rows = Self::block_rows(order, outputs).min(rows) as u64;
        // A block with its scratch and a triangle for each of those in parallel, and the stack of triangles that joins them.
        width.saturating_mul(
            PARALLEL_BLOCKS as u64 * (2 * rows + width) + 2 * (PARALLEL_BLOCKS as u64 + 1) * width,
        ) * 8
    }

    fn block_rows(order: usize, outputs: usize) -> usize {
        (2 * (order + outputs)).max(512)
    }

    /// The triangle of all rows of Φ, which has `order` columns, with their targets. `fill` writes the rows of one block,
    /// row after row. About 2nD² multiply-adds.
    ///
    /// # Errors
    /// The first error of `fill`, by the order of the blocks.
    pub fn of_rows<E: Send>(
        order: usize,
        targets: &Matrix<f64>,
        watch: &dyn Watch,
        fill: impl Fn(Range<usize>, &mut [f64]) -> Result<(), E> + Sync,
    ) -> Result<Self, E> {
        let (n, outputs) = (targets.nrows(), targets.ncols());
        let height = Self::block_rows(order, outputs);
        let starts: Vec<usize> = (0..n).step_by(height).collect();
        let mut whole = Mat::zeros(0, order + outputs);
        watch.begin("QR", n as u64);
        for starts in starts.chunks(PARALLEL_BLOCKS) {
            let triangles = starts.par_iter().map(|&first| {
                let height = height.min(n - first);
                let mut phi = vec![0.0; height * order];
                fill(first..first + height, &mut phi)?;
                let y = |i: usize, j: usize| targets.row(first + i)[j];
                let block = Mat::from_fn(height, order + outputs, |i, j| match j.checked_sub(order) {
                    None => phi[i * order + j],
                    Some(output) => y(i, output),
                });
                let triangle = triangle(block);
                watch.advance(height as u64);
                Ok(triangle)
            });
            // Of several errors the one of the first block is returned, for any number of threads.
            let triangles = triangles.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, E>>()?;
            whole = triangle(stack(&whole, &triangles));
        }
        Ok(Self { order, r: whole })
    }

    /// The triangle of [Φ y; √λI 0].
    pub fn regularised(&self, lambda: f64) -> Self {
        if lambda == 0.0 {
            return self.clone();
        }
        let root = lambda.sqrt();
        let ridge = Mat::from_fn(self.order, self.r.ncols(), |i, j| if i == j { root } else { 0.0 });
        Self { order: self.order, r: triangle(stack(&self.r, &[ridge])) }
    }

    /// R_ij, zero in rows beyond the last.
    fn at(&self, i: usize, j: usize) -> f64 {
        if i < self.r.nrows() { self.r[(i, j)] } else { 0.0 }
    }

    /// Whether some column is, to rounding, a combination of those before it; `None` if none is.
    ///
    /// The remainder of each column is compared with the norm of that column, so that the features' units do not matter.
    pub fn dependence(&self, rows: usize) -> Option<Dependence> {
        let tolerance = (rows.max(self.order) + self.order) as f64 * f64::EPSILON;
        let norm = |j: usize| (0..=j).map(|i| self.at(i, j).powi(2)).sum::<f64>().sqrt();
        let norms: Vec<f64> = (0..self.order).map(norm).collect();
        let dependent = |j: usize| self.at(j, j).abs() <= tolerance * norms[j];
        if !(0..self.order).any(dependent) {
            return None;
        }
        let rank = (self.order <= COUNTED).then(|| {
            // Columns are scaled to norm 1, for the same reason.
            let scaled = Mat::from_fn(self.order, self.order, |i, j| {
                if i <= j && norms[j] > 0.0 { self.at(i, j) / norms[j] } else { 0.0 }
            });
            let values = scaled.singular_values().ok()?;
            let largest = values.iter().copied().fold(0.0, f64::max);
            Some(values.iter().filter(|s| **s > tolerance * largest).count())
        });
        let largest = norms.iter().map(|n| n * n).fold(0.0, f64::max);
        Some(Dependence { rank: rank.flatten(), suggestion: suggestion(self.order, largest) })
    }

    /// w with Rw = Qᵀy, for these targets.
    pub fn solution(&self, targets: &[usize]) -> Matrix<f64> {
        let mut w = Matrix::zeros(self.order, targets.len());
        for i in 0..self.order {
            for (place, &target) in targets.iter().enumerate() {
                w.row_mut(i)[place] = self.at(i, self.order + target);
            }
        }
        self.solve_upper(&mut w);
        w
    }

    /// RᵀR·X = B, in place.
    pub fn solve_normal(&self, rhs: &mut Matrix<f64>) {
        for c in 0..rhs.ncols() {
            for i in 0..self.order {
                let known: f64 = (0..i).map(|k| self.at(k, i) * rhs.row(k)[c]).sum();
                rhs.row_mut(i)[c] = (rhs.row(i)[c] - known) / self.at(i, i);
            }
        }
        self.solve_upper(rhs);
    }

    /// R·X = B, in place: columns of R from the last, each eliminated from the rows above.
    fn solve_upper(&self, rhs: &mut Matrix<f64>) {
        for c in 0..rhs.ncols() {
            for j in (0..self.order).rev() {
                let x = rhs.row(j)[c] / self.at(j, j);
                rhs.row_mut(j)[c] = x;
                for i in 0..j {
                    rhs.row_mut(i)[c] -= self.at(i, j) * x;
                }
            }
        }
    }
}

/// A λ that makes ΦᵀΦ + λI solvable: a hundred times the rounding error of a matrix with this largest entry.
pub(crate) fn suggestion(order: usize, largest: f64) -> f64 {
    let floor = 100.0 * order as f64 * f64::EPSILON * largest.max(f64::MIN_POSITIVE);
    10f64.powi(floor.log10().ceil() as i32)
}

fn stack(first: &Mat<f64>, rest: &[Mat<f64>]) -> Mat<f64> {
    let height = first.nrows() + rest.iter().map(Mat::nrows).sum::<usize>();
    let mut stacked = Mat::zeros(height, first.ncols());
    let mut at = 0;
    for part in std::iter::once(first).chain(rest) {
        stacked.as_mut().subrows_mut(at, part.nrows()).copy_from(part);
        at += part.nrows();
    }
    stacked
}

/// R of A = QR, with zeros below the diagonal.
fn triangle(mut a: Mat<f64>) -> Mat<f64> {
    let (rows, columns) = (a.nrows(), a.ncols());
    let size = rows.min(columns);
    if size == 0 {
        return Mat::zeros(0, columns);
    }
    let block = recommended_block_size::<f64>(rows, columns);
    let params = Spec::new(<QrParams as Auto<f64>>::auto());
    let mut scratch = MemBuffer::new(qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, params));
    let mut coefficients = Mat::zeros(block, size);
    qr_in_place(a.as_mut(), coefficients.as_mut(), Par::Seq, MemStack::new(&mut scratch), params);
    Mat::from_fn(size, columns, |i, j| if i <= j { a[(i, j)] } else { 0.0 })
}
