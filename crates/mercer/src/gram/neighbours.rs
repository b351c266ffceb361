//! The nearest rows: tiles of distances, and from each the few that may count.
//!
//! Tiles are computed in single precision whatever the data, so a tile's value v is only known to be within some e of the
//! squared distance. A row can be among the k nearest only where v ≤ d + e, with d the k-th smallest squared distance so far;
//! those few are computed again from differences of coordinates in double precision, and that number alone decides. So
//! the answer does not depend on how tiles are computed. Where so many pass that nothing is gained, which takes distances far
//! below the spread of the data, tiles are computed again in double precision.

use std::collections::BinaryHeap;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Samples, Storage};
use crate::kernel::{Expr, Kernel};
use crate::real::Real;
use crate::tile::{Element, Filler, Operand, Plan, Program, Rectangle, Scratch, longest_sum, scan};
use crate::watch::{Stopped, Watch};
use crate::with_samples;

use super::cpu::means;
use super::density::walks_sparse;
use super::engine::GramError;

/// How far apart two rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// √Σⱼ(xⱼ−zⱼ)².
    #[default]
    Euclidean,
    /// Σⱼ|xⱼ−zⱼ|.
    Manhattan,
}

impl Metric {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::Manhattan => "manhattan",
        }
    }
}

/// The nearest rows of each query, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// How many each query has.
    pub k: usize,
    /// Their numbers, k for each query, query after query.
    pub rows: Vec<usize>,
    /// Their distances, beside them.
    pub distances: Vec<f64>,
}

impl Nearest {
    /// The nearest rows of one query and their distances.
    pub fn of(&self, query: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let here = query * self.k..(query + 1) * self.k;
        self.rows[here.clone()].iter().copied().zip(self.distances[here].iter().copied())
    }
}

/// The `min(k, n)` rows nearest to each query, of equally distant ones those with the lowest numbers.
///
/// Distances are those of the plain formula in double precision, summed over the columns in their order, whatever the storage.
/// O(mnd) time for m queries and n rows; O(mk) memory for the answer and O((m + n)d) for packed copies.
///
/// ```
/// use mercer::data::{AnySamples, Samples};
/// use mercer::gram::{Metric, neighbours};
/// use mercer::watch::Unwatched;
///
/// let rows = AnySamples::F64(Samples::dense(3, 1, vec![0.0, 1.0, 5.0])?);
/// let query = AnySamples::F64(Samples::dense(1, 1, vec![3.0])?);
/// let nearest = neighbours(&rows, &query, 2, Metric::Euclidean, &Unwatched)?;
/// assert_eq!(nearest.of(0).collect::<Vec<_>>(), [(1, 2.0), (2, 2.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Where rows and queries have different numbers of columns, and where `watch` asks to stop.
pub fn neighbours(
    rows: &AnySamples<'_>,
    queries: &AnySamples<'_>,
    k: usize,
    metric: Metric,
    watch: &dyn Watch,
) -> Result<Nearest, GramError> {
    if rows.ncols() != queries.ncols() {
        return Err(GramError::Columns { rows: queries.ncols(), cols: rows.ncols() });
    }
    let k = k.min(rows.nrows());
    if k == 0 {
        return Ok(Nearest { k, rows: Vec::new(), distances: Vec::new() });
    }
    let search = Search { rows, queries, k, metric };
    let bands: Vec<Range<usize>> =
        (0..queries.nrows()).step_by(BAND).map(|first| first..queries.nrows().min(first + BAND)).collect();
    watch.begin("neighbours", bands.len() as u64);
    let sparse = walks_sparse(queries, rows);
    let mut found: Vec<Option<Vec<Near>>> = vec![None; bands.len()];
    // Sums of sparse rows are in double precision as it is.
    if !sparse {
        Tiles::<f32>::new(&search, sparse)?.search(&search, &bands, &mut found, watch)?;
    }
    if found.iter().any(Option::is_none) {
        Tiles::<f64>::new(&search, sparse)?.search(&search, &bands, &mut found, watch)?;
    }
    let found = || found.iter().flatten().flatten();
    Ok(Nearest {
        k,
        rows: found().map(|near| near.row).collect(),
        distances: found()
            .map(|near| if metric == Metric::Euclidean { near.measure.sqrt() } else { near.measure })
            .collect(),
    })
}

/// Queries that are searched for together: a multiple of every panel.
const BAND: usize = 128;

/// Rows in a tile: a multiple of every panel. Their panels stay in cache while the queries of a band go by.
const TILE: usize = 256;

/// A row and its squared Euclidean or Manhattan distance to a query, in the order of nearness.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Near {
    measure: f64,
    row: usize,
}

impl Eq for Near {}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.measure.total_cmp(&other.measure).then(self.row.cmp(&other.row))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What is looked for.
struct Search<'a> {
    rows: &'a AnySamples<'a>,
    queries: &'a AnySamples<'a>,
    k: usize,
    metric: Metric,
}

impl Search<'_> {
    /// The measure that decides, from differences of coordinates.
    fn measure(&self, query: usize, row: usize) -> f64 {
        with_samples!(self.queries, x => with_samples!(self.rows, z => match self.metric {
            Metric::Euclidean => sum_of_differences(x, query, z, row, |difference| difference * difference),
            Metric::Manhattan => sum_of_differences(x, query, z, row, f64::abs),
        }))
    }

    /// The kernel whose values are the measure.
    fn kernel(&self) -> Kernel {
        Kernel::from_expr(match self.metric {
            Metric::Euclidean => Expr::Pow(Box::new(Expr::Distance), Box::new(Expr::Number(2.0))),
            Metric::Manhattan => Expr::Distance1,
        })
    }
}

/// Σⱼ term(xⱼ − zⱼ) over the columns in their order; columns that neither stores add nothing.
fn sum_of_differences<X: Real, Z: Real>(
    x: &Samples<'_, X>,
    i: usize,
    z: &Samples<'_, Z>,
    j: usize,
    term: impl Fn(f64) -> f64,
) -> f64 {
    if let (Storage::Dense(a), Storage::Dense(b)) = (x.storage(), z.storage()) {
        let (a, b) = (&a[i * x.ncols()..(i + 1) * x.ncols()], &b[j * z.ncols()..(j + 1) * z.ncols()]);
        return a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + term(a.to_f64() - b.to_f64()));
    }
    let (mut a, mut b) = (x.stored_row(i).peekable(), z.stored_row(j).peekable());
    let mut sum = 0.0;
    loop {
        let column = match (a.peek(), b.peek()) {
            (Some((p, _)), Some((q, _))) => *p.min(q),
            (Some((p, _)), None) | (None, Some((p, _))) => *p,
            (None, None) => return sum,
        };
        let left = a.next_if(|(p, _)| *p == column).map_or(0.0, |(_, v)| v);
        let right = b.next_if(|(q, _)| *q == column).map_or(0.0, |(_, v)| v);
        sum += term(left - right);
    }
}

/// Both sides, packed for tiles of the measure in `T`, with what bounds the error of those.
struct Tiles<T: Element> {
    filler: Filler,
    queries: Operand<T>,
    rows: Operand<T>,
    /// |x − c| of every query in the metric, c being what both sides are centred on.
    sizes: Vec<f64>,
    /// The largest |z − c| in each tile of rows.
    reaches: Vec<f64>,
    /// The error in units of a pair's size, (|x − c| + |z − c|)² or, of Manhattan distances, that sum.
    relative: f64,
}

impl<T: Element> Tiles<T> {
    fn new(search: &Search<'_>, sparse: bool) -> Result<Self, GramError> {
        let ncols = search.rows.ncols();
        let program = Program::compile(&search.kernel(), ncols)?;
        let double = T::EPSILON == f64::EPSILON;
        let centre = if sparse { vec![0.0; ncols] } else { with_samples!(search.rows, rows => means(rows)) };
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
        // measure that decides, in units of double precision. Rounding the centred coordinates, the final
        // sum and the limit itself add a few more; a tenth covers what is of second order while dε is small.
        let units = |epsilon: f64, terms: usize| 0.5 * epsilon * (terms as f64 + 12.0);
        let terms = if sparse { ncols } else { longest_sum(ncols) };
        let relative = 1.1 * (units(T::EPSILON, terms) + units(f64::EPSILON, ncols));
        Ok(Self { filler: Filler::new(program, plan), queries, rows, sizes, reaches, relative })
    }

    /// How far a tile's value for query `i` may be above the measure, for rows of tile `tile`.
    fn error(&self, metric: Metric, i: usize, tile: usize) -> f64 {
        let size = self.sizes[i] + self.reaches[tile];
        let scale = if metric == Metric::Euclidean { size * size } else { size };
        // Below the smallest normal number errors are no longer relative.
        let smallest =
            if T::EPSILON == f64::EPSILON { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
        self.relative * (scale + smallest * (1.0 + size))
    }

    /// Searches for the queries of every band that is still to be found, as far as tiles in `T` tell rows apart.
    fn search(
        &self,
        search: &Search<'_>,
        bands: &[Range<usize>],
        found: &mut [Option<Vec<Near>>],
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        bands.par_iter().zip(found).filter(|(_, found)| found.is_none()).try_for_each_init(
            Scratch::default,
            |scratch, (band, found)| {
                *found = self.band(search, band.clone(), scratch, watch)?;
                if found.is_some() {
                    watch.advance(1);
                }
                Ok(())
            },
        )
    }

    /// The nearest rows of the queries of a band; none where single precision does not tell rows apart.
    fn band(
        &self,
        search: &Search<'_>,
        band: Range<usize>,
        scratch: &mut Scratch<T>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Near>>, Stopped> {
        let (n, k) = (search.rows.nrows(), search.k);
        let mut best: Vec<Best> =
            band.clone().map(|_| Best { k, heap: BinaryHeap::with_capacity(k) }).collect();
        let mut limits = vec![T::from_f64(f64::INFINITY); band.len()];
        let mut measured = 0;
        for (tile, first) in (0..n).step_by(TILE).enumerate() {
            watch.check()?;
            let cols = first..n.min(first + TILE);
            let limit = |best: &Best, i: usize| {
                let limit = best.least_too_far() + self.error(search.metric, i, tile);
                T::from_f64(limit * (1.0 + 2.0 * T::EPSILON))
            };
            for ((i, best), out) in band.clone().zip(&best).zip(&mut limits) {
                *out = limit(best, i);
            }
            let rectangle =
                Rectangle { x: &self.queries, rows: band.clone(), z: &self.rows, cols: cols.clone() };
            self.filler.fill(&rectangle, scratch, &mut |block| {
                let here = block.rows.start - band.start..block.rows.end - band.start;
                let best = &mut best[here.clone()];
                scan(block, cols.len(), &mut limits[here], &mut |r, column| {
                    let (query, row) = (block.rows.start + r, first + column);
                    measured += 1;
                    best[r].offer(Near { measure: search.measure(query, row), row });
                    limit(&best[r], query)
                });
            });
            let usual = band.len() * (16 * k + 64 + cols.end / 16);
            if T::EPSILON > f64::EPSILON && measured > usual {
                return Ok(None);
            }
        }
        Ok(Some(best.into_iter().flat_map(|best| best.heap.into_sorted_vec()).collect()))
    }
}

/// The k nearest of the rows seen so far.
struct Best {
    k: usize,
    heap: BinaryHeap<Near>,
}

impl Best {
    /// Takes a row in where it is among the k nearest.
    fn offer(&mut self, near: Near) {
        if self.heap.len() < self.k {
            self.heap.push(near);
        } else if let Some(mut farthest) = self.heap.peek_mut()
            && near < *farthest
        {
            *farthest = near;
        }
    }

    /// No row from here on counts that is as far as this: rows come in the order of their numbers.
    fn least_too_far(&self) -> f64 {
        match self.heap.peek() {
            Some(farthest) if self.heap.len() == self.k => {
                if farthest.measure == 0.0 {
                    f64::NEG_INFINITY
                } else {
                    farthest.measure
                }
            }
            _ => f64::INFINITY,
        }
    }
}

/// An upper bound, up to rounding, of |x − centre| in the metric for every row.
fn sizes(samples: &AnySamples<'_>, centre: &[f64], metric: Metric) -> Vec<f64> {
    let norm = |entries: &mut dyn Iterator<Item = f64>| match metric {
        Metric::Euclidean => entries.map(|v| v * v).sum::<f64>().sqrt(),
        Metric::Manhattan => entries.map(f64::abs).sum(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    fn dense(ncols: usize, entries: Vec<f64>) -> AnySamples<'static> {
        AnySamples::F64(Samples::dense(entries.len() / ncols, ncols, entries).unwrap())
    }

    /// Tiles hold the measure itself: nothing is computed after the statistic.
    #[test]
    fn a_measure_is_one_statistic() {
        let samples = dense(2, vec![0.0; 2]);
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let search = Search { rows: &samples, queries: &samples, k: 1, metric };
            assert_eq!(Program::compile(&search.kernel(), 2).unwrap().nodes.len(), 1);
        }
    }

    /// Clusters 1e-7 wide and 1,000 apart: single precision sees each as one point.
    #[test]
    fn bands_that_single_precision_cannot_tell_apart_are_searched_again() {
        let entries: Vec<f64> = (0..1_200)
            .flat_map(|i: usize| [1e3 * (i % 3) as f64, 1e-7 * ((i * 7919) % 1_201) as f64])
            .collect();
        let samples = dense(2, entries);
        let search = Search { rows: &samples, queries: &samples, k: 2, metric: Metric::Euclidean };
        let tiles = Tiles::<f32>::new(&search, false).unwrap();
        assert_eq!(tiles.band(&search, 0..BAND, &mut Scratch::default(), &Unwatched), Ok(None));
        let nearest = neighbours(&samples, &samples, 2, Metric::Euclidean, &Unwatched).unwrap();
        for i in 0..samples.nrows() {
            let mut all: Vec<Near> =
                (0..samples.nrows()).map(|row| Near { measure: search.measure(i, row), row }).collect();
            all.sort_unstable();
            assert!(nearest.of(i).eq(all[..2].iter().map(|near| (near.row, near.measure.sqrt()))));
        }
    }

    #[test]
    fn the_error_bound_holds() {
        let entries: Vec<f64> = (0..600).map(|i| ((i * 7919) % 1_009) as f64 * 0.37 + 1e4).collect();
        let samples = dense(6, entries);
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let search = Search { rows: &samples, queries: &samples, k: 1, metric };
            let tiles = Tiles::<f32>::new(&search, false).unwrap();
            let rectangle = Rectangle { x: &tiles.queries, rows: 0..100, z: &tiles.rows, cols: 0..100 };
            let mut worst = 0.0f64;
            tiles.filler.fill(&rectangle, &mut Scratch::default(), &mut |block| {
                for (r, i) in block.rows.clone().enumerate() {
                    for j in 0..100 {
                        let value = f64::from(block.values[r * block.stride + j]);
                        let error = (value - search.measure(i, j)).abs();
                        worst = worst.max(error / tiles.error(metric, i, 0));
                    }
                }
            });
            assert!(worst <= 1.0 && worst > 1e-4, "{metric:?}: {worst}");
        }
    }
}
