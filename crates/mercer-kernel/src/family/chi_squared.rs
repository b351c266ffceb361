//! `chi2(gamma)`: exp(−γ Σⱼ (xⱼ−zⱼ)²/(xⱼ+zⱼ)) with 0/0 = 0 and γ > 0, on points without negative coordinates.

use num_traits::Zero;

use super::{Allowed, Embedding, EvalError, Expr, Family, FamilyId, Fault, Function, Interval, Kind};
use super::{Lower, Named, NodeId, Q, Slot, Space, Written, above_zero, gamma, product, slot};

/// `chi2(gamma)`: exp(−γ Σⱼ (xⱼ−zⱼ)²/(xⱼ+zⱼ)), 0/0 = 0.
pub const CHI_SQUARED: FamilyId = FamilyId::of(&ChiSquared);

#[derive(Debug)]
struct ChiSquared;

impl Family for ChiSquared {
    fn name(&self) -> &'static str {
        "chi2"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 1] = [slot(&[gamma(Allowed::Positive, false)], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let term =
            |(a, b): (&f64, &f64)| if a + b == 0.0 && a == b { 0.0 } else { (a - b) * (a - b) / (a + b) };
        Ok((-named.number(0)? * x.iter().zip(z).map(term).sum::<f64>()).exp())
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let sum = to.statistic(Kind::ChiSquared, Embedding::Plain);
        let exponent = to.affine(sum, -named.number(0)?, 0.0);
        Ok(to.call(Function::Exp, exponent))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let mut statistic = Q::zero();
        for (a, b) in x.iter().zip(z) {
            let (difference, sum) = (a - b, a + b);
            if difference.is_zero() && sum.is_zero() {
                continue;
            }
            if sum.is_zero() {
                // As in double precision: the statistic is infinite and the kernel 0.
                return Ok(Interval::integer(0, bits));
            }
            statistic += &difference * &difference / sum;
        }
        Interval::exact(&(-statistic * named.exact(0)?), bits).exp()
    }

    fn theorem(&self) -> &'static str {
        "exp(−ψ) with ψ of negative type on the orthant: Schoenberg 1938, Theorem 1; Zhang, Marszałek, Lazebnik, Schmid 2007"
    }

    /// (s−t)²/(s+t) = s + t − 4st/(s+t) is of negative type for s, t ≥ 0, because st/(s+t) = ∫ e^(−u/s)e^(−u/t) du is a
    /// kernel; then Schoenberg 1938, Theorem 1 (Zhang, Marszałek, Lazebnik, Schmid 2007).
    fn psd(&self, named: &Written, space: &Space) -> bool {
        space.domain.is_in_orthant() && named.all_positive()
    }

    fn defined(&self, _: &Written, space: &Space) -> bool {
        space.domain.is_in_orthant()
    }

    /// k·log k, which is −γ times the statistic times k; 0 where k underflows.
    fn derivative(&self, named: &Named, _: usize, _: Option<usize>, _: usize) -> Option<Expr> {
        let k = Expr::Named(named.clone());
        Some(product([k.clone(), above_zero(k).call(Function::Log)]))
    }

    fn range(&self, _: &Written, space: &Space) -> Option<(f64, f64)> {
        Some((0.0, if space.domain.is_in_orthant() { 1.0 } else { f64::INFINITY }))
    }
}
