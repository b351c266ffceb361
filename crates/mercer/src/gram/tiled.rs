//! A kernel matrix computed tile by tile on each use.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::real::Real;
use crate::tile::{Element, Filler, Operand, Rectangle, Scratch};
use crate::watch::{Stopped, Watch};

use super::engine::Part;
use super::operator::{Gram, LinearOperator};
use super::store::{store, store_transposed};

/// Rows and columns of a tile: a multiple of every panel. The tile and the panels of its columns share the
/// second-level cache.
const TILE: usize = 256;

/// Entries from one row of a tile to the next: not a power of two, so that a column of it does not fall into a
/// few sets of the first-level cache.
const STRIDE: usize = TILE + 16;

/// The kernel matrix of `x` (rows) and `z` (columns), packed for a program whose tiles are computed in `T`.
#[derive(Debug)]
pub(super) struct KernelMatrix<T: Element> {
    filler: Filler,
    x: Operand<T>,
    /// `None`: the same samples as `x`.
    z: Option<Operand<T>>,
}

/// What one thread needs to compute tiles.
struct Desk<T> {
    scratch: Scratch<T>,
    tile: Vec<T>,
}

impl<T: Element> Desk<T> {
    fn new() -> Self {
        Self { scratch: Scratch::default(), tile: vec![T::default(); TILE * STRIDE] }
    }
}

/// A buffer whose disjoint parts are written by several threads.
struct Shared<O>(*mut O);

// SAFETY: every use writes entries that no other task touches.
unsafe impl<O: Send> Sync for Shared<O> {}

impl<T: Element> KernelMatrix<T> {
    pub fn new(filler: Filler, x: Operand<T>, z: Option<Operand<T>>) -> Self {
        Self { filler, x, z }
    }

    fn z(&self) -> &Operand<T> {
        self.z.as_ref().unwrap_or(&self.x)
    }

    fn tile(&self, row: usize, col: usize) -> Rectangle<'_, T> {
        let (x, z) = (&self.x, self.z());
        Rectangle { x, rows: row..x.nrows().min(row + TILE), z, cols: col..z.nrows().min(col + TILE) }
    }

    /// Writes every entry, or the lower ones, to `out`, row after row.
    pub fn fill<O: Real>(&self, part: Part, out: &mut [O], watch: &dyn Watch) -> Result<(), Stopped> {
        let (n, m) = (self.x.nrows(), self.z().nrows());
        assert_eq!(out.len(), n * m, "a {n} × {m} matrix");
        let square = self.z.is_none();
        let mirror = square && self.filler.program().is_symmetric();
        let lower_only = square && part == Part::Lower;
        let tiles: Vec<(usize, usize)> = (0..n)
            .step_by(TILE)
            .flat_map(|i| (0..m).step_by(TILE).map(move |j| (i, j)))
            .filter(|(i, j)| j <= i || !(mirror || lower_only))
            .collect();
        watch.begin("kernel matrix", tiles.len() as u64);
        let shared = Shared(out.as_mut_ptr());
        let shared = &shared;
        tiles.into_par_iter().try_for_each_init(Desk::new, |desk, (row, col)| {
            watch.check()?;
            let rectangle = self.tile(row, col);
            let (rows, cols) = (rectangle.rows.clone(), rectangle.cols.clone());
            self.filler.fill(&rectangle, &mut desk.tile, STRIDE, &mut desk.scratch);
            // SAFETY: entries (rows, cols) of the buffer belong to this tile alone.
            unsafe {
                store(
                    &desk.tile,
                    STRIDE,
                    [rows.len(), cols.len()],
                    shared.0.add(rows.start * m + cols.start),
                    m,
                )
            };
            if mirror && !lower_only && col < row {
                let to = cols.start * m + rows.start;
                // SAFETY: its mirror image above the diagonal belongs to it alone too.
                unsafe {
                    store_transposed(&desk.tile, STRIDE, [rows.len(), cols.len()], shared.0.add(to), m)
                };
            }
            watch.advance(1);
            Ok(())
        })
    }
}

impl<T: Element> LinearOperator for KernelMatrix<T> {
    fn nrows(&self) -> usize {
        self.x.nrows()
    }

    fn ncols(&self) -> usize {
        self.z().nrows()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let m = rhs.ncols();
        assert!(rhs.nrows() == self.ncols() && out.nrows() == self.nrows() && out.ncols() == m);
        out.entries_mut().par_chunks_mut((TILE * m).max(1)).enumerate().try_for_each_init(
            Desk::new,
            |desk, (band, out)| {
                out.fill(0.0);
                for col in (0..self.ncols()).step_by(TILE) {
                    watch.check()?;
                    let rectangle = self.tile(band * TILE, col);
                    self.filler.fill(&rectangle, &mut desk.tile, STRIDE, &mut desk.scratch);
                    for (r, out) in out.chunks_mut(m.max(1)).enumerate() {
                        for (c, j) in rectangle.cols.clone().enumerate() {
                            let k = desk.tile[r * STRIDE + c].to_f64();
                            for (o, v) in out.iter_mut().zip(rhs.row(j)) {
                                *o += k * v;
                            }
                        }
                    }
                }
                Ok(())
            },
        )
    }
}

impl<T: Element> Gram for KernelMatrix<T> {
    fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.nrows()];
        let side = T::PANEL;
        diagonal.par_chunks_mut(side).enumerate().for_each_init(Desk::new, |desk, (p, out)| {
            let rows = p * side..p * side + out.len();
            let rectangle = Rectangle { x: &self.x, rows: rows.clone(), z: self.z(), cols: rows };
            self.filler.fill(&rectangle, &mut desk.tile, side, &mut desk.scratch);
            for (i, o) in out.iter_mut().enumerate() {
                *o = desk.tile[i * side + i].to_f64();
            }
        });
        diagonal
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: &mut [f64]) {
        assert_eq!(out.len(), rows.len() * cols.len(), "rows × columns of the block");
        let (x, z) = (self.x.select(rows), self.z().select(cols));
        out.par_chunks_mut((TILE * cols.len()).max(1)).enumerate().for_each_init(
            Desk::new,
            |desk, (band, out)| {
                for col in (0..cols.len()).step_by(TILE) {
                    let rectangle = Rectangle {
                        x: &x,
                        rows: band * TILE..rows.len().min((band + 1) * TILE),
                        z: &z,
                        cols: col..cols.len().min(col + TILE),
                    };
                    self.filler.fill(&rectangle, &mut desk.tile, STRIDE, &mut desk.scratch);
                    for (r, out) in out.chunks_mut(cols.len()).enumerate() {
                        for (c, j) in rectangle.cols.clone().enumerate() {
                            out[j] = desk.tile[r * STRIDE + c].to_f64();
                        }
                    }
                }
            },
        );
    }
}
