//! The magnitudes of a group's features, from which error bounds are computed.

use rayon::prelude::*;

use crate::data::with_samples;
use crate::data::{AnySamples, Storage};
use crate::kernel::lower::Embedding;
use crate::real::Real;

use super::group::Group;

/// Bounds on the features of all rows over a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    /// The largest |x|² of the original data.
    pub raw: f64,
    /// The largest |x|² after subtracting the centre; equal to `raw` without one.
    pub centred: f64,
    /// Whether no coordinate is negative.
    pub non_negative: bool,
    /// Whether every coordinate of the original data is a whole number: counts, category indicators, grey values.
    pub whole: bool,
}

impl Extent {
    /// The extent of `samples` over `group`, with one centre per column of the samples. O(nd).
    pub fn of(group: &Group, samples: &AnySamples<'_>, centre: &[f64]) -> Self {
        match &group.embedding {
            Embedding::Unit => Self { raw: 1.0, centred: 1.0, non_negative: false, whole: false },
            Embedding::Circle { lengths, .. } => {
                let bound = lengths.iter().map(|length| (length * length).recip()).sum();
                Self { raw: bound, centred: bound, non_negative: false, whole: false }
            }
            Embedding::Plain => Self::measured(group, samples, centre, |_| 1.0),
            Embedding::Scaled(factors) => Self::measured(group, samples, centre, |j| factors[j]),
        }
    }

    /// The larger bound of both in every field.
    pub fn union(self, other: Self) -> Self {
        Self {
            raw: self.raw.max(other.raw),
            centred: self.centred.max(other.centred),
            non_negative: self.non_negative && other.non_negative,
            whole: self.whole && other.whole,
        }
    }

    fn measured(
        group: &Group,
        samples: &AnySamples<'_>,
        centre: &[f64],
        factor: impl Fn(usize) -> f64 + Sync,
    ) -> Self {
        let nothing = Self { raw: 0.0, centred: 0.0, non_negative: true, whole: true };
        let ncols = samples.ncols();
        let add = |extent: &mut Self, j: usize, value: f64| {
            let (raw, centred) = (factor(j) * value, factor(j) * (value - centre[group.columns[j]]));
            extent.raw += raw * raw;
            extent.centred += centred * centred;
            extent.non_negative &= value >= 0.0;
            // Without SSE 4.1, `fract` is a call.
            extent.whole &= raw as i64 as f64 == raw;
        };
        with_samples!(samples, s => match s.storage() {
            Storage::Dense(entries) => entries
                .par_chunks_exact(ncols.max(1))
                .map(|row| {
                    let mut extent = nothing;
                    group.columns.iter().enumerate().for_each(|(j, &c)| add(&mut extent, j, row[c].to_f64()));
                    extent
                })
                .reduce(|| nothing, Self::union),
            // Sparse rows are never centred: only stored entries matter.
            Storage::Sparse { indptr, indices, values } => {
                let mut place = vec![usize::MAX; ncols];
                group.columns.iter().enumerate().for_each(|(j, &c)| place[c] = j);
                let row = |i: usize| indptr[i]..indptr[i + 1];
                let extent = (0..s.nrows())
                    .into_par_iter()
                    .map(|i| {
                        let mut extent = nothing;
                        let stored = row(i).map(|k| (place[indices[k] as usize], values[k].to_f64()));
                        stored.filter(|(j, _)| *j != usize::MAX).for_each(|(j, value)| add(&mut extent, j, value));
                        extent
                    })
                    .reduce(|| nothing, Self::union);
                Self { centred: extent.raw, ..extent }
            }
        })
    }
}
