//! `sigmoid(gamma, c)`: tanh(γ⟨x,z⟩ + c), which is not positive semidefinite.

use super::check::enclose;
use super::check::form::Fun;
use super::recognise::{affine, linear, named_kernel};
use super::{Allowed, Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Function, Interval, Lower};
use super::{Named, NodeId, OFFSET_SEARCH, Pattern, Q, Slot, Space, Written, eval, gamma};
use super::{product, slot, spelling};

/// `sigmoid(gamma, c)`: tanh(γ⟨x,z⟩ + c). Not positive semidefinite.
pub const SIGMOID: FamilyId = FamilyId::of(&Sigmoid);

#[derive(Debug)]
struct Sigmoid;

impl Family for Sigmoid {
    fn name(&self) -> &'static str {
        "sigmoid"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 2] = [
            slot(&[gamma(Allowed::Finite, false)], 1.0),
            slot(&[spelling("c", Allowed::Finite, false, None, OFFSET_SEARCH)], 0.0),
        ];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        Ok((named.number(0)? * eval::dot(x, z) + named.number(1)?).tanh())
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let argument = to.affine_dot(named.number(0)?, named.number(1)?);
        Ok(to.call(Function::Tanh, argument))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        Interval::exact(&(named.exact(0)? * enclose::dot(x, z) + named.exact(1)?), bits).tanh()
    }

    fn theorem(&self) -> &'static str {
        "none: tanh has negative coefficients, Schoenberg 1942, Theorem 2"
    }

    /// For no γ but 0 on all of R^d: the power series of tanh has negative coefficients (Schoenberg 1942, Theorem 2).
    fn psd(&self, _: &Written, _: &Space) -> bool {
        false
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        let argument = Expr::Dot.scaled(named.number(0).ok()?).plus(named.number(1).ok()?);
        Some(argument.call(Function::Tanh))
    }

    fn recognise(&self, found: Pattern<'_>) -> Option<Named> {
        let Pattern::Call(Function::Tanh, argument) = found else { return None };
        let (gamma, c) = affine(argument, &linear())?;
        named_kernel(SIGMOID, &[gamma, c])
    }

    fn form(&self, named: &Written, cols: &Cols, space: &Space) -> Option<Form> {
        let (gamma, c) = (named.exact(0).ok()?, named.exact(1).ok()?);
        let inner = Form::dot(cols, space).scale(&gamma).add(&Form::constant(c));
        Form::call(Fun::Tanh, vec![inner], space)
    }

    /// With b = γ⟨x,z⟩ + c: γ⟨x,z⟩/cosh² b for log γ and c/cosh² b for log c.
    fn derivative(&self, named: &Named, slot: usize, _: Option<usize>, _: usize) -> Option<Expr> {
        let (gamma, c) = (named.number(0).ok()?, named.number(1).ok()?);
        let gamma_dot = Expr::Dot.scaled(gamma);
        let slope = gamma_dot.clone().plus(c).call(Function::Cosh).power(-2.0);
        Some(product([slope, if slot == 0 { gamma_dot } else { Expr::Number(c) }]))
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((-1.0, 1.0))
    }
}
