//! Proofs that follow the formula as it was written, where its normal form hides the way.

use num_traits::One;

use super::Prover;
use crate::check::exact::{Q, as_integer, int};
use crate::check::form::{Form, Fun};
use crate::check::proof::{Proof, Rule};
use crate::expr::{Columns, Expr, Function};

impl Prover {
    /// A proof for `expr`, whose form is `form`.
    pub(super) fn expression(&mut self, expr: &Expr, form: &Form) -> Option<Proof> {
        self.positive(form).or_else(|| self.as_written(expr, form))
    }

    fn part(&mut self, expr: &Expr) -> Option<Proof> {
        let form = Form::of(expr, &self.space)?;
        self.expression(expr, &form)
    }

    fn as_written(&mut self, expr: &Expr, form: &Form) -> Option<Proof> {
        match expr {
            Expr::Columns(inner, columns) => {
                let pushed = push_columns(inner, columns)?;
                self.as_written(&pushed, form)
            }
            Expr::Sum(parts) => {
                let premises = parts.iter().map(|p| self.part(p)).collect::<Option<Vec<_>>>()?;
                let weights = vec![Form::constant(Q::one()); premises.len()];
                self.kernel(form.clone(), Rule::Sum { weights }, premises)
            }
            Expr::Product(parts) => {
                let premises = parts.iter().map(|p| self.part(p)).collect::<Option<Vec<_>>>()?;
                self.kernel(form.clone(), Rule::Product, premises)
            }
            Expr::Div(n, d) => {
                let premise = self.part(n)?;
                let divisor = Form::of(d, &self.space)?.power(&-Q::one(), &self.space)?;
                if divisor.dependence().is_constant() {
                    return self.kernel(form.clone(), Rule::Sum { weights: vec![divisor] }, vec![premise]);
                }
                let other = self.positive(&divisor)?;
                self.kernel(form.clone(), Rule::Product, vec![premise, other])
            }
            Expr::Pow(base, exponent) => {
                let e = Form::of(exponent, &self.space)?.as_constant()?;
                let n = as_integer(&e).filter(|n| (2..=64).contains(n))?;
                let premise = self.part(base)?;
                self.series_of(form.clone(), Form::var().power(&int(n), &self.space)?, premise)
            }
            Expr::Call(function, args) => {
                let t = Form::var();
                let function = match function {
                    Function::Exp => t.exp(&self.space)?,
                    Function::Sinh => Form::call(Fun::Sinh, vec![t], &self.space)?,
                    Function::Cosh => Form::call(Fun::Cosh, vec![t], &self.space)?,
                    Function::Asin => Form::call(Fun::Asin, vec![t], &self.space)?,
                    Function::Tan => Form::call(Fun::Tan, vec![t], &self.space)?,
                    _ => return None,
                };
                let premise = self.part(&args[0])?;
                self.series_of(form.clone(), function, premise)
            }
            _ => None,
        }
    }
}

/// The choice of columns moved one level down.
fn push_columns(expr: &Expr, columns: &Columns) -> Option<Expr> {
    let wrap = |e: &Expr| Expr::Columns(Box::new(e.clone()), columns.clone());
    let each = |parts: &[Expr]| parts.iter().map(wrap).collect::<Vec<_>>();
    Some(match expr {
        Expr::Sum(parts) => Expr::Sum(each(parts)),
        Expr::Product(parts) => Expr::Product(each(parts)),
        Expr::Call(function, parts) => Expr::Call(*function, each(parts)),
        Expr::Neg(a) => Expr::Neg(Box::new(wrap(a))),
        Expr::Div(a, b) => Expr::Div(Box::new(wrap(a)), Box::new(wrap(b))),
        Expr::Pow(a, b) => Expr::Pow(Box::new(wrap(a)), Box::new(wrap(b))),
        _ => return None,
    })
}
