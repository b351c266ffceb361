//! Sums of kernel rows over chosen columns. Rows are cached while there is room; others are computed.

use rayon::prelude::*;

use crate::gram::operator::{EXPENSIVE_VALUE, Ends, KeepRows, Policy, RowSums};
use crate::gram::values::{TileMut, with_values};
use crate::linalg::zeroed;
use crate::real::Precision;
use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::columns::{COLUMNS_PER_VISIT, ColumnSource, Columns, Crossing, RowBlock};
use super::combine::Combine;
use super::part::{ALONE, AnySource, Target, visits};
use super::store::Shared;

/// Columns that one task works on: kept rows are read in pieces long enough for the memory, and the sums stay in the
/// first-level cache.
const TASK: usize = 4 * COLUMNS_PER_VISIT;

/// Sums that the calling thread computes alone, in multiply-adds.
const SUMS_ALONE: usize = 1 << 18;

/// [`Gram::row_sums`](crate::gram::Gram::row_sums).
pub(in crate::gram) fn row_sums<'a>(
    source: &'a impl AnySource,
    columns: &[usize],
    keep: KeepRows,
) -> Box<dyn RowSums + 'a> {
    match keep.precision {
        Precision::Single => Box::new(CpuRowSums::<f32>::new(source, columns, keep)),
        Precision::Double => Box::new(CpuRowSums::<f64>::new(source, columns, keep)),
    }
}

/// Rows of a kernel matrix over chosen columns.
struct CpuRowSums<'a, T> {
    source: &'a dyn ColumnSource<T>,
    keep: KeepRows,
    /// The chosen columns, by their index in the matrix.
    chosen: Vec<usize>,
    columns: Box<dyn Columns<T> + 'a>,
    /// Slots for cached rows, each with one entry per chosen column.
    kept: Vec<T>,
    places: usize,
    /// The slot of each row of the matrix; [`NOWHERE`] if it is not cached. Empty until the first sum.
    place_of: Vec<u32>,
    /// The row in each slot, and when it was last used.
    tenants: Vec<(u32, u64)>,
    /// Rows that were computed before. Empty until the first sum.
    seen: Vec<bool>,
    clock: u64,
    evaluations: u64,
}

const NOWHERE: u32 = u32::MAX;

impl<'a, T: Element> CpuRowSums<'a, T> {
    fn new(source: &'a dyn ColumnSource<T>, columns: &[usize], keep: KeepRows) -> Self {
        let mut sums = Self {
            source,
            keep,
            chosen: columns.to_vec(),
            columns: source.columns(columns),
            kept: Vec::new(),
            places: 0,
            place_of: Vec::new(),
            tenants: Vec::new(),
            seen: Vec::new(),
            clock: 0,
            evaluations: 0,
        };
        sums.count_places();
        sums
    }

    fn width(&self) -> usize {
        self.chosen.len()
    }

    /// How many rows of the present width may be cached.
    fn count_places(&mut self) {
        let (rows, cost) = (self.source.order() as u64, self.source.value_cost());
        let fit = (self.keep.bytes / (self.width().max(1) * size_of::<T>()) as u64).min(rows);
        self.places = match self.keep.policy {
            Policy::Always if cost > 0 => fit.max(1) as usize,
            Policy::SecondUse if cost >= EXPENSIVE_VALUE => fit as usize,
            _ => 0,
        };
    }

    /// The terms whose rows are cached, with their slots, and the others.
    fn split(&mut self, terms: &[(usize, f64)]) -> [Vec<(usize, f64)>; 2] {
        if self.place_of.is_empty() {
            self.place_of = vec![NOWHERE; self.source.order()];
            self.seen = vec![false; self.source.order()];
        }
        let (mut kept, mut new) = (Vec::new(), Vec::new());
        for &(row, factor) in terms {
            let place = self.place_of[row];
            if place == NOWHERE {
                new.push((row, factor));
            } else {
                self.tenants[place as usize].1 = self.clock;
                kept.push((place as usize, factor));
            }
        }
        [kept, new]
    }

    /// Slots for new rows that are worth caching: free ones, then the least recently used. `None` for rows without a
    /// slot.
    fn make_room(&mut self, new: &[(usize, f64)]) -> Vec<Option<usize>> {
        let always = self.keep.policy == Policy::Always;
        let wanted: Vec<bool> =
            new.iter().map(|&(row, _)| std::mem::replace(&mut self.seen[row], true) || always).collect();
        let count = wanted.iter().filter(|&&w| w).count();
        let mut found: Vec<usize> = (self.tenants.len()..self.places).take(count).collect();
        let end = self.tenants.len() + found.len();
        self.tenants.resize(end, (NOWHERE, 0));
        if self.kept.len() < end * self.width() {
            // Pages that are never written cost nothing, so the largest size is allocated at once.
            let needed = self.places * self.width();
            if self.kept.is_empty() {
                self.kept = zeroed(needed);
            } else {
                self.kept.resize(needed, T::default());
            }
        }
        found.extend(self.evict(count - found.len()));
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

    /// Frees up to `count` slots whose rows were not used in this call, the least recently used first.
    fn evict(&mut self, count: usize) -> Vec<usize> {
        if count == 0 {
            return Vec::new();
        }
        let mut idle: Vec<usize> = (0..self.tenants.len())
            .filter(|&p| self.tenants[p].0 != NOWHERE && self.tenants[p].1 < self.clock)
            .collect();
        let count = count.min(idle.len());
        if count > 0 {
            idle.select_nth_unstable_by_key(count - 1, |&p| (self.tenants[p].1, p));
        }
        idle.truncate(count);
        idle.sort_unstable();
        for &place in &idle {
            self.place_of[self.tenants[place].0 as usize] = NOWHERE;
        }
        idle
    }
}

impl<T: Element> RowSums for CpuRowSums<'_, T> {
    fn add(
        &mut self,
        terms: &[(usize, f64)],
        f: &mut [f64],
        ends: Option<Ends<'_>>,
        watch: &dyn Watch,
    ) -> Result<Vec<(f64, f64)>, Stopped> {
        assert_eq!(f.len(), self.width(), "one sum for each column");
        self.clock += 1;
        let [kept, new] = self.split(terms);
        let places = self.make_room(&new);
        self.evaluations += (new.len() * self.width()) as u64;
        let (rows, new_factors): (Vec<usize>, Vec<f64>) = new.into_iter().unzip();
        let (kept_places, kept_factors): (Vec<usize>, Vec<f64>) = kept.into_iter().unzip();
        let crossing = (!rows.is_empty()).then(|| self.columns.cross(&rows));
        let pass = Pass {
            kept: Shared(self.kept.as_mut_ptr()),
            width: self.chosen.len(),
            kept_places: &kept_places,
            kept_factors: &kept_factors,
            crossing: crossing.as_deref(),
            new_places: &places,
            new_factors: &new_factors,
            ends,
            watch,
        };
        let work = f.len() * (kept_places.len() + rows.len() * (self.source.value_cost() + 16));
        let task = |(task, f): (usize, &mut [f64])| pass.run(task * TASK, f);
        let parts: Vec<Vec<(f64, f64)>> = if work < SUMS_ALONE {
            f.chunks_mut(TASK).enumerate().map(task).collect::<Result<_, _>>()?
        } else {
            f.par_chunks_mut(TASK).enumerate().map(task).collect::<Result<_, _>>()?
        };
        let mut found = vec![(f64::INFINITY, f64::NEG_INFINITY); ends.map_or(0, |ends| ends.groups.len())];
        for part in parts {
            for (end, part) in found.iter_mut().zip(part) {
                *end = (end.0.min(part.0), end.1.max(part.1));
            }
        }
        Ok(found)
    }

    fn rows(&mut self, rows: &[usize], out: TileMut<'_>) {
        let places = out.places(rows.len(), self.width());
        let alone = rows.len() * self.width() * (self.source.value_cost() + 16) < ALONE;
        let crossing = self.columns.cross(rows);
        with_values!(ValuesMut, out.values, values => {
            visits(&*crossing, 0, self.width(), alone, &Target::new(values, out.stride, places));
        });
        self.evaluations += (rows.len() * self.width()) as u64;
    }

    fn narrow(&mut self, kept: &[usize]) {
        let (old, new) = (self.width(), kept.len());
        self.chosen = kept.iter().map(|&k| self.chosen[k]).collect();
        self.columns = self.source.columns(&self.chosen);
        // Entries move towards the front only, so rows can be packed one after the other in place.
        for place in 0..self.tenants.len() {
            for (k, &c) in kept.iter().enumerate() {
                self.kept[place * new + k] = self.kept[place * old + c];
            }
        }
        self.count_places();
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// One call of [`RowSums::add`], as every task sees it.
struct Pass<'a, T> {
    kept: Shared<T>,
    width: usize,
    kept_places: &'a [usize],
    kept_factors: &'a [f64],
    /// The rows that are not cached, if any.
    crossing: Option<&'a (dyn Crossing<T> + 'a)>,
    /// The slot for each of them.
    new_places: &'a [Option<usize>],
    new_factors: &'a [f64],
    ends: Option<Ends<'a>>,
    watch: &'a dyn Watch,
}

impl<T: Element> Pass<'_, T> {
    /// Adds all rows to the sums `f` of the columns from `start` on; returns the extremes of each group within them.
    fn run(&self, start: usize, f: &mut [f64]) -> Result<Vec<(f64, f64)>, Stopped> {
        let row = |place: &usize| {
            // SAFETY: the place holds a row, and only this task touches these of its columns.
            unsafe { std::slice::from_raw_parts(self.kept.0.add(place * self.width + start), f.len()) }
        };
        let rows: Vec<&[T]> = self.kept_places.iter().map(row).collect();
        T::vectorize(Combine { out: f, rows: &rows, factors: self.kept_factors });
        if let Some(crossing) = self.crossing {
            for (part, f) in f.chunks_mut(COLUMNS_PER_VISIT).enumerate() {
                self.watch.check()?;
                let first = start + part * COLUMNS_PER_VISIT;
                crossing.visit(first..first + f.len(), &mut |block| self.add_block(block, first, f));
            }
        }
        Ok(self.ends.map_or_else(Vec::new, |ends| ends.extremes(start, f)))
    }

    /// Adds a few new rows to the sums of a visit, and copies those that are kept.
    fn add_block(&self, block: &RowBlock<'_, T>, first: usize, f: &mut [f64]) {
        let mut rows: [&[T]; 8] = [&[]; 8];
        let count = block.rows.len();
        for (r, place) in self.new_places[block.rows.clone()].iter().enumerate() {
            rows[r] = &block.values[r * block.stride..][..f.len()];
            if let Some(place) = place {
                // SAFETY: the place was made for this row, and only this task writes these of its columns.
                unsafe {
                    let to = self.kept.0.add(place * self.width + first);
                    std::ptr::copy_nonoverlapping(rows[r].as_ptr(), to, f.len());
                }
            }
        }
        let factors = &self.new_factors[block.rows.clone()];
        T::vectorize(Combine { out: f, rows: &rows[..count], factors });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{DenseGram, Gram};
    use crate::watch::Unwatched;
    use std::borrow::Cow;

    /// A stored matrix whose values count as expensive, so that rows are kept.
    struct Expensive(DenseGram<'static, f64>);

    impl<O: crate::real::Real> ColumnSource<O> for Expensive {
        fn order(&self) -> usize {
            ColumnSource::<O>::order(&self.0)
        }

        fn value_cost(&self) -> usize {
            EXPENSIVE_VALUE
        }

        fn columns<'a>(&'a self, columns: &[usize]) -> Box<dyn Columns<O> + 'a> {
            self.0.columns(columns)
        }
    }

    fn matrix(n: usize) -> Expensive {
        let entries = (0..n * n).map(|k| ((k * 37) % 101) as f64).collect::<Vec<_>>();
        Expensive(DenseGram::new(n, Cow::Owned(entries)))
    }

    fn kept_rows(sums: &CpuRowSums<'_, f64>) -> Vec<usize> {
        (0..sums.place_of.len()).filter(|&row| sums.place_of[row] != NOWHERE).collect()
    }

    #[test]
    fn keeps_the_rows_used_last() {
        let matrix = matrix(4);
        let keep = KeepRows { bytes: 2 * 4 * 8, precision: Precision::Double, policy: Policy::Always };
        let mut sums = CpuRowSums::<f64>::new(&matrix, &[0, 1, 2, 3], keep);
        for i in [0, 1, 0, 2, 0, 3, 1, 0] {
            let mut f = vec![0.0; 4];
            sums.add(&[(i, 1.0)], &mut f, None, &Unwatched).unwrap();
            assert_eq!(f, (0..4).map(|j| ((4 * i + j) * 37 % 101) as f64).collect::<Vec<_>>());
            assert!(kept_rows(&sums).len() <= 2);
        }
        assert_eq!(kept_rows(&sums), [0, 1]);
        // Rows 0, 1, 2 and 3 were computed, then 1 and 0 again.
        assert_eq!(sums.evaluations(), 4 * 6);
    }

    #[test]
    fn one_row_is_always_kept_where_that_is_the_policy() {
        let matrix = matrix(3);
        let keep = KeepRows { bytes: 0, precision: Precision::Double, policy: Policy::Always };
        let mut sums = CpuRowSums::<f64>::new(&matrix, &[0, 2], keep);
        for _ in 0..3 {
            sums.add(&[(1, 1.0)], &mut [0.0; 2], None, &Unwatched).unwrap();
        }
        assert_eq!(sums.evaluations(), 2);
    }

    #[test]
    fn narrowed_sums_match_the_remaining_columns() {
        let matrix = matrix(300);
        let all: Vec<usize> = (0..300).collect();
        let keep = KeepRows { bytes: 1 << 20, precision: Precision::Double, policy: Policy::SecondUse };
        let mut sums = CpuRowSums::<f64>::new(&matrix, &all, keep);
        let terms = [(3, 2.0), (7, -1.0), (250, 0.5)];
        for _ in 0..2 {
            sums.add(&terms, &mut vec![0.0; 300], None, &Unwatched).unwrap();
        }
        assert_eq!(kept_rows(&sums), [3, 7, 250]);
        let remaining: Vec<usize> = (0..300).filter(|c| c % 3 != 1).collect();
        sums.narrow(&remaining);
        let mut f = vec![0.0; 200];
        let (up, low) = (vec![0.0; 200], vec![0.0; 200]);
        let ends = Ends { groups: &[0..50, 50..200], up: &up, low: &low };
        let found = sums.add(&terms, &mut f, Some(ends), &Unwatched).unwrap();
        let mut expected = vec![0.0; 300 * 3];
        matrix.0.block(&[3, 7, 250], &all, TileMut::new(&mut expected, 300));
        let sum = |c: usize| 2.0 * expected[c] - expected[300 + c] + 0.5 * expected[600 + c];
        assert_eq!(f, remaining.iter().map(|&c| sum(c)).collect::<Vec<_>>());
        let least = f[..50].iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = f[50..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!((found[0].0, found[1].1), (least, greatest));
    }
}
