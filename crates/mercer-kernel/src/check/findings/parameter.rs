//! The values of one unknown number `?` for which a formula is a kernel.
//!
//! Three kinds of families have a statement about every value: (a − b·r)₊^? (Askey 1973, Golubov 1981) and exp(−c·r^?)
//! (Schoenberg 1938) by their theorems, and A + ?·B because kernels form a convex cone: the values for which such a
//! formula is a kernel form an interval. For other families the finding lists the values tried, without a statement
//! between them.

use std::fmt;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use serde_json::{Value as Json, json};

use super::About;
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Atom, Form, Space};
use crate::check::{Domain, Proof, Verdict, verify};
use crate::expr::Function;
use crate::family::constant::CONSTANT;
use crate::formula::{Formula, Parameter};

/// Whether a formula is a kernel for the values of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// For all values.
    Proven,
    /// For no value.
    Refuted,
    /// For no value: the formula is undefined at some points of the domain.
    Undefined,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Refuted => "refuted",
            Self::Undefined => "undefined",
        }
    }
}

/// An interval of values; `None` means no bound.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// The finding for its values.
    pub status: Status,
    /// The lower end and whether it belongs to the interval.
    pub low: (Q, bool),
    /// The upper end and whether it belongs to the interval.
    pub high: Option<(Q, bool)>,
}

/// The values of `?` for which a formula is proven, refuted or undefined; others are undecided.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ranges {
    /// Intervals and single values, rising.
    pub parts: Vec<Part>,
    /// The theorem that justifies intervals of values.
    pub reference: &'static str,
    /// The proofs at the ends of the intervals, if the theorem needs them, by the value of `?`.
    pub proofs: Vec<(Q, Proof)>,
}

/// The most values to try between a proven and a refuted one.
const MOST_TRIED: usize = 16;

/// The steps for one value.
const STEPS: u64 = 500_000;

pub(super) fn find(about: About<'_>) -> Option<Ranges> {
    let mut holes = 0;
    let mut settled = about.formula.clone();
    settled.replace(&mut |part| {
        is_hole(part).then(|| {
            holes += 1;
            Formula::Number(int(1))
        })
    });
    if holes != 1 || settled.filled() != settled {
        return None;
    }
    let ranges = askey(about).or_else(|| stretched(about)).or_else(|| affine(about));
    ranges.or_else(|| tried(about)).filter(|ranges| ranges.parts.iter().any(|p| p.status == Status::Proven))
}

/// Whether a formula is `?`, any number ≥ 0.
fn is_hole(formula: &Formula) -> bool {
    matches!(formula, Formula::Named(w) if w.family == CONSTANT && w.parameters[0].1 == Parameter::Any)
}

fn at(formula: &Formula, value: &Q) -> Formula {
    let mut filled = formula.clone();
    filled.replace(&mut |part| is_hole(part).then(|| Formula::Number(value.clone())));
    filled
}

fn part(status: Status, low: (Q, bool), high: Option<(Q, bool)>) -> Part {
    Part { status, low, high }
}

/// max(0, a − b|x−z|)^?: a kernel on R^d exactly where ? ≥ (d+1)/2.
fn askey(about: About<'_>) -> Option<Ranges> {
    let Formula::Pow(base, exponent) = about.formula else { return None };
    let space = Space { dim: about.dim, domain: about.domain };
    let form = Form::of(base, &space)?;
    if !is_hole(exponent) || !verify::defined::is_form_of(&form, base, &space) {
        return None;
    }
    let (cols, power) = verify::askey(&form)?;
    let d = i64::try_from(space.width(&cols)?).ok()?;
    if power != int(1) {
        return None;
    }
    let least = ratio(d + 1, 2);
    let mut parts = vec![part(Status::Proven, (least.clone(), true), None)];
    if about.domain == Domain::All && cols.is_none() {
        parts.insert(0, part(Status::Refuted, (int(0), false), Some((least, false))));
    }
    let reference =
        "Askey 1973; Golubov 1981: (1−r)₊^ℓ is positive semidefinite on R^d exactly where ℓ ≥ (d+1)/2";
    Some(Ranges { parts, reference, proofs: Vec::new() })
}

/// exp(−c|x−z|^?), c > 0: a kernel exactly where ? ≤ 2.
fn stretched(about: About<'_>) -> Option<Ranges> {
    let Formula::Call(Function::Exp, args) = about.formula else { return None };
    // ⟨x,z⟩ replaces |x−z|^? below, so it must not occur itself.
    if has_dot(&args[0]) {
        return None;
    }
    let mut inside = args[0].clone();
    let mut seen = false;
    inside.replace(&mut |part| match part {
        Formula::Pow(base, exponent) if **base == Formula::Distance && is_hole(exponent) => {
            seen = true;
            Some(Formula::Dot)
        }
        _ => None,
    });
    let space = Space { dim: about.dim, domain: Domain::All };
    let form = Form::of(&inside, &space)?;
    let (m, c) = form.single()?;
    let multiple = matches!(m.single()?, (Atom::Dot(None), e) if *e == int(1)) && c.is_negative();
    if !(seen && multiple && verify::defined::is_form_of(&form, &inside, &space)) {
        return None;
    }
    let mut parts = vec![part(Status::Proven, (int(0), false), Some((int(2), true)))];
    if about.domain == Domain::All {
        parts.push(part(Status::Refuted, (int(2), false), None));
    }
    let reference = "Schoenberg 1938, Metric spaces and positive definite functions: exp(−|x−z|^p) is positive \
                     semidefinite exactly where 0 < p ≤ 2";
    Some(Ranges { parts, reference, proofs: Vec::new() })
}

fn has_dot(formula: &Formula) -> bool {
    *formula == Formula::Dot || formula.children().into_iter().any(has_dot)
}

/// The degree of a formula in `?`, 0 or 1, if it is a polynomial in it.
fn degree(formula: &Formula) -> Option<usize> {
    if is_hole(formula) {
        return Some(1);
    }
    match formula {
        Formula::Sum(parts) => parts.iter().try_fold(0, |most, p| Some(degree(p)?.max(most))),
        Formula::Product(parts) => {
            parts.iter().try_fold(0, |sum, p| Some(sum + degree(p)?)).filter(|d| *d <= 1)
        }
        Formula::Neg(inner) | Formula::Columns(inner, _) => degree(inner),
        Formula::Div(n, d) if degree(d)? == 0 => degree(n),
        other => other.children().into_iter().all(|p| degree(p) == Some(0)).then_some(0),
    }
}

/// A + ?·B: an interval, from a proven value towards refuted ones on both sides.
fn affine(about: About<'_>) -> Option<Ranges> {
    if degree(about.formula)? != 1 {
        return None;
    }
    let mut probe = Probe { about: About { steps: STEPS, ..about }, proofs: Vec::new() };
    let values =
        [int(0), int(1), ratio(1, 2), ratio(1, 10), int(2), int(10), ratio(1, 100), int(100), int(1000)];
    let start = values.iter().find(|v| probe.status(v) == Some(Status::Proven))?.clone();
    let mut parts = Vec::new();
    // Towards 0.
    let mut low = start.clone();
    if start.is_positive() {
        match probe.status(&Q::zero()) {
            Some(Status::Proven) => low = Q::zero(),
            Some(Status::Refuted) => {
                let (proven, refuted) = probe.narrow(start.clone(), Q::zero());
                parts.push(part(Status::Refuted, (Q::zero(), true), Some((refuted, true))));
                low = proven;
            }
            Some(Status::Undefined) | None => {}
        }
    }
    // B itself a kernel: every larger value is proven.
    let slope =
        Formula::Sum(vec![at(about.formula, &int(1)), Formula::Neg(Box::new(at(about.formula, &Q::zero())))]);
    let mut high = Some((start.clone(), true));
    let mut beyond = None;
    if about.with(&slope).proof().is_some() {
        high = None;
    } else {
        let mut reached = start.clone();
        for value in [int(1), int(10), int(1000)].into_iter().filter(|v| *v > start) {
            match probe.status(&value) {
                Some(Status::Proven) => reached = value,
                Some(Status::Refuted) => {
                    let (proven, refuted) = probe.narrow(reached.clone(), value);
                    reached = proven;
                    beyond = Some(part(Status::Refuted, (refuted, true), None));
                    break;
                }
                Some(Status::Undefined) | None => break,
            }
        }
        high = high.map(|_| (reached, true));
    }
    parts.push(part(Status::Proven, (low.clone(), true), high.clone()));
    parts.extend(beyond);
    probe.proofs.retain(|(v, _)| *v == low || high.as_ref().is_some_and(|(h, _)| v == h));
    let reference = "the formula is A + ?·B, and kernels form a convex cone: the values of ? for which it is one form an interval";
    Some(Ranges { parts, reference, proofs: probe.proofs })
}

struct Probe<'a> {
    about: About<'a>,
    proofs: Vec<(Q, Proof)>,
}

impl Probe<'_> {
    fn status(&mut self, value: &Q) -> Option<Status> {
        if self.proofs.iter().any(|(v, _)| v == value) {
            return Some(Status::Proven);
        }
        match self.about.with(&at(self.about.formula, value)).verdict()? {
            Verdict::Proven(proof) => {
                self.proofs.push((value.clone(), proof));
                Some(Status::Proven)
            }
            Verdict::Refuted(_) => Some(Status::Refuted),
            Verdict::Undefined(_) => Some(Status::Undefined),
            Verdict::Undecided(_) => None,
        }
    }

    /// A proven and a refuted value between the two given, close together.
    fn narrow(&mut self, mut proven: Q, mut refuted: Q) -> (Q, Q) {
        for round in 0..MOST_TRIED {
            if (&proven - &refuted).abs() * int(1000) <= proven.clone().max(refuted.clone()) {
                break;
            }
            // Simple fractions first: a threshold often is one.
            let is_fraction = round < 6 && round % 2 == 0;
            let middle = if is_fraction { simplest(&proven, &refuted) } else { shortest(&proven, &refuted) };
            match self.status(&middle) {
                Some(Status::Proven) => proven = middle,
                Some(Status::Refuted) => refuted = middle,
                Some(Status::Undefined) | None if is_fraction => {}
                Some(Status::Undefined) | None => break,
            }
        }
        (proven, refuted)
    }
}

/// The decimal with the fewest digits strictly between two numbers, near the middle.
fn shortest(a: &Q, b: &Q) -> Q {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let middle = (low + high) / int(2);
    let mut unit = int(1);
    for _ in 0..60 {
        let decimal = (&middle / &unit).round() * &unit;
        if *low < decimal && decimal < *high {
            return decimal;
        }
        unit /= int(10);
    }
    middle
}

/// The fraction with the least denominator strictly between two others, by the tree of Stern and Brocot.
fn simplest(a: &Q, b: &Q) -> Q {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let (mut left, mut right) = ((BigInt::zero(), BigInt::from(1)), (BigInt::from(1), BigInt::zero()));
    for _ in 0..2_000 {
        let (n, d) = (&left.0 + &right.0, &left.1 + &right.1);
        let middle = Q::new(n.clone(), d.clone());
        if middle <= *low {
            left = (n, d);
        } else if middle >= *high {
            right = (n, d);
        } else {
            return middle;
        }
    }
    (low + high) / int(2)
}

/// The findings at a few values.
fn tried(about: About<'_>) -> Option<Ranges> {
    let mut probe = Probe { about, proofs: Vec::new() };
    let values = [ratio(1, 2), int(1), ratio(3, 2), int(2), ratio(5, 2), int(3), int(4), int(5)];
    let mut parts = Vec::new();
    for value in values {
        if let Some(status) = probe.status(&value) {
            parts.push(part(status, (value.clone(), true), Some((value, true))));
        }
    }
    let reference = "each of these values on its own";
    Some(Ranges { parts, reference, proofs: probe.proofs })
}

impl Part {
    fn is_point(&self) -> bool {
        self.high.as_ref().is_some_and(|(high, _)| *high == self.low.0)
    }

    fn words(&self, next: Option<&Self>, last: Option<&Self>) -> String {
        let (low, at_low) = (exact::show(&self.low.0), self.low.1);
        let interval = match &self.high {
            None => format!("? {} {low}", if at_low { ">=" } else { ">" }),
            Some(_) if self.is_point() => format!("? = {low}"),
            Some((high, at_high)) => {
                let (left, right) = (if at_low { "<=" } else { "<" }, if *at_high { "<=" } else { "<" });
                format!("{low} {left} ? {right} {}", exact::show(high))
            }
        };
        match self.status {
            Status::Proven | Status::Undefined => format!("{} for {interval}", self.status.word()),
            Status::Refuted => {
                // If nothing lies between the two, "below" or "above" is enough.
                let touches_next = next.is_some_and(|n| self.high.as_ref().is_some_and(|h| h.0 == n.low.0));
                let touches_last = last.is_some_and(|l| l.high.as_ref().is_some_and(|h| h.0 == self.low.0));
                match (touches_next, touches_last) {
                    (true, _) => format!("refuted below ({interval})"),
                    (_, true) => format!("refuted above ({interval})"),
                    _ => format!("refuted for {interval}"),
                }
            }
        }
    }

    fn to_json(&self) -> Json {
        json!({
            "status": self.status.word(),
            "low": exact::to_f64(&self.low.0),
            "low_included": self.low.1,
            "high": self.high.as_ref().map(|(high, _)| exact::to_f64(high)),
            "high_included": self.high.as_ref().map(|(_, included)| included),
        })
    }
}

impl Ranges {
    pub(super) fn to_json(&self) -> Json {
        json!({
            "ranges": self.parts.iter().map(Part::to_json).collect::<Vec<_>>(),
            "reference": self.reference,
            "text": self.to_string(),
        })
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.iter().all(Part::is_point) {
            let lists =
                [Status::Proven, Status::Refuted, Status::Undefined].into_iter().filter_map(|status| {
                    let values =
                        self.parts.iter().filter(|p| p.status == status).map(|p| exact::show(&p.low.0));
                    let values = values.collect::<Vec<_>>().join(", ");
                    (!values.is_empty()).then(|| format!("{} for ? = {values}", status.word()))
                });
            let lists = lists.collect::<Vec<_>>().join(", ");
            return write!(f, "{lists} ({}; other values: not decided)", self.reference);
        }
        // Proven values come first.
        let words =
            |i: usize| self.parts[i].words(self.parts.get(i + 1), i.checked_sub(1).map(|j| &self.parts[j]));
        let of = |status: Status| {
            (0..self.parts.len())
                .filter(move |&i| self.parts[i].status == status)
                .map(words)
                .collect::<Vec<_>>()
        };
        let mut all = of(Status::Proven);
        all.extend(of(Status::Refuted));
        write!(f, "{} ({})", all.join(", "), self.reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_fractions_are_found() {
        assert_eq!(simplest(&Q::zero(), &int(1)), ratio(1, 2));
        assert_eq!(simplest(&ratio(3, 10), &ratio(2, 5)), ratio(1, 3));
        assert_eq!(simplest(&int(10), &int(2)), int(3));
        assert_eq!(shortest(&ratio(1, 2), &ratio(51, 100)), ratio(505, 1000));
    }
}
