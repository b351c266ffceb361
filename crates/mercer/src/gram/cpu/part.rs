//! Parts of a kernel matrix, chosen rows with chosen columns: written out, or applied to vectors.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::values::{Segment, TileMut, with_values};
use crate::real::Real;
use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::columns::{COLUMNS_PER_VISIT, ColumnSource, Crossing, RowBlock};
use super::combine::Combine;

/// Multiply-adds up to which the calling thread works alone: it finishes before another thread wakes up.
pub(super) const ALONE: usize = 1 << 22;

/// Rows that one task computes where there are more rows than columns.
const BAND: usize = 256;

/// A rectangle of values that several threads write to, each to its own rows or columns.
pub(super) struct Target<'a, O> {
    values: *mut O,
    stride: usize,
    /// The row of the output of each requested row.
    rows: Vec<usize>,
    columns: Vec<Segment>,
    buffer: PhantomData<&'a mut [O]>,
}

// SAFETY: threads write to disjoint entries, by the contract of `write`.
unsafe impl<O: Send> Sync for Target<'_, O> {}

impl<'a, O: Real> Target<'a, O> {
    /// `values` with the places that [`TileMut::places`] found to be inside of it.
    pub fn new(values: &'a mut [O], stride: usize, (rows, columns): (Vec<usize>, Vec<Segment>)) -> Self {
        Self { values: values.as_mut_ptr(), stride, rows, columns, buffer: PhantomData }
    }

    /// Writes the values of a visit: its rows are counted from requested row `first`, its columns are the requested `columns`.
    ///
    /// # Safety
    /// No other thread may write to these rows and columns at the same time.
    unsafe fn write<V: Real>(&self, block: &RowBlock<'_, V>, first: usize, columns: Range<usize>) {
        let rows = &self.rows[first + block.rows.start..first + block.rows.end];
        for (r, row) in rows.iter().enumerate() {
            let values = &block.values[r * block.stride..][..columns.len()];
            for Segment { from, at } in &self.columns {
                let (start, end) = (from.start.max(columns.start), from.end.min(columns.end));
                if start < end {
                    let part = &values[start - columns.start..end - columns.start];
                    // SAFETY: the places are inside of the buffer, and nothing else writes to them, by the caller's promise.
                    unsafe {
                        let to = self.values.add(row * self.stride + at + start - from.start);
                        for (k, value) in part.iter().enumerate() {
                            *to.add(k) = O::from_f64(value.to_f64());
                        }
                    }
                }
            }
        }
    }
}

/// A matrix that can be read in both precisions.
pub(in crate::gram) trait AnySource: ColumnSource<f32> + ColumnSource<f64> {}

impl<S: ColumnSource<f32> + ColumnSource<f64>> AnySource for S {}

/// [`Gram::block`](crate::gram::Gram::block).
pub(in crate::gram) fn block(source: &impl AnySource, rows: &[usize], columns: &[usize], out: TileMut<'_>) {
    let places = out.places(rows.len(), columns.len());
    with_values!(ValuesMut, out.values, values => {
        block_into(source, rows, columns, &Target::new(values, out.stride, places));
    });
}

fn block_into<O: Real>(source: &dyn ColumnSource<O>, rows: &[usize], columns: &[usize], out: &Target<'_, O>) {
    let alone = rows.len() * columns.len() * (source.value_cost() + 16) < ALONE;
    let packed = source.columns(columns);
    if rows.len() <= columns.len() {
        visits(&*packed.cross(rows), 0, columns.len(), alone, out);
        return;
    }
    let band = |first: usize| {
        let crossing = packed.cross(&rows[first..rows.len().min(first + BAND)]);
        visits(&*crossing, first, columns.len(), true, out);
    };
    let bands = 0..rows.len();
    if alone {
        bands.step_by(BAND).for_each(band);
    } else {
        bands.into_par_iter().step_by(BAND).for_each(band);
    }
}

/// Writes a crossing whose rows are counted from requested row `first`, visit by visit.
pub(super) fn visits<V: Real, O: Real>(
    crossing: &dyn Crossing<V>,
    first: usize,
    columns: usize,
    alone: bool,
    out: &Target<'_, O>,
) {
    let visit = |start: usize| {
        let here = start..columns.min(start + COLUMNS_PER_VISIT);
        // SAFETY: only this task writes to these columns of these rows.
        crossing.visit(here.clone(), &mut |block| unsafe { out.write(block, first, here.clone()) });
    };
    let starts = 0..columns;
    if alone {
        starts.step_by(COLUMNS_PER_VISIT).for_each(visit);
    } else {
        starts.into_par_iter().step_by(COLUMNS_PER_VISIT).for_each(visit);
    }
}

/// [`Gram::apply_part`](crate::gram::Gram::apply_part), on values in `O`.
pub(in crate::gram) fn apply_part<O: Element>(
    source: &dyn ColumnSource<O>,
    [columns, rows]: [&[usize]; 2],
    rhs: &Matrix<f64>,
    out: &mut Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(), Stopped> {
    let outputs = rhs.ncols();
    assert!(rhs.nrows() == rows.len() && out.nrows() == columns.len() && out.ncols() == outputs);
    let packed = source.columns(columns);
    let crossing = packed.cross(rows);
    let factors: Vec<Vec<f64>> =
        (0..outputs).map(|o| (0..rows.len()).map(|r| rhs.row(r)[o]).collect()).collect();
    let strip = |(strip, out): (usize, &mut [f64])| {
        watch.check()?;
        let width = out.len() / outputs;
        let first = strip * COLUMNS_PER_VISIT;
        let mut sums = vec![vec![0.0; width]; outputs];
        crossing.visit(first..first + width, &mut |block| {
            let mut rows: [&[O]; 8] = [&[]; 8];
            for (r, row) in rows.iter_mut().enumerate().take(block.rows.len()) {
                *row = &block.values[r * block.stride..][..width];
            }
            for (out, factors) in sums.iter_mut().zip(&factors) {
                let factors = &factors[block.rows.clone()];
                O::vectorize(Combine { out, rows: &rows[..factors.len()], factors });
            }
        });
        for (c, out) in out.chunks_exact_mut(outputs).enumerate() {
            out.iter_mut().zip(&sums).for_each(|(out, sums)| *out = sums[c]);
        }
        Ok(())
    };
    let strips = (COLUMNS_PER_VISIT * outputs).max(1);
    if rows.len() * columns.len() * (source.value_cost() + 16) < ALONE {
        out.entries_mut().chunks_mut(strips).enumerate().try_for_each(strip)
    } else {
        out.entries_mut().par_chunks_mut(strips).enumerate().try_for_each(strip)
    }
}
