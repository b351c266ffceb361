//! `linear`: ⟨x,z⟩.

use super::check::enclose;
use super::{Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Interval, Lower, Named, NodeId};
use super::{Embedding, Kind, PowerSeries, Q, Slot, Space, Written, eval};
use crate::Kernel;

/// `linear`: ⟨x,z⟩.
pub const LINEAR: FamilyId = FamilyId::of(&Linear);

#[derive(Debug)]
struct Linear;

impl Kernel {
    /// `linear`: ⟨x,z⟩.
    #[must_use]
    pub fn linear() -> Self {
        Self::from_expr(Expr::Named(Named::with_defaults(LINEAR)))
    }
}

impl Family for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn slots(&self) -> &'static [Slot] {
        &[]
    }

    fn eval(&self, _: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        Ok(eval::dot(x, z))
    }

    fn lower(&self, _: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        Ok(to.statistic(Kind::Dot, Embedding::Plain))
    }

    fn enclose(&self, _: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        Ok(Interval::exact(&enclose::dot(x, z), bits))
    }

    fn theorem(&self) -> &'static str {
        "an inner product: Aronszajn 1950"
    }

    /// An inner product is positive semidefinite (Aronszajn 1950).
    fn psd(&self, _: &Written, _: &Space) -> bool {
        true
    }

    fn formula(&self, _: &Named) -> Option<Expr> {
        Some(Expr::Dot)
    }

    fn form(&self, _: &Written, cols: &Cols, space: &Space) -> Option<Form> {
        Some(Form::dot(cols, space))
    }

    fn exact_value(&self, _: &Written, x: &[Q], z: &[Q]) -> Option<Q> {
        Some(enclose::dot(x, z))
    }

    fn power_series(&self, _: &Named) -> Option<PowerSeries> {
        Some(PowerSeries::Coefficients(vec![0.0, 1.0]))
    }
}
