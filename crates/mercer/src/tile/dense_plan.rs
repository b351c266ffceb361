//! Plans for engines that store dense rows.

use crate::data::AnySamples;
use crate::real::Precision;

use super::extent::Extent;
use super::plan::{Known, Plan};
use super::program::Program;

impl Plan {
    /// The cheapest plan whose error bound holds for kernel values between rows of `sides`, none of which is packed without its
    /// zeros. `means` has a number for each column, the same for both sides of a matrix; `wanted` is the requested
    /// precision of the tiles, if any; the plan may still choose double precision if single is not enough. O(nd) time.
    #[must_use]
    pub fn dense(
        program: &Program,
        sides: &[&AnySamples<'_>],
        means: &[f64],
        wanted: Option<Precision>,
    ) -> Self {
        let nothing = Extent { raw: 0.0, centred: 0.0, non_negative: true, whole: true };
        let extents: Vec<Extent> = program
            .groups
            .iter()
            .map(|group| sides.iter().map(|side| Extent::of(group, side, means)).fold(nothing, Extent::union))
            .collect();
        let double = sides.iter().any(|side| matches!(side, AnySamples::F64(_)));
        Self::new(program, Known { extents: &extents, means, sparse: false, zeros: false, double, wanted })
    }
}
