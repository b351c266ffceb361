//! The scales of a set of samples, which replace `auto` in a kernel.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::AnySamples;
use crate::kernel::{Columns, Expr, Kernel, Scales};
use crate::watch::Unwatched;

use super::engine::{Engine, Part, Wanted};

/// Rows whose pairwise distances are computed.
const SAMPLE: usize = 1_000;

/// The scales of samples: the median distance of a seeded sample of rows, and the variance of the entries.
pub struct SampleScales<'a> {
    samples: &'a AnySamples<'a>,
    engine: &'a dyn Engine,
    seed: u64,
}

impl<'a> SampleScales<'a> {
    /// The scales of `samples`, computed on `engine`; `seed` chooses the rows that distances are taken from.
    #[must_use]
    pub fn new(samples: &'a AnySamples<'a>, engine: &'a dyn Engine, seed: u64) -> Self {
        Self { samples, engine, seed }
    }
}

impl Scales for SampleScales<'_> {
    /// The median Euclidean distance between two rows, over the given columns.
    ///
    /// If more than half of the pairs coincide, the mean of the nonzero distances; 1 if all are zero.
    /// O(s²d) time for a sample of s ≤ 1,000 rows.
    fn median_distance(&self, columns: Option<&[usize]>) -> f64 {
        let mut distances = self.distances(columns);
        if distances.is_empty() {
            return 1.0;
        }
        let middle = distances.len() / 2;
        let median = *distances.select_nth_unstable_by(middle, f64::total_cmp).1;
        if median > 0.0 {
            return median;
        }
        distances.sort_unstable_by(f64::total_cmp);
        let positive: Vec<f64> = distances.into_iter().filter(|d| *d > 0.0).collect();
        if positive.is_empty() { 1.0 } else { positive.iter().sum::<f64>() / positive.len() as f64 }
    }

    fn columns(&self) -> usize {
        self.samples.ncols()
    }

    /// 1/(d·variance), with the variance over all entries of the given columns (scikit-learn's `gamma="scale"`); 1 if
    /// that is zero. Two passes over the stored entries.
    fn inverse_variance(&self, columns: Option<&[usize]>) -> f64 {
        let width = columns.map_or(self.samples.ncols(), <[usize]>::len);
        EntryMoments::new(self.samples, columns, None).inverse_variance(width)
    }
}

/// The number of entries of some rows, their mean, and the sum of their squared deviations from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryMoments {
    /// The number; the sum of the weights where there are some.
    pub count: f64,
    /// The mean.
    pub mean: f64,
    /// The sum of the squared deviations.
    pub squares: f64,
}

impl EntryMoments {
    /// The moments of the entries in the given columns (all where none are named). With weights of the rows, a row of
    /// weight 2 counts as two rows.
    ///
    /// Sums run over the entries that are not 0, row by row, so dense and sparse rows give the same bits.
    ///
    /// # Panics
    /// If there are not as many weights as rows.
    #[must_use]
    pub fn new(samples: &AnySamples<'_>, columns: Option<&[usize]>, weights: Option<&[f64]>) -> Self {
        let (n, d) = (samples.nrows(), samples.ncols());
        assert!(weights.is_none_or(|weights| weights.len() == n), "a weight for each row");
        let mut chosen = vec![columns.is_none(); d];
        columns.into_iter().flatten().for_each(|&c| chosen[c] = true);
        let width = columns.map_or(d, <[usize]>::len) as f64;
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let sum_of = |value: &dyn Fn(f64) -> f64| {
            let mut sum = 0.0;
            for row in 0..n {
                let (mut of_row, mut zeros) = (0.0, width);
                samples.visit_row(row, |column, entry| {
                    if entry != 0.0 && chosen[column] {
                        of_row += value(entry);
                        zeros -= 1.0;
                    }
                });
                if zeros > 0.0 {
                    of_row += zeros * value(0.0);
                }
                sum += weight(row) * of_row;
            }
            sum
        };
        let count = width * (0..n).map(weight).sum::<f64>();
        // Differences from one of the entries: those of a constant are exactly 0.
        let first = (0..n).find_map(|row| {
            let mut first = None;
            samples.visit_row(row, |column, entry| {
                first = first.or((entry != 0.0 && chosen[column]).then_some(entry));
            });
            first
        });
        let first = first.unwrap_or(0.0);
        let mean = first + sum_of(&|v| v - first) / count;
        Self { count, mean, squares: sum_of(&|v| (v - mean) * (v - mean)) }
    }

    /// 1/(width·variance); 1 if the entries are all the same, 0 if their variance overflows.
    #[must_use]
    pub fn inverse_variance(&self, width: usize) -> f64 {
        let variance = self.squares / self.count;
        if self.count == 0.0 || variance == 0.0 {
            1.0
        } else if variance.is_finite() {
            1.0 / (width as f64 * variance)
        } else {
            0.0
        }
    }
}

impl SampleScales<'_> {
    /// The distances of all pairs of a seeded sample of rows; empty if a row has no such column.
    fn distances(&self, columns: Option<&[usize]>) -> Vec<f64> {
        let n = self.samples.nrows();
        let mut rows: Vec<usize> = (0..n).collect();
        if n > SAMPLE {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
            rows = index::sample(&mut rng, n, SAMPLE).into_vec();
        }
        let s = rows.len();
        let distance = match columns {
            None => Expr::Distance,
            Some(columns) => {
                let each = columns.iter().map(|&c| c..c + 1).collect();
                Expr::Columns(Box::new(Expr::Distance), Columns::from_ranges(each))
            }
        };
        let mut matrix = vec![0.0; s * s];
        let Ok(sample) = self.engine.load(&self.samples.select(&rows)) else { return Vec::new() };
        let Ok(gram) = sample.gram(&Kernel::from_expr(distance), Wanted::Exact) else { return Vec::new() };
        let Ok(()) = gram.fill(Part::Lower, (&mut matrix).into(), &Unwatched) else { return Vec::new() };
        (0..s).flat_map(|i| matrix[i * s..i * s + i].to_vec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;
    use crate::gram::CpuEngine;

    fn dense(nrows: usize, ncols: usize, entries: &[f64]) -> AnySamples<'static> {
        AnySamples::F64(Samples::dense(nrows, ncols, entries.to_vec()).unwrap())
    }

    #[test]
    fn median_distance_of_three_points() {
        let samples = dense(3, 2, &[0.0, 0.0, 3.0, 4.0, 0.0, 1.0]);
        // The distances are 5, 1 and √18.
        let scales = SampleScales::new(&samples, &CpuEngine, 0);
        assert!((scales.median_distance(None) - 18f64.sqrt()).abs() < 1e-12);
        assert!((scales.median_distance(Some(&[0])) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn sparse_rows_have_the_scales_of_their_filled_in_selves() {
        let filled = dense(3, 4, &[0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 5.0]);
        let stored = Samples::sparse(4, vec![0, 1, 3, 4], vec![1u32, 0, 3, 3], vec![2.0, 1.0, -3.0, 5.0]);
        let sparse = AnySamples::F64(stored.unwrap());
        for columns in [None, Some(&[0, 3][..]), Some(&[1][..])] {
            let (a, b) =
                (SampleScales::new(&filled, &CpuEngine, 0), SampleScales::new(&sparse, &CpuEngine, 0));
            assert!((a.median_distance(columns) - b.median_distance(columns)).abs() < 1e-12);
            assert_eq!(a.inverse_variance(columns), b.inverse_variance(columns));
        }
    }

    #[test]
    fn a_row_of_weight_two_is_two_rows() {
        let rows = dense(3, 2, &[1.0, 0.0, -2.0, 4.0, 0.5, 8.0]);
        let repeated = dense(3, 2, &[-2.0, 4.0, -2.0, 4.0, 0.5, 8.0]);
        let weighted = EntryMoments::new(&rows, None, Some(&[0.0, 2.0, 1.0]));
        let expected = EntryMoments::new(&repeated, None, None);
        assert_eq!(weighted.count, 6.0);
        assert!((weighted.mean - expected.mean).abs() < 1e-15);
        assert!((weighted.squares - expected.squares).abs() < 1e-13);
    }

    #[test]
    fn a_variance_that_overflows_has_the_inverse_zero() {
        assert_eq!(EntryMoments::new(&dense(2, 1, &[1e200, -1e200]), None, None).inverse_variance(1), 0.0);
    }

    #[test]
    fn the_inverse_variance_of_a_constant_is_one() {
        for constant in [0.0, 0.1, -1e200, f64::MAX] {
            assert_eq!(EntryMoments::new(&dense(7, 1, &[constant; 7]), None, None).inverse_variance(1), 1.0);
        }
        assert_eq!(EntryMoments::new(&dense(0, 1, &[]), None, None).inverse_variance(1), 1.0);
    }

    /// Ten million columns of which a few are used: no row is ever filled in.
    #[test]
    fn wide_sparse_rows_stay_sparse() {
        let n = 1_000;
        let values = vec![1.0f64; n];
        let indices: Vec<u32> = (0..n as u32).map(|i| i * 10_000).collect();
        let wide = AnySamples::F64(
            Samples::sparse(10_000_000, (0..=n).collect::<Vec<_>>(), indices, values).unwrap(),
        );
        assert!((SampleScales::new(&wide, &CpuEngine, 0).median_distance(None) - 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn coinciding_points_fall_back_to_differing_ones() {
        let samples = dense(4, 1, &[2.0, 2.0, 2.0, 5.0]);
        assert!((SampleScales::new(&samples, &CpuEngine, 0).median_distance(None) - 3.0).abs() < 1e-12);
        assert_eq!(SampleScales::new(&dense(3, 1, &[2.0; 3]), &CpuEngine, 0).median_distance(None), 1.0);
        assert_eq!(SampleScales::new(&dense(1, 1, &[2.0]), &CpuEngine, 0).median_distance(None), 1.0);
    }

    #[test]
    fn inverse_variance_is_over_all_entries() {
        let samples = dense(2, 2, &[1.0, 3.0, 5.0, 7.0]);
        // Variance of 1, 3, 5, 7 is 5; two columns.
        assert_eq!(SampleScales::new(&samples, &CpuEngine, 0).inverse_variance(None), 1.0 / 10.0);
        assert_eq!(SampleScales::new(&samples, &CpuEngine, 0).inverse_variance(Some(&[1])), 1.0 / 4.0);
        assert_eq!(SampleScales::new(&dense(2, 1, &[2.0; 2]), &CpuEngine, 0).inverse_variance(None), 1.0);
    }
}
