//! The points at which a formula or a form is defined.

use num_traits::Signed;

use super::branches::Branches;
use super::range::Range;
use super::value::{Care, Ground, Pair, of_form, of_formula, of_function};
use crate::check::Dim;
use crate::check::enclose::exact_value;
use crate::check::exact::{Q, int, ratio};
use crate::check::form::{Atom, Form, Fun, Monomial, Space};
use crate::expr::{Columns, Function};
use crate::family::constant::CONSTANT;
use crate::formula::{Formula, Parameter};

/// One more than the largest column a formula reads on its own.
pub fn least_dim(formula: &Formula) -> usize {
    match formula {
        Formula::Columns(_, columns) => columns.span(),
        Formula::Named(named) => named.listed_values().max(1),
        other => other.children().into_iter().map(least_dim).max().unwrap_or(1),
    }
}

/// Whether a form has the values of a formula.
pub fn is_form_of(form: &Form, formula: &Formula, space: &Space) -> bool {
    let mut branches = Branches::default();
    branches.add_formula(formula);
    branches.add_form(form);
    let ground = Ground {
        branches,
        space: *space,
        least_dim: least_dim(formula).max(form.least_dim()),
        bits: formula.constant_bits().max(form.constant_bits()),
        care: Care::Full,
    };
    ground.agree(&|p, bits| of_formula(formula, p, bits), &|p, bits| of_form(form, p, bits))
}

/// Whether a formula has the values of a function of ⟨x,z⟩.
pub(super) fn is_function_of_dot(function: &Form, formula: &Formula, space: &Space) -> bool {
    let dot = Form::atom(Atom::Dot(None));
    let mut branches = Branches::default();
    branches.add_formula(formula);
    let ground = Ground {
        branches,
        space: *space,
        least_dim: least_dim(formula),
        bits: formula.constant_bits().max(function.constant_bits()),
        care: Care::Full,
    };
    let value = |p: &Pair, bits| of_function(function, &of_form(&dot, p, bits)?);
    ground.agree(&|p, bits| of_formula(formula, p, bits), &value)
}

/// Whether every part of a form has a value at every pair of points of the space.
pub fn form_is_defined(form: &Form, space: &Space) -> bool {
    form.0.keys().all(|m| monomial_is_defined(m, space))
}

fn monomial_is_defined(m: &Monomial, space: &Space) -> bool {
    m.0.iter().all(|(atom, e)| {
        let range = || Range::of(&Form::atom(atom.clone()), space);
        let (inside, base): (bool, &dyn Fn() -> Range) = match atom {
            Atom::Var => return false,
            Atom::Exp(inner) => return monomial_is_defined(inner, space),
            Atom::Power(base) => (form_is_defined(base, space), &|| Range::of(base, space)),
            Atom::Call(fun, args) => (call_is_defined(*fun, args, space), &range),
            _ => (true, &range),
        };
        inside && power_is_defined(base, e)
    })
}

/// Whether a base to the power e has a value for all bases in a range.
fn power_is_defined(base: &dyn Fn() -> Range, e: &Q) -> bool {
    match (e.is_integer(), e.is_negative()) {
        (true, false) => true,
        (true, true) => base().excludes_zero(),
        (false, false) => base().is_nonnegative(),
        (false, true) => base().is_positive(),
    }
}

fn call_is_defined(fun: Fun, args: &[Form], space: &Space) -> bool {
    let range = || Range::of(&args[0], space);
    args.iter().all(|a| form_is_defined(a, space))
        && match fun {
            Fun::Log => range().is_positive(),
            Fun::Asin => range().is_within(&int(-1), &int(1)),
            Fun::Tan => range().is_within(&ratio(-157, 100), &ratio(157, 100)),
            _ => true,
        }
}

/// Whether every part of a formula has a value at every pair of points of the domain.
pub fn is_defined(formula: &Formula, space: &Space) -> bool {
    defined(formula, None, space)
}

/// A formula on some of the columns.
#[derive(Clone, Copy)]
struct Part<'a> {
    formula: &'a Formula,
    columns: Option<&'a Columns>,
    space: &'a Space,
}

impl Part<'_> {
    fn with<'b>(&'b self, formula: &'b Formula) -> Part<'b> {
        Part { formula, ..*self }
    }

    /// Bounds of its parts as written, put together.
    fn as_written(&self) -> Range {
        let of = |f: &Formula| self.with(f).as_written();
        match self.formula {
            Formula::Number(q) => Range::point(q),
            Formula::Sum(parts) => parts.iter().fold(Range::point(&int(0)), |sum, p| sum.add(&of(p))),
            Formula::Product(parts) => {
                parts.iter().fold(Range::point(&int(1)), |product, p| product.mul(&of(p)))
            }
            Formula::Neg(inner) => of(inner).neg(),
            Formula::Div(n, d) => of(n).mul(&of(d).recip()),
            Formula::Pow(base, exponent) => match constant(exponent) {
                Some(e) => of(base).power(&e),
                None => Range::EVERYTHING,
            },
            _ => self.by_form(),
        }
    }

    /// Bounds of its form.
    fn by_form(&self) -> Range {
        let placed = match self.columns {
            None => self.formula.clone(),
            Some(c) => Formula::Columns(Box::new(self.formula.clone()), c.clone()),
        };
        let form = Form::of(&placed, self.space).filter(|form| is_form_of(form, &placed, self.space));
        form.map_or(Range::EVERYTHING, |form| Range::of(&form, self.space))
    }

    /// Whether its bounds, as written or of its form, have a property.
    fn lies(&self, fits: impl Fn(&Range) -> bool) -> bool {
        let as_written = self.as_written();
        fits(&as_written) || fits(&as_written.intersect(&self.by_form()))
    }
}

/// The rational value of a formula without points.
fn constant(formula: &Formula) -> Option<Q> {
    fn has_points(formula: &Formula) -> bool {
        let own = match formula {
            Formula::Dot | Formula::Distance | Formula::Distance1 | Formula::NormX | Formula::NormZ => true,
            Formula::Named(named) => named.family != CONSTANT,
            _ => false,
        };
        own || formula.children().into_iter().any(has_points)
    }
    if has_points(formula) {
        return None;
    }
    let no_points = vec![int(0); least_dim(formula)];
    exact_value(formula, &no_points, &no_points)
}

fn defined(formula: &Formula, columns: Option<&Columns>, space: &Space) -> bool {
    let part = |formula| Part { formula, columns, space };
    let inside = |part: &Formula| defined(part, columns, space);
    let available = match (columns, space.dim) {
        (Some(outer), _) => Some(outer.len()),
        (None, Dim::Exactly(d)) => Some(d),
        (None, Dim::Any) => None,
    };
    match formula {
        Formula::Unreadable => false,
        Formula::Number(_)
        | Formula::Pi
        | Formula::Dot
        | Formula::Distance
        | Formula::Distance1
        | Formula::NormX
        | Formula::NormZ => true,
        Formula::Named(named) => {
            let lists_fit = named.parameters.iter().all(|(_, value)| match value {
                Parameter::PerColumn(list) => Some(list.len()) == available,
                _ => true,
            });
            lists_fit && named.family.defined(named, space)
        }
        Formula::Columns(inner, chosen) => {
            if available.is_some_and(|n| chosen.span() > n) {
                return false;
            }
            // A choice within a choice: the inner numbers count within the outer one.
            match columns.map(|outer| outer.compose(chosen)) {
                None => defined(inner, Some(chosen), space),
                Some(Some(composed)) => defined(inner, Some(&composed), space),
                Some(None) => false,
            }
        }
        Formula::Sum(parts) | Formula::Product(parts) => parts.iter().all(inside),
        Formula::Neg(a) => inside(a),
        Formula::Div(n, d) => inside(n) && inside(d) && part(d).lies(Range::excludes_zero),
        Formula::Pow(base, exponent) => {
            inside(base)
                && inside(exponent)
                && match constant(exponent) {
                    Some(e) if e.is_integer() && !e.is_negative() => true,
                    Some(e) => part(base).lies(|r| power_is_defined(&|| r.clone(), &e)),
                    None => part(base).lies(Range::is_positive),
                }
        }
        Formula::Call(function, args) => {
            let lies = |fits: &dyn Fn(&Range) -> bool| part(&args[0]).lies(fits);
            args.iter().all(inside)
                && match function {
                    Function::Log => lies(&Range::is_positive),
                    Function::Sqrt => lies(&Range::is_nonnegative),
                    Function::Asin | Function::Acos => lies(&|r| r.is_within(&int(-1), &int(1))),
                    Function::Tan => lies(&|r| r.is_within(&ratio(-157, 100), &ratio(157, 100))),
                    _ => true,
                }
        }
    }
}
