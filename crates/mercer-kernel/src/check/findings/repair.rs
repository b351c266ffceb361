//! Repairs of a refuted formula: an added constant, another exponent, a smaller domain, or fewer dimensions.
//!
//! Each repair is proven before it is shown, in exactly the form shown.

use std::fmt;

use num_traits::{One, Signed, Zero};
use serde_json::{Value as Json, json};

use super::{About, Findings};
use crate::Kernel;
use crate::check::exact::{self, Q, int, ratio};
use crate::check::{Dim, Domain, Proof, Refutation};
use crate::expr::Function;
use crate::formula::Formula;

/// A change that makes a formula a kernel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Repair {
    /// What to do: "add 0.31".
    pub text: String,
    /// The formula after it.
    pub kernel: String,
    /// The dimension in which that is proven.
    pub dim: Dim,
    /// The domain on which it is proven.
    pub domain: Domain,
    /// The proof.
    pub proof: Proof,
}

impl Repair {
    pub(super) fn to_json(&self) -> Json {
        json!({
            "text": self.text,
            "kernel": self.kernel,
            "dim": self.dim.to_json(),
            "domain": self.domain.to_string(),
            "proof": self.proof.to_json(),
        })
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)
    }
}

/// The proven repairs, the smallest change first.
pub(super) fn find(about: About<'_>, findings: &Findings) -> Vec<Repair> {
    // An unknown value has its own ranges.
    if about.formula.filled() != *about.formula {
        return Vec::new();
    }
    let refutation = findings.verdict.refutation();
    let mut repairs: Vec<Repair> = Vec::new();
    repairs.extend(exponent(about));
    repairs.extend(constant(about, refutation));
    if let Some(largest) = &findings.largest_dim
        && is_shown_exactly(about.formula)
    {
        repairs.push(Repair {
            text: format!("valid up to dimension {}", largest.dim),
            kernel: text_of(about.formula),
            dim: Dim::Exactly(largest.dim),
            domain: about.domain,
            proof: largest.proof.clone(),
        });
    }
    repairs.extend(domain(about));
    repairs
}

fn text_of(formula: &Formula) -> String {
    Kernel::from_expr(formula.rounded()).to_string()
}

/// Whether the text of a formula means the same, although numbers are printed as doubles.
fn is_shown_exactly(formula: &Formula) -> bool {
    text_of(formula).parse::<Kernel>().is_ok_and(|shown| shown.formula() == *formula)
}

/// The repair by a changed formula, if its text is proven.
fn changed(about: About<'_>, formula: &Formula, text: String) -> Option<Repair> {
    let kernel = text_of(formula);
    // The text shown is the one proven.
    let shown = kernel.parse::<Kernel>().ok()?.formula();
    let proof = about.with(&shown).proof()?;
    Some(Repair { text, kernel, dim: about.dim, domain: about.domain, proof })
}

/// Replaces an exponent by another: the next whole number, 2, or (d+1)/2.
fn exponent(about: About<'_>) -> Option<Repair> {
    let mut found = Vec::new();
    exponents(about.formula, &mut found);
    found.dedup();
    let threshold = match about.dim {
        Dim::Exactly(d) => Some(ratio(i64::try_from(d).ok()? + 1, 2)),
        Dim::Any => None,
    };
    // max(0, 1−r) is the first power of itself.
    if let (Formula::Call(Function::Max, _), Some(least)) = (about.formula, &threshold) {
        let power = Formula::Pow(Box::new(about.formula.clone()), Box::new(Formula::Number(least.clone())));
        return changed(about, &power, format!("raise the exponent to {}", exact::show(least)));
    }
    for e in found.into_iter().filter(|e| e.is_positive()).take(3) {
        let mut candidates = vec![e.ceil(), e.floor(), int(1), int(2)];
        candidates.extend(threshold.iter().flat_map(|t| [t.clone(), t + int(1), t + int(2)]));
        candidates.retain(|c| c.is_positive() && *c != e);
        candidates.sort_by_key(|c| (c - &e).abs());
        candidates.dedup();
        for c in candidates {
            let mut formula = about.formula.clone();
            let mut first = true;
            formula.replace(&mut |part| match part {
                Formula::Pow(base, exponent) if first && **exponent == Formula::Number(e.clone()) => {
                    first = false;
                    Some(Formula::Pow(base.clone(), Box::new(Formula::Number(c.clone()))))
                }
                _ => None,
            });
            let way = if c > e { "raise" } else { "lower" };
            let text = format!("{way} the exponent {} to {}", exact::show(&e), exact::show(&c));
            if let Some(repair) = changed(about, &formula, text) {
                return Some(repair);
            }
        }
    }
    None
}

fn exponents(formula: &Formula, found: &mut Vec<Q>) {
    if let Formula::Pow(_, exponent) = formula
        && let Formula::Number(e) = exponent.as_ref()
    {
        found.push(e.clone());
    }
    formula.children().into_iter().for_each(|part| exponents(part, found));
}

/// A constant to add. Every larger constant also works, so that bisection finds the least proven one.
fn constant(about: About<'_>, refutation: Option<&Refutation>) -> Option<Repair> {
    // Σᵢⱼ wᵢwⱼ(k + c) = wᵀKw + c(Σ wᵢ)²: nothing helps where the weights sum to 0.
    let Some(Refutation::Points { weights, value, .. }) = refutation else { return None };
    let sum = weights.iter().fold(Q::zero(), |sum, w| sum + w);
    if sum.is_zero() {
        return None;
    }
    let least = -exact::from_decimal(*value)? / (&sum * &sum);
    let add = |c: &Q| {
        let formula = Formula::Sum(vec![about.formula.clone(), Formula::Number(c.clone())]);
        changed(about, &formula, format!("add {}", exact::show(c)))
    };
    let mut low = least.clone();
    let mut best = None;
    // First guesses: slightly more than the points require, and two, ten and a hundred times that, with the round
    // numbers above.
    for factor in [ratio(101, 100), int(2), int(10), int(100)] {
        let c = two_digits(&(&least * &factor))?;
        if let Some(repair) = add(&c) {
            best = Some((c, repair));
            break;
        }
        low = c;
    }
    let (mut high, mut repair) = best?;
    for _ in 0..7 {
        let c = two_digits(&((&low + &high) / int(2)))?;
        if c >= high || c <= low {
            break;
        }
        match add(&c) {
            Some(better) => (high, repair) = (c, better),
            None => low = c,
        }
    }
    Some(repair)
}

/// The number rounded up to two significant digits.
fn two_digits(q: &Q) -> Option<Q> {
    if !q.is_positive() {
        return None;
    }
    let mut unit = Q::one();
    while q / &unit >= int(100) {
        unit *= int(10);
    }
    while q / &unit < int(10) {
        unit /= int(10);
    }
    Some((q / &unit).ceil() * unit)
}

/// A smaller domain: the largest ball of a few radii, else the sphere or the orthant.
fn domain(about: About<'_>) -> Option<Repair> {
    if about.domain != Domain::All {
        return None;
    }
    let on = |domain: Domain| {
        let proof = About { domain, ..about }.proof()?;
        let (kernel, dim) = (text_of(about.formula), about.dim);
        is_shown_exactly(about.formula).then(|| Repair {
            text: format!("valid on {domain}"),
            kernel,
            dim,
            domain,
            proof,
        })
    };
    let ball = |hundredths: u32| on(Domain::Ball(f64::from(hundredths) / 100.0));
    let mut best = on(Domain::Ball(0.1));
    if best.is_some() {
        let (mut low, mut high) = (10, 10);
        // The first radius of 0.2, 0.4, … that fails, and then what lies between.
        for radius in [20, 40, 80, 160, 320, 1_000, 10_000] {
            high = radius;
            match ball(radius) {
                Some(repair) => (low, best) = (radius, Some(repair)),
                None => break,
            }
        }
        while high - low > 1 && low < 10_000 {
            let middle = low.midpoint(high);
            match ball(middle) {
                Some(repair) => (low, best) = (middle, Some(repair)),
                None => high = middle,
            }
        }
        return best;
    }
    on(Domain::Orthant).or_else(|| on(Domain::Sphere))
}
