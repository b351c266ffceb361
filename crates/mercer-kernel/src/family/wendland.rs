//! `wendland(k, radius)`: Wendland's function of r = |x−z|/radius with smoothness 2k, 0 where r ≥ 1.
//!
//! With ℓ = ⌊d/2⌋ + k + 1 for points of d coordinates (Wendland 2005, Table 9.1, scaled to 1 at r = 0):
//!
//! ```text
//! k = 0:  (1−r)^ℓ
//! k = 1:  (1−r)^(ℓ+1)·((ℓ+1)r + 1)
//! k = 2:  (1−r)^(ℓ+2)·((ℓ²+4ℓ+3)r² + (3ℓ+6)r + 3)/3
//! ```
//!
//! ℓ follows from the number of columns that the kernel uses, so that it is positive semidefinite in that dimension; no
//! function of compact support is in every dimension.

use num_traits::{One, Signed};

use super::{Binary, EvalError, Expr, Family, FamilyId, Fault, Function, Interval, Invariance, Lower, Named};
use super::{NodeId, Q, Slot, Space, Written, above_zero, exact, length, order, product, slot};

/// `wendland(k, radius)`: Wendland's function of |x−z|/radius with smoothness 2k, for the dimension of the data.
pub const WENDLAND: FamilyId = FamilyId::of(&Wendland);

#[derive(Debug)]
struct Wendland;

/// ℓ = ⌊d/2⌋ + k + 1.
fn exponent(columns: usize, k: f64) -> f64 {
    (columns / 2) as f64 + k + 1.0
}

impl Family for Wendland {
    fn name(&self) -> &'static str {
        "wendland"
    }

    fn slots(&self) -> &'static [Slot] {
        static SLOTS: [Slot; 2] = [slot(&[order("k")], 1.0), slot(&[length("radius")], 1.0)];
        &SLOTS
    }

    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let k = named.number(0)?;
        let r = named.squared_distance(1, x, z)?.sqrt();
        if r >= 1.0 {
            return Ok(0.0);
        }
        let l = exponent(x.len(), k);
        let polynomial = match k {
            0.0 => 1.0,
            1.0 => (l + 1.0) * r + 1.0,
            _ => ((l * l + 4.0 * l + 3.0) * r * r + (3.0 * l + 6.0) * r + 3.0) / 3.0,
        };
        Ok((1.0 - r).powf(l + k) * polynomial)
    }

    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError> {
        let k = named.number(0)?;
        let l = exponent(to.columns(), k);
        let squared = to.scaled_squared_distance(&named.per_column(1, to.columns())?);
        let r = to.call(Function::Sqrt, squared);
        let (inside, zero) = (to.affine(r, -1.0, 1.0), to.number(0.0));
        let base = to.binary(Binary::Greatest, inside, zero);
        let power = to.number(l + k);
        let decay = to.binary(Binary::Power, base, power);
        if k == 0.0 {
            return Ok(decay);
        }
        // The radius is limited to the support: beyond it, a large one would give 0·∞.
        let r = to.affine(base, -1.0, 1.0);
        let mut polynomial = to.affine(r, l + k, 1.0);
        if k == 2.0 {
            let square = to.binary(Binary::Product, r, r);
            let square = to.affine(square, (l * l + 4.0 * l + 3.0) / 3.0, 0.0);
            polynomial = to.binary(Binary::Sum, polynomial, square);
        }
        Ok(to.binary(Binary::Product, decay, polynomial))
    }

    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
        let squared = named.exact_squared_distance(1, x, z)?;
        if squared >= Q::one() {
            return Ok(Interval::integer(0, bits));
        }
        let k = exact::as_integer(&named.exact(0)?).ok_or(Fault::Unknown)?;
        let l = (x.len() / 2) as i64 + k + 1;
        let r = Interval::exact(&squared, bits).sqrt()?;
        let number = |n: i64| Interval::integer(n, bits);
        let polynomial = match k {
            0 => number(1),
            1 => number(l + 1).mul(&r).add(&number(1)),
            _ => {
                let square = Interval::exact(&(squared * exact::int(l * l + 4 * l + 3)), bits);
                square.add(&number(3 * l + 6).mul(&r)).add(&number(3)).div(&number(3))?
            }
        };
        Ok(number(1).sub(&r).pow(&exact::int(l + k))?.mul(&polynomial))
    }

    fn theorem(&self) -> &'static str {
        "φ_{ℓ,k} with ℓ = ⌊d/2⌋ + k + 1: Wendland 2005, Scattered Data Approximation, Theorem 9.13"
    }

    /// φ_{ℓ,k} is positive definite on R^d for ℓ = ⌊d/2⌋ + k + 1 (Wendland 2005, Scattered Data Approximation, Theorem
    /// 9.13), and d is the number of columns the kernel sees; lengths per column are a linear map of the points.
    fn psd(&self, named: &Written, _: &Space) -> bool {
        named.every_natural(0, Some(2)) && named.every(1, Signed::is_positive)
    }

    fn remark(&self, named: &Written, columns: Option<usize>) -> Option<String> {
        let theorem = "Wendland 2005, Theorem 9.13";
        let (Some(d), Ok(k)) = (columns, named.exact(0)) else {
            return Some(format!("in each dimension d with its own ℓ = ⌊d/2⌋ + k + 1 ({theorem})"));
        };
        Some(format!(
            "d = {d} and k = {k}: ℓ = ⌊d/2⌋ + k + 1 = {} ({theorem})",
            exponent(d, exact::to_f64(&k))
        ))
    }

    /// −φ′(r)·qⱼ/r with r² = q, where qⱼ is the part of q that depends on the radius:
    ///
    /// ```text
    /// k = 0:  ℓ(1−r)^(ℓ−1)·qⱼ/r
    /// k = 1:  (ℓ+1)(ℓ+2)(1−r)^ℓ·qⱼ
    /// k = 2:  (ℓ+3)(ℓ+4)/3·(1−r)^(ℓ+1)·(1 + (ℓ+1)r)·qⱼ
    /// ```
    fn derivative(&self, named: &Named, slot: usize, column: Option<usize>, columns: usize) -> Option<Expr> {
        if slot != 1 {
            return None;
        }
        let k = named.number(0).ok()?;
        let l = exponent(columns, k);
        let share = named.share(1, column, |radius| 1.0 / (radius * radius), Expr::Distance.power(2.0))?;
        let r = named.squared_distance_formula(1)?.call(Function::Sqrt);
        let inside = Expr::Call(Function::Max, vec![Expr::Number(0.0), r.clone().scaled(-1.0).plus(1.0)]);
        Some(match k {
            0.0 => {
                let quotient = Expr::Div(Box::new(share), Box::new(above_zero(r)));
                // (1−r)^(ℓ−1) as a quotient, which is 0 outside of the support for ℓ = 1 too.
                let power = Expr::Div(Box::new(inside.clone().power(l)), Box::new(above_zero(inside)));
                product([power, quotient]).scaled(l)
            }
            1.0 => product([inside.power(l), share]).scaled((l + 1.0) * (l + 2.0)),
            _ => {
                let line = r.scaled(l + 1.0).plus(1.0);
                product([inside.power(l + 1.0), line, share]).scaled((l + 3.0) * (l + 4.0) / 3.0)
            }
        })
    }

    fn range(&self, _: &Written, _: &Space) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn invariance(&self) -> Invariance {
        Invariance::Radial
    }
}
