//! Kernel rows over the columns a solver still looks at: kept while there is room, computed where they are not.

use std::ops::Range;

use rayon::prelude::*;

use crate::gram::{COLUMNS_AT_A_TIME, Columns, Crossing, Gram, RowBlock};
use crate::linalg::zeroed;
use crate::real::Precision;
use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::pairwise::NOBODY;
use super::scan::Combine;

/// An element that kernel rows are kept in.
pub(super) trait RowElement: Element {
    /// [`Crossing::visit_f32`] or [`Crossing::visit_f64`].
    fn visit(crossing: &dyn Crossing, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, Self>));
}

impl RowElement for f32 {
    fn visit(crossing: &dyn Crossing, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f32>)) {
        crossing.visit_f32(cols, sink);
    }
}

impl RowElement for f64 {
    fn visit(crossing: &dyn Crossing, cols: Range<usize>, sink: &mut dyn FnMut(&RowBlock<'_, f64>)) {
        crossing.visit_f64(cols, sink);
    }
}

/// Columns that one task works on: kept rows are read in pieces long enough for the memory, and the sums stay in the
/// first-level cache.
const CHUNK: usize = 4 * COLUMNS_AT_A_TIME;

/// Rows of a kernel matrix over chosen columns.
pub(super) struct Rows<'a, T> {
    columns: Box<dyn Columns + 'a>,
    width: usize,
    /// Places of `width` entries each.
    kept: Vec<T>,
    places: usize,
    /// Bytes that may be kept.
    budget: u64,
    /// The place of each row of the matrix; [`NOWHERE`] where it is not kept.
    place_of: Vec<u32>,
    /// The row kept in each place, and when it was last used.
    tenants: Vec<(u32, u64)>,
    /// Rows that were computed before. Most are needed once, and memory that was never written costs more than computing
    /// a row again: a row is kept from its second time on.
    seen: Vec<bool>,
    clock: u64,
    /// Kernel values computed so far.
    pub evaluations: u64,
}

const NOWHERE: u32 = u32::MAX;

/// Multiply-adds a kernel value must cost for its row to be kept: a cheaper one is computed in the time it takes to read it
/// from memory.
pub(super) const KEPT_FROM: usize = 96;

/// A buffer whose disjoint parts are written by several threads.
struct Shared<T>(*mut T);

// SAFETY: every use reads and writes columns that no other task touches.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<'a, T: RowElement> Rows<'a, T> {
    /// Rows of `gram` over the columns `cols`, `budget` bytes of which may be kept.
    pub fn new(gram: &'a dyn Gram, cols: &[usize], budget: u64) -> Self {
        let mut rows = Self {
            columns: gram.columns(cols),
            width: 0,
            kept: Vec::new(),
            places: 0,
            budget,
            place_of: vec![NOWHERE; gram.nrows()],
            tenants: Vec::new(),
            seen: vec![false; gram.nrows()],
            clock: 0,
            evaluations: 0,
        };
        rows.lay_out(cols.len());
        rows
    }

    fn lay_out(&mut self, width: usize) {
        self.width = width;
        let fit = self.budget / (width.max(1) * size_of::<T>()) as u64;
        let worth_it = self.columns.cost() >= KEPT_FROM;
        self.places = if worth_it { fit.min(self.place_of.len() as u64) as usize } else { 0 };
    }

    /// Looks at some of the columns from now on, by their place among the present ones, ascending. What is kept stays.
    pub fn narrow(&mut self, gram: &'a dyn Gram, chosen: &[usize], cols: &[usize]) {
        self.columns = gram.columns(cols);
        let (old, new) = (self.width, chosen.len());
        // Entries move towards the front only, so rows can be packed one after the other in place.
        for place in 0..self.tenants.len() {
            for (k, &c) in chosen.iter().enumerate() {
                self.kept[place * new + k] = self.kept[place * old + c];
            }
        }
        self.lay_out(new);
    }

    /// `f[c]` += Σ over (row, factor) of factor·K(row, c) for every column c, and `finish` on each piece of columns, in
    /// whatever order; its results are in the order of the columns.
    pub fn accumulate<R: Send>(
        &mut self,
        terms: &[(usize, f64)],
        f: &mut [f64],
        watch: &dyn Watch,
        finish: impl Fn(Range<usize>, &[f64]) -> R + Sync,
    ) -> Result<Vec<R>, Stopped> {
        self.clock += 1;
        let mut old: Vec<(usize, f64)> = Vec::new();
        let mut new: Vec<(usize, f64)> = Vec::new();
        for &(row, factor) in terms {
            let place = self.place_of[row];
            if place == NOWHERE {
                new.push((row, factor));
            } else {
                self.tenants[place as usize].1 = self.clock;
                old.push((place as usize, factor));
            }
        }
        let places = self.make_room(&new);
        self.evaluations += (new.len() * self.width) as u64;
        let fresh: Vec<usize> = new.iter().map(|(row, _)| *row).collect();
        let crossing = self.columns.cross(&fresh);
        let factors: Vec<f64> = new.iter().map(|(_, factor)| *factor).collect();
        let old_factors: Vec<f64> = old.iter().map(|(_, factor)| *factor).collect();
        let (kept, width) = (Shared(self.kept.as_mut_ptr()), self.width);
        let kept = &kept;
        f.par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, f)| {
                let start = chunk * CHUNK;
                let rows: Vec<&[T]> = old
                    .iter()
                    // SAFETY: the place holds a row, and only this task touches these of its columns.
                    .map(|(place, _)| unsafe {
                        std::slice::from_raw_parts(kept.0.add(place * width + start), f.len())
                    })
                    .collect();
                T::vectorize(Combine { out: f, rows: &rows, factors: &old_factors });
                if !fresh.is_empty() {
                    for (part, f) in f.chunks_mut(COLUMNS_AT_A_TIME).enumerate() {
                        watch.check()?;
                        let first = start + part * COLUMNS_AT_A_TIME;
                        T::visit(&*crossing, first..first + f.len(), &mut |block| {
                            let mut rows: [&[T]; 8] = [&[]; 8];
                            let count = block.rows.len();
                            for (r, place) in places[block.rows.clone()].iter().enumerate() {
                                rows[r] = &block.values[r * block.stride..][..f.len()];
                                if let Some(place) = place {
                                    // SAFETY: the place was made for this row, and only this task writes these of its
                                    // columns.
                                    unsafe {
                                        let to = kept.0.add(place * width + first);
                                        std::ptr::copy_nonoverlapping(rows[r].as_ptr(), to, f.len());
                                    }
                                }
                            }
                            let factors = &factors[block.rows.clone()];
                            T::vectorize(Combine { out: f, rows: &rows[..count], factors });
                        });
                    }
                }
                Ok(finish(start..start + f.len(), f))
            })
            .collect()
    }

    /// Places for new rows that are worth keeping: free ones, then those unused for longest. `None` for rows without a
    /// place.
    fn make_room(&mut self, new: &[(usize, f64)]) -> Vec<Option<usize>> {
        let wanted: Vec<bool> =
            new.iter().map(|&(row, _)| std::mem::replace(&mut self.seen[row], true)).collect();
        let count = wanted.iter().filter(|&&w| w).count();
        let mut found: Vec<usize> = (self.tenants.len()..self.places).take(count).collect();
        let end = self.tenants.len() + found.len();
        self.tenants.resize(end, (NOWHERE, 0));
        if self.kept.len() < end * self.width {
            // Pages that are never written cost nothing, so all that may be needed is asked for at once.
            if self.kept.is_empty() {
                self.kept = zeroed(self.places * self.width);
            } else {
                self.kept.resize(self.places * self.width, T::default());
            }
        }
        let missing = (count - found.len()).min(self.tenants.len());
        if missing > 0 {
            let mut idle: Vec<usize> = (0..self.tenants.len())
                .filter(|&p| self.tenants[p].0 != NOWHERE && self.tenants[p].1 < self.clock)
                .collect();
            let missing = missing.min(idle.len());
            if missing > 0 {
                idle.select_nth_unstable_by_key(missing - 1, |&p| (self.tenants[p].1, p));
                idle.truncate(missing);
                idle.sort_unstable();
                for &place in &idle {
                    self.place_of[self.tenants[place].0 as usize] = NOWHERE;
                }
                found.extend(idle);
            }
        }
        let mut found = found.into_iter();
        new.iter()
            .zip(wanted)
            .map(|(&(row, _), wanted)| {
                let place = if wanted { found.next()? } else { return None };
                self.tenants[place] = (row as u32, self.clock);
                self.place_of[row] = place as u32;
                Some(place)
            })
            .collect()
    }
}

/// Σᵣ aᵣ K(rowᵣ, c) for each of `cols` and each vector a of `factors`, which has one entry per row: what several machines over
/// the same samples say of them.
///
/// # Errors
/// [`Stopped`] where `watch` asks for it.
///
/// # Panics
/// Where a vector of factors has another length, or an index is out of range.
pub fn kernel_sums(
    gram: &dyn Gram,
    rows: &[usize],
    factors: &[Vec<f64>],
    cols: &[usize],
    watch: &dyn Watch,
) -> Result<Vec<Vec<f64>>, Stopped> {
    match gram.precision() {
        Precision::Single => sums::<f32>(gram, rows, factors, cols, watch),
        Precision::Double => sums::<f64>(gram, rows, factors, cols, watch),
    }
}

fn sums<T: RowElement>(
    gram: &dyn Gram,
    rows: &[usize],
    factors: &[Vec<f64>],
    cols: &[usize],
    watch: &dyn Watch,
) -> Result<Vec<Vec<f64>>, Stopped> {
    let columns = gram.columns(cols);
    let crossing = columns.cross(rows);
    let strip = |first: usize| {
        watch.check()?;
        let cols = first..cols.len().min(first + COLUMNS_AT_A_TIME);
        let mut out = vec![vec![0.0; cols.len()]; factors.len()];
        T::visit(&*crossing, cols.clone(), &mut |block| {
            let mut rows: [&[T]; 8] = [&[]; 8];
            for (r, row) in rows.iter_mut().enumerate().take(block.rows.len()) {
                *row = &block.values[r * block.stride..][..cols.len()];
            }
            for (out, factors) in out.iter_mut().zip(factors) {
                let factors = &factors[block.rows.clone()];
                T::vectorize(Combine { out, rows: &rows[..factors.len()], factors });
            }
        });
        Ok(out)
    };
    let strips: Vec<Vec<Vec<f64>>> =
        (0..cols.len()).into_par_iter().step_by(COLUMNS_AT_A_TIME).map(strip).collect::<Result<_, _>>()?;
    Ok((0..factors.len())
        .map(|k| strips.iter().flat_map(|strip| strip[k].iter().copied()).collect())
        .collect())
}

/// Fills `out`, row after row of `stride` entries, with the kernel values of `rows`, given by slot and row, with each
/// other; returns how many there are.
pub(super) fn fill_tile<T: RowElement>(
    gram: &dyn Gram,
    rows: &[(usize, usize)],
    out: &mut [T],
    stride: usize,
) -> u64 {
    let indices: Vec<usize> = rows.iter().map(|(_, row)| *row).collect();
    let columns = gram.columns(&indices);
    let crossing = columns.cross(&indices);
    let shared = Shared(out.as_mut_ptr());
    let shared = &shared;
    assert!(rows.iter().all(|(slot, _)| *slot < stride) && out.len() >= stride * stride);
    (0..indices.len()).into_par_iter().step_by(COLUMNS_AT_A_TIME).for_each(|first| {
        let cols = first..indices.len().min(first + COLUMNS_AT_A_TIME);
        T::visit(&*crossing, cols.clone(), &mut |block| {
            for (r, place) in block.rows.clone().enumerate() {
                let row = rows[place].0 * stride;
                let values = &block.values[r * block.stride..];
                for (value, (slot, _)) in values.iter().zip(&rows[cols.clone()]) {
                    // SAFETY: slots are below the stride, by the assertion, and only this task writes these columns.
                    unsafe { *shared.0.add(row + slot) = *value };
                }
            }
        });
    });
    (indices.len() * indices.len()) as u64
}

/// Kernel values that are computed by the calling thread alone, in multiply-adds: fewer are done before another wakes up.
const ALONE: usize = 1 << 22;

/// Fills `out` with the kernel values of `rows` with all columns, row after row of as many entries as there are slots;
/// columns are those of the slots that have a variable. Returns how many values there are.
pub(super) fn fill_rows<T: RowElement>(
    columns: &dyn Columns,
    rows: &[usize],
    slots: &[usize],
    out: &mut [T],
) -> u64 {
    let (n, stride) = (columns.len(), slots.len());
    let crossing = columns.cross(rows);
    // Slots without a variable stand at the end of the first group and at the end of all.
    let first = slots.iter().position(|&v| v == NOBODY).unwrap_or(stride).min(n);
    let gap = slots[first..].iter().take_while(|&&v| v == NOBODY).count();
    let shared = Shared(out.as_mut_ptr());
    let shared = &shared;
    assert!(out.len() == rows.len() * stride && n + if first < n { gap } else { 0 } <= stride);
    let visit = |start: usize| {
        let cols = start..n.min(start + COLUMNS_AT_A_TIME);
        let cut = first.clamp(cols.start, cols.end);
        T::visit(&*crossing, cols.clone(), &mut |block| {
            for (r, row) in block.rows.clone().enumerate() {
                let values = &block.values[r * block.stride..][..cols.len()];
                let (before, after) = values.split_at(cut - cols.start);
                // SAFETY: slots are below the stride, by the assertion, and only this visit writes these columns.
                unsafe {
                    let to = shared.0.add(row * stride);
                    std::ptr::copy_nonoverlapping(before.as_ptr(), to.add(cols.start), before.len());
                    std::ptr::copy_nonoverlapping(after.as_ptr(), to.add(cut + gap), after.len());
                }
            }
        });
    };
    if rows.len() * n * (columns.cost() + 16) < ALONE {
        (0..n).step_by(COLUMNS_AT_A_TIME).for_each(visit);
    } else {
        (0..n).into_par_iter().step_by(COLUMNS_AT_A_TIME).for_each(visit);
    }
    (rows.len() * n) as u64
}
