//! Confirmation of a counter-example in interval arithmetic, from only the formula, the points and the weights.

use crate::check::enclose::enclose;
use crate::check::exact::Q;
use crate::check::interval::{Fault, Interval};
use crate::check::steps::Limit;
use crate::check::{Dim, Domain};
use crate::formula::Formula;

/// Precisions tried in turn, in bits after the point.
const PRECISIONS: [u32; 4] = [128, 256, 512, 1280];

/// The value of wᵀKw where an enclosure of it is negative, and the enclosure's upper end, which is negative, too; `None`
/// where it is not shown to be.
pub fn negative_form(formula: &Formula, points: &[Vec<Q>], weights: &[Q], limit: Limit) -> Option<(f64, Q)> {
    let n = points.len();
    let weight_list: Vec<_> = (0..n).filter(|&i| !num_traits::Zero::is_zero(&weights[i])).collect();
    let extra = u32::try_from(formula.constant_bits().min(8_000)).unwrap_or(0);
    for bits in PRECISIONS.map(|bits| bits + extra) {
        let mut sum = Interval::integer(0, bits);
        for &i in &weight_list {
            for &j in &weight_list {
                if limit.is_reached() {
                    return None;
                }
                let entry = enclose(formula, &points[i], &points[j], bits).ok()?;
                sum = sum.add(&Interval::exact(&(&weights[i] * &weights[j]), bits).mul(&entry));
            }
        }
        if sum.is_negative() {
            // A value too small for a double stays negative.
            return Some((sum.midpoint().min(-f64::from_bits(1)), sum.bounds().1));
        }
        if !sum.neg().is_nonnegative() && sum.is_positive() {
            return None;
        }
    }
    None
}

/// Both values if enclosures of k(x,z) and k(z,x) are disjoint.
pub fn asymmetric(formula: &Formula, x: &[Q], z: &[Q]) -> Option<(f64, f64)> {
    let (forward, backward) = (enclose(formula, x, z, 128).ok()?, enclose(formula, z, x, 128).ok()?);
    forward.is_apart(&backward).then(|| (forward.midpoint(), backward.midpoint()))
}

/// Why the formula certainly has no value at `(x, z)`.
pub fn undefined(formula: &Formula, x: &[Q], z: &[Q]) -> Option<&'static str> {
    match enclose(formula, x, z, 128) {
        Err(Fault::Undefined(reason)) => Some(reason),
        _ => None,
    }
}

/// Whether a point lies in the domain, exactly, and has the dimension.
pub fn in_domain(point: &[Q], dim: Dim, domain: Domain) -> bool {
    dim.includes(point.len()) && domain.holds(point)
}
