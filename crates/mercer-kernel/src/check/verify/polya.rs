//! Pólya's criterion on the line: a function of |x−z| that is ≥ 0, falls and is convex is positive semidefinite there.

use num_traits::{One, Signed};

use super::range::Range;
use super::value::is_nonnegative_constant;
use crate::check::exact::Q;
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};

/// The convexity and monotonicity of a function of r ≥ 0; both flags of a pair hold for constants and straight lines.
#[derive(Debug, Clone, Copy)]
struct Shape {
    convex: bool,
    concave: bool,
    rises: bool,
    falls: bool,
}

const CONSTANT: Shape = Shape { convex: true, concave: true, rises: true, falls: true };

impl Shape {
    fn flipped(self) -> Self {
        Self { convex: self.concave, concave: self.convex, rises: self.falls, falls: self.rises }
    }

    fn and(self, other: Self) -> Self {
        Self {
            convex: self.convex && other.convex,
            concave: self.concave && other.concave,
            rises: self.rises && other.rises,
            falls: self.falls && other.falls,
        }
    }

    /// f∘g for a rising convex (or concave) f, or with `falling` for a falling one.
    fn under(self, convex: bool, falling: bool) -> Self {
        let inner = if falling { self.flipped() } else { self };
        Self {
            convex: convex && inner.convex,
            concave: !convex && inner.concave,
            rises: inner.rises,
            falls: inner.falls,
        }
    }
}

/// Whether a form of one distance is shown to be ≥ 0, falling and convex in it, on a line.
pub fn check(form: &Form, space: &Space) -> Result<(), String> {
    let mut cols = None;
    let shape = of_form(form, &mut cols, space).ok_or("not a function of one distance with a known shape")?;
    let cols = cols.ok_or("not a function of a distance")?;
    if space.width(&cols) != Some(1) {
        return Err("not on a line".into());
    }
    if !(shape.convex && shape.falls) {
        return Err("not shown to be convex and falling".into());
    }
    if Range::of(form, space).is_nonnegative() { Ok(()) } else { Err("not shown to be ≥ 0".into()) }
}

/// Whether a form of one distance has values ≥ 0 and is shown to rise, or to fall, with it.
pub(super) fn is_monotone(form: &Form, space: &Space, rises: bool) -> bool {
    let shape = of_form(form, &mut None, space);
    shape.is_some_and(|s| if rises { s.rises } else { s.falls }) && Range::of(form, space).is_nonnegative()
}

fn of_form(form: &Form, cols: &mut Option<Cols>, space: &Space) -> Option<Shape> {
    let mut shape = CONSTANT;
    for (m, c) in &form.0 {
        let term = of_monomial(m, cols, space)?;
        shape = shape.and(if c.is_negative() { term.flipped() } else { term });
    }
    Some(shape)
}

fn of_monomial(m: &Monomial, cols: &mut Option<Cols>, space: &Space) -> Option<Shape> {
    if let Some((atom, e)) = m.single() {
        return of_power(atom, e, cols, space);
    }
    let mut product = CONSTANT;
    for (atom, e) in &m.0 {
        let factor = of_power(atom, e, cols, space)?;
        let form = Form::term(Q::one(), Monomial([(atom.clone(), e.clone())].into()));
        // A product of functions that are ≥ 0, convex and falling is convex and falling.
        if !(factor.convex && factor.falls && Range::of(&form, space).is_nonnegative()) {
            return None;
        }
        product = Shape { convex: true, concave: false, rises: false, falls: true };
    }
    Some(product)
}

fn of_power(atom: &Atom, e: &Q, cols: &mut Option<Cols>, space: &Space) -> Option<Shape> {
    if atom.dependence().is_constant() {
        let value = Form::term(Q::one(), Monomial([(atom.clone(), e.clone())].into()));
        return is_nonnegative_constant(&value).then_some(CONSTANT);
    }
    let base = match atom {
        Atom::Distance(found) => {
            if cols.as_ref().is_some_and(|c| c != found) {
                return None;
            }
            *cols = Some(found.clone());
            Shape { convex: true, concave: true, rises: true, falls: false }
        }
        Atom::Exp(m) => {
            let exponent = of_form(&Form::term(e.clone(), m.clone()), cols, space)?;
            return Some(exponent.under(true, false));
        }
        Atom::Power(inner) => of_form(inner, cols, space)?,
        Atom::Call(Fun::Log, args) => of_form(&args[0], cols, space)?.under(false, false),
        // Convex or concave where the argument is ≥ 0.
        Atom::Call(fun @ (Fun::Tanh | Fun::Atan | Fun::Sinh | Fun::Cosh), args)
            if Range::of(&args[0], space).is_nonnegative() =>
        {
            of_form(&args[0], cols, space)?.under(matches!(fun, Fun::Sinh | Fun::Cosh), false)
        }
        Atom::Call(fun @ (Fun::Min | Fun::Max), args) => {
            let mut shape = CONSTANT;
            for arg in args {
                shape = shape.and(of_form(arg, cols, space)?);
            }
            Shape {
                convex: shape.convex && *fun == Fun::Max,
                concave: shape.concave && *fun == Fun::Min,
                ..shape
            }
        }
        _ => return None,
    };
    if e.is_one() {
        return Some(base);
    }
    let value = match atom {
        Atom::Power(inner) => Range::of(inner, space),
        other => Range::of(&Form::atom(other.clone()), space),
    };
    if !value.is_nonnegative() {
        return None;
    }
    Some(if e.is_negative() { base.under(true, true) } else { base.under(*e >= Q::one(), false) })
}
