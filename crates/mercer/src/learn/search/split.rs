//! A seeded split of rows into those trained on and those held out.

use crate::data::HeldOut;

/// Row numbers, each part ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<usize>,
    /// Rows held out.
    pub held_out: Vec<usize>,
}

/// A fraction that is below 0, or 1 or more.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the held-out fraction is {0}; it must be at least 0 and less than 1")]
pub struct InvalidFraction(pub f64);

impl Split {
    /// Holds out `fraction` of `rows`, chosen by `seed` as for rows that are read in passes ([`HeldOut`]); `None` where that is no
    /// row or leaves fewer than two.
    ///
    /// # Errors
    /// If the fraction is not in [0, 1).
    pub fn hold_out(rows: usize, fraction: f64, seed: u64) -> Result<Option<Self>, InvalidFraction> {
        if !(0.0..1.0).contains(&fraction) {
            return Err(InvalidFraction(fraction));
        }
        let rows_held = HeldOut::new(rows as u64, fraction, seed);
        if rows_held.count() == 0 {
            return Ok(None);
        }
        Ok(Some(Self::of(rows, &rows_held)))
    }

    /// The rows that are held out, and the others.
    pub(crate) fn of(rows: usize, rows_held: &HeldOut) -> Self {
        let (held_out, train) = (0..rows).partition(|&row| rows_held.contains(row as u64));
        Self { train, held_out }
    }

    /// The split with a row of every class to train on: of a class without one, the first row that is held out.
    ///
    /// # Panics
    /// If a row has no code or its code is not below `classes`.
    #[must_use]
    pub fn with_every_class(self, codes: &[usize], classes: usize) -> Self {
        let Self { mut train, mut held_out } = self;
        let mut is_present = vec![false; classes];
        train.iter().for_each(|&row| is_present[codes[row]] = true);
        held_out.retain(|&row| {
            let was_present = std::mem::replace(&mut is_present[codes[row]], true);
            if !was_present {
                train.push(row);
            }
            was_present
        });
        train.sort_unstable();
        Self { train, held_out }
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
    fn a_row_of_every_class_is_trained_on() {
        let split = Split { train: vec![0, 3], held_out: vec![1, 2, 4, 5] };
        let split = split.with_every_class(&[0, 1, 1, 0, 0, 2], 3);
        assert_eq!(split, Split { train: vec![0, 1, 3, 5], held_out: vec![2, 4] });
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
