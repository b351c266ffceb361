//! `matern(nu, length)`: the Matérn function of √(2ν)|x−z|/ℓ with ν > 0 and ℓ > 0.

use super::recognise::{agrees, named_kernel, tidy, usable};
use super::{EvalError, Expr, Family, FamilyId, Fault, Function, Interval, Invariance, Lower, Named};
use super::{NodeId, Pattern, Q, Shape, Slot, Space, Special, Value, Written};
use super::{above_zero, exact, length, product, shape, slot, special};
use crate::canonical::split_coefficient;

/// `matern(nu, length)`: the Matérn function of √(2ν)|x−z|/ℓ.
pub const MATERN: FamilyId = FamilyId::of(&Matern);

#[derive(Debug)]
struct Matern;

impl Family for Matern {
    fn name(&self) -> &'static str {
        "matern"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 2] =
            [slot(&[shape("nu", &[0.5, 1.5, 2.5])], 1.5), slot(&[length("length")], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let nu = named.number(0)?;
        Ok(special::matern(nu, (2.0 * nu * named.squared_distance(1, x, z)?).sqrt()))
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let nu = named.number(0)?;
        let scaled = to.scaled_squared_distance(&named.per_column(1, to.columns())?);
        let squared = to.affine(scaled, 2.0 * nu, 0.0);
        if nu != 0.5 {
            return Ok(to.special(Special::Matern { nu }, squared));
        }
        let distance = to.call(Function::Sqrt, squared);
        Ok(to.exp_of_minus(distance))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let nu = named.exact(0)?;
        let squared = exact::int(2) * &nu * named.exact_squared_distance(1, x, z)?;
        let s = Interval::exact(&squared, bits).sqrt()?;
        let one = Interval::integer(1, bits);
        let polynomial = if nu == exact::ratio(1, 2) {
            one
        } else if nu == exact::ratio(3, 2) {
            one.add(&s)
        } else if nu == exact::ratio(5, 2) {
            one.add(&s).add(&s.mul(&s).div(&Interval::integer(3, bits))?)
        } else {
            return Err(Fault::Unknown);
        };
        Ok(polynomial.mul(&s.neg().exp()?))
    }

    fn theorem(&self) -> &'static str {
        "its spectral density, a multivariate Student t, is positive: Bochner 1933; Stein 1999, section 2.7"
    }

    /// Its spectral density, a multivariate Student t, is positive (Bochner 1933; Stein 1999, section 2.7).
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.all_positive()
    }

    /// Student's t law, whose transform it is, is infinitely divisible (Grosswald 1976), and so is the inverse gamma law of
    /// which it is the mixture in every dimension.
    fn is_infinitely_divisible(&self, named: &Written) -> bool {
        named.all_positive()
    }

    fn formula(&self, named: &Named) -> Option<Expr> {
        let nu = named.number(0).ok()?;
        let rate = (2.0 * nu).sqrt() / named.number(1).ok()?;
        let decay = Expr::Distance.scaled(-rate).call(Function::Exp);
        let mut polynomial = vec![Expr::Number(1.0), Expr::Distance.scaled(rate)];
        match nu {
            0.5 => return Some(decay),
            1.5 => {}
            2.5 => polynomial.push(Expr::Distance.power(2.0).scaled(rate * rate / 3.0)),
            _ => return None,
        }
        Some(Expr::Product(vec![Expr::Sum(polynomial), decay]))
    }

    fn recognise(&self, found: Pattern<'_>) -> Option<Named> {
        match found {
            Pattern::Decay { rate, of: Expr::Distance } => {
                let length = tidy(1.0 / rate);
                usable(length).then(|| named_kernel(MATERN, &[0.5, length]))?
            }
            _ => None,
        }
    }

    /// (1 + s)e^(−s) and (1 + s + s²/3)e^(−s), the exponential already being `matern(nu=0.5)`.
    fn recognise_factors(&self, factors: &[Expr]) -> Option<(Named, [usize; 2])> {
        let decays = factors.iter().enumerate().filter_map(|(i, factor)| match factor {
            Expr::Named(named) if named.family == MATERN && named.number(0) == Ok(0.5) => {
                Some((i, named.number(1).ok()?))
            }
            _ => None,
        });
        let pair = |(i, length): (usize, f64)| {
            let found = |(j, factor)| Some((half_integer_polynomial(factor, 1.0 / length)?, [i, j]));
            factors.iter().enumerate().find_map(found)
        };
        decays.into_iter().find_map(pair)
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Radial
    }

    /// For ν other than ½, 1½ and 2½ it is the leading term for large distances, up to a constant: (ν−½) log r − r.
    fn logarithm(&self, named: &Named) -> Option<Expr> {
        let nu = named.number(0).ok()?;
        let square = named.squared_distance_formula(1)?.scaled(2.0 * nu);
        let r = square.clone().call(Function::Sqrt);
        let one = Expr::Number(1.0);
        let minus_r = Expr::Neg(Box::new(r.clone()));
        let log = |terms: Vec<Expr>| Expr::Sum(terms).call(Function::Log);
        Some(match nu {
            0.5 => minus_r,
            1.5 => Expr::Sum(vec![log(vec![one, r]), minus_r]),
            2.5 => Expr::Sum(vec![log(vec![one, r, square.scaled(1.0 / 3.0)]), minus_r]),
            _ => Expr::Sum(vec![r.call(Function::Log).scaled(nu - 0.5), minus_r]),
        })
    }

    /// −s·dM/ds at s² = 2νq, of which a column has the part qⱼ/q. With M_ν(s) the Matérn function, dM_ν/ds is
    /// −s·M_{ν−1}(s)/(2(ν−1)) for ν > 1, and −s·dM_ν/ds = 2ν(M_{ν+1}(s) − M_ν(s)) for every ν, by the recurrence of K_ν (DLMF
    /// 10.29.1). There is no derivative with respect to ν.
    fn derivative(&self, named: &Named, slot: usize, column: Option<usize>, _: usize) -> Option<Expr> {
        if slot != 1 {
            return None;
        }
        let nu = named.number(0).ok()?;
        let share = named.share(1, column, |length| 1.0 / (length * length), Expr::Distance.power(2.0))?;
        // The Matérn function of another order at the same s.
        let of_order = |order: f64| {
            let mut other = named.mapped(1, |length| length * (order / nu).sqrt())?;
            other.arguments[0].value = Value::Number(order);
            Some(Expr::Named(other))
        };
        let k = Expr::Named(named.clone());
        Some(if nu > 1.0 {
            product([share, of_order(nu - 1.0)?]).scaled(nu / (nu - 1.0))
        } else if nu == 0.5 {
            match column {
                None => product([k, Expr::Distance.scaled(1.0 / named.number(1).ok()?)]),
                Some(_) => {
                    let r = named.squared_distance_formula(1)?.call(Function::Sqrt);
                    product([k, Expr::Div(Box::new(share), Box::new(above_zero(r)))])
                }
            }
        } else {
            let whole = Expr::Sum(vec![of_order(nu + 1.0)?, k.scaled(-1.0)]).scaled(2.0 * nu);
            match column {
                None => whole,
                Some(_) => {
                    let squared = above_zero(named.squared_distance_formula(1)?);
                    product([whole, Expr::Div(Box::new(share), Box::new(squared))])
                }
            }
        })
    }

    fn spectrum(&self, named: &Named, columns: usize) -> Result<Option<(Shape, Vec<f64>)>, EvalError> {
        let scales = named.per_column(1, columns)?.into_iter().map(f64::recip).collect();
        Ok(Some((Shape::Student { nu: named.number(0)? }, scales)))
    }
}

/// The Matérn kernel equal to a polynomial of the distance times exp(−rate·|x−z|).
fn half_integer_polynomial(polynomial: &Expr, rate: f64) -> Option<Named> {
    let Expr::Sum(terms) = polynomial else { return None };
    let coefficient = |power: &Expr| {
        terms
            .iter()
            .map(|term| split_coefficient(term.clone()))
            .find(|(_, rest)| rest == power)
            .map(|(c, _)| c)
    };
    if terms[0] != Expr::Number(1.0) || !agrees(coefficient(&Expr::Distance)?, rate) {
        return None;
    }
    let nu: f64 = match (terms.len(), coefficient(&Expr::Distance.power(2.0))) {
        (2, None) => 1.5,
        (3, Some(c)) if agrees(c, rate * rate / 3.0) => 2.5,
        _ => return None,
    };
    let length = tidy((2.0 * nu).sqrt() / rate);
    usable(length).then(|| named_kernel(MATERN, &[nu, length]))?
}
