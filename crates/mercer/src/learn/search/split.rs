//! A seeded split of rows into those trained on and those held out.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Row numbers, each part ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<usize>,
    /// Rows held out.
    pub held_out: Vec<usize>,
}

/// A fraction that is less than 0, or 1 or more.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the held-out fraction is {0}; it must be at least 0 and less than 1")]
pub struct InvalidFraction(pub f64);

impl Split {
    /// Holds out `fraction` of `rows`, chosen by `seed`; `None` where that is no row or leaves fewer than two.
    ///
    /// # Errors
    /// Where the fraction is not in [0, 1).
    pub fn hold_out(rows: usize, fraction: f64, seed: u64) -> Result<Option<Self>, InvalidFraction> {
        if !(0.0..1.0).contains(&fraction) {
            return Err(InvalidFraction(fraction));
        }
        let held = (rows as f64 * fraction).floor() as usize;
        if held == 0 || rows - held < 2 {
            return Ok(None);
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let mut train = order.split_off(held);
        order.sort_unstable();
        train.sort_unstable();
        Ok(Some(Self { train, held_out: order }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_part() {
        let split = Split::hold_out(103, 0.2, 7).unwrap().unwrap();
        assert_eq!(split.held_out.len(), 20);
        let mut all = [split.train.clone(), split.held_out.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<_>>());
        assert_eq!(Split::hold_out(103, 0.2, 7).unwrap().unwrap(), split, "the same seed, the same split");
        assert_ne!(Split::hold_out(103, 0.2, 8).unwrap().unwrap(), split);
    }

    #[test]
    fn too_few_rows_are_not_split() {
        assert_eq!(Split::hold_out(4, 0.2, 0), Ok(None));
        assert_eq!(Split::hold_out(2, 0.5, 0), Ok(None));
        for bad in [1.0, -0.1, f64::NAN] {
            assert!(Split::hold_out(10, bad, 0).is_err());
        }
    }
}
