//! `noise(value)`: value ≥ 0 where both points are the same row of the data, else 0.

use super::{Allowed, EvalError, Expr, Family, FamilyId, Fault, Interval, Lower};
use super::{Named, NodeId, Q, Search, Slot, Space, Written, exact, slot, spelling};
use num_traits::{Signed, Zero};

/// `noise(value)`: value ≥ 0 where both points are the same row of the data, else 0. In the matrix of samples with
/// themselves it is on the diagonal; between two sets of samples it is 0. For two given points, rows are the same if
/// the points are.
pub const NOISE: FamilyId = FamilyId::of(&Noise);

#[derive(Debug)]
struct Noise;

const VARIANCES: Search = Search::Between(1e-6, 1e2);

impl Family for Noise {
    fn name(&self) -> &'static str {
        "noise"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 1] =
            [slot(&[spelling("value", Allowed::NonNegative, false, None, VARIANCES)], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let value = named.number(0)?;
        Ok(if x == z { value } else { 0.0 })
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let value = named.number(0)?;
        let same = to.same_row();
        Ok(to.affine(same, value, 0.0))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let value = named.exact(0)?;
        Ok(Interval::exact(&if x == z { value } else { Q::zero() }, bits))
    }

    fn theorem(&self) -> &'static str {
        "the identity matrix on different points: Aronszajn 1950"
    }

    /// The sum over all points p of f(x)·f(z) with f = √value at p and 0 elsewhere (Aronszajn 1950).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.every(0, |value| !value.is_negative())
    }

    fn is_continuous(&self, _: &Written, _: &Space) -> bool {
        false
    }

    fn is_infinitely_divisible(&self, named: &Written) -> bool {
        named.every(0, |value| !value.is_negative())
    }

    fn exact_value(&self, named: &Written, x: &[Q], z: &[Q]) -> Option<Q> {
        let value = named.exact(0).ok()?;
        Some(if x == z { value } else { Q::zero() })
    }

    fn range(&self, named: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, named.exact(0).map_or(f64::INFINITY, |value| exact::double_above(&value))))
    }

    /// k itself.
    fn derivative(&self, named: &Named, _: usize, _: Option<usize>, _: usize) -> Option<Expr> {
        Some(Expr::Named(named.clone()))
    }
}
