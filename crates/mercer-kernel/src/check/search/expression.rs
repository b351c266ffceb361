//! Proofs that follow the structure of the formula as written, for formulas whose normal form hides it.

use num_traits::One;

use super::Prover;
use crate::check::exact::{Q, as_integer, int};
use crate::check::form::{Form, Fun};
use crate::check::proof::{Proof, Rule};
use crate::expr::{Columns, Function};
use crate::formula::Formula;

impl Prover {
    /// A proof for `formula`, whose form is `form`.
    pub(super) fn expression(&mut self, formula: &Formula, form: &Form) -> Option<Proof> {
        self.positive(form).or_else(|| self.as_written(formula, form))
    }

    fn part(&mut self, formula: &Formula) -> Option<Proof> {
        let form = Form::of(formula, &self.space)?;
        self.expression(formula, &form)
    }

    fn as_written(&mut self, formula: &Formula, form: &Form) -> Option<Proof> {
        match formula {
            Formula::Columns(inner, columns) => {
                let pushed = push_columns(inner, columns)?;
                self.as_written(&pushed, form)
            }
            Formula::Sum(parts) => {
                let premises = parts.iter().map(|p| self.part(p)).collect::<Option<Vec<_>>>()?;
                let weights = vec![Form::constant(Q::one()); premises.len()];
                self.kernel(form.clone(), Rule::Sum { weights }, premises)
            }
            Formula::Product(parts) => {
                let premises = parts.iter().map(|p| self.part(p)).collect::<Option<Vec<_>>>()?;
                self.kernel(form.clone(), Rule::Product, premises)
            }
            Formula::Div(n, d) => {
                let premise = self.part(n)?;
                let divisor = Form::of(d, &self.space)?.power(&-Q::one(), &self.space)?;
                if divisor.dependence().is_constant() {
                    return self.kernel(form.clone(), Rule::Sum { weights: vec![divisor] }, vec![premise]);
                }
                let other = self.positive(&divisor)?;
                self.kernel(form.clone(), Rule::Product, vec![premise, other])
            }
            Formula::Pow(base, exponent) => {
                let e = Form::of(exponent, &self.space)?.as_constant()?;
                let n = as_integer(&e).filter(|n| *n >= 2)?;
                let premise = self.part(base)?;
                self.series_of(form.clone(), Form::var().power(&int(n), &self.space)?, premise)
            }
            Formula::Call(function, args) => {
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
fn push_columns(formula: &Formula, columns: &Columns) -> Option<Formula> {
    let wrap = |e: &Formula| Formula::Columns(Box::new(e.clone()), columns.clone());
    let each = |parts: &[Formula]| parts.iter().map(wrap).collect::<Vec<_>>();
    Some(match formula {
        Formula::Sum(parts) => Formula::Sum(each(parts)),
        Formula::Product(parts) => Formula::Product(each(parts)),
        Formula::Call(function, parts) => Formula::Call(*function, each(parts)),
        Formula::Neg(a) => Formula::Neg(Box::new(wrap(a))),
        Formula::Div(a, b) => Formula::Div(Box::new(wrap(a)), Box::new(wrap(b))),
        Formula::Pow(a, b) => Formula::Pow(Box::new(wrap(a)), Box::new(wrap(b))),
        _ => return None,
    })
}
