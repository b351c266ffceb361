//! A design whose rows are computed from samples each time they are needed.

use std::ops::Range;

use rayon::prelude::*;

use crate::data::AnySamples;
use crate::gram::ValuesMut;
use crate::real::Precision;
use crate::watch::Watch;

use super::Design;
use super::error::{DesignError, check_columns};
use super::features::RowFeatures;

/// Φ of samples in memory, computed again for each pass. O(block·D) memory.
#[derive(Debug)]
pub struct Recomputed<'a> {
    features: RowFeatures<'a>,
    samples: &'a AnySamples<'a>,
}

impl<'a> Recomputed<'a> {
    /// The features of these samples.
    ///
    /// # Errors
    /// If the samples have another number of columns.
    pub fn new(
        features: impl Into<RowFeatures<'a>>,
        samples: &'a AnySamples<'a>,
    ) -> Result<Self, DesignError> {
        let features = features.into();
        check_columns(samples, features.columns())?;
        Ok(Self { features, samples })
    }

    /// Rows of `samples`, computed in the precision of the design and rounded to that of `out`.
    fn fill_from(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: ValuesMut<'_>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        match (self.precision(), out) {
            (Precision::Single, ValuesMut::F64(out)) => {
                let mut narrow = vec![0f32; out.len()];
                self.features.fill(samples, rows, (&mut narrow).into(), watch)?;
                out.iter_mut().zip(narrow).for_each(|(wide, narrow)| *wide = f64::from(narrow));
                Ok(())
            }
            (_, out) => self.features.fill(samples, rows, out, watch),
        }
    }
}

impl Design for Recomputed<'_> {
    fn nrows(&self) -> usize {
        self.samples.nrows()
    }

    fn ncols(&self) -> usize {
        self.features.count()
    }

    fn precision(&self) -> Precision {
        self.features.precision(self.samples)
    }

    fn fill(&self, rows: Range<usize>, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        self.fill_from(self.samples, rows, out, watch)
    }

    fn fill_at(&self, rows: &[usize], out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        self.fill_from(&self.samples.select(rows), 0..rows.len(), out, watch)
    }
}

/// Calls `fill` with slices of some rows of `width` features and of `out`, on all threads. Of several errors, that of the first
/// row is returned.
///
/// # Errors
/// Those of `fill`, and if `watch` asks to stop.
pub fn fill_in_slices(
    rows: Range<usize>,
    width: usize,
    out: &mut [f64],
    watch: &dyn Watch,
    fill: impl Fn(Range<usize>, &mut [f64]) -> Result<(), DesignError> + Sync,
) -> Result<(), DesignError> {
    /// Maximum number of rows of a slice.
    const ROWS: usize = 1_024;
    assert_eq!(out.len(), rows.len() * width, "one row of {width} features per sample");
    let height = rows.len().div_ceil(16).clamp(1, ROWS);
    let fill = |place: usize, out: &mut [f64]| {
        watch.check()?;
        let first = rows.start + place * height;
        fill(first..first + out.len() / width, out)
    };
    let slices = out.par_chunks_mut((height * width).max(1)).enumerate();
    slices.find_map_first(|(place, out)| fill(place, out).err()).map_or(Ok(()), Err)
}
