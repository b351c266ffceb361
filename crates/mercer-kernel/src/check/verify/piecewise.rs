//! Piecewise polynomials of a distance r, built from r by sums, products, min, max and absolute values.

use num_traits::{One, Signed, Zero};

use super::pattern::natural;
use super::polynomial::{self, Polynomial};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial};
use crate::check::steps;

/// The most pieces, and the highest degree of one.
const MOST_PIECES: usize = 24;
const HIGHEST_DEGREE: usize = 40;

/// A continuous function of r ≥ 0: `pieces[i]` up to `ends[i]`, the last one from there on.
#[derive(Debug, Clone)]
pub(super) struct Piecewise {
    pub(super) ends: Vec<Q>,
    pub(super) pieces: Vec<Polynomial>,
}

/// The columns of the one distance that a form reads, and the form as a function of it.
pub(super) fn read(form: &Form) -> Option<(Cols, Piecewise)> {
    let mut cols = None;
    let function = of_form(form, &mut cols)?;
    Some((cols?, function))
}

fn of_form(form: &Form, cols: &mut Option<Cols>) -> Option<Piecewise> {
    let mut sum = Piecewise::polynomial(Vec::new());
    for (m, c) in &form.0 {
        let term = of_monomial(m, cols)?.times(&Piecewise::polynomial(vec![c.clone()]))?;
        sum = sum.plus(&term)?;
    }
    Some(sum)
}

fn of_monomial(m: &Monomial, cols: &mut Option<Cols>) -> Option<Piecewise> {
    let mut product = Piecewise::polynomial(vec![Q::one()]);
    for (atom, e) in &m.0 {
        let n = natural(e).filter(|n| *n <= HIGHEST_DEGREE)?;
        let factor = of_atom(atom, cols)?;
        for _ in 0..n {
            product = product.times(&factor)?;
        }
    }
    Some(product)
}

fn of_atom(atom: &Atom, cols: &mut Option<Cols>) -> Option<Piecewise> {
    match atom {
        Atom::Distance(list) => {
            if cols.as_ref().is_some_and(|known| known != list) {
                return None;
            }
            *cols = Some(list.clone());
            Some(Piecewise::polynomial(vec![Q::zero(), Q::one()]))
        }
        Atom::Power(base) => of_form(base, cols),
        Atom::Call(fun @ (Fun::Min | Fun::Max), args) => {
            let mut parts = args.iter().map(|a| of_form(a, cols)).collect::<Option<Vec<_>>>()?;
            let first = parts.pop()?;
            parts.iter().try_fold(first, |a, b| a.extremum(b, *fun == Fun::Max))
        }
        Atom::Call(Fun::Abs, args) => {
            let inside = of_form(&args[0], cols)?;
            let flipped = inside.times(&Piecewise::polynomial(vec![int(-1)]))?;
            inside.extremum(&flipped, true)
        }
        _ => None,
    }
}

impl Piecewise {
    fn polynomial(p: Polynomial) -> Self {
        Self { ends: Vec::new(), pieces: vec![p] }
    }

    /// The pieces of both functions, combined on common intervals.
    fn merge(&self, other: &Self, put: impl Fn(&[Q], &[Q]) -> Polynomial) -> Option<Self> {
        let mut ends: Vec<Q> = self.ends.iter().chain(&other.ends).cloned().collect();
        ends.sort();
        ends.dedup();
        if ends.len() >= MOST_PIECES || steps::are_spent() {
            return None;
        }
        let piece = |f: &Self, i: usize| {
            // The interval before ends[i] lies in the first piece that ends at it or later.
            let index = ends.get(i).map_or(f.ends.len(), |end| f.ends.partition_point(|e| e < end));
            f.pieces[index].clone()
        };
        let pieces: Vec<Polynomial> =
            (0..=ends.len()).map(|i| trimmed(put(&piece(self, i), &piece(other, i)))).collect();
        let short = pieces.iter().all(|p| {
            p.len() <= HIGHEST_DEGREE + 1 && p.iter().all(|c| exact::bits(c) <= exact::LARGEST_POWER / 8)
        });
        short.then_some(Self { ends, pieces })
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        let negated = |q: &[Q]| q.iter().map(|c| -c).collect::<Vec<_>>();
        self.merge(other, |p, q| polynomial::sub(p, &negated(q)))
    }

    fn times(&self, other: &Self) -> Option<Self> {
        self.merge(other, polynomial::mul)
    }

    /// The greater or the lesser of two functions, where they cross at rational points only.
    fn extremum(&self, other: &Self, greater: bool) -> Option<Self> {
        let difference = self.merge(other, polynomial::sub)?;
        let mut ends = difference.ends.clone();
        for (i, p) in difference.pieces.iter().enumerate() {
            let low = if i == 0 { Q::zero() } else { difference.ends[i - 1].clone() };
            crossings(p, &low, difference.ends.get(i), 4, &mut ends)?;
        }
        ends.sort();
        ends.dedup();
        // Cut both at the crossings, then choose piece by piece.
        let cut = Self { pieces: vec![Vec::new(); ends.len() + 1], ends };
        let (a, b) = (self.plus(&cut)?, other.plus(&cut)?);
        let mut pieces = Vec::new();
        for (i, (p, q)) in a.pieces.iter().zip(&b.pieces).enumerate() {
            let low = if i == 0 { Q::zero() } else { cut.ends[i - 1].clone() };
            let gap = polynomial::sub(p, q);
            let first_is_greater = sign_between(&gap, &low, cut.ends.get(i))?;
            pieces.push(if first_is_greater == greater { p.clone() } else { q.clone() });
        }
        Some(Self { ends: cut.ends, pieces })
    }

    /// The value from the last end on, where it is constant there.
    pub(super) fn limit(&self) -> Option<Q> {
        match self.pieces.last()?.as_slice() {
            [] => Some(Q::zero()),
            [c] => Some(c.clone()),
            _ => None,
        }
    }

    /// The function minus a constant.
    pub(super) fn minus(&self, c: &Q) -> Self {
        let shifted =
            self.pieces.iter().map(|p| trimmed(polynomial::sub(p, std::slice::from_ref(c)))).collect();
        Self { ends: self.ends.clone(), pieces: shifted }
    }
}

fn trimmed(mut p: Polynomial) -> Polynomial {
    while p.last().is_some_and(Zero::is_zero) {
        p.pop();
    }
    p
}

/// p between two points as a polynomial on [0, ∞): (1+v)ⁿ·p((low + high·v)/(1+v)), or p(low + v).
fn on_half_line(p: &[Q], low: &Q, high: Option<&Q>) -> Polynomial {
    let moved = polynomial::shift(p, low);
    let Some(high) = high else { return moved };
    // p(low + (high − low)·u), u = v/(1+v).
    let mut scale = Q::one();
    let mut scaled = Vec::new();
    for c in &moved {
        scaled.push(c * &scale);
        scale *= high - low;
    }
    let reversed: Polynomial = scaled.iter().rev().cloned().collect();
    // (1+v)ⁿ·q(v/(1+v)) has the coefficients of the reversal, shifted by 1 and reversed again.
    polynomial::shift(&reversed, &Q::one()).into_iter().rev().collect()
}

/// Whether p ≥ 0 on an interval.
pub(super) fn nonnegative_between(p: &[Q], low: &Q, high: Option<&Q>) -> bool {
    polynomial::nonnegative_on_half_line(&on_half_line(p, low, high))
}

/// Whether p ≥ 0, or p ≤ 0, on an interval; `None` if neither is shown.
fn sign_between(p: &[Q], low: &Q, high: Option<&Q>) -> Option<bool> {
    if nonnegative_between(p, low, high) {
        return Some(true);
    }
    let negated: Polynomial = p.iter().map(|c| -c).collect();
    nonnegative_between(&negated, low, high).then_some(false)
}

/// Adds the rational points at which p changes its sign; `None` if they are not all found.
fn crossings(p: &[Q], low: &Q, high: Option<&Q>, depth: usize, found: &mut Vec<Q>) -> Option<()> {
    if sign_between(p, low, high).is_some() {
        return Some(());
    }
    if depth == 0 {
        return None;
    }
    let root = rational_root(p, low, high)?;
    found.push(root.clone());
    crossings(p, low, Some(&root), depth - 1, found)?;
    crossings(p, &root, high, depth - 1, found)
}

/// A rational number inside an interval at which p is exactly 0.
fn rational_root(p: &[Q], low: &Q, high: Option<&Q>) -> Option<Q> {
    let inside = |q: &Q| q > low && high.is_none_or(|h| q < h);
    if p.len() == 2 {
        return Some(-&p[0] / &p[1]).filter(inside);
    }
    let top = high.cloned().unwrap_or_else(|| {
        let largest = p.iter().map(Signed::abs).max().unwrap_or_else(Q::one);
        low + Q::one() + largest / p.last().map_or_else(Q::one, |c| c.abs().max(ratio(1, 1 << 20)))
    });
    let (a, b) = (exact::to_f64(low), exact::to_f64(&top));
    let double: Vec<f64> = p.iter().map(exact::to_f64).collect();
    let at = |x: f64| double.iter().rev().fold(0.0, |sum, c| sum * x + c);
    const PARTS: u32 = 64;
    let point = |i: u32| a + (b - a) * (f64::from(i) + 0.37) / f64::from(PARTS);
    for i in 0..PARTS - 1 {
        let (mut l, mut h) = (point(i), point(i + 1));
        if at(l) * at(h) > 0.0 {
            continue;
        }
        for _ in 0..80 {
            let middle = 0.5 * (l + h);
            if at(l) * at(middle) <= 0.0 { h = middle } else { l = middle }
        }
        if let Some(root) = short_fractions(l).find(|q| inside(q) && polynomial::at(p, q).is_zero()) {
            return Some(root);
        }
    }
    None
}

/// The convergents of a number's continued fraction.
fn short_fractions(x: f64) -> impl Iterator<Item = Q> {
    let (mut p0, mut q0, mut p1, mut q1) = (0_i64, 1_i64, 1_i64, 0_i64);
    let mut rest = x;
    (0..12).map_while(move |_| {
        let whole = rest.floor();
        if whole.is_nan() || whole.abs() >= 1e6 || q1 > 100_000 {
            return None;
        }
        let whole_i = whole as i64;
        (p0, q0, p1, q1) =
            (p1, q1, whole_i.checked_mul(p1)?.checked_add(p0)?, whole_i.checked_mul(q1)?.checked_add(q0)?);
        rest = 1.0 / (rest - whole);
        (q1 != 0).then(|| ratio(p1, q1))
    })
}
