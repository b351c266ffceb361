//! `laplacian(gamma)`: exp(−γ|x−z|₁) with γ > 0.

use super::check::enclose;
use super::recognise::named_kernel;
use super::{Allowed, Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Function, Interval};
use super::{Invariance, Kind, Lower, Named, NodeId, Pattern, Q, Shape, Slot, Space};
use super::{Written, eval, gamma, product, slot};

/// `laplacian(gamma)`: exp(−γ|x−z|₁).
pub const LAPLACIAN: FamilyId = FamilyId::of(&Laplacian);

#[derive(Debug)]
struct Laplacian;

impl Family for Laplacian {
    fn name(&self) -> &'static str {
        "laplacian"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 1] = [slot(&[gamma(Allowed::Positive, true)], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let gammas = named.per_column(0, x.len())?;
        Ok((-eval::weighted(&gammas, x, z, |a, b| (a - b).abs())).exp())
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let distance = to.weighted(Kind::Distance1, &named.per_column(0, to.columns())?);
        Ok(to.exp_of_minus(distance))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let exponent = named.exact_weighted(0, Q::clone, enclose::distance1, x, z)?;
        Interval::exact(&-exponent, bits).exp()
    }

    fn theorem(&self) -> &'static str {
        "exp(−ψ) of a sum of distances on the line: Schoenberg 1938, Theorem 1"
    }

    /// exp(−ψ) of a sum of distances on the line, which are of negative type (Schoenberg 1938, Theorem 1).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.all_positive()
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        Some(Expr::Distance1.scaled(-named.number(0).ok()?).call(Function::Exp))
    }

    fn recognise(&self, found: Pattern<'_>) -> Option<Named> {
        match found {
            Pattern::Decay { rate, of: Expr::Distance1 } => named_kernel(LAPLACIAN, &[rate]),
            _ => None,
        }
    }

    fn form(&self, named: &Written, cols: &Cols, space: &Space) -> Option<Form> {
        Form::distance1(cols, space).scale(&-named.exact(0).ok()?).exp(space)
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Radial
    }

    fn logarithm(&self, named: &Named) -> Option<Expr> {
        Some(named.weighted_sum(0, |gamma| gamma, Expr::Distance1)?.scaled(-1.0))
    }

    /// −γ|x−z|₁·k.
    fn derivative(&self, named: &Named, slot: usize, column: Option<usize>, _: usize) -> Option<Expr> {
        let share = named.share(slot, column, |gamma| -gamma, Expr::Distance1)?;
        Some(product([Expr::Named(named.clone()), share]))
    }

    fn spectrum(&self, named: &Named, columns: usize) -> Result<Option<(Shape, Vec<f64>)>, EvalError> {
        Ok(Some((Shape::Cauchy, named.per_column(0, columns)?)))
    }
}
