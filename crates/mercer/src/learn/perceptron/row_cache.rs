//! Rows of a kernel matrix, computed when first asked for and kept within a budget.

use crate::gram::Gram;
use crate::learn::error::LearnError;

/// The rows asked for most recently, as many as the budget holds.
pub(super) struct RowCache<'a> {
    gram: &'a dyn Gram,
    all: Vec<usize>,
    capacity: usize,
    /// Where each row is held.
    place: Vec<Option<usize>>,
    held: Vec<Held>,
    clock: u64,
}

struct Held {
    row: usize,
    used: u64,
    values: Box<[f64]>,
}

impl<'a> RowCache<'a> {
    /// Keeps rows of `gram` in at most `budget` bytes, and one row at least.
    pub fn new(gram: &'a dyn Gram, budget: u64) -> Self {
        let n = gram.nrows();
        let capacity = (budget / (8 * n.max(1) as u64)).clamp(1, n.max(1) as u64) as usize;
        Self { gram, all: (0..n).collect(), capacity, place: vec![None; n], held: Vec::new(), clock: 0 }
    }

    /// Row `i`. O(nd) where it is not held.
    ///
    /// # Errors
    /// [`LearnError::KernelValue`] where an entry is not a finite number.
    pub fn row(&mut self, i: usize) -> Result<&[f64], LearnError> {
        self.clock += 1;
        let place = match self.place[i] {
            Some(place) => place,
            None => self.load(i)?,
        };
        self.held[place].used = self.clock;
        Ok(&self.held[place].values)
    }

    fn load(&mut self, i: usize) -> Result<usize, LearnError> {
        let place = if self.held.len() < self.capacity {
            self.held.push(Held { row: i, used: 0, values: vec![0.0; self.all.len()].into() });
            self.held.len() - 1
        } else {
            let oldest = (0..self.held.len()).min_by_key(|&place| self.held[place].used).unwrap_or(0);
            self.place[self.held[oldest].row] = None;
            self.held[oldest].row = i;
            oldest
        };
        let values = &mut self.held[place].values;
        self.gram.block(&[i], &self.all, values);
        if let Some(column) = values.iter().position(|k| !k.is_finite()) {
            return Err(LearnError::KernelValue { row: i, column });
        }
        self.place[i] = Some(place);
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::DenseGram;

    #[test]
    fn keeps_the_rows_used_last() {
        let gram = DenseGram::<f64>::new(4, (0..16).map(f64::from).collect::<Vec<_>>());
        let mut rows = RowCache::new(&gram, 2 * 4 * 8);
        for i in [0, 1, 0, 2, 0, 3, 1, 0] {
            let expected: Vec<f64> = (0..4).map(|j| f64::from(4 * i + j)).collect();
            assert_eq!(rows.row(i as usize).unwrap(), expected);
            assert!(rows.held.len() <= 2);
        }
        assert!(rows.place[0].is_some() && rows.place[1].is_some() && rows.place[2].is_none());
    }

    #[test]
    fn one_row_is_always_kept_and_a_bad_one_is_named() {
        let gram = DenseGram::<f64>::new(2, vec![1.0, 0.0, f64::NAN, 1.0]);
        let mut rows = RowCache::new(&gram, 0);
        assert_eq!(rows.row(0).unwrap(), [1.0, 0.0]);
        assert_eq!(rows.row(1), Err(LearnError::KernelValue { row: 1, column: 0 }));
        assert_eq!(rows.row(0).unwrap(), [1.0, 0.0]);
    }
}
