//! `periodic(period, length)`: exp(−2 Σⱼ sin²(π(xⱼ−zⱼ)/p)/ℓ²) with p > 0 and ℓ > 0.

use std::f64::consts::PI;

use super::{Allowed, Embedding, EvalError, Expr, Family, FamilyId, Fault, Function, Interval, Invariance};
use super::{Kind, Lower, Named, NodeId, Q, Search, Slot, Space, Written};
use super::{exact, length, product, slot, spelling};

/// `periodic(period, length)`: exp(−2 Σⱼ sin²(π(xⱼ−zⱼ)/p)/ℓ²).
pub const PERIODIC: FamilyId = FamilyId::of(&Periodic);

const LENGTHS: Search = Search::Between(0.05, 20.0);

#[derive(Debug)]
struct Periodic;

impl Family for Periodic {
    fn name(&self) -> &'static str {
        "periodic"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 2] = [
            slot(&[length("period")], 1.0),
            slot(&[spelling("length", Allowed::Positive, true, None, LENGTHS)], 1.0),
        ];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let (periods, lengths) = (named.per_column(0, x.len())?, named.per_column(1, x.len())?);
        let sine = |x: f64, z: f64, period: f64| match PI * (x - z) / period {
            angle if angle.abs() < 4_503_599_627_370_496.0 => angle.sin(),
            // Beyond that many turns only the remainders, which are exact, give the position within the period.
            _ => (PI * ((x % period - z % period) / period)).sin(),
        };
        let sum = (0..x.len()).map(|j| (sine(x[j], z[j], periods[j]) / lengths[j]).powi(2)).sum::<f64>();
        Ok((-2.0 * sum).exp())
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let (periods, lengths) = (named.per_column(0, to.columns())?, named.per_column(1, to.columns())?);
        let squared = to.statistic(Kind::SquaredDistance, Embedding::Circle { periods, lengths });
        let exponent = to.affine(squared, -2.0, 0.0);
        Ok(to.call(Function::Exp, exponent))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let periods = named.exact_per_column(0, x.len())?;
        let lengths = named.exact_per_column(1, x.len())?;
        let pi = Interval::pi(bits);
        let mut sum = Interval::integer(0, bits);
        for j in 0..x.len() {
            let turns = Interval::exact(&((&x[j] - &z[j]) / &periods[j]), bits);
            let sine = turns.mul(&pi).sin()?.div(&Interval::exact(&lengths[j], bits))?;
            sum = sum.add(&sine.pow(&exact::int(2))?);
        }
        sum.add(&sum).neg().exp()
    }

    fn theorem(&self) -> &'static str {
        "the Gaussian of points mapped to circles: MacKay 1998"
    }

    /// The Gaussian kernel of points mapped to circles, one per column (MacKay 1998).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.all_positive()
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    /// With δ = |xⱼ−zⱼ| and θ = πδ/p, the sum over the columns that the hyper-parameter belongs to of k·4sin²θ/ℓ² for log ℓ and of
    /// k·2θ·sin(2θ)/ℓ² for log p.
    fn derivative(&self, named: &Named, slot: usize, column: Option<usize>, columns: usize) -> Option<Expr> {
        let periods = named.per_column(0, columns).ok()?;
        let lengths = named.per_column(1, columns).ok()?;
        let term = |j: usize| {
            let angle = Expr::Distance.scaled(PI / periods[j]);
            let scale = 1.0 / (lengths[j] * lengths[j]);
            let term = if slot == 0 {
                product([angle.clone(), angle.scaled(2.0).call(Function::Sin)]).scaled(2.0 * scale)
            } else {
                angle.call(Function::Sin).power(2.0).scaled(4.0 * scale)
            };
            term.on_column(j)
        };
        let terms = match column {
            Some(j) => term(j),
            None => Expr::Sum((0..columns).map(term).collect()),
        };
        Some(product([Expr::Named(named.clone()), terms]))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Shift
    }
}
