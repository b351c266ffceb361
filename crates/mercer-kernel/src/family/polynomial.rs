//! `poly(degree, gamma, c)`: (γ⟨x,z⟩ + c)^degree with degree ≥ 0 and γ ≥ 0.

use super::check::enclose;
use super::recognise::{affine, linear, named_kernel};
use super::{Allowed, Binary, Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Interval, Lower};
use super::{Named, NodeId, OFFSET_SEARCH, Pattern, PowerSeries, Q, Search, Slot, Space};
use super::{Written, eval, exact, gamma, slot, spelling};
use crate::canonical::{power, product, sum};
use num_traits::Signed;

/// `poly(degree, gamma, c)`: (γ⟨x,z⟩ + c)^degree.
pub const POLYNOMIAL: FamilyId = FamilyId::of(&Polynomial);

const DEGREES: Search = Search::OneOf(&[1.0, 2.0, 3.0, 4.0, 5.0]);

#[derive(Debug)]
struct Polynomial;

/// The degree, γ and c.
fn numbers(named: &Named) -> Option<(f64, f64, f64)> {
    Some((named.number(0).ok()?, named.number(1).ok()?, named.number(2).ok()?))
}

impl Family for Polynomial {
    fn name(&self) -> &'static str {
        "poly"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 3] = [
            slot(&[spelling("degree", Allowed::NonNegative, false, None, DEGREES)], 3.0),
            slot(&[gamma(Allowed::NonNegative, false)], 1.0),
            slot(&[spelling("c", Allowed::Finite, false, None, OFFSET_SEARCH)], 1.0),
        ];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        Ok((named.number(1)? * eval::dot(x, z) + named.number(2)?).powf(named.number(0)?))
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let base = to.affine_dot(named.number(1)?, named.number(2)?);
        let degree = to.number(named.number(0)?);
        Ok(to.binary(Binary::Power, base, degree))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let base = named.exact(1)? * enclose::dot(x, z) + named.exact(2)?;
        Interval::exact(&base, bits).pow(&named.exact(0)?)
    }

    fn theorem(&self) -> &'static str {
        "sums and products of kernels with coefficients ≥ 0: Schur 1911, Satz VII"
    }

    /// Sums and products of kernels with coefficients ≥ 0 are kernels (Schur 1911, Satz VII).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        let nonnegative = |value: &Q| !value.is_negative();
        named.every_natural(0, None) && named.every(1, nonnegative) && named.every(2, nonnegative)
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        let (degree, gamma, c) = numbers(named)?;
        Some(Expr::Dot.scaled(gamma).plus(c).power(degree))
    }

    /// The canonical form writes lines and monomials as formulas.
    fn canonical(&self, named: &Named) -> Option<Expr> {
        let (degree, gamma, c) = numbers(named)?;
        if degree == 1.0 {
            return Some(sum(vec![product(vec![Expr::Number(gamma), linear()]), Expr::Number(c)]));
        }
        let scale = gamma.powf(degree);
        let monomial = c == 0.0 && degree > 0.0 && scale.is_normal();
        monomial.then(|| product(vec![Expr::Number(scale), power(linear(), Expr::Number(degree))]))
    }

    fn recognise(&self, found: Pattern<'_>) -> Option<Named> {
        let Pattern::Power { base, exponent } = found else { return None };
        let (gamma, c) = affine(base, &linear())?;
        if c == 0.0 || exponent <= 0.0 {
            return None;
        }
        named_kernel(POLYNOMIAL, &[exponent, gamma, c])
    }

    fn form(&self, named: &Written, cols: &Cols, space: &Space) -> Option<Form> {
        let (degree, gamma, c) = (named.exact(0).ok()?, named.exact(1).ok()?, named.exact(2).ok()?);
        if degree > exact::int(64) {
            return None;
        }
        Form::dot(cols, space).scale(&gamma).add(&Form::constant(c)).power(&degree, space)
    }

    fn defined(&self, named: &Written, _: &Space) -> bool {
        named.every_natural(0, None)
    }

    /// With b = γ⟨x,z⟩ + c and n the degree: n·γ⟨x,z⟩·b^(n−1) for log γ and n·c·b^(n−1) for log c.
    fn derivative(&self, named: &Named, slot: usize, _: Option<usize>, _: usize) -> Option<Expr> {
        let (degree, gamma, c) = numbers(named)?;
        let rest = Expr::Dot.scaled(gamma).plus(c).power(degree - 1.0);
        match slot {
            1 => Some(super::product([rest, Expr::Dot.scaled(gamma)]).scaled(degree)),
            2 => Some(rest.scaled(degree * c)),
            _ => None,
        }
    }

    fn power_series(&self, named: &Named) -> Option<PowerSeries> {
        let (degree, gamma, c) = numbers(named)?;
        Some(PowerSeries::Power { degree, gamma, c })
    }
}
