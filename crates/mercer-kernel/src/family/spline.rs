//! `spline`: the cubic-spline kernel, a product over the coordinates s = xⱼ and t = zⱼ of
//!
//! ```text
//! 1 + st + min(s,t)²(3·max(s,t) − min(s,t))/6.
//! ```
//!
//! For s, t ≥ 0 the last term is ∫₀^∞ (s−u)₊(t−u)₊ du.

use num_traits::One;

use super::{Embedding, EvalError, Family, FamilyId, Fault, Interval, Kind, Lower, Named, NodeId};
use super::{Q, Slot, Space, Written, exact};
use crate::lower::{Coordinate, Fold, Step};

/// `spline`: ∏ⱼ (1 + st + min(s,t)²(3·max(s,t) − min(s,t))/6) with s = xⱼ and t = zⱼ.
pub const SPLINE: FamilyId = FamilyId::of(&Spline);

#[derive(Debug)]
struct Spline;

/// 1 + st + min²(2·max + |s−t|)/6: there is no cancellation for s, t ≥ 0.
fn term() -> Coordinate {
    let steps = vec![
        Step::Product(0, 1),
        Step::Least(0, 1),
        Step::Greatest(0, 1),
        Step::Distance(0, 1),
        Step::Sum(4, 4),
        Step::Sum(6, 5),
        Step::Product(3, 3),
        Step::Product(8, 7),
        Step::Number(1.0 / 6.0),
        Step::Product(9, 10),
        Step::Sum(2, 11),
        Step::Number(1.0),
        Step::Sum(13, 12),
    ];
    Coordinate::new(Fold::Product, steps)
}

impl Family for Spline {
    fn name(&self) -> &'static str {
        "spline"
    }

    fn slots(&self) -> &'static [Slot] {
        &[]
    }

    fn eval(&self, _: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let factor = |(s, t): (&f64, &f64)| {
            let (low, high) = (s.min(*t), s.max(*t));
            1.0 + s * t + low * low * (3.0 * high - low) / 6.0
        };
        Ok(x.iter().zip(z).map(factor).product())
    }

    fn lower(&self, _: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        Ok(to.statistic(Kind::Coordinate(term()), Embedding::Plain))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        self.exact_value(named, x, z).map(|value| Interval::exact(&value, bits)).ok_or(Fault::Unknown)
    }

    fn theorem(&self) -> &'static str {
        "the reproducing kernel of the cubic splines: Wahba 1990, Spline Models for Observational Data, section 1.2"
    }

    /// 1 + st + ∫(s−u)₊(t−u)₊ du is the reproducing kernel of the cubic splines on s, t ≥ 0 (Wahba 1990, Spline Models for
    /// Observational Data, section 1.2), and a product of kernels is one (Schur 1911, Satz VII).
    fn psd(&self, _: &Written, space: &Space) -> bool {
        space.domain.is_in_orthant()
    }

    fn exact_value(&self, _: &Written, x: &[Q], z: &[Q]) -> Option<Q> {
        let factor = |(s, t): (&Q, &Q)| {
            let (low, high) = (s.min(t), s.max(t));
            Q::one() + s * t + low * low * (exact::int(3) * high - low) / exact::int(6)
        };
        Some(x.iter().zip(z).map(factor).fold(Q::one(), |product, factor| product * factor))
    }

    fn range(&self, _: &Written, space: &Space) -> Option<(f64, f64)> {
        (space.domain.is_in_orthant()).then_some((1.0, f64::INFINITY))
    }
}
