//! The block of a kernel matrix at chosen rows and columns, computed or read from memory, visited a few rows at a time
//! in cache.

use std::ops::Range;

use crate::gram::values::Value;
use crate::real::Real;
use crate::tile::{Element, Filler, Operand, ROWS, Rectangle, Scratch};

use super::store::converted;

/// Maximum number of columns of one visit.
pub(in crate::gram) const COLUMNS_PER_VISIT: usize = 256;

/// A kernel matrix whose values can be read as `O`.
pub(in crate::gram) trait ColumnSource<O>: Sync {
    /// Rows and columns of the matrix.
    fn order(&self) -> usize;

    /// The cost of a value in multiply-adds; 0 where values are stored.
    fn value_cost(&self) -> usize;

    /// The columns `columns` of the matrix, which may repeat. O(their features) time and memory.
    fn columns<'a>(&'a self, columns: &[usize]) -> Box<dyn Columns<O> + 'a>;
}

/// Chosen columns of a kernel matrix, made ready once for many visits.
pub(in crate::gram) trait Columns<O>: Send + Sync {
    /// The block of `rows`, given by their index in the matrix, and these columns.
    fn cross<'a>(&'a self, rows: &[usize]) -> Box<dyn Crossing<O> + 'a>;
}

/// Kernel values of a few rows of a [`Crossing`] and all columns of a visit.
#[derive(Debug)]
pub(in crate::gram) struct RowBlock<'a, O> {
    /// The rows, by their place in the crossing: at most eight.
    pub rows: Range<usize>,
    /// Their values, row after row.
    pub values: &'a [O],
    /// Entries from one row to the next.
    pub stride: usize,
}

/// Chosen rows of a kernel matrix with chosen columns.
pub(in crate::gram) trait Crossing<O>: Sync {
    /// Hands the values of every row with the columns `columns`, counted among the chosen ones, to `sink`, a few rows at a time
    /// while they are in cache. Runs on the calling thread.
    ///
    /// # Panics
    /// If `columns` does not start at a multiple of [`COLUMNS_PER_VISIT`] or has more columns.
    fn visit(&self, columns: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, O>));
}

/// Columns packed for a program.
pub(super) struct TiledColumns<'a, T: Element> {
    pub filler: &'a Filler,
    pub x: &'a Operand<T>,
    pub z: Operand<T>,
}

impl<T: Element, O: Real> Columns<O> for TiledColumns<'_, T> {
    fn cross<'a>(&'a self, rows: &[usize]) -> Box<dyn Crossing<O> + 'a> {
        Box::new(TiledCrossing { filler: self.filler, x: self.x.select(rows), z: &self.z })
    }
}

struct TiledCrossing<'a, T: Element> {
    filler: &'a Filler,
    x: Operand<T>,
    z: &'a Operand<T>,
}

impl<T: Element, O: Real> Crossing<O> for TiledCrossing<'_, T> {
    fn visit(&self, columns: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, O>)) {
        check(&columns);
        let rectangle = Rectangle { x: &self.x, rows: 0..self.x.nrows(), z: self.z, cols: columns };
        let mut buffer = Vec::new();
        self.filler.fill(&rectangle, &mut Scratch::default(), &mut |block| {
            let values = converted::<T, O>(block, &mut buffer);
            sink(&RowBlock { rows: block.rows.clone(), values, stride: block.stride });
        });
    }
}

fn check(columns: &Range<usize>) {
    assert!(
        columns.start.is_multiple_of(COLUMNS_PER_VISIT) && columns.len() <= COLUMNS_PER_VISIT,
        "columns {columns:?} are not one visit"
    );
}

/// Columns of a stored matrix.
pub(in crate::gram) struct StoredColumns<'a, T> {
    pub order: usize,
    pub entries: &'a [T],
    pub columns: Vec<usize>,
}

impl<T: Value, O: Real> Columns<O> for StoredColumns<'_, T> {
    fn cross<'a>(&'a self, rows: &[usize]) -> Box<dyn Crossing<O> + 'a> {
        Box::new(StoredCrossing { columns: self, rows: rows.to_vec() })
    }
}

struct StoredCrossing<'a, T> {
    columns: &'a StoredColumns<'a, T>,
    rows: Vec<usize>,
}

impl<T: Value, O: Real> Crossing<O> for StoredCrossing<'_, T> {
    fn visit(&self, columns: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, O>)) {
        check(&columns);
        let (order, stride) = (self.columns.order, columns.len());
        let runs = runs(&self.columns.columns[columns]);
        let mut values = vec![O::default(); ROWS.min(self.rows.len()) * stride];
        for first in (0..self.rows.len()).step_by(ROWS) {
            let rows = first..self.rows.len().min(first + ROWS);
            for (&i, out) in self.rows[rows.clone()].iter().zip(values.chunks_exact_mut(stride.max(1))) {
                gather(&self.columns.entries[i * order..(i + 1) * order], &runs, out);
            }
            sink(&RowBlock { rows, values: &values, stride });
        }
    }
}

/// Runs of consecutive columns, which are copied together: those of a fold or a class often are.
pub(in crate::gram) fn runs(columns: &[usize]) -> Vec<Range<usize>> {
    columns.chunk_by(|a, b| a + 1 == *b).map(|run| run[0]..run[0] + run.len()).collect()
}

/// Copies runs of a row side by side.
pub(in crate::gram) fn gather<T: Real, O: Real>(row: &[T], runs: &[Range<usize>], mut out: &mut [O]) {
    for run in runs {
        let (to, rest) = out.split_at_mut(run.len());
        to.iter_mut().zip(&row[run.clone()]).for_each(|(o, k)| *o = O::from_f64(k.to_f64()));
        out = rest;
    }
}
