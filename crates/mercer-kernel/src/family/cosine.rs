//! `cosine`: ⟨x,z⟩/(|x||z|), 0 where either is the zero vector.

use num_traits::Zero;

use super::check::enclose;
use super::{Embedding, EvalError, Family, FamilyId, Fault, Interval, Kind, Lower, Named, NodeId, Q};
use super::{Slot, Space, Written, eval};

/// `cosine`: ⟨x,z⟩/(|x||z|), 0 where either is the zero vector.
pub const COSINE: FamilyId = FamilyId::of(&Cosine);

#[derive(Debug)]
struct Cosine;

/// No formula: at the zero vector, where the kernel is 0, the quotient is undefined.
impl Family for Cosine {
    fn name(&self) -> &'static str {
        "cosine"
    }

    fn slots(&self) -> &'static [Slot] {
        &[]
    }

    fn eval(&self, _: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        Ok(eval::cosine(x, z))
    }

    fn lower(&self, _: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        Ok(to.statistic(Kind::Dot, Embedding::Unit))
    }

    fn enclose(&self, _: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let norms = enclose::dot(x, x) * enclose::dot(z, z);
        if norms.is_zero() {
            return Ok(Interval::integer(0, bits));
        }
        Interval::exact(&enclose::dot(x, z), bits).div(&Interval::exact(&norms, bits).sqrt()?)
    }

    fn theorem(&self) -> &'static str {
        "an inner product of unit vectors: Aronszajn 1950"
    }

    /// The inner product of the points mapped to the unit sphere and 0 (Aronszajn 1950).
    fn psd(&self, _: &Written, _: &Space) -> bool {
        true
    }

    /// Not at the zero vector.
    fn is_continuous(&self, _: &Written, space: &Space) -> bool {
        !space.domain.holds_origin()
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((-1.0, 1.0))
    }
}
