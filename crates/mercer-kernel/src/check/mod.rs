//! Is a formula a kernel? A proof that a small checker accepts, a confirmed counter-example, or an honest "undecided".
//!
//! The question is settled in three steps: [`search`] looks for a proof in the normal form of [`form`], [`verify`]
//! checks it from the tree alone, and [`refute`] looks for points, each confirmed in the exact arithmetic of
//! [`interval`]. Nothing is called proven or refuted that did not pass its check.

pub mod enclose;
pub mod exact;
pub mod form;
pub mod interval;
pub mod proof;
pub mod refute;
pub mod search;
mod steps;
pub mod verdict;
pub mod verify;

use std::fmt;
use std::str::FromStr;

use serde_json::{Value as Json, json};

use super::Kernel;
use super::expr::Expr;
use super::named::{Allowed, Named, Value};
pub use proof::{Proof, Rule};
use steps::Limit;
pub use verdict::{Evidence, Refutation, Theorem, Verdict};

/// The dimension of the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dim {
    /// Every dimension.
    Any,
    /// This many coordinates.
    Exactly(usize),
}

/// The set the points lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    /// All of R^d.
    All,
    /// The closed ball of this radius around the origin.
    Ball(f64),
    /// The unit sphere.
    Sphere,
    /// All coordinates at least zero.
    Orthant,
}

impl Dim {
    fn to_json(self) -> Json {
        match self {
            Self::Any => json!("any"),
            Self::Exactly(d) => json!(d),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Exactly(d) => write!(f, "{d}"),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Ball(radius) => write!(f, "ball:{radius}"),
            Self::Sphere => f.write_str("sphere"),
            Self::Orthant => f.write_str("orthant"),
        }
    }
}

/// A text that names no dimension or domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// Not `any` or a number of coordinates.
    #[error("dim is `{received}`; allowed are `any` and whole numbers from 1")]
    Dim {
        /// The text received.
        received: String,
    },
    /// Not one of the domains.
    #[error(
        "domain is `{received}`; allowed are `all`, `ball:R` with a radius R > 0, `sphere` and `orthant`"
    )]
    Domain {
        /// The text received.
        received: String,
    },
}

impl FromStr for Dim {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "any" {
            return Ok(Self::Any);
        }
        match text.parse() {
            Ok(d) if d > 0 => Ok(Self::Exactly(d)),
            _ => Err(QuestionError::Dim { received: text.into() }),
        }
    }
}

impl FromStr for Domain {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || QuestionError::Domain { received: text.into() };
        match text {
            "all" => Ok(Self::All),
            "sphere" => Ok(Self::Sphere),
            "orthant" => Ok(Self::Orthant),
            _ => {
                let radius: f64 =
                    text.strip_prefix("ball:").ok_or_else(wrong)?.parse().map_err(|_| wrong())?;
                if radius > 0.0 && radius.is_finite() { Ok(Self::Ball(radius)) } else { Err(wrong()) }
            }
        }
    }
}

/// The steps after which [`Kernel::check`] stops searching.
pub const MOST_STEPS: u64 = 80_000_000;

/// The steps spent on points where a theorem has already refuted the formula.
const POINTS_AFTER_THEOREM: u64 = 3_500_000;

/// A verdict, and the work it took.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict,
    /// The steps taken, about 0.1 µs each; the same whenever the same question is asked.
    pub steps: u64,
}

impl Kernel {
    /// Decides whether the formula is positive semidefinite on a domain, within [`MOST_STEPS`].
    ///
    /// Hyper-parameters that are `auto` or `?` stand for every allowed value.
    ///
    /// ```
    /// use mercer_kernel::Kernel;
    /// use mercer_kernel::check::{Dim, Domain};
    ///
    /// let kernel: Kernel = "sin(<x,z>) + exp(<x,z>)".parse()?;
    /// assert!(kernel.check(Dim::Any, Domain::All).is_proven());
    /// let triangle: Kernel = "max(0, 1-|x-z|)".parse()?;
    /// assert!(triangle.check(Dim::Exactly(1), Domain::All).is_proven());
    /// assert!(triangle.check(Dim::Exactly(2), Domain::All).is_refuted());
    /// # Ok::<(), mercer_kernel::ParseError>(())
    /// ```
    #[must_use]
    pub fn check(&self, dim: Dim, domain: Domain) -> Verdict {
        self.check_within(dim, domain, MOST_STEPS).verdict
    }

    /// As [`check`](Self::check), with another limit on the steps. A step that has begun is finished, so that a little
    /// more than the limit may be taken.
    #[must_use]
    pub fn check_within(&self, dim: Dim, domain: Domain, most_steps: u64) -> Checked {
        let before = steps::taken();
        let verdict = check(self.expr(), dim, domain, Limit::after(most_steps));
        Checked { verdict, steps: steps::taken().wrapping_sub(before) }
    }
}

fn check(expr: &Expr, dim: Dim, domain: Domain, limit: Limit) -> Verdict {
    if let Domain::Ball(radius) = domain
        && !(radius > 0.0 && radius.is_finite())
    {
        let note = format!("a ball has a finite radius > 0, not {radius}");
        return Verdict::Undecided(Evidence { note: Some(note), ..Evidence::default() });
    }
    let needs = Needs::of(expr);
    let dim = match needs.settle(dim) {
        Ok(dim) => dim,
        Err(note) => {
            return Verdict::Undecided(Evidence { note: Some(note), ..Evidence::default() });
        }
    };
    form::refuel();
    let found = search::prove(expr, dim, domain, limit);
    if let Some(proof) = found.proof
        && verify::verify(&proof, expr, dim, domain).is_ok()
    {
        return Verdict::Proven(proof);
    }
    let concrete = with_values(expr);
    // A theorem already refutes: points are worth a few more steps, not all of them.
    let enough = if found.theorem.is_some() { limit.min(Limit::after(POINTS_AFTER_THEOREM)) } else { limit };
    let mut refuter = refute::Search::new(&concrete, dim, domain, enough);
    let points = refuter.run(needs.least, &found.hints);
    let mut evidence = refuter.evidence;
    if let Some(mut refutation) = points {
        if let (Refutation::Points { filled, .. }, true) = (&mut refutation, concrete != *expr) {
            *filled = Some(Kernel::from_expr(concrete.clone()).to_string());
        }
        return Verdict::Refuted(refutation);
    }
    if let Some(theorem) = found.theorem
        && verify::fails(&theorem.failure, expr, dim, domain)
    {
        return Verdict::Refuted(Refutation::Theorem(theorem));
    }
    evidence.tried.insert(0, "the rules of proof".into());
    Verdict::Undecided(evidence)
}

/// What a formula asks of the dimension.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    least: usize,
    exactly: Option<usize>,
}

impl Needs {
    fn of(expr: &Expr) -> Self {
        let mut needs = Self { least: 1, exactly: None };
        needs.collect(expr);
        needs
    }

    fn collect(&mut self, expr: &Expr) {
        match expr {
            Expr::Columns(_, columns) => self.least = self.least.max(columns.span()),
            Expr::Named(named) => {
                for argument in &named.arguments {
                    if let Value::PerColumn(list) = &argument.value {
                        self.exactly = Some(list.len());
                    }
                }
            }
            Expr::Sum(parts) | Expr::Product(parts) | Expr::Call(_, parts) => {
                parts.iter().for_each(|p| self.collect(p));
            }
            Expr::Neg(a) => self.collect(a),
            Expr::Div(a, b) | Expr::Pow(a, b) => {
                self.collect(a);
                self.collect(b);
            }
            _ => {}
        }
    }

    fn settle(&self, dim: Dim) -> Result<Dim, String> {
        let dim = match (dim, self.exactly) {
            (Dim::Any, Some(d)) => Dim::Exactly(d),
            (Dim::Exactly(d), Some(e)) if d != e => {
                return Err(format!("a hyper-parameter lists {e} values, but the dimension is {d}"));
            }
            (dim, _) => dim,
        };
        match dim {
            Dim::Exactly(0) => Err("there are no points without coordinates".into()),
            Dim::Exactly(d) if d < self.least => Err(format!(
                "the formula reads column {}, but the dimension is {d} (columns are counted from 0)",
                self.least - 1
            )),
            dim => Ok(dim),
        }
    }
}

/// The formula with every open hyper-parameter at an allowed value: one is enough to refute a claim about all.
fn with_values(expr: &Expr) -> Expr {
    let each = |parts: &[Expr]| parts.iter().map(with_values).collect::<Vec<_>>();
    match expr {
        Expr::Named(named) => Expr::Named(with_numbers(named)),
        Expr::Columns(inner, columns) => Expr::Columns(Box::new(with_values(inner)), columns.clone()),
        Expr::Sum(parts) => Expr::Sum(each(parts)),
        Expr::Product(parts) => Expr::Product(each(parts)),
        Expr::Call(function, parts) => Expr::Call(*function, each(parts)),
        Expr::Neg(inner) => Expr::Neg(Box::new(with_values(inner))),
        Expr::Div(a, b) => Expr::Div(Box::new(with_values(a)), Box::new(with_values(b))),
        Expr::Pow(a, b) => Expr::Pow(Box::new(with_values(a)), Box::new(with_values(b))),
        other => other.clone(),
    }
}

fn with_numbers(named: &Named) -> Named {
    let mut filled = named.clone();
    for slot in 0..filled.arguments.len() {
        let default = match filled.spelling(slot).allowed {
            Allowed::Finite | Allowed::NonNegative | Allowed::Positive | Allowed::Order => {
                named.family.slots()[slot].default
            }
        };
        let value = match &filled.arguments[slot].value {
            Value::Auto | Value::Tune => Value::Number(default),
            Value::TuneBetween(lo, _) => Value::Number(*lo),
            Value::TuneOver(list) => Value::Number(list.first().copied().unwrap_or(default)),
            settled => settled.clone(),
        };
        filled.arguments[slot].value = value;
    }
    filled
}
