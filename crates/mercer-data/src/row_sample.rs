//! A sample of streamed rows, and the folds of rows, both by a hash of the row's number.

use super::{AnySamples, Samples};

/// A pseudo-random number from a row's number and a seed (the finaliser of SplitMix64, Steele and others 2014).
#[must_use]
pub fn row_hash(seed: u64, row: u64) -> u64 {
    let mut z =
        row.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The fold of a row, from 0, among `folds` ≥ 1.
#[must_use]
pub fn fold_of_row(seed: u64, row: u64, folds: usize) -> usize {
    ((u128::from(row_hash(!seed, row) >> 11) * folds as u128) >> 53) as usize
}

/// A uniform sample of streamed rows, independent of the chunk size: those with the smallest hashes.
#[derive(Debug)]
pub struct RowSample {
    seed: u64,
    capacity: usize,
    seen: u64,
    /// Hash and position in `parts` of each sampled row.
    kept: Vec<(u64, usize, usize)>,
    parts: Vec<AnySamples<'static>>,
    /// Rows with a larger hash than this are not in the sample.
    limit: u64,
}

impl RowSample {
    /// A sample of at most `capacity` rows.
    #[must_use]
    pub fn new(capacity: usize, seed: u64) -> Self {
        Self { seed, capacity, seen: 0, kept: Vec::new(), parts: Vec::new(), limit: u64::MAX }
    }

    /// Rows seen.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Adds the next rows.
    pub fn add(&mut self, samples: &AnySamples<'_>) {
        let mut chosen = Vec::new();
        for row in 0..samples.nrows() {
            let hash = row_hash(self.seed, self.seen + row as u64);
            if hash <= self.limit {
                self.kept.push((hash, self.parts.len(), chosen.len()));
                chosen.push(row);
            }
        }
        self.seen += samples.nrows() as u64;
        self.parts.push(samples.select(&chosen));
        if self.kept.len() > 2 * self.capacity {
            self.settle();
        }
    }

    /// Keeps only the rows with the smallest hashes, in the order of their hashes.
    fn settle(&mut self) {
        self.kept.sort_unstable();
        self.kept.truncate(self.capacity);
        if self.kept.len() == self.capacity {
            self.limit = self.kept.last().map_or(u64::MAX, |(hash, ..)| *hash);
        }
        let mut first = vec![0; self.parts.len()];
        let mut total = 0;
        for (start, part) in first.iter_mut().zip(&self.parts) {
            *start = total;
            total += part.nrows();
        }
        let rows: Vec<usize> = self.kept.iter().map(|(_, part, row)| first[*part] + row).collect();
        let chosen = stacked(&self.parts).map(|all| all.select(&rows));
        self.parts = chosen.into_iter().collect();
        self.kept.iter_mut().enumerate().for_each(|(row, kept)| (kept.1, kept.2) = (0, row));
    }

    /// The rows, in the order of their hashes; `None` if there were none.
    #[must_use]
    pub fn finish(mut self) -> Option<AnySamples<'static>> {
        self.settle();
        self.parts.pop()
    }
}

fn stacked(parts: &[AnySamples<'static>]) -> Option<AnySamples<'static>> {
    let single: Vec<Samples<'_, f32>> =
        parts.iter().filter_map(|p| if let AnySamples::F32(s) = p { Some(s.view()) } else { None }).collect();
    let double: Vec<Samples<'_, f64>> =
        parts.iter().filter_map(|p| if let AnySamples::F64(s) = p { Some(s.view()) } else { None }).collect();
    Samples::stacked(&single).map(AnySamples::F32).or_else(|| Samples::stacked(&double).map(AnySamples::F64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(numbers: std::ops::Range<usize>, sparse: bool) -> AnySamples<'static> {
        let values: Vec<f64> = numbers.clone().map(|i| i as f64 + 1.0).collect();
        AnySamples::F64(if sparse {
            Samples::sparse(3, (0..=values.len()).collect::<Vec<_>>(), vec![2u32; values.len()], values)
                .unwrap()
        } else {
            Samples::dense(values.len(), 1, values).unwrap()
        })
    }

    fn sampled(cuts: &[usize], sparse: bool) -> AnySamples<'static> {
        let mut sample = RowSample::new(50, 7);
        cuts.windows(2).for_each(|w| sample.add(&rows(w[0]..w[1], sparse)));
        sample.finish().unwrap()
    }

    #[test]
    fn folds_are_about_even() {
        let mut sizes = [0usize; 5];
        for row in 0..10_000 {
            sizes[fold_of_row(3, row, 5)] += 1;
        }
        // √(10000·0.2·0.8) = 40 is one standard deviation.
        assert!(sizes.iter().all(|size| size.abs_diff(2_000) < 200), "{sizes:?}");
        assert_eq!(fold_of_row(3, 17, 1), 0);
    }

    #[test]
    fn chunks_do_not_matter_and_every_row_is_as_likely() {
        for sparse in [false, true] {
            let whole = sampled(&[0, 10_000], sparse);
            assert_eq!(whole.nrows(), 50);
            assert_eq!(sampled(&[0, 3, 400, 401, 9_000, 10_000], sparse), whole);
            let mut out = vec![0.0; whole.ncols()];
            let mut numbers: Vec<f64> = (0..50)
                .map(|i| {
                    whole.copy_row(i, &mut out);
                    out[out.len() - 1]
                })
                .collect();
            let mean = numbers.iter().sum::<f64>() / 50.0;
            // The deviation of such a mean is 10,000/√12/√50 = 408.
            assert!((mean - 5_000.0).abs() < 1_300.0, "{mean}");
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            assert_eq!(numbers.len(), 50);
        }
    }

    #[test]
    fn fewer_rows_than_asked_for_are_all_kept() {
        assert_eq!(sampled(&[0, 10, 20], false).nrows(), 20);
        assert!(RowSample::new(5, 0).finish().is_none());
    }
}
