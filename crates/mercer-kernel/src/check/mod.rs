//! Is a formula a kernel? A proof that a small checker accepts, a confirmed counter-example, or an honest "undecided".
//!
//! The check has three parts: `search` looks for a proof in the normal form of `form`, [`verify`]
//! checks it from the tree alone, and `refute` looks for points, each confirmed in the exact arithmetic of
//! `interval`. Every verdict of proven or refuted has passed its verification.

pub mod certificate;
mod domain;
#[doc(hidden)]
pub mod enclose;
#[doc(hidden)]
pub mod exact;
pub mod findings;
#[doc(hidden)]
pub mod form;
#[doc(hidden)]
pub mod interval;
mod notes;
pub mod proof;
#[doc(hidden)]
pub mod refute;
#[doc(hidden)]
pub mod search;
mod steps;
pub mod verdict;
pub mod verify;

use super::Kernel;
use crate::formula::{Formula, Parameter};
pub use certificate::{Certificate, CertificateError};
pub use domain::{Dim, Domain, QuestionError};
pub use findings::Findings;
pub use proof::{Proof, Rule};
use steps::Limit;
pub use verdict::{Evidence, Refutation, Theorem, Verdict};

/// The steps after which [`Kernel::check`] stops searching.
pub const MOST_STEPS: u64 = 80_000_000;

/// The steps spent on points if a theorem has already refuted the formula.
const POINTS_AFTER_THEOREM: u64 = 3_500_000;

/// The most steps spent on points that might contradict a proof.
const POINTS_AFTER_PROOF: u64 = 300_000;

/// The fraction of the remaining steps spent on that: few before a fit, which has a smaller limit.
const PART_AFTER_PROOF: u64 = 32;

/// The steps beyond the limit that a current operation and the checker may take.
const GRACE: u64 = 10_000_000;

/// A verdict, and the steps taken.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict,
    /// The steps taken, about 0.1 µs each; always the same for the same question.
    pub steps: u64,
}

/// A formula with a proof that the checker accepted and a counter-example that interval arithmetic confirmed: one of
/// the two is wrong, and there is no verdict.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "internal contradiction, please report: {kernel} with dim {dim} on {domain} is {proof}\nbut {refutation}"
)]
#[non_exhaustive]
pub struct Contradiction {
    /// The formula.
    pub kernel: String,
    /// The dimension of the question.
    pub dim: Dim,
    /// Its domain.
    pub domain: Domain,
    /// The proof.
    pub proof: Box<Proof>,
    /// The counter-example.
    pub refutation: Box<Refutation>,
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
    /// assert!(kernel.check(Dim::Any, Domain::All)?.is_proven());
    /// let triangle: Kernel = "max(0, 1-|x-z|)".parse()?;
    /// assert!(triangle.check(Dim::Exactly(1), Domain::All)?.is_proven());
    /// assert!(triangle.check(Dim::Exactly(2), Domain::All)?.is_refuted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Contradiction`] if there are both a proof and a counter-example, which is a defect of this library.
    pub fn check(&self, dim: Dim, domain: Domain) -> Result<Verdict, Contradiction> {
        self.check_within(dim, domain, MOST_STEPS).map(|checked| checked.verdict)
    }

    /// As [`check`](Self::check), with another limit on the steps. A step that has begun is finished, so that a little
    /// more than the limit may be taken.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_within(&self, dim: Dim, domain: Domain, most_steps: u64) -> Result<Checked, Contradiction> {
        let before = steps::taken();
        let limit = Limit::after(most_steps);
        limit.stop_all(GRACE);
        let question = Question { formula: &self.formula(), dim, domain, limit };
        let verdict = question.answer();
        Limit::NEVER.stop_all(0);
        let verdict = verdict.map_err(|both| {
            let (proof, refutation) = *both;
            let (proof, refutation) = (Box::new(proof), Box::new(refutation));
            Contradiction { kernel: self.to_string(), dim, domain, proof, refutation }
        })?;
        Ok(Checked { verdict, steps: steps::taken().wrapping_sub(before) })
    }
}

fn undecided(note: String) -> Verdict {
    Verdict::Undecided(Evidence { note: Some(note), ..Evidence::default() })
}

/// A verdict, or both a proof and a counter-example.
type Answer = Result<Verdict, Box<(Proof, Refutation)>>;

/// A formula, the space of the points, and the limit of the search.
#[derive(Clone, Copy)]
struct Question<'a> {
    formula: &'a Formula,
    dim: Dim,
    domain: Domain,
    limit: Limit,
}

impl Question<'_> {
    fn answer(mut self) -> Answer {
        let needs = match self.settle() {
            Ok(needs) => needs,
            Err(note) => return Ok(undecided(note)),
        };
        let found = self.search();
        if let Some(proof) = found.proof {
            return self.proven(proof, needs);
        }
        // A theorem already refutes the formula: the search for points gets only a few more steps.
        let enough = match found.theorem {
            Some(_) => self.limit.min(Limit::after(POINTS_AFTER_THEOREM)),
            None => self.limit,
        };
        let (points, mut evidence) = self.points(needs.least, &found.hints, enough);
        if let Some(refutation) = points {
            return Ok(Verdict::of(refutation));
        }
        if let Some(theorem) = found.theorem
            && verify::fails(&theorem.failure, self.formula, self.dim, self.domain)
        {
            return Ok(Verdict::Refuted(Refutation::Theorem(theorem)));
        }
        evidence.tried.insert(0, "the rules of proof".into());
        Ok(Verdict::Undecided(evidence))
    }

    /// As [`answer`](Self::answer), without a search for counter-examples: proven or undecided.
    fn proof(mut self) -> Answer {
        let needs = match self.settle() {
            Ok(needs) => needs,
            Err(note) => return Ok(undecided(note)),
        };
        match self.search().proof {
            Some(proof) => self.proven(proof, needs),
            None => Ok(Verdict::Undecided(Evidence::default())),
        }
    }

    /// Fixes the dimension if the formula does.
    fn settle(&mut self) -> Result<Needs, String> {
        if let Some(problem) = self.domain.problem() {
            return Err(problem);
        }
        let needs = Needs::of(self.formula);
        self.dim = needs.settle(self.dim)?;
        form::refuel();
        verify::range::forget();
        Ok(needs)
    }

    /// The result of the search; a proof only if the checker accepts it.
    fn search(&self) -> search::Found {
        let mut found = search::prove(self.formula, self.dim, self.domain, self.limit);
        found.proof =
            found.proof.filter(|proof| verify::verify(proof, self.formula, self.dim, self.domain).is_ok());
        found
    }

    /// The verdict for an accepted proof, which is tested at a few points.
    fn proven(&self, mut proof: Proof, needs: Needs) -> Answer {
        let few = Limit::after(POINTS_AFTER_PROOF).min(self.limit.part(PART_AFTER_PROOF));
        match self.points(needs.least, &refute::Hints::default(), few).0 {
            Some(refutation) => Err(Box::new((proof, refutation))),
            None => {
                notes::add(&mut proof);
                Ok(Verdict::Proven(proof))
            }
        }
    }

    /// A counter-example, with open hyper-parameters at an allowed value, and the observations of the search.
    fn points(&self, least: usize, hints: &refute::Hints, limit: Limit) -> (Option<Refutation>, Evidence) {
        let concrete = self.formula.filled();
        let mut refuter = refute::Search::new(&concrete, self.dim, self.domain, limit);
        let mut points = refuter.run(least, hints);
        if let Some(Refutation::Points { filled, .. }) = &mut points
            && concrete != *self.formula
        {
            *filled = Some(Kernel::from_expr(concrete.rounded()).to_string());
        }
        (points, refuter.evidence)
    }
}

/// The requirements of a formula on the dimension.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    least: usize,
    exactly: Option<usize>,
}

impl Needs {
    fn of(formula: &Formula) -> Self {
        let mut needs = Self { least: 1, exactly: None };
        needs.collect(formula);
        needs
    }

    fn collect(&mut self, formula: &Formula) {
        match formula {
            Formula::Columns(_, columns) => self.least = self.least.max(columns.span()),
            Formula::Named(named) => {
                for (_, value) in &named.parameters {
                    if let Parameter::PerColumn(list) = value {
                        self.exactly = Some(list.len());
                    }
                }
            }
            other => other.children().into_iter().for_each(|part| self.collect(part)),
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
