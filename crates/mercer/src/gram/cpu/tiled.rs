//! A kernel matrix computed tile by tile on each use.

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::engine::Part;
use crate::gram::operator::{Gram, KeepRows, KernelValues, LinearOperator, RowSums, StoreAs, Stored};
use crate::gram::stored::store_as;
use crate::gram::values::{TileMut, ValuesMut, with_values};
use crate::real::{Precision, Real};
use crate::tile::{Element, Filler, Operand, Rectangle, Scratch};
use crate::watch::{Stopped, Watch};

use super::accumulate::{ByOutput, both_ways, forward};
use super::columns::{ColumnSource, Columns, TiledColumns};
use super::part::{apply_part, block};
use super::row_sums::row_sums;
use super::store::{Shared, converted, store, store_transposed};

/// Rows and columns of a tile: a multiple of every panel. The panels of its columns stay in the second-level
/// cache while blocks of rows go by.
pub(super) const TILE: usize = 256;

/// The kernel matrix of `x` (rows) and `z` (columns), packed for a program whose tiles are computed in `T`.
#[derive(Debug)]
pub(super) struct KernelMatrix<T: Element> {
    filler: Filler,
    x: Operand<T>,
    /// `None`: the same samples as `x`.
    z: Option<Operand<T>>,
    /// Computed at the first request; problems over parts of one matrix share it.
    diagonal: OnceLock<Vec<f64>>,
}

impl<T: Element> KernelMatrix<T> {
    pub fn new(filler: Filler, x: Operand<T>, z: Option<Operand<T>>) -> Self {
        Self { filler, x, z, diagonal: OnceLock::new() }
    }

    fn z(&self) -> &Operand<T> {
        self.z.as_ref().unwrap_or(&self.x)
    }

    fn tile(&self, row: usize, col: usize) -> Rectangle<'_, T> {
        let (x, z) = (&self.x, self.z());
        Rectangle { x, rows: row..x.nrows().min(row + TILE), z, cols: col..z.nrows().min(col + TILE) }
    }

    /// Writes every entry, or the lower ones, to `out`, row after row.
    fn write<O: Element>(&self, part: Part, out: &mut [O], watch: &dyn Watch) -> Result<(), Stopped> {
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
        let working = || (Scratch::default(), Vec::new());
        tiles.into_par_iter().try_for_each_init(working, |(scratch, buffer), (row, col)| {
            watch.check()?;
            let rectangle = self.tile(row, col);
            let (first, cols) = (rectangle.cols.start, rectangle.cols.len());
            self.filler.fill(&rectangle, scratch, &mut |block| {
                let (row, rows) = (block.rows.start, block.rows.len());
                let values = converted::<T, O>(block, buffer);
                // SAFETY: entries (rows, cols) of the buffer belong to this tile alone, and so does their mirror image
                // where the tile is below the diagonal.
                unsafe {
                    store(values, block.stride, [rows, cols], shared.0.add(row * m + first), m);
                    if mirror && !lower_only && col < rectangle.rows.start {
                        store_transposed(
                            values,
                            block.stride,
                            [rows, cols],
                            shared.0.add(first * m + row),
                            m,
                        );
                    }
                }
            });
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
        let outputs = rhs.ncols();
        assert!(rhs.nrows() == self.ncols() && out.nrows() == self.nrows() && out.ncols() == outputs);
        let rhs = ByOutput::columns_of(rhs);
        let symmetric = self.z.is_none() && self.filler.program().is_symmetric();
        if symmetric && GROUPS * self.nrows() * outputs <= MOST_PARTIAL_SUMS {
            self.apply_lower(out, &rhs, watch)
        } else {
            self.apply_all(out, &rhs, watch)
        }
    }
}

/// Groups of row bands with separate partial sums while a symmetric matrix is applied; constant, so that the order of
/// summation is fixed.
pub(super) const GROUPS: usize = 32;

/// The most partial sums stored: 512 MiB. Beyond that, every tile is computed twice, for its row and for its column.
const MOST_PARTIAL_SUMS: usize = 1 << 26;

impl<T: Element> KernelMatrix<T> {
    /// The diagonal, computed at the first request. It is computed outside the lock: a thread that waits for
    /// its part may take up work that also needs the diagonal.
    fn known_diagonal(&self) -> &[f64] {
        match self.diagonal.get() {
            Some(known) => known,
            None => {
                let diagonal = self.compute_diagonal();
                self.diagonal.get_or_init(|| diagonal)
            }
        }
    }

    fn compute_diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.nrows()];
        let side = T::PANEL;
        diagonal.par_chunks_mut(side).enumerate().for_each_init(Scratch::default, |scratch, (p, out)| {
            let rows = p * side..p * side + out.len();
            let rectangle = Rectangle { x: &self.x, rows: rows.clone(), z: self.z(), cols: rows };
            self.filler.fill(&rectangle, scratch, &mut |block| {
                for (r, i) in block.rows.clone().enumerate() {
                    out[i % side] = block.values[r * block.stride + i % side].to_f64();
                }
            });
        });
        diagonal
    }

    /// Every tile of every row band.
    fn apply_all(&self, out: &mut Matrix<f64>, rhs: &ByOutput, watch: &dyn Watch) -> Result<(), Stopped> {
        let outputs = out.ncols();
        out.entries_mut().par_chunks_mut((TILE * outputs).max(1)).enumerate().try_for_each_init(
            Scratch::default,
            |scratch, (band, out)| {
                let (start, rows) = (band * TILE, out.len() / outputs);
                let mut sums = ByOutput::zeros(rows, outputs);
                let mut buffer = Vec::new();
                for col in (0..self.ncols()).step_by(TILE) {
                    watch.check()?;
                    let rectangle = self.tile(start, col);
                    let cols = rectangle.cols.len();
                    self.filler.fill(&rectangle, scratch, &mut |block| {
                        forward(block, col, cols, rhs, &mut sums, start, &mut buffer);
                    });
                }
                for (i, out) in out.chunks_exact_mut(outputs).enumerate() {
                    out.iter_mut().enumerate().for_each(|(o, out)| *out = sums.entry(i, o));
                }
                Ok(())
            },
        )
    }

    /// The tiles on and below the diagonal, those below used twice.
    fn apply_lower(&self, out: &mut Matrix<f64>, rhs: &ByOutput, watch: &dyn Watch) -> Result<(), Stopped> {
        let (n, outputs) = (self.nrows(), out.ncols());
        let bands = n.div_ceil(TILE);
        let partial = (0..GROUPS.min(bands))
            .into_par_iter()
            .map(|group| {
                let mut scratch = Scratch::default();
                let mut sums = ByOutput::zeros(n, outputs);
                let mut buffer = Vec::new();
                for band in bands_of(group, bands) {
                    for col in (0..=band * TILE).step_by(TILE) {
                        watch.check()?;
                        let rectangle = self.tile(band * TILE, col);
                        let cols = rectangle.cols.len();
                        self.filler.fill(&rectangle, &mut scratch, &mut |block| {
                            if col < band * TILE {
                                both_ways(block, col, cols, rhs, &mut sums);
                            } else {
                                forward(block, col, cols, rhs, &mut sums, 0, &mut buffer);
                            }
                        });
                    }
                }
                Ok(sums)
            })
            .collect::<Result<Vec<ByOutput>, Stopped>>()?;
        out.entries_mut().par_chunks_mut(outputs.max(1)).enumerate().for_each(|(i, out)| {
            for (o, out) in out.iter_mut().enumerate() {
                *out = partial.iter().map(|sums| sums.entry(i, o)).sum();
            }
        });
        Ok(())
    }
}

/// The bands of a group: every 64th band and its mirror image, so that long bands and short ones balance.
pub(super) fn bands_of(group: usize, bands: usize) -> impl Iterator<Item = usize> {
    (0..bands).filter(move |band| {
        let place = band % (2 * GROUPS);
        place == group || 2 * GROUPS - 1 - place == group
    })
}

impl<T: Element> KernelValues for KernelMatrix<T> {
    fn fill(&self, part: Part, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
        with_values!(ValuesMut, out, out => self.write(part, out, watch))
    }
}

impl<T: Element, O: Real> ColumnSource<O> for KernelMatrix<T> {
    fn order(&self) -> usize {
        self.x.nrows()
    }

    fn value_cost(&self) -> usize {
        self.x.width()
    }

    fn columns<'a>(&'a self, columns: &[usize]) -> Box<dyn Columns<O> + 'a> {
        Box::new(TiledColumns { filler: &self.filler, x: &self.x, z: self.z().select(columns) })
    }
}

impl<T: Element> Gram for KernelMatrix<T> {
    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn cost(&self) -> usize {
        self.x.width()
    }

    fn diagonal(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(self.known_diagonal())
    }

    fn block(&self, rows: &[usize], columns: &[usize], out: TileMut<'_>) {
        block(self, rows, columns, out);
    }

    fn apply_part(
        &self,
        columns: &[usize],
        rows: &[usize],
        rhs: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        apply_part::<T>(self, [columns, rows], rhs, out, watch)
    }

    fn row_sums<'a>(&'a self, columns: &[usize], keep: KeepRows) -> Box<dyn RowSums + 'a> {
        row_sums(self, columns, keep)
    }

    fn store(&self, form: StoreAs, watch: &dyn Watch) -> Result<Stored, Stopped> {
        store_as(self, form, watch)
    }
}
