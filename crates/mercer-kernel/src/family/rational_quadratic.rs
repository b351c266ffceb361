//! `rq(alpha, length)`: (1 + |x−z|²/(2αℓ²))^(−α) with α > 0 and ℓ > 0.

use super::recognise::{affine, named_kernel, tidy, usable};
use super::{Binary, Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Function, Interval};
use super::{
    Invariance, Lower, Named, NodeId, Pattern, Q, Shape, Slot, Space, Written, exact, length, product, shape,
    slot,
};

/// `rq(alpha, length)`: (1 + |x−z|²/(2αℓ²))^(−α).
pub const RATIONAL_QUADRATIC: FamilyId = FamilyId::of(&RationalQuadratic);

#[derive(Debug)]
struct RationalQuadratic;

impl Family for RationalQuadratic {
    fn name(&self) -> &'static str {
        "rq"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 2] =
            [slot(&[shape("alpha", &[0.1, 0.3, 1.0, 3.0, 10.0])], 1.0), slot(&[length("length")], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let alpha = named.number(0)?;
        Ok((1.0 + named.squared_distance(1, x, z)? / (2.0 * alpha)).powf(-alpha))
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let alpha = named.number(0)?;
        let scaled = to.scaled_squared_distance(&named.per_column(1, to.columns())?);
        let base = to.affine(scaled, (0.5 / alpha).min(f64::MAX), 1.0);
        let exponent = to.number(-alpha);
        Ok(to.binary(Binary::Power, base, exponent))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let alpha = named.exact(0)?;
        let squared = named.exact_squared_distance(1, x, z)?;
        let base = exact::int(1) + squared / (exact::int(2) * &alpha);
        Interval::exact(&base, bits).pow(&-alpha)
    }

    fn theorem(&self) -> &'static str {
        "ψ^(−α), a mixture of exp(−sψ): Berg, Christensen, Ressel 1984, section 3.2"
    }

    /// ψ^(−α) of 1 plus a squared distance, a mixture of exp(−sψ) (Berg, Christensen, Ressel 1984, section 3.2).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.all_positive()
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        let (alpha, length) = (named.number(0).ok()?, named.number(1).ok()?);
        let scaled = Expr::Distance.power(2.0).scaled(0.5 / (alpha * length * length));
        Some(scaled.plus(1.0).power(-alpha))
    }

    fn recognise(&self, found: Pattern<'_>) -> Option<Named> {
        let Pattern::Power { base, exponent } = found else { return None };
        match affine(base, &Expr::Distance.power(2.0))? {
            (slope, 1.0) if exponent < 0.0 && slope > 0.0 => {
                let length = tidy((0.5 / (-exponent * slope)).sqrt());
                usable(length).then(|| named_kernel(RATIONAL_QUADRATIC, &[-exponent, length]))?
            }
            _ => None,
        }
    }

    fn form(&self, named: &Written, cols: &Cols, space: &Space) -> Option<Form> {
        let (alpha, length) = (named.exact(0).ok()?, named.exact(1).ok()?);
        Form::distance(cols)
            .power(&exact::int(2), space)?
            .scale(&(exact::int(2) * &alpha * &length * &length).recip())
            .add(&Form::constant(exact::int(1)))
            .power(&-alpha, space)
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Radial
    }

    fn logarithm(&self, named: &Named) -> Option<Expr> {
        let alpha = named.number(0).ok()?;
        let scaled = named.squared_distance_formula(1)?.scaled(0.5 / alpha);
        let base = Expr::Sum(vec![Expr::Number(1.0), scaled]);
        Some(base.call(Function::Log).scaled(-alpha))
    }

    /// With q = |x−z|²/ℓ² and b = 1 + q/(2α): ∂k/∂log ℓ = k·q/b, of which a column has the part qⱼ/q, and
    /// ∂k/∂log α = αk(1 − 1/b − log b).
    fn derivative(&self, named: &Named, slot: usize, column: Option<usize>, _: usize) -> Option<Expr> {
        let alpha = named.number(0).ok()?;
        let base = named.squared_distance_formula(1)?.scaled((0.5 / alpha).min(f64::MAX)).plus(1.0);
        let k = Expr::Named(named.clone());
        if slot == 0 {
            let terms = vec![
                Expr::Number(1.0),
                base.clone().power(-1.0).scaled(-1.0),
                base.call(Function::Log).scaled(-1.0),
            ];
            return Some(product([k, Expr::Sum(terms).scaled(alpha)]));
        }
        let share = named.share(1, column, |length| 1.0 / (length * length), Expr::Distance.power(2.0))?;
        Some(product([k, share, base.power(-1.0)]))
    }

    fn spectrum(&self, named: &Named, columns: usize) -> Result<Option<(Shape, Vec<f64>)>, EvalError> {
        let scales = named.per_column(1, columns)?.into_iter().map(f64::recip).collect();
        Ok(Some((Shape::GammaMixture { alpha: named.number(0)? }, scales)))
    }
}
