//! The nearest rows of queries, with the same arithmetic as on the host.

use mercer::data::{AnySamples, with_samples};
use mercer::gram::{Metric, Nearest};
use mercer::real::Real;
use mercer::watch::Watch;
use rayon::prelude::*;

use crate::device::{Device, Ended, Grid, arguments_of, check};
use crate::rows::{Rows, address};
use crate::source::nearest as text_of;

/// Bytes of distances computed before each selection of the nearest.
const BAND: usize = 1 << 30;

/// Queries and rows of a block of threads.
const SIDE: usize = 64;

/// The most blocks of a launch along its second axis.
const MOST_BLOCKS: usize = 65_535;

/// The queries of a band, for n rows.
fn height(n: usize, asked: usize) -> usize {
    (BAND / (n * 8) / SIDE).clamp(1, asked.div_ceil(SIDE).clamp(1, MOST_BLOCKS)) * SIDE
}

/// The most columns for which the host is faster, since it visits few pairs of rows.
const FEW_COLUMNS: usize = 16;

/// Whether the device's exhaustive search suits these samples: dense ones with many columns whose squares are normal
/// numbers.
pub(crate) fn is_suited(samples: &AnySamples<'_>, queries: &AnySamples<'_>) -> bool {
    let largest = |samples: &AnySamples<'_>| with_samples!(samples, s => s.stored_values().par_iter().map(|v| v.to_f64().abs()).reduce(|| 0.0, |a, b| if b <= a { a } else { b }));
    let are_usual = || {
        let largest = largest(samples).max(largest(queries));
        largest == 0.0 || (1e-135..1e150).contains(&largest)
    };
    !samples.is_sparse() && !queries.is_sparse() && samples.ncols() > FEW_COLUMNS && are_usual()
}

/// The `k` rows nearest to each query, nearest first; `None` if the device does not compute the metric. `k` is from 1
/// to the number of rows.
pub(crate) fn nearest(
    device: &Device,
    rows: &Rows,
    queries: &Rows,
    columns: usize,
    (k, metric): (usize, Metric),
    watch: &dyn Watch,
) -> Result<Option<Nearest>, Ended> {
    let Some(text) = text_of(metric, queries.precision, rows.precision) else { return Ok(None) };
    let work = device.lock();
    let (measure, choose) = (device.function(&text, "distances", 0)?, device.function(&text, "nearest", 0)?);
    let (n, asked) = (rows.count, queries.count);
    let height = height(n, asked);
    let distances = device.allocate(height.min(asked) * n * 8)?;
    let (numbers, least) = (device.allocate(height * k * 4)?, device.allocate(height * k * 8)?);
    let at = [&distances, &numbers, &least].map(|bytes| address(device, bytes));
    let mut found =
        Nearest { k, rows: Vec::with_capacity(asked * k), distances: Vec::with_capacity(asked * k) };
    drop(work);
    watch.begin("neighbours", asked.div_ceil(height) as u64);
    for first in (0..asked).step_by(height) {
        check(watch)?;
        let work = device.lock();
        let here = height.min(asked - first);
        let end = (first + here) as u64;
        let values = [queries.at(), first as u64, end, rows.at(), n as u64, columns as u64, at[0]];
        let arguments = arguments_of(&values);
        let grid = Grid { blocks: (n.div_ceil(SIDE), here.div_ceil(SIDE)), threads: 256, shared: 0 };
        // SAFETY: the arguments of `distances`; it reads `end` queries and n rows and writes n distances for each query from `first` on.
        unsafe { device.launch(&measure, grid, &arguments)? };
        let values = [at[0], n as u64, k as u64, at[1], at[2]];
        let arguments = arguments_of(&values);
        // SAFETY: the arguments of `nearest`; it reads what was written above and writes k numbers and distances for each query.
        unsafe { device.launch(&choose, Grid { blocks: (here, 1), threads: 256, shared: 0 }, &arguments)? };
        let (mut chosen, mut measures) = (vec![0i32; here * k], vec![0f64; here * k]);
        device.download(&numbers, &mut chosen)?;
        device.download(&least, &mut measures)?;
        // A thread of the pool may wait for the device.
        drop(work);
        let mut pairs: Vec<(f64, i32)> = measures.into_iter().zip(chosen).collect();
        pairs.par_chunks_mut(k).for_each(|of_query| {
            of_query.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        });
        found.rows.extend(pairs.iter().map(|(_, row)| *row as usize));
        let distance = |measure: f64| if metric == Metric::Euclidean { measure.sqrt() } else { measure };
        found.distances.extend(pairs.iter().map(|(measure, _)| distance(*measure)));
        watch.advance(1);
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_one_launch() {
        assert_eq!(height(1_000_000, 5_000), 128);
        assert_eq!(height(1_000, 100), 128);
        assert_eq!(height(usize::MAX >> 4, 100), SIDE);
        // Few rows and many queries.
        assert_eq!(height(1, 100_000_000), MOST_BLOCKS * SIDE);
    }
}
