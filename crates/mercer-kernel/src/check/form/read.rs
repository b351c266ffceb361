//! Forms from formulas.

use num_traits::{One, Signed, Zero};

use super::algebra::is_even;
use super::{Atom, Cols, Form, Fun, MOST_TERMS, Monomial, Opaque, Space};
use crate::check::exact::{Q, int, ratio};
use crate::expr::Function;
use crate::formula::{Formula, Written};

impl Form {
    /// The form of a formula on a space; `None` where it grows too large or a number is not finite.
    pub fn of(expr: &Formula, space: &Space) -> Option<Self> {
        Self::read(expr, &None, space)
    }

    fn read(expr: &Formula, cols: &Cols, space: &Space) -> Option<Self> {
        let form = match expr {
            Formula::Number(value) => Self::constant(value.clone()),
            Formula::Pi => Self::atom(Atom::Pi),
            Formula::Unreadable => return None,
            Formula::Dot => Self::dot(cols, space),
            Formula::Distance => Self::distance(cols),
            Formula::Distance1 => Self::distance1(cols, space),
            Formula::NormX | Formula::NormZ if space.on_sphere(cols) => Self::constant(Q::one()),
            Formula::NormX => Self::atom(Atom::NormX(cols.clone())),
            Formula::NormZ => Self::atom(Atom::NormZ(cols.clone())),
            Formula::Named(named) => Self::named(named, cols, space),
            Formula::Columns(inner, columns) => {
                let chosen: Option<Vec<usize>> = columns
                    .iter()
                    .map(|c| match cols {
                        None => Some(c),
                        Some(outer) => outer.get(c).copied(),
                    })
                    .collect();
                Self::read(inner, &Some(chosen?), space)?
            }
            Formula::Sum(terms) => {
                let mut sum = Self::zero();
                for term in terms {
                    sum = sum.add(&Self::read(term, cols, space)?);
                }
                sum
            }
            Formula::Product(factors) => {
                let mut product = Self::constant(Q::one());
                for factor in factors {
                    product = product.mul(&Self::read(factor, cols, space)?, space)?;
                }
                product
            }
            Formula::Neg(inner) => Self::read(inner, cols, space)?.neg(),
            Formula::Div(n, d) => {
                let denominator = Self::read_power(d, &-Q::one(), cols, space)?;
                Self::read(n, cols, space)?.mul(&denominator, space)?
            }
            Formula::Pow(base, exponent) => {
                let exponent = Self::read(exponent, cols, space)?;
                match exponent.as_constant() {
                    Some(e) => Self::read_power(base, &e, cols, space)?,
                    None => {
                        let logarithm = Self::read(base, cols, space)?.log()?;
                        exponent.mul(&logarithm, space)?.exp(space)?
                    }
                }
            }
            Formula::Call(function, arguments) => {
                if *function == Function::Sqrt {
                    return Self::read_power(&arguments[0], &ratio(1, 2), cols, space);
                }
                let args =
                    arguments.iter().map(|a| Self::read(a, cols, space)).collect::<Option<Vec<_>>>()?;
                Self::call_function(*function, args, space)?
            }
        };
        (form.0.len() <= MOST_TERMS).then_some(form)
    }

    /// base^e with products split first, so that √(p·q) keeps its factors. If the power is defined, a fractional one
    /// may be split into factors that are squares or known not to be negative.
    fn read_power(base: &Formula, e: &Q, cols: &Cols, space: &Space) -> Option<Self> {
        let splits = |part: &Formula| e.is_integer() || never_negative(part);
        match base {
            Formula::Product(factors) if factors.iter().all(splits) => {
                let mut product = Self::constant(Q::one());
                for factor in factors {
                    product = product.mul(&Self::read_power(factor, e, cols, space)?, space)?;
                }
                Some(product)
            }
            Formula::Div(n, d) if splits(n) && splits(d) => {
                // m/(a + b·m) = (1 − a/(a + b·m))/b shows a fractional power as a function of one kernel.
                let quotient = Self::read(base, cols, space)?;
                if !e.is_integer() && quotient.0.len() == 2 && !quotient.constant_term().is_zero() {
                    return quotient.power(e, space);
                }
                Self::read_power(n, e, cols, space)?.mul(&Self::read_power(d, &-e, cols, space)?, space)
            }
            Formula::Pow(inner, k) if e.is_integer() || never_negative(inner) => {
                match Self::read(k, cols, space)?.as_constant() {
                    Some(k) => Self::read_power(inner, &(k * e), cols, space),
                    None => Self::read(base, cols, space)?.power(e, space),
                }
            }
            Formula::Call(Function::Sqrt, args) if e.is_integer() => {
                Self::read_power(&args[0], &(e / int(2)), cols, space)
            }
            _ => Self::read(base, cols, space)?.power(e, space),
        }
    }

    /// ⟨x,z⟩ on some columns.
    pub(crate) fn dot(cols: &Cols, space: &Space) -> Self {
        if space.width(cols) == Some(1) && space.domain.is_in_orthant() {
            let mut m = Monomial::atom(Atom::NormX(cols.clone()));
            m.0.insert(Atom::NormZ(cols.clone()), Q::one());
            return Self::term(Q::one(), m);
        }
        Self::atom(Atom::Dot(cols.clone()))
    }

    /// |x−z| on some columns.
    pub(crate) fn distance(cols: &Cols) -> Self {
        Self::atom(Atom::Distance(cols.clone()))
    }

    /// |x−z|₁ on some columns.
    pub(crate) fn distance1(cols: &Cols, space: &Space) -> Self {
        if space.width(cols) == Some(1) {
            return Self::distance(cols);
        }
        Self::atom(Atom::Distance1(cols.clone()))
    }

    fn named(named: &Written, cols: &Cols, space: &Space) -> Self {
        let whole = || Self::atom(Atom::Named(Opaque::new(named.clone(), cols.clone())));
        named.family.form(named, cols, space).unwrap_or_else(whole)
    }

    fn call_function(function: Function, args: Vec<Self>, space: &Space) -> Option<Self> {
        let first = || args[0].clone();
        match function {
            Function::Exp => first().exp(space),
            Function::Log => first().log(),
            Function::Sqrt => first().power(&ratio(1, 2), space),
            Function::Acos => {
                let half_pi = Self::atom(Atom::Pi).scale(&ratio(1, 2));
                Some(half_pi.sub(&Self::call(Fun::Asin, args, space)?))
            }
            Function::Sin => Self::call(Fun::Sin, args, space),
            Function::Cos => Self::call(Fun::Cos, args, space),
            Function::Tan => Self::call(Fun::Tan, args, space),
            Function::Sinc => Self::call(Fun::Sinc, args, space),
            Function::Sinh => Self::call(Fun::Sinh, args, space),
            Function::Cosh => Self::call(Fun::Cosh, args, space),
            Function::Tanh => Self::call(Fun::Tanh, args, space),
            Function::Asin => Self::call(Fun::Asin, args, space),
            Function::Atan => Self::call(Fun::Atan, args, space),
            Function::Abs => Self::call(Fun::Abs, args, space),
            Function::Min => Self::call(Fun::Min, args, space),
            Function::Max => Self::call(Fun::Max, args, space),
        }
    }
}

/// Whether a formula is never negative, by its outermost shape.
fn never_negative(expr: &Formula) -> bool {
    match expr {
        Formula::Number(value) => !value.is_negative(),
        Formula::Pi => true,
        Formula::Distance | Formula::Distance1 | Formula::NormX | Formula::NormZ => true,
        Formula::Call(Function::Exp | Function::Cosh | Function::Abs | Function::Sqrt, _) => true,
        Formula::Call(Function::Max, args) => args.iter().any(never_negative),
        Formula::Call(Function::Min, args) => args.iter().all(never_negative),
        Formula::Sum(parts) | Formula::Product(parts) => parts.iter().all(never_negative),
        Formula::Div(n, d) => never_negative(n) && never_negative(d),
        Formula::Pow(base, exponent) => {
            never_negative(base) || matches!(exponent.as_ref(), Formula::Number(e) if is_even(e))
        }
        _ => false,
    }
}
