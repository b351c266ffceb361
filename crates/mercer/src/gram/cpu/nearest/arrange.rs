//! Reorders rows so that neighbours are adjacent, and bands of queries can skip whole tiles.
//!
//! A k-d tree (Bentley, 1975) that ends at tiles. Boxes are compared in the same arithmetic as distances: rounding is
//! monotone, so the computed distance of two boxes never exceeds that of two points in them, not even by a rounding
//! error.

use crate::data::with_samples;
use crate::data::{AnySamples, Samples, Storage};
use crate::gram::cpu::means;
use crate::real::Real;

use super::Metric;

/// The most columns for which rows are arranged: boxes in many dimensions are all near each other.
const MOST_COLUMNS: usize = 16;

/// The fewest queries and rows for which arranging is faster than comparing all pairs.
const LEAST_QUERIES: usize = 128;
const LEAST_ROWS: usize = 1_024;

/// Samples in a new order, in groups of neighbours.
#[derive(Debug)]
pub(in crate::gram::cpu) struct Arranged {
    /// The samples in that order.
    pub samples: AnySamples<'static>,
    /// The means of their columns, summed in that order.
    pub means: Vec<f64>,
    /// The original number of each sample.
    pub numbers: Vec<usize>,
    /// One per group.
    pub(super) groups: Vec<Group>,
}

/// A group of samples: the smallest box around it, and the lowest number in it.
#[derive(Debug)]
pub(super) struct Group {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The lowest original number of a sample of the group.
    pub least: usize,
}

/// Whether arranging is likely to save more than its O(nd log n).
pub(super) fn is_worthwhile(rows: &AnySamples<'_>, queries: &AnySamples<'_>) -> bool {
    let dense = !rows.is_sparse() && !queries.is_sparse();
    dense
        && (1..=MOST_COLUMNS).contains(&rows.ncols())
        && rows.nrows() >= LEAST_ROWS
        && queries.nrows() >= LEAST_QUERIES
}

impl Arranged {
    /// Dense samples in groups of `size`, the last one shorter.
    pub fn new(samples: &AnySamples<'_>, size: usize) -> Self {
        let mut numbers: Vec<usize> = (0..samples.nrows()).collect();
        let groups = with_samples!(samples, s => match s.storage() {
            Storage::Dense(entries) => {
                split(s, entries, &mut numbers, size);
                numbers.chunks(size).map(|numbers| Group::around(s, entries, numbers)).collect()
            }
            Storage::Sparse { .. } => unreachable!("only dense samples are arranged"),
        });
        let samples = samples.select(&numbers);
        let means = with_samples!(&samples, s => means(s));
        Self { samples, means, numbers, groups }
    }
}

impl Group {
    fn around<T: Real>(samples: &Samples<'_, T>, entries: &[T], numbers: &[usize]) -> Self {
        let d = samples.ncols();
        let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
        for &i in numbers {
            for (j, v) in entries[i * d..(i + 1) * d].iter().enumerate() {
                low[j] = low[j].min(v.to_f64());
                high[j] = high[j].max(v.to_f64());
            }
        }
        Self { low, high, least: numbers.iter().copied().min().unwrap_or(0) }
    }

    /// A lower bound of the measure (squared Euclidean or Manhattan distance) between points of the two boxes.
    pub fn measure(&self, other: &Self, metric: Metric) -> f64 {
        let sides = self.low.iter().zip(&self.high).zip(other.low.iter().zip(&other.high));
        let gaps = sides.map(|((low, high), (l, h))| (l - high).max(low - h).max(0.0));
        match metric {
            Metric::Euclidean => gaps.fold(0.0, |sum, gap| sum + gap * gap),
            _ => gaps.fold(0.0, |sum, gap| sum + gap),
        }
    }
}

/// Halves `numbers` across the column of the widest spread, at a multiple of `size`, until groups of that size are left; equal
/// samples stay in the order of their numbers.
fn split<T: Real>(samples: &Samples<'_, T>, entries: &[T], numbers: &mut [usize], size: usize) {
    if numbers.len() <= size {
        numbers.sort_unstable();
        return;
    }
    let d = samples.ncols();
    let group = Group::around(samples, entries, numbers);
    let spread = |j: usize| group.high[j] - group.low[j];
    let widest = (0..d).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
    let middle = (numbers.len().div_ceil(size) / 2) * size;
    let entry = |i: usize| entries[i * d + widest].to_f64();
    numbers.select_nth_unstable_by(middle, |&a, &b| entry(a).total_cmp(&entry(b)).then(a.cmp(&b)));
    let (first, second) = numbers.split_at_mut(middle);
    rayon::join(|| split(samples, entries, first, size), || split(samples, entries, second, size));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_whole_and_equal_samples_keep_their_order() {
        let entries: Vec<f64> = (0..2_000).map(|i| ((i * 7919) % 1_999) as f64).collect();
        let samples = AnySamples::F64(Samples::dense(1_000, 2, entries).unwrap());
        let arranged = Arranged::new(&samples, 64);
        let mut numbers = arranged.numbers.clone();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..1_000) && arranged.groups.len() == 16);
        let same = AnySamples::F64(Samples::dense(1_000, 1, vec![3.0; 1_000]).unwrap());
        assert!(Arranged::new(&same, 64).numbers.into_iter().eq(0..1_000));
    }

    #[test]
    fn boxes_are_never_farther_than_their_points() {
        let entries: Vec<f64> = (0..900).map(|i| ((i * 7919) % 1_009) as f64 * 0.1).collect();
        let samples = AnySamples::F64(Samples::dense(300, 3, entries).unwrap());
        let arranged = Arranged::new(&samples, 32);
        let mut apart = 0;
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let search =
                super::super::Search { rows: &samples, queries: &samples, centre: &[0.0; 3], k: 1, metric };
            for (a, group) in arranged.groups.iter().enumerate() {
                for (b, other) in arranged.groups.iter().enumerate() {
                    let measure = group.measure(other, metric);
                    apart += usize::from(measure > 0.0);
                    for &i in &arranged.numbers[32 * a..300.min(32 * (a + 1))] {
                        for &j in &arranged.numbers[32 * b..300.min(32 * (b + 1))] {
                            assert!(measure <= search.measure(i, j));
                        }
                    }
                }
            }
        }
        assert!(apart > 20, "{apart}");
    }
}
