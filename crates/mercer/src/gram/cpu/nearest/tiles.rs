//! Tiles of distances and the candidates kept from them.

use std::collections::BinaryHeap;
use std::ops::Range;

use rayon::prelude::*;

use crate::data::AnySamples;
use crate::data::with_samples;
use crate::gram::engine::GramError;
use crate::tile::{Element, Filler, Operand, Plan, Program, Rectangle, Scratch, longest_sum, scan};
use crate::watch::{Stopped, Watch};

use super::arrange::{Arranged, Group};
use super::{Metric, Near, Search, TILE};

/// One side of the search, in groups: bands of queries or tiles of rows.
pub(super) struct Side<'a> {
    len: usize,
    size: usize,
    arranged: Option<&'a Arranged>,
}

impl<'a> Side<'a> {
    /// Samples in their own order.
    pub fn plain(samples: &AnySamples<'_>, size: usize) -> Self {
        Self { len: samples.nrows(), size, arranged: None }
    }

    /// Arranged samples.
    pub fn arranged(arranged: &'a Arranged, size: usize) -> Self {
        Self { len: arranged.numbers.len(), size, arranged: Some(arranged) }
    }

    fn groups(&self) -> usize {
        self.len.div_ceil(self.size)
    }

    fn group(&self, group: usize) -> Option<&Group> {
        self.arranged.map(|arranged| &arranged.groups[group])
    }

    fn members(&self, group: usize) -> Range<usize> {
        group * self.size..self.len.min((group + 1) * self.size)
    }

    /// The original number of a sample.
    fn number(&self, place: usize) -> usize {
        self.arranged.map_or(place, |arranged| arranged.numbers[place])
    }
}

/// Both sides, packed for tiles of the measure in `T`, with bounds on the error of the tiles.
pub(super) struct Tiles<'a, T: Element> {
    search: &'a Search<'a>,
    bands: &'a Side<'a>,
    tiles: &'a Side<'a>,
    pub(super) filler: Filler,
    pub(super) queries: Operand<T>,
    pub(super) rows: Operand<T>,
    /// |x − c| of every query in the metric, with c the centre of both sides.
    sizes: Vec<f64>,
    /// The largest |z − c| in each tile of rows.
    reaches: Vec<f64>,
    /// The error in units of a pair's size, (|x − c| + |z − c|)² or, of Manhattan distances, that sum.
    relative: f64,
}

impl<'a, T: Element> Tiles<'a, T> {
    /// Packs both sides, the queries in bands and the rows in tiles. O((m + n)d).
    pub fn new(
        search: &'a Search<'a>,
        [bands, tiles]: &'a [Side<'a>; 2],
        sparse: bool,
    ) -> Result<Self, GramError> {
        let ncols = search.rows.ncols();
        let program = Program::compile(&search.kernel(), ncols)?;
        let double = T::EPSILON == f64::EPSILON;
        let centre = if sparse { vec![0.0; ncols] } else { search.centre.to_vec() };
        let plan = Plan::of_distance(&program, &centre, sparse, double);
        let sizes_of = |samples| sizes(samples, &centre, search.metric);
        let sizes = sizes_of(search.queries);
        let reaches = sizes_of(search.rows)
            .chunks(TILE)
            .map(|sizes| sizes.iter().copied().fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a }))
            .collect();
        let queries = Operand::new(&program, &plan, search.queries);
        let rows = Operand::new(&program, &plan, search.rows);
        // Higham (2002), section 3.1: a sum of d terms errs by at most d units of the sum of their sizes, and so does the
        // measure that decides, in units of double precision. Rounding the centred coordinates, the final sum and the
        // limit itself add a few more; a tenth covers terms of second order while dε is small.
        let units = |epsilon: f64, terms: usize| 0.5 * epsilon * (terms as f64 + 12.0);
        let terms = if sparse { ncols } else { longest_sum(ncols) };
        let relative = 1.1 * (units(T::EPSILON, terms) + units(f64::EPSILON, ncols));
        let filler = Filler::new(program, plan);
        Ok(Self { search, bands, tiles, filler, queries, rows, sizes, reaches, relative })
    }

    /// How far a tile's value for query `i` may be from the measure, for rows of tile `tile`.
    pub fn error(&self, i: usize, tile: usize) -> f64 {
        let size = self.sizes[i] + self.reaches[tile];
        let scale = if self.search.metric == Metric::Euclidean { size * size } else { size };
        let double = T::EPSILON == f64::EPSILON;
        let (smallest, largest) =
            if double { (f64::MIN_POSITIVE, f64::MAX) } else { (f32::MIN_POSITIVE.into(), f32::MAX.into()) };
        // A sum that may overflow gives no bound, and below the smallest normal number errors are no longer relative.
        if scale > 0.25 * largest { f64::INFINITY } else { self.relative * (scale + smallest * (1.0 + size)) }
    }

    /// Searches for the queries of every unfinished band, if tiles in `T` are precise enough to tell rows apart.
    pub fn search(&self, found: &mut [Option<Vec<Vec<Near>>>], watch: &dyn Watch) -> Result<(), Stopped> {
        found.par_iter_mut().enumerate().filter(|(_, found)| found.is_none()).try_for_each_init(
            Scratch::default,
            |scratch, (band, found)| {
                *found = self.band(band, scratch, watch)?;
                if found.is_some() {
                    watch.advance(1);
                }
                Ok(())
            },
        )
    }

    /// The nearest rows of each query of a band; `None` if single precision does not tell rows apart.
    pub fn band(
        &self,
        band: usize,
        scratch: &mut Scratch<T>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Vec<Near>>>, Stopped> {
        let k = self.search.k;
        let queries = self.bands.members(band);
        let mut best: Vec<Best> =
            queries.clone().map(|_| Best { k, heap: BinaryHeap::with_capacity(k) }).collect();
        let mut limits = vec![T::from_f64(f64::INFINITY); queries.len()];
        let (mut measured, mut seen) = (0, 0);
        for (first, tile) in self.visits(band) {
            // No row of the tile comes before `first`: it is at least as far, and where it is as far, its number is no lower.
            if best.iter().all(|best| best.is_settled(first)) {
                continue;
            }
            watch.check()?;
            let cols = self.tiles.members(tile);
            let limit = |best: &Best, i: usize| {
                T::from_f64((best.farthest() + self.error(i, tile)) * (1.0 + 2.0 * T::EPSILON))
            };
            for ((i, best), out) in queries.clone().zip(&best).zip(&mut limits) {
                *out = if best.is_settled(first) { T::from_f64(f64::NEG_INFINITY) } else { limit(best, i) };
            }
            let rectangle =
                Rectangle { x: &self.queries, rows: queries.clone(), z: &self.rows, cols: cols.clone() };
            self.filler.fill(&rectangle, scratch, &mut |block| {
                let here = block.rows.start - queries.start..block.rows.end - queries.start;
                let best = &mut best[here.clone()];
                scan(block, cols.len(), &mut limits[here], &mut |r, column| {
                    let (query, row) = (block.rows.start + r, cols.start + column);
                    measured += 1;
                    best[r].offer(Near {
                        measure: self.search.measure(query, row),
                        row: self.tiles.number(row),
                    });
                    limit(&best[r], query)
                });
            });
            seen += cols.len();
            if T::EPSILON > f64::EPSILON && measured > queries.len() * (16 * k + 64 + seen / 16) {
                return Ok(None);
            }
        }
        Ok(Some(best.into_iter().map(|best| best.heap.into_sorted_vec()).collect()))
    }

    /// The tiles in the order in which a band visits them, each with a lower bound of its rows' measure.
    fn visits(&self, band: usize) -> Vec<(Near, usize)> {
        let mut visits: Vec<(Near, usize)> = (0..self.tiles.groups())
            .map(|tile| match (self.bands.group(band), self.tiles.group(tile)) {
                (Some(band), Some(group)) => {
                    (Near { measure: band.measure(group, self.search.metric), row: group.least }, tile)
                }
                _ => (Near { measure: 0.0, row: self.tiles.members(tile).start }, tile),
            })
            .collect();
        visits.sort_unstable();
        visits
    }
}

/// The k nearest of the rows seen so far.
struct Best {
    k: usize,
    heap: BinaryHeap<Near>,
}

impl Best {
    /// Adds a row if it is among the k nearest.
    fn offer(&mut self, near: Near) {
        if self.heap.len() < self.k {
            self.heap.push(near);
        } else if let Some(mut farthest) = self.heap.peek_mut()
            && near < *farthest
        {
            *farthest = near;
        }
    }

    /// The measure of the k-th nearest, infinite while there are fewer.
    fn farthest(&self) -> f64 {
        match self.heap.peek() {
            Some(farthest) if self.heap.len() == self.k => farthest.measure,
            _ => f64::INFINITY,
        }
    }

    /// Whether neither `near` nor any row after it is among the k nearest.
    fn is_settled(&self, near: Near) -> bool {
        self.heap.len() == self.k && self.heap.peek().is_some_and(|farthest| near > *farthest)
    }
}

/// An upper bound, up to rounding, of |x − centre| in the metric for every row.
fn sizes(samples: &AnySamples<'_>, centre: &[f64], metric: Metric) -> Vec<f64> {
    let norm = |entries: &mut dyn Iterator<Item = f64>| match metric {
        Metric::Euclidean => entries.map(|v| v * v).sum::<f64>().sqrt(),
        _ => entries.map(f64::abs).sum(),
    };
    let of_centre = norm(&mut centre.iter().copied());
    with_samples!(samples, s => (0..s.nrows())
        .into_par_iter()
        .map(|i| {
            if s.is_sparse() {
                norm(&mut s.stored_row(i).map(|(_, v)| v)) + of_centre
            } else {
                norm(&mut s.stored_row(i).map(|(column, v)| v - centre[column]))
            }
        })
        .collect())
}
