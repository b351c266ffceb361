//! What a form is worth: enclosures of constants and of functions of t, and doubles at a pair of points.

use num_traits::One;

use super::{Atom, Cols, Form, Fun, Monomial};
use crate::check::exact::{self, Q};
use crate::check::interval::{Fault, Interval};
use crate::eval::eval;
use crate::expr::{Expr, Function};

impl Form {
    /// An enclosure of a form without points; the variable t is worth `var`.
    pub fn enclose(&self, var: Option<&Interval>, bits: u32) -> Result<Interval, Fault> {
        let mut sum = Interval::integer(0, bits);
        for (m, c) in &self.0 {
            sum = sum.add(&m.enclose(var, bits)?.mul(&Interval::exact(c, bits)));
        }
        Ok(sum)
    }

    /// Whether a constant form is shown to be at least zero.
    pub fn is_nonnegative_constant(&self) -> bool {
        match self.as_constant() {
            Some(c) => !num_traits::Signed::is_negative(&c),
            None => {
                self.dependence().is_constant() && self.enclose(None, 256).is_ok_and(|v| v.is_nonnegative())
            }
        }
    }

    /// Its value at a pair of points in doubles; NaN where undefined.
    pub fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        self.0.iter().map(|(m, c)| exact::to_f64(c) * m.value(x, z)).sum()
    }
}

impl Monomial {
    /// An enclosure of a product without points.
    pub fn enclose(&self, var: Option<&Interval>, bits: u32) -> Result<Interval, Fault> {
        let mut product = Interval::integer(1, bits);
        for (atom, e) in &self.0 {
            product = product.mul(&enclose_power(atom, e, var, bits)?);
        }
        Ok(product)
    }

    fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        self.0.iter().map(|(atom, e)| atom_value(atom, e, x, z)).product()
    }
}

fn enclose_power(atom: &Atom, e: &Q, var: Option<&Interval>, bits: u32) -> Result<Interval, Fault> {
    let value = match atom {
        Atom::Var => var.cloned().ok_or(Fault::Unknown)?,
        Atom::Pi => Interval::pi(bits),
        Atom::Exp(m) => return m.enclose(var, bits)?.mul(&Interval::exact(e, bits)).exp(),
        Atom::Power(base) => base.enclose(var, bits)?,
        Atom::Call(fun, args) => {
            let values = args.iter().map(|a| a.enclose(var, bits)).collect::<Result<Vec<_>, _>>()?;
            let a = &values[0];
            match fun {
                Fun::Log => a.ln()?,
                Fun::Sin => a.sin()?,
                Fun::Cos => a.cos()?,
                Fun::Tan => a.tan()?,
                Fun::Sinh => a.sinh()?,
                Fun::Cosh => a.cosh()?,
                Fun::Tanh => a.tanh()?,
                Fun::Asin => a.asin()?,
                Fun::Atan => a.atan(),
                Fun::Abs => a.abs(),
                Fun::Min => values[1..].iter().fold(a.clone(), |m, v| m.min(v)),
                Fun::Max => values[1..].iter().fold(a.clone(), |m, v| m.max(v)),
            }
        }
        _ => return Err(Fault::Unknown),
    };
    if e.is_one() { Ok(value) } else { value.pow(e) }
}

fn chosen(cols: &Cols, p: &[f64]) -> Vec<f64> {
    match cols {
        None => p.to_vec(),
        Some(list) => list.iter().map(|c| p.get(*c).copied().unwrap_or(f64::NAN)).collect(),
    }
}

fn atom_value(atom: &Atom, e: &Q, x: &[f64], z: &[f64]) -> f64 {
    let on = |cols: &Cols, expr: &Expr| eval(expr, &chosen(cols, x), &chosen(cols, z)).unwrap_or(f64::NAN);
    let value = match atom {
        Atom::Var => f64::NAN,
        Atom::Dot(cols) => on(cols, &Expr::Dot),
        Atom::Distance(cols) => on(cols, &Expr::Distance),
        Atom::Distance1(cols) => on(cols, &Expr::Distance1),
        Atom::NormX(cols) => on(cols, &Expr::NormX),
        Atom::NormZ(cols) => on(cols, &Expr::NormZ),
        Atom::Named(kernel) => on(&kernel.cols, &Expr::Named(kernel.named.clone())),
        Atom::Pi => std::f64::consts::PI,
        Atom::Exp(m) => return (exact::to_f64(e) * m.value(x, z)).exp(),
        Atom::Power(base) => base.value(x, z),
        Atom::Call(fun, args) => {
            let values: Vec<f64> = args.iter().map(|a| a.value(x, z)).collect();
            fun.function().apply(&values)
        }
    };
    value.powf(exact::to_f64(e))
}

impl Fun {
    /// The function of the kernel language.
    pub fn function(self) -> Function {
        match self {
            Self::Log => Function::Log,
            Self::Sin => Function::Sin,
            Self::Cos => Function::Cos,
            Self::Tan => Function::Tan,
            Self::Sinh => Function::Sinh,
            Self::Cosh => Function::Cosh,
            Self::Tanh => Function::Tanh,
            Self::Asin => Function::Asin,
            Self::Atan => Function::Atan,
            Self::Abs => Function::Abs,
            Self::Min => Function::Min,
            Self::Max => Function::Max,
        }
    }
}
