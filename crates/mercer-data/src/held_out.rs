//! The choice of held-out rows, which is the same for rows in memory and rows read in passes.

use super::row_sample::row_hash;

/// Rows held out to measure an error: a fraction of all rows, rounded down, with the smallest hashes of their numbers.
///
/// ```
/// use mercer_data::HeldOut;
/// let held_out = HeldOut::new(100, 0.2, 7);
/// assert_eq!((0..100).filter(|&row| held_out.contains(row)).count(), 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldOut {
    seed: u64,
    count: u64,
    /// The largest hash of a row that is held out.
    limit: u64,
}

/// Leading bits of a hash for the first count.
const BITS: u32 = 16;

impl HeldOut {
    /// `fraction` of `rows` rows, chosen by `seed`; none if that is less than one row or leaves fewer than two.
    ///
    /// O(rows) time, and memory for one of 65,536 parts of them.
    #[must_use]
    pub fn new(rows: u64, fraction: f64, seed: u64) -> Self {
        // The seed differs from that of the sample, which would otherwise consist of held-out rows.
        let seed = !seed;
        let count = (rows as f64 * fraction).floor() as u64;
        if count == 0 || rows.saturating_sub(count) < 2 {
            return Self { seed, count: 0, limit: 0 };
        }
        let top = |hash: u64| (hash >> (64 - BITS)) as usize;
        let mut counts = vec![0u64; 1 << BITS];
        (0..rows).for_each(|row| counts[top(row_hash(seed, row))] += 1);
        let (mut below, mut part) = (0, 0);
        while below + counts[part] < count {
            below += counts[part];
            part += 1;
        }
        let mut hashes: Vec<u64> =
            (0..rows).map(|row| row_hash(seed, row)).filter(|&hash| top(hash) == part).collect();
        let (_, limit, _) = hashes.select_nth_unstable((count - below - 1) as usize);
        Self { seed, count, limit: *limit }
    }

    /// The number of held-out rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a row is held out, by its number from 0.
    #[must_use]
    pub fn contains(&self, row: u64) -> bool {
        self.count > 0 && row_hash(self.seed, row) <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_rows_follows_the_fraction() {
        for (rows, fraction, count) in [(10, 0.2, 2), (103, 0.2, 20), (70_000, 0.37, 25_900), (5, 0.99, 0)] {
            let held_out = HeldOut::new(rows, fraction, 3);
            assert_eq!(held_out.count(), count);
            assert_eq!((0..rows).filter(|&row| held_out.contains(row)).count() as u64, count);
        }
        assert_eq!(HeldOut::new(1_000, 0.0, 3).count(), 0);
        assert_eq!(HeldOut::new(4, 0.2, 3).count(), 0, "a fraction of less than one row");
    }

    #[test]
    fn the_seed_decides() {
        let rows = |seed| -> Vec<u64> {
            let held_out = HeldOut::new(1_000, 0.2, seed);
            (0..1_000).filter(|&row| held_out.contains(row)).collect()
        };
        assert_eq!(rows(1), rows(1));
        assert_ne!(rows(1), rows(2));
    }
}
