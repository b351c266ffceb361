//! `rbf(sigma)` or `rbf(gamma)`: exp(−|x−z|²/(2σ²)) = exp(−γ|x−z|²).

use std::f64::consts::FRAC_1_SQRT_2;

use super::check::enclose;
use super::recognise::{named_kernel, tidy, usable};
use super::{Allowed, Cols, EvalError, Expr, Family, FamilyId, Fault, Form, Function, Interval};
use super::{Invariance, Lower, Named, NodeId, Pattern, Q, Shape, Slot, Space, Value};
use super::{Written, eval, exact, gamma, length, product, slot};
use crate::compose::ComposeError;
use crate::{Argument, Kernel};

/// `rbf(sigma)` or `rbf(gamma)`: exp(−|x−z|²/(2σ²)) = exp(−γ|x−z|²).
pub const GAUSSIAN: FamilyId = FamilyId::of(&Gaussian);

#[derive(Debug)]
struct Gaussian;

impl Kernel {
    /// `rbf`: exp(−|x−z|²/(2σ²)) with σ > 0.
    ///
    /// # Errors
    /// If σ is outside of its range.
    pub fn gaussian(sigma: f64) -> Result<Self, ComposeError> {
        Self::named(GAUSSIAN, &[sigma])
    }

    /// `rbf(sigma=auto)`: the Gaussian with its width from the data.
    #[must_use]
    pub fn gaussian_auto() -> Self {
        let arguments = vec![Argument { spelling: 0, value: Value::Auto }];
        Self::from_expr(Expr::Named(Named { family: GAUSSIAN, arguments }))
    }
}

/// γⱼ of exp(−Σⱼ γⱼ(xⱼ−zⱼ)²) on this many columns, for widths in either spelling.
///
/// # Errors
/// If the width is still `auto` or `?`, or lists another number of values than there are columns.
pub fn gammas(named: &Named, columns: usize) -> Result<Vec<f64>, EvalError> {
    let gamma = gamma_of(named);
    Ok(named.per_column(0, columns)?.into_iter().map(gamma).collect())
}

/// γ from the number in either spelling.
fn gamma_of(named: &Named) -> impl Fn(f64) -> f64 {
    let by_width = is_sigma(named);
    move |value| if by_width { (0.5 / (value * value)).min(f64::MAX) } else { value }
}

fn is_sigma(named: &Named) -> bool {
    named.arguments[0].spelling == SIGMA
}

/// The spelling `sigma`; the other one is `gamma`.
const SIGMA: usize = 0;

/// σ with γ = 1/(2σ²).
fn width(gamma: f64) -> f64 {
    tidy((0.5 / gamma).sqrt())
}

impl Family for Gaussian {
    fn name(&self) -> &'static str {
        "rbf"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["gaussian"]
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 1] = [slot(&[length("sigma"), gamma(Allowed::Positive, true)], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        if is_sigma(named) {
            return Ok((-0.5 * named.squared_distance(0, x, z)?).exp());
        }
        let gammas = gammas(named, x.len())?;
        Ok((-eval::weighted(&gammas, x, z, |a, b| (a - b) * (a - b))).exp())
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let values = named.per_column(0, to.columns())?;
        let by_width = is_sigma(named);
        let factor = |value: &f64| if by_width { FRAC_1_SQRT_2 / value } else { value.sqrt() };
        let factors: Vec<f64> = values.iter().map(factor).collect();
        let squared = to.squared_distance(&gammas(named, to.columns())?, &factors);
        Ok(to.exp_of_minus(squared))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let weight = |value: &Q| match named.spelling(0) {
            SIGMA => (exact::int(2) * value * value).recip(),
            _ => value.clone(),
        };
        let exponent = named.exact_weighted(0, weight, enclose::squared_distance, x, z)?;
        Interval::exact(&-exponent, bits).exp()
    }

    fn theorem(&self) -> &'static str {
        "exp(−ψ) of a squared distance: Schoenberg 1938, Theorem 1"
    }

    /// exp(−ψ) of the squared distance ψ, which is of negative type (Schoenberg 1938, Theorem 1).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.all_positive()
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        let gamma = gamma_of(named)(named.number(0).ok()?);
        Some(Expr::Distance.power(2.0).scaled(-gamma).call(Function::Exp))
    }

    /// The canonical form writes widths as σ.
    fn canonical(&self, named: &Named) -> Option<Expr> {
        if is_sigma(named) {
            return None;
        }
        let value = match &named.arguments[0].value {
            Value::Number(gamma) => Value::Number(width(*gamma)),
            Value::PerColumn(gammas) => Value::PerColumn(gammas.iter().map(|&gamma| width(gamma)).collect()),
            _ => return None,
        };
        Some(Expr::Named(Named { family: GAUSSIAN, arguments: vec![Argument { spelling: 0, value }] }))
    }

    fn recognise(&self, found: Pattern<'_>) -> Option<Named> {
        match found {
            Pattern::Decay { rate, of } if *of == Expr::Distance.power(2.0) => {
                let sigma = width(rate);
                usable(sigma).then(|| named_kernel(GAUSSIAN, &[sigma]))?
            }
            _ => None,
        }
    }

    fn form(&self, named: &Written, cols: &Cols, space: &Space) -> Option<Form> {
        let width = named.exact(0).ok()?;
        let gamma =
            if named.spelling(0) == SIGMA { (exact::int(2) * &width * &width).recip() } else { width };
        Form::distance(cols).power(&exact::int(2), space)?.scale(&-gamma).exp(space)
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Radial
    }

    fn logarithm(&self, named: &Named) -> Option<Expr> {
        Some(named.weighted_sum(0, gamma_of(named), Expr::Distance.power(2.0))?.scaled(-1.0))
    }

    /// ∂k/∂log σ = k·|x−z|²/σ² and ∂k/∂log γ = −γ|x−z|²·k.
    fn derivative(&self, named: &Named, slot: usize, column: Option<usize>, _: usize) -> Option<Expr> {
        let (gamma, factor) = (gamma_of(named), if is_sigma(named) { 2.0 } else { -1.0 });
        let share = named.share(slot, column, |h| factor * gamma(h), Expr::Distance.power(2.0))?;
        Some(product([Expr::Named(named.clone()), share]))
    }

    fn spectrum(&self, named: &Named, columns: usize) -> Result<Option<(Shape, Vec<f64>)>, EvalError> {
        let by_width = is_sigma(named);
        let scale = |value: f64| if by_width { value.recip() } else { (2.0 * value).sqrt() };
        let scales = named.per_column(0, columns)?.into_iter().map(scale).collect();
        Ok(Some((Shape::Normal, scales)))
    }
}
