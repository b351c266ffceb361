//! A hash of numbers that distinguishes sets of rows.

use super::{AnySamples, Samples, Storage};
use crate::real::Real;

/// A hash of numbers in their order: each is mixed in by a multiplication.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Content(u64);

impl Content {
    /// The hash.
    pub fn finish(self) -> u64 {
        self.0
    }

    /// Adds numbers.
    pub fn add(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|number| self.word(number.to_bits()));
    }

    /// Adds samples.
    pub fn add_samples(&mut self, samples: &AnySamples<'_>) {
        match samples {
            AnySamples::F32(samples) => self.add_storage(samples, |v| v.to_bits().into()),
            AnySamples::F64(samples) => self.add_storage(samples, |v| v.to_bits()),
        }
    }

    fn add_storage<T: Real>(&mut self, samples: &Samples<'_, T>, bits: impl Fn(T) -> u64) {
        match samples.storage() {
            Storage::Dense(entries) => entries.iter().for_each(|v| self.word(bits(*v))),
            Storage::Sparse { indptr, indices, values } => {
                indptr.iter().for_each(|&start| self.word(start as u64));
                indices.iter().for_each(|&column| self.word(column.into()));
                values.iter().for_each(|v| self.word(bits(*v)));
            }
        }
    }

    fn word(&mut self, word: u64) {
        // A multiplication moves bits only upwards; the rotation moves the high ones down again.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_counts_for_the_content() {
        let of = |entries: Vec<f64>, target: f64| {
            let mut content = Content::default();
            content.add_samples(&AnySamples::F64(Samples::dense(2, 2, entries).unwrap()));
            content.add(&[target]);
            content.finish()
        };
        let first = of(vec![1.0, 2.0, 3.0, 4.0], 5.0);
        assert_eq!(of(vec![1.0, 2.0, 3.0, 4.0], 5.0), first);
        for (place, last) in [(0, 5.0), (1, 5.0), (2, 5.0), (3, 5.0), (4, 5.5)] {
            let mut entries = vec![1.0, 2.0, 3.0, 4.0, 0.0];
            entries[place] += 0.5;
            entries.pop();
            assert_ne!(of(entries, last), first, "{place}");
        }
        assert_ne!(of(vec![2.0, 1.0, 3.0, 4.0], 5.0), first, "their order, too");
    }
}
