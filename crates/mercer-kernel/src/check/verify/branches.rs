//! The branches of formulas and forms.
//!
//! Two analytic functions that agree near a point agree everywhere. Minima, maxima and absolute values are only
//! piecewise analytic, so that values must be compared in each piece: [`Branches`] finds points on both sides of every
//! comparison in such a function.

use std::collections::BTreeMap;

use num_traits::One;

use super::defined::is_form_of;
use super::range::Range;
use super::value::{Pair, of_form, of_formula};
use crate::check::exact::Q;
use crate::check::form::{Atom, Form, Fun, Monomial, Space};
use crate::check::interval::{Fault, Interval};
use crate::expr::{Columns, Function};
use crate::formula::Formula;

/// The bits after the point to which the sides of a comparison are known.
const BITS: u32 = 192;

/// The number of comparisons in one piece.
const TIMES: usize = 2;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
enum Side {
    Form(Form),
    Formula(Formula),
}

impl Side {
    fn at(&self, pair: &Pair) -> Result<Interval, Fault> {
        match self {
            Self::Form(form) => of_form(form, pair, BITS),
            Self::Formula(formula) => of_formula(formula, pair, BITS),
        }
    }
}

/// The comparisons that decide the branches of formulas and forms, and whether there are functions that may have more
/// branches than that: fractional powers and inverse functions.
#[derive(Debug, Clone, Default)]
pub(super) struct Branches {
    comparisons: Vec<[Side; 2]>,
    pub(super) has_roots: bool,
}

impl Branches {
    pub(super) fn is_empty(&self) -> bool {
        self.comparisons.is_empty() && !self.has_roots
    }

    fn push(&mut self, a: Side, b: Side) {
        let comparison = [a, b];
        if !self.comparisons.contains(&comparison) {
            self.comparisons.push(comparison);
        }
    }

    /// Adds the comparisons of a form.
    pub(super) fn add_form(&mut self, form: &Form) {
        form.0.keys().for_each(|m| self.add_product(m));
    }

    fn add_product(&mut self, m: &Monomial) {
        for (atom, e) in m.0.iter().filter(|(a, _)| !a.dependence().is_constant() && !a.dependence().var) {
            match atom {
                Atom::Exp(inner) => self.add_product(inner),
                Atom::Power(base) => {
                    self.has_roots |= !e.is_integer();
                    self.add_form(base);
                }
                Atom::Call(fun, args) => {
                    args.iter().for_each(|a| self.add_form(a));
                    let side = |form: &Form| Side::Form(form.clone());
                    match fun {
                        Fun::Abs => self.push(side(&args[0]), Side::Form(Form::zero())),
                        Fun::Min | Fun::Max => {
                            pairs_of(args, |a, b| self.push(side(a), side(b)));
                            self.has_roots |= !e.is_integer();
                        }
                        Fun::Asin => self.has_roots = true,
                        _ => self.has_roots |= !e.is_integer(),
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the comparisons of a formula.
    pub(super) fn add_formula(&mut self, formula: &Formula) {
        self.add_part(formula, None);
    }

    fn add_part(&mut self, formula: &Formula, columns: Option<&Columns>) {
        let side = |part: &Formula| {
            Side::Formula(match columns {
                None => part.clone(),
                Some(c) => Formula::Columns(Box::new(part.clone()), c.clone()),
            })
        };
        match formula {
            Formula::Columns(inner, chosen) => {
                let composed = columns.map_or_else(|| Some(chosen.clone()), |outer| outer.compose(chosen));
                // A choice that cannot be composed is rejected where the formula is read.
                return composed.iter().for_each(|c| self.add_part(inner, Some(c)));
            }
            Formula::Call(Function::Abs, args) => {
                self.push(side(&args[0]), Side::Formula(Formula::Number(Q::from_integer(0.into()))));
            }
            Formula::Call(Function::Min | Function::Max, args) => {
                pairs_of(args, |a, b| self.push(side(a), side(b)));
            }
            Formula::Call(Function::Sqrt | Function::Asin | Function::Acos, _) => self.has_roots = true,
            Formula::Pow(_, exponent) => {
                self.has_roots |= !matches!(exponent.as_ref(), Formula::Number(e) if e.is_integer());
            }
            _ => {}
        }
        formula.children().into_iter().for_each(|part| self.add_part(part, columns));
    }

    /// The branches at a pair of points: for each comparison, which side is greater, or `None` if unknown.
    fn taken_at(&self, pair: &Pair) -> Vec<Option<bool>> {
        let greater = |[a, b]: &[Side; 2]| {
            let difference = a.at(pair).ok()?.sub(&b.at(pair).ok()?);
            match (difference.is_positive(), difference.is_negative()) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            }
        };
        self.comparisons.iter().map(greater).collect()
    }

    /// Whether no pair of points of the space takes the branch that was not observed for a comparison.
    fn is_excluded(&self, index: usize, greater: bool, space: &Space) -> bool {
        let range = match &self.comparisons[index] {
            [Side::Form(a), Side::Form(b)] => Range::of(&a.sub(b), space),
            [Side::Formula(a), Side::Formula(b)] => {
                let difference = Formula::Sum(vec![a.clone(), Formula::Neg(Box::new(b.clone()))]);
                match Form::of(&difference, space).filter(|form| is_form_of(form, &difference, space)) {
                    Some(form) => Range::of(&form, space),
                    None => return false,
                }
            }
            _ => return false,
        };
        if greater { range.neg().is_nonnegative() } else { range.is_nonnegative() }
    }
}

fn pairs_of<T>(list: &[T], mut visit: impl FnMut(&T, &T)) {
    for (i, a) in list.iter().enumerate() {
        list[i + 1..].iter().for_each(|b| visit(a, b));
    }
}

/// The pieces in which values were compared.
pub(super) struct Seen<'a> {
    branches: &'a Branches,
    pieces: BTreeMap<Vec<Option<bool>>, usize>,
}

impl<'a> Seen<'a> {
    pub(super) fn none(branches: &'a Branches) -> Self {
        Self { branches, pieces: BTreeMap::new() }
    }

    /// Whether values must still be compared in the piece of a pair; counts the comparison.
    pub(super) fn wants(&mut self, pair: &Pair) -> bool {
        let count = self.pieces.entry(self.branches.taken_at(pair)).or_default();
        *count += 1;
        *count <= TIMES
    }

    /// Whether both outcomes of every comparison were observed or are impossible.
    pub(super) fn is_complete(&self, space: &Space) -> bool {
        (0..self.branches.comparisons.len()).all(|i| {
            [true, false].into_iter().all(|way| {
                self.pieces.keys().any(|taken| taken[i] == Some(way))
                    || self.branches.is_excluded(i, way, space)
            })
        })
    }
}

/// The sizes of the points at which branches are looked for, from near zero to far beyond the constants of `bits` bits.
pub(super) fn sizes(bits: u64) -> Vec<Q> {
    let far = i64::try_from(bits.min(4_000)).unwrap_or(0);
    let power = |n: i64| {
        let size = Q::from_integer(num_bigint::BigInt::one() << n.unsigned_abs());
        if n < 0 { size.recip() } else { size }
    };
    let mut exponents: Vec<i64> = (0..=20).flat_map(|n| [n, -n]).collect();
    exponents.extend([far / 2, -far / 2, far + 2, -far - 2].into_iter().filter(|n| n.abs() > 20));
    exponents.into_iter().map(power).collect()
}
