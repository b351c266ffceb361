//! The scales of a set of samples: what `auto` becomes in a kernel.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::AnySamples;
use crate::kernel::Scales;

/// Rows whose pairwise distances are looked at.
const SAMPLE: usize = 1_000;

/// The scales of samples: the median distance of a seeded sample of rows, and the variance of the entries.
#[derive(Debug)]
pub struct SampleScales<'a> {
    samples: &'a AnySamples<'a>,
    seed: u64,
}

impl<'a> SampleScales<'a> {
    /// The scales of `samples`; `seed` chooses the rows that distances are taken from.
    #[must_use]
    pub fn new(samples: &'a AnySamples<'a>, seed: u64) -> Self {
        Self { samples, seed }
    }
}

impl Scales for SampleScales<'_> {
    /// The median Euclidean distance between two rows, over the given columns.
    ///
    /// Where more than half of the pairs coincide, the mean of the distances that are not zero; 1 where all are.
    /// O(s²d) time for a sample of s ≤ 1,000 rows.
    fn median_distance(&self, columns: Option<&[usize]>) -> f64 {
        let rows = self.sample(columns);
        let mut squared = Vec::with_capacity(rows.len() * rows.len().saturating_sub(1) / 2);
        for (i, a) in rows.iter().enumerate() {
            squared.extend(
                rows[..i].iter().map(|b| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()),
            );
        }
        if squared.is_empty() {
            return 1.0;
        }
        let middle = squared.len() / 2;
        let median = squared.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt();
        if median > 0.0 {
            return median;
        }
        squared.sort_unstable_by(f64::total_cmp);
        let positive: Vec<f64> = squared.iter().filter(|&&d| d > 0.0).map(|d| d.sqrt()).collect();
        if positive.is_empty() { 1.0 } else { positive.iter().sum::<f64>() / positive.len() as f64 }
    }

    /// 1/(d·variance), with the variance over all entries of the given columns (scikit-learn's `gamma="scale"`); 1
    /// where that is zero.
    fn inverse_variance(&self, columns: Option<&[usize]>) -> f64 {
        let (n, d) = (self.samples.nrows(), self.samples.ncols());
        let mut row = vec![0.0; d];
        let chosen: Vec<usize> = columns.map_or_else(|| (0..d).collect(), <[usize]>::to_vec);
        let count = (n * chosen.len()) as f64;
        let mean_of = |value: &mut dyn FnMut(f64) -> f64, row: &mut Vec<f64>| {
            let mut sum = 0.0;
            for i in 0..n {
                self.samples.copy_row(i, row);
                sum += chosen.iter().map(|&c| value(row[c])).sum::<f64>();
            }
            sum / count
        };
        let mean = mean_of(&mut |v| v, &mut row);
        let variance = mean_of(&mut |v| (v - mean) * (v - mean), &mut row);
        if variance > 0.0 { 1.0 / (chosen.len() as f64 * variance) } else { 1.0 }
    }
}

impl SampleScales<'_> {
    fn sample(&self, columns: Option<&[usize]>) -> Vec<Vec<f64>> {
        let n = self.samples.nrows();
        let chosen: Vec<usize> = if n <= SAMPLE {
            (0..n).collect()
        } else {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
            index::sample(&mut rng, n, SAMPLE).into_vec()
        };
        let mut row = vec![0.0; self.samples.ncols()];
        chosen
            .into_iter()
            .map(|i| {
                self.samples.copy_row(i, &mut row);
                columns.map_or_else(|| row.clone(), |columns| columns.iter().map(|&c| row[c]).collect())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    fn dense(nrows: usize, ncols: usize, entries: &[f64]) -> AnySamples<'static> {
        AnySamples::F64(Samples::dense(nrows, ncols, entries.to_vec()).unwrap())
    }

    #[test]
    fn median_distance_of_three_points() {
        let samples = dense(3, 2, &[0.0, 0.0, 3.0, 4.0, 0.0, 1.0]);
        // The distances are 5, 1 and √18.
        assert_eq!(SampleScales::new(&samples, 0).median_distance(None), 18f64.sqrt());
        assert_eq!(SampleScales::new(&samples, 0).median_distance(Some(&[0])), 3.0);
    }

    #[test]
    fn coinciding_points_fall_back_to_what_differs() {
        let samples = dense(4, 1, &[2.0, 2.0, 2.0, 5.0]);
        assert_eq!(SampleScales::new(&samples, 0).median_distance(None), 3.0);
        assert_eq!(SampleScales::new(&dense(3, 1, &[2.0; 3]), 0).median_distance(None), 1.0);
        assert_eq!(SampleScales::new(&dense(1, 1, &[2.0]), 0).median_distance(None), 1.0);
    }

    #[test]
    fn inverse_variance_is_over_all_entries() {
        let samples = dense(2, 2, &[1.0, 3.0, 5.0, 7.0]);
        // Variance of 1, 3, 5, 7 is 5; two columns.
        assert_eq!(SampleScales::new(&samples, 0).inverse_variance(None), 1.0 / 10.0);
        assert_eq!(SampleScales::new(&samples, 0).inverse_variance(Some(&[1])), 1.0 / 4.0);
        assert_eq!(SampleScales::new(&dense(2, 1, &[2.0; 2]), 0).inverse_variance(None), 1.0);
    }
}
