//! The nearest rows: tiles of distances, of which the few candidates are computed again exactly.
//!
//! Tiles are computed in single precision for data of either precision, so a tile's value v differs from the squared
//! distance by up to some e. A row can be among the k nearest only if v ≤ d + e, with d the k-th smallest squared
//! distance so far; the distances of these few rows are computed again from differences of coordinates in double
//! precision, and only they decide. The answer therefore does not depend on how tiles are computed. If too many rows
//! pass, which happens for distances far below the spread of the data, tiles are computed again in double precision.
//!
//! If there are few columns, rows and queries are reordered so that neighbours are adjacent, and most tiles can be
//! skipped.
//!
//! Tiles do not compute Chebyshev and Minkowski distances: every row is then compared with every query in double
//! precision.

mod arrange;
mod every_row;
mod tiles;

use crate::data::with_samples;
use crate::data::{AnySamples, Samples, Storage};
use crate::gram::engine::GramError;
use crate::gram::nearest::{Metric, Nearest};
use crate::kernel::{Expr, Kernel};
use crate::real::Real;
use crate::watch::Watch;

use super::CpuResident;
use super::density::walks_sparse;
pub(super) use arrange::Arranged;
use arrange::is_worthwhile;
use tiles::{Side, Tiles};

/// [`Resident::nearest`](crate::gram::Resident::nearest). Rows are arranged once for all calls.
pub(super) fn nearest(
    rows: &CpuResident,
    queries: &CpuResident,
    k: usize,
    metric: Metric,
    watch: &dyn Watch,
) -> Result<Nearest, GramError> {
    let (samples, asked) = (&rows.samples, &queries.samples);
    if samples.ncols() != asked.ncols() {
        return Err(GramError::Columns { rows: asked.ncols(), cols: samples.ncols() });
    }
    let k = k.min(samples.nrows());
    if k == 0 || asked.nrows() == 0 {
        return Ok(Nearest { k, rows: Vec::new(), distances: Vec::new() });
    }
    let squares = matches!(metric, Metric::Euclidean | Metric::Minkowski { .. });
    if let Some(factor) = rescaling(samples, asked).filter(|_| squares) {
        let scaled = |samples| CpuResident::new(scaled(samples, factor));
        let mut found = nearest(&scaled(samples), &scaled(asked), k, metric, watch)?;
        found.distances.iter_mut().for_each(|distance| *distance /= factor);
        return Ok(found);
    }
    if matches!(metric, Metric::Chebyshev | Metric::Minkowski { .. }) {
        let plain = Search { rows: samples, queries: asked, centre: &rows.means, k, metric };
        return Ok(answer(k, metric, every_row::search(&plain, watch)?));
    }
    if !is_worthwhile(samples, asked) {
        let sides = [Side::plain(asked, BAND), Side::plain(samples, TILE)];
        let plain = Search { rows: samples, queries: asked, centre: &rows.means, k, metric };
        return Ok(answer(k, metric, search(&plain, &sides, watch)?));
    }
    let (arranged_queries, arranged_rows) = (Arranged::new(asked, BAND), arranged(rows));
    let sides = [Side::arranged(&arranged_queries, BAND), Side::arranged(arranged_rows, TILE)];
    let arranged = Search {
        rows: &arranged_rows.samples,
        queries: &arranged_queries.samples,
        centre: &arranged_rows.means,
        k,
        metric,
    };
    let mut found = vec![Vec::new(); asked.nrows()];
    for (nearest, &number) in search(&arranged, &sides, watch)?.into_iter().zip(&arranged_queries.numbers) {
        found[number] = nearest;
    }
    Ok(answer(k, metric, found))
}

/// A power of two that brings the largest entry near 1; `None` if squares of the entries are normal numbers as they
/// are.
fn rescaling(samples: &AnySamples<'_>, asked: &AnySamples<'_>) -> Option<f64> {
    let largest = |samples: &AnySamples<'_>| with_samples!(samples, s => s.stored_values().iter().fold(0.0, |most: f64, v| most.max(v.to_f64().abs())));
    let largest = largest(samples).max(largest(asked));
    let usual = largest == 0.0 || !largest.is_finite() || (1e-135..1e150).contains(&largest);
    // Within the exponents of normal numbers, so that no factor is infinite or zero.
    (!usual).then(|| 2f64.powi(-(largest.log2().floor().clamp(-1020.0, 1020.0) as i32)))
}

fn scaled(samples: &AnySamples<'_>, factor: f64) -> AnySamples<'static> {
    let scaled = with_samples!(samples, s => {
        let values: Vec<f64> = s.stored_values().iter().map(|v| v.to_f64() * factor).collect();
        match s.storage() {
            Storage::Dense(_) => Samples::dense(s.nrows(), s.ncols(), values),
            Storage::Sparse { indptr, indices, .. } => {
                Samples::sparse(s.ncols(), indptr.to_vec(), indices.to_vec(), values)
            }
        }
    });
    AnySamples::F64(scaled.expect("the shape of samples that exist"))
}

/// The rows in groups of a tile. They are computed outside of the lock: a thread that waits for its part may take up
/// work that needs them.
fn arranged(rows: &CpuResident) -> &Arranged {
    match rows.arranged.get() {
        Some(arranged) => arranged,
        None => {
            let arranged = Arranged::new(&rows.samples, TILE);
            rows.arranged.get_or_init(|| arranged)
        }
    }
}

fn answer(k: usize, metric: Metric, found: Vec<Vec<Near>>) -> Nearest {
    let distance = |measure: f64| if metric == Metric::Euclidean { measure.sqrt() } else { measure };
    Nearest {
        k,
        rows: found.iter().flatten().map(|near| near.row).collect(),
        distances: found.iter().flatten().map(|near| distance(near.measure)).collect(),
    }
}

/// The nearest rows of every query.
fn search(
    search: &Search<'_>,
    sides: &[Side<'_>; 2],
    watch: &dyn Watch,
) -> Result<Vec<Vec<Near>>, GramError> {
    let mut found = vec![None; search.queries.nrows().div_ceil(BAND)];
    watch.begin("neighbours", found.len() as u64);
    let sparse = walks_sparse(search.queries, search.rows);
    // Sums of sparse rows are in double precision as it is.
    if !sparse {
        Tiles::<f32>::new(search, sides, sparse)?.search(&mut found, watch)?;
    }
    if found.iter().any(Option::is_none) {
        Tiles::<f64>::new(search, sides, sparse)?.search(&mut found, watch)?;
    }
    Ok(found.into_iter().flatten().flatten().collect())
}

/// Queries that are searched for together: a multiple of every panel.
const BAND: usize = 128;

/// Rows in a tile: a multiple of every panel. Their panels stay in cache while the queries of a band go by.
const TILE: usize = 256;

/// A row and its distance to a query, squared where it is Euclidean, in the order of nearness.
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

/// The nearest rows to find.
struct Search<'a> {
    rows: &'a AnySamples<'a>,
    queries: &'a AnySamples<'a>,
    /// The means of the columns of `rows`, on which both sides are centred unless they are sparse.
    centre: &'a [f64],
    k: usize,
    metric: Metric,
}

impl Search<'_> {
    /// The exact measure, from differences of coordinates.
    fn measure(&self, query: usize, row: usize) -> f64 {
        with_samples!(self.queries, x => with_samples!(self.rows, z => match self.metric {
            Metric::Euclidean => fold_differences(x, query, z, row, |sum, d| sum + d * d),
            Metric::Manhattan => fold_differences(x, query, z, row, |sum, d| sum + d.abs()),
            Metric::Chebyshev => fold_differences(x, query, z, row, |most, d| most.max(d.abs())),
            Metric::Minkowski { p } => {
                // Differences are divided by the largest, so that no power of them overflows.
                let most = fold_differences(x, query, z, row, |most, d| most.max(d.abs()));
                if most == 0.0 || most == f64::INFINITY {
                    return most;
                }
                most * fold_differences(x, query, z, row, |sum, d| sum + (d.abs() / most).powf(p)).powf(1.0 / p)
            }
        }))
    }

    /// The kernel whose values are the measure, for the distances that tiles compute.
    fn kernel(&self) -> Kernel {
        Kernel::from_expr(match self.metric {
            Metric::Euclidean => Expr::Pow(Box::new(Expr::Distance), Box::new(Expr::Number(2.0))),
            _ => Expr::Distance1,
        })
    }
}

/// Folds xⱼ − zⱼ into a number that starts at 0, over the columns in their order, without the columns that neither stores.
fn fold_differences<X: Real, Z: Real>(
    x: &Samples<'_, X>,
    i: usize,
    z: &Samples<'_, Z>,
    j: usize,
    fold: impl Fn(f64, f64) -> f64,
) -> f64 {
    if let (Storage::Dense(a), Storage::Dense(b)) = (x.storage(), z.storage()) {
        let (a, b) = (&a[i * x.ncols()..(i + 1) * x.ncols()], &b[j * z.ncols()..(j + 1) * z.ncols()]);
        return a.iter().zip(b).fold(0.0, |folded, (a, b)| fold(folded, a.to_f64() - b.to_f64()));
    }
    let (mut a, mut b) = (x.stored_row(i).peekable(), z.stored_row(j).peekable());
    let mut folded = 0.0;
    loop {
        let column = match (a.peek(), b.peek()) {
            (Some((p, _)), Some((q, _))) => *p.min(q),
            (Some((p, _)), None) | (None, Some((p, _))) => *p,
            (None, None) => return folded,
        };
        let left = a.next_if(|(p, _)| *p == column).map_or(0.0, |(_, v)| v);
        let right = b.next_if(|(q, _)| *q == column).map_or(0.0, |(_, v)| v);
        folded = fold(folded, left - right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Resident;
    use crate::tile::{Program, Rectangle, Scratch};
    use crate::watch::Unwatched;

    fn dense(ncols: usize, entries: Vec<f64>) -> AnySamples<'static> {
        AnySamples::F64(Samples::dense(entries.len() / ncols, ncols, entries).unwrap())
    }

    fn plain(samples: &AnySamples<'_>) -> [Side<'static>; 2] {
        [Side::plain(samples, BAND), Side::plain(samples, TILE)]
    }

    /// Tiles hold the measure itself: there are no operations after the statistic.
    #[test]
    fn a_measure_is_one_statistic() {
        let samples = dense(2, vec![0.0; 2]);
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let search = Search { rows: &samples, queries: &samples, centre: &[0.0; 2], k: 1, metric };
            assert_eq!(Program::compile(&search.kernel(), 2).unwrap().nodes.len(), 1);
        }
    }

    /// Clusters 1e-7 wide and 1,000 apart: single precision sees each as one point.
    #[test]
    fn bands_that_single_precision_cannot_distinguish_are_searched_again() {
        let entries: Vec<f64> = (0..1_200)
            .flat_map(|i: usize| [1e3 * (i % 3) as f64, 1e-7 * ((i * 7919) % 1_201) as f64])
            .collect();
        let samples = dense(2, entries);
        let resident = CpuResident::new(samples.clone());
        let centre = &resident.means;
        let search = Search { rows: &samples, queries: &samples, centre, k: 2, metric: Metric::Euclidean };
        let sides = plain(&samples);
        let tiles = Tiles::<f32>::new(&search, &sides, false).unwrap();
        assert_eq!(tiles.band(0, &mut Scratch::default(), &Unwatched), Ok(None));
        let nearest = resident.nearest(&resident, 2, Metric::Euclidean, &Unwatched).unwrap();
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
            let centre = &CpuResident::new(samples.clone()).means;
            let search = Search { rows: &samples, queries: &samples, centre, k: 1, metric };
            let sides = plain(&samples);
            let tiles = Tiles::<f32>::new(&search, &sides, false).unwrap();
            let rectangle = Rectangle { x: &tiles.queries, rows: 0..100, z: &tiles.rows, cols: 0..100 };
            let mut worst = 0.0f64;
            tiles.filler.fill(&rectangle, &mut Scratch::default(), &mut |block| {
                for (r, i) in block.rows.clone().enumerate() {
                    for j in 0..100 {
                        let value = f64::from(block.values[r * block.stride + j]);
                        let error = (value - search.measure(i, j)).abs();
                        worst = worst.max(error / tiles.error(i, 0));
                    }
                }
            });
            assert!(worst <= 1.0 && worst > 1e-4, "{metric:?}: {worst}");
        }
    }
}
