//! Chosen rows of a kernel matrix with chosen columns, computed or read from store.

use std::ops::Range;

use crate::real::Real;
use crate::tile::{Element, Filler, Operand, ROWS, Rectangle, Scratch};

use super::operator::{COLUMNS_AT_A_TIME, Columns, Crossing, RowBlock};
use super::store::converted;

/// Columns packed for a program.
pub(super) struct TiledColumns<'a, T: Element> {
    filler: &'a Filler,
    x: &'a Operand<T>,
    z: Operand<T>,
}

impl<'a, T: Element> TiledColumns<'a, T> {
    pub fn new(filler: &'a Filler, x: &'a Operand<T>, z: Operand<T>) -> Self {
        Self { filler, x, z }
    }
}

impl<T: Element> Columns for TiledColumns<'_, T> {
    fn len(&self) -> usize {
        self.z.nrows()
    }

    fn cost(&self) -> usize {
        self.z.width()
    }

    fn cross<'a>(&'a self, rows: &[usize]) -> Box<dyn Crossing + 'a> {
        Box::new(TiledCrossing { filler: self.filler, x: self.x.select(rows), z: &self.z })
    }
}

struct TiledCrossing<'a, T: Element> {
    filler: &'a Filler,
    x: Operand<T>,
    z: &'a Operand<T>,
}

impl<T: Element> TiledCrossing<'_, T> {
    fn visit<O: Real>(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, O>)) {
        check(&cols);
        let rectangle = Rectangle { x: &self.x, rows: 0..self.x.nrows(), z: self.z, cols };
        let mut buffer = Vec::new();
        self.filler.fill(&rectangle, &mut Scratch::default(), &mut |block| {
            let values = converted::<T, O>(block, &mut buffer);
            sink(&RowBlock { rows: block.rows.clone(), values, stride: block.stride });
        });
    }
}

impl<T: Element> Crossing for TiledCrossing<'_, T> {
    fn visit_f32(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f32>)) {
        self.visit(cols, sink);
    }

    fn visit_f64(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f64>)) {
        self.visit(cols, sink);
    }
}

fn check(cols: &Range<usize>) {
    assert!(
        cols.start.is_multiple_of(COLUMNS_AT_A_TIME) && cols.len() <= COLUMNS_AT_A_TIME,
        "columns {cols:?} are not one visit"
    );
}

/// Columns of a stored matrix.
pub(super) struct StoredColumns<'a, T> {
    n: usize,
    entries: &'a [T],
    cols: Vec<usize>,
}

impl<'a, T: Real> StoredColumns<'a, T> {
    pub fn new(n: usize, entries: &'a [T], cols: &[usize]) -> Self {
        Self { n, entries, cols: cols.to_vec() }
    }
}

impl<T: Real> Columns for StoredColumns<'_, T> {
    fn len(&self) -> usize {
        self.cols.len()
    }

    fn cost(&self) -> usize {
        0
    }

    fn cross<'a>(&'a self, rows: &[usize]) -> Box<dyn Crossing + 'a> {
        Box::new(StoredCrossing { columns: self, rows: rows.to_vec() })
    }
}

struct StoredCrossing<'a, T> {
    columns: &'a StoredColumns<'a, T>,
    rows: Vec<usize>,
}

impl<T: Real> StoredCrossing<'_, T> {
    fn visit<O: Real>(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, O>)) {
        check(&cols);
        let (n, stride) = (self.columns.n, cols.len());
        // Columns side by side are copied side by side: those of a fold or a class often are.
        let runs: Vec<Range<usize>> = self.columns.cols[cols]
            .chunk_by(|a, b| a + 1 == *b)
            .map(|run| run[0]..run[0] + run.len())
            .collect();
        let mut values = vec![O::default(); ROWS * stride];
        for first in (0..self.rows.len()).step_by(ROWS) {
            let rows = first..self.rows.len().min(first + ROWS);
            for (&i, mut out) in self.rows[rows.clone()].iter().zip(values.chunks_exact_mut(stride.max(1))) {
                let row = &self.columns.entries[i * n..(i + 1) * n];
                for run in &runs {
                    let (to, rest) = out.split_at_mut(run.len());
                    to.iter_mut().zip(&row[run.clone()]).for_each(|(o, k)| *o = O::from_f64(k.to_f64()));
                    out = rest;
                }
            }
            sink(&RowBlock { rows, values: &values, stride });
        }
    }
}

impl<T: Real> Crossing for StoredCrossing<'_, T> {
    fn visit_f32(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f32>)) {
        self.visit(cols, sink);
    }

    fn visit_f64(&self, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f64>)) {
        self.visit(cols, sink);
    }
}
