//! `const(value)`: the same value ≥ 0 at every pair of points.

use super::{Allowed, Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Interval, Invariance, Lower};
use super::{Named, NodeId, OFFSET_SEARCH, PowerSeries, Q, Slot, Space, Written, exact, slot, spelling};
use num_traits::Signed;

/// `const(value)`: the same value ≥ 0 at every pair of points. It keeps its name in canonical forms: replacing it by a
/// number could give a constant without a value, as in `sqrt(-const)`, which cannot be written.
pub const CONSTANT: FamilyId = FamilyId::of(&Constant);

#[derive(Debug)]
struct Constant;

impl Family for Constant {
    fn name(&self) -> &'static str {
        "const"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 1] =
            [slot(&[spelling("value", Allowed::NonNegative, false, None, OFFSET_SEARCH)], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, _: &[f64], _: &[f64]) -> Result<f64, EvalError> {
        named.number(0)
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        Ok(to.number(named.number(0)?))
    }

    fn enclose(&self, named: &Written, _: &[Q], _: &[Q], bits: u32) -> Result<Interval, Fault> {
        Ok(Interval::exact(&named.exact(0)?, bits))
    }

    fn theorem(&self) -> &'static str {
        "f(x)f(z) with a constant f: Aronszajn 1950"
    }

    /// f(x)·f(z) with a constant f (Aronszajn 1950).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.every(0, |value| !value.is_negative())
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        named.number(0).ok().map(Expr::Number)
    }

    fn form(&self, named: &Written, _: &Cols, _: &Space) -> Option<Form> {
        named.exact(0).ok().map(Form::constant)
    }

    fn exact_value(&self, named: &Written, _: &[Q], _: &[Q]) -> Option<Q> {
        named.exact(0).ok()
    }

    fn range(&self, named: &Written, _: &Space) -> Option<(f64, f64)> {
        let open = (0.0, f64::INFINITY);
        Some(named.exact(0).map_or(open, |value| (exact::to_f64(&value), exact::to_f64(&value))))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Radial
    }

    fn logarithm(&self, named: &Named) -> Option<Expr> {
        named.number(0).ok().filter(|value| *value > 0.0).map(|value| Expr::Number(value.ln()))
    }

    fn power_series(&self, named: &Named) -> Option<PowerSeries> {
        Some(PowerSeries::Coefficients(vec![named.number(0).ok()?]))
    }

    /// k itself.
    fn derivative(&self, named: &Named, _: usize, _: Option<usize>, _: usize) -> Option<Expr> {
        Some(Expr::Named(named.clone()))
    }
}
