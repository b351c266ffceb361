//! `arccos(order)`: the arc-cosine kernel of Cho and Saul (2009), equations 3 to 7.
//!
//! (1/π)|x|ⁿ|z|ⁿ Jₙ(θ) with the angle θ between the points, and 0 where either is the zero vector:
//! J₀ = π − θ, J₁ = sin θ + (π − θ)cos θ, J₂ = 3 sin θ cos θ + (π − θ)(1 + 2cos²θ).

use std::f64::consts::PI;

use num_traits::{Signed, Zero};

use super::check::enclose;
use super::{Binary, Embedding, EvalError, Family, FamilyId, Fault, Interval, Kind, Lower, Named, NodeId};
use super::{PointStatistic, Q, Side, Slot, Space, Special, Written, eval, exact, order, slot};

/// `arccos(order)`: the arc-cosine kernel of order 0, 1 or 2; 0 where either point is the zero vector.
pub const ARC_COSINE: FamilyId = FamilyId::of(&ArcCosine);

#[derive(Debug)]
struct ArcCosine;

/// No formula: at the zero vector, where the kernel is 0, the angle is undefined.
impl Family for ArcCosine {
    fn name(&self) -> &'static str {
        "arccos"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 1] = [slot(&[order("order")], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let order = named.number(0)?;
        if [x, z].iter().any(|v| v.iter().all(|c| *c == 0.0)) {
            return Ok(0.0);
        }
        let (norms, cosine) = (eval::norms(x, z), eval::cosine(x, z).clamp(-1.0, 1.0));
        let (angle, sine) = (cosine.acos(), (1.0 - cosine * cosine).sqrt());
        let j = match order {
            0.0 => PI - angle,
            1.0 => sine + (PI - angle) * cosine,
            _ => 3.0 * sine * cosine + (PI - angle) * (1.0 + 2.0 * cosine * cosine),
        };
        Ok(norms.powf(order) * j / PI)
    }

    /// The angle comes from the distance of the unit vectors, which is exact for equal directions.
    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let order = named.number(0)?;
        let chord = to.statistic(Kind::SquaredDistance, Embedding::Unit);
        let angle = to.special(Special::ArcCosine { order: order as u8 }, chord);
        let of_point = if order == 0.0 { PointStatistic::NonZero } else { PointStatistic::Norm };
        let (of_x, of_z) = (to.point(of_point, Side::X), to.point(of_point, Side::Z));
        let mut norms = to.binary(Binary::Product, of_x, of_z);
        if order == 2.0 {
            let two = to.number(2.0);
            norms = to.binary(Binary::Power, norms, two);
        }
        Ok(to.binary(Binary::Product, angle, norms))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let order = named.exact(0)?;
        let (product, norms) = (enclose::dot(x, z), enclose::dot(x, x) * enclose::dot(z, z));
        if norms.is_zero() {
            return Ok(Interval::integer(0, bits));
        }
        let size = Interval::exact(&norms, bits).sqrt()?;
        let one = Interval::integer(1, bits);
        // Parallel points have an exact value: Jₙ(0)/π is 1, 1 and 3, Jₙ(π) is 0.
        if &product * &product == norms {
            let value = if product.is_negative() {
                0
            } else {
                [1, 1, 3][exact::as_integer(&order).map_or(0, |n| n.clamp(0, 2)) as usize]
            };
            return Ok(size.pow(&order)?.mul(&Interval::integer(value, bits)));
        }
        let cosine = Interval::exact(&product, bits).div(&size)?.min(&one).max(&one.neg());
        let sine_squared = (&norms - &product * &product) / &norms;
        let sine = Interval::exact(&sine_squared, bits).sqrt()?;
        let pi = Interval::pi(bits);
        let rest = pi.sub(&cosine.acos()?);
        let j = match exact::as_integer(&order) {
            Some(0) => rest,
            Some(1) => sine.add(&rest.mul(&cosine)),
            Some(2) => {
                let square = cosine.mul(&cosine);
                let three = Interval::integer(3, bits);
                three.mul(&sine).mul(&cosine).add(&rest.mul(&one.add(&square).add(&square)))
            }
            _ => return Err(Fault::Unknown),
        };
        size.pow(&order)?.mul(&j).div(&pi)
    }

    fn theorem(&self) -> &'static str {
        "an integral of f(x)f(z): Cho and Saul 2009, equation 1"
    }

    /// An integral of products of one function of each point (Cho and Saul 2009, equation 1).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.every_natural(0, Some(2))
    }

    /// Order 0 is not, at the zero vector.
    fn is_continuous(&self, named: &Written, space: &Space) -> bool {
        named.exact(0).is_ok_and(|order| order.is_positive()) || !space.domain.holds_origin()
    }
}
