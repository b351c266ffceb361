//! Further findings about a formula: the dimensions and values of `?` for which it is a kernel, whether it is
//! conditionally positive definite, strictly definite, characteristic or universal, and possible repairs.
//!
//! Each statement rests on proofs that the checker accepted, on confirmed counter-examples, or on a theorem whose
//! conditions are checked; without any of these there is no statement.

mod conditional;
mod largest_dim;
mod parameter;
mod qualities;
mod repair;

use std::fmt;

use serde::Serialize;
use serde_json::json;

pub use conditional::Conditional;
pub use largest_dim::LargestDim;
pub use parameter::{Part, Ranges, Status};
pub use qualities::{Qualities, Quality};
pub use repair::Repair;

use super::steps::Limit;
use super::{Contradiction, Dim, Domain, Proof, Question, Verdict, search, verify};
use crate::Kernel;
use crate::formula::Formula;

/// The steps that one additional question may take, and as many again to finish.
const STEPS: u64 = 2_000_000;

/// The steps that all additional questions together may take.
const ALL_STEPS: u64 = 40_000_000;

/// A verdict, and further findings about the formula.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The verdict.
    pub verdict: Verdict,
    /// For a formula with one unknown number `?`: the values for which it is a kernel.
    pub parameter: Option<Ranges>,
    /// For a refuted formula: the dimensions up to which it is a kernel.
    pub largest_dim: Option<LargestDim>,
    /// For a formula that is not proven: whether it is conditionally positive definite.
    pub conditional: Option<Conditional>,
    /// For a proven formula: whether it is strictly definite, characteristic and universal.
    pub qualities: Option<Qualities>,
    /// For a refuted formula: changes that make it a kernel.
    pub repairs: Vec<Repair>,
}

impl Kernel {
    /// The verdict of [`check`](Self::check), and further findings about the formula.
    ///
    /// ```
    /// use mercer_kernel::Kernel;
    /// use mercer_kernel::check::{Dim, Domain};
    ///
    /// let kernel: Kernel = "-sqrt(1+|x-z|^2)".parse()?;
    /// let findings = kernel.findings(Dim::Any, Domain::All)?;
    /// assert!(findings.verdict.is_refuted());
    /// assert_eq!(findings.conditional.map(|c| c.order), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn findings(&self, dim: Dim, domain: Domain) -> Result<Findings, Contradiction> {
        let verdict = self.check(dim, domain)?;
        let formula = self.formula();
        let limit = Limit::after(ALL_STEPS);
        let about = About { formula: &formula, dim, domain, limit, steps: STEPS };
        let mut findings = Findings {
            verdict,
            parameter: None,
            largest_dim: None,
            conditional: None,
            qualities: None,
            repairs: Vec::new(),
        };
        match &findings.verdict {
            Verdict::Proven(proof) => findings.qualities = Some(qualities::of(proof, &formula)),
            Verdict::Refuted(_) | Verdict::Undefined(_) => {
                findings.parameter = parameter::find(about);
                findings.largest_dim = largest_dim::find(about, &findings.verdict);
                findings.conditional = conditional::find(about);
                findings.repairs = repair::find(about, &findings);
            }
            Verdict::Undecided(_) => {
                findings.parameter = parameter::find(about);
                findings.conditional = conditional::find(about);
            }
        }
        Ok(findings)
    }
}

/// A formula and the question about it.
#[derive(Debug, Clone, Copy)]
struct About<'a> {
    formula: &'a Formula,
    dim: Dim,
    domain: Domain,
    limit: Limit,
    /// The steps of one question.
    steps: u64,
}

impl<'a> About<'a> {
    fn with(self, formula: &'a Formula) -> Self {
        Self { formula, ..self }
    }

    /// A proof that the checker accepts and that a few points do not contradict.
    fn proof(self) -> Option<Proof> {
        match self.answer(true)? {
            Verdict::Proven(proof) => Some(proof),
            _ => None,
        }
    }

    /// The verdict; `None` if there are both a proof and a counter-example.
    fn verdict(self) -> Option<Verdict> {
        self.answer(false)
    }

    fn answer(self, only_proof: bool) -> Option<Verdict> {
        let Self { formula, dim, domain, .. } = self;
        let limit = self.begin()?;
        let question = Question { formula, dim, domain, limit };
        let answer = if only_proof { question.proof() } else { question.answer() };
        Limit::NEVER.stop_all(0);
        answer.ok()
    }

    /// The limit of one more question, if steps are left for it.
    fn begin(self) -> Option<Limit> {
        if self.limit.is_reached() {
            return None;
        }
        let limit = self.limit.min(Limit::after(self.steps));
        limit.stop_all(STEPS);
        Some(limit)
    }

    /// A proof that the formula is of negative type.
    fn negative_type(self) -> Option<Proof> {
        let Self { formula, dim, domain, .. } = self;
        let limit = self.begin()?;
        let proof = search::prove_negative_type(formula, dim, domain, limit)
            .filter(|proof| verify::verify_negative_type(proof, formula, dim, domain).is_ok());
        Limit::NEVER.stop_all(0);
        proof
    }
}

impl Findings {
    /// The document that `mercer check --json` prints.
    #[must_use]
    pub fn to_json(&self, kernel: &str, dim: Dim, domain: Domain) -> impl Serialize + use<> {
        let mut document = json!(self.verdict.to_json(kernel, dim, domain));
        if let Some(ranges) = &self.parameter {
            document["parameter"] = ranges.to_json();
        }
        if let Some(largest) = &self.largest_dim {
            document["largest_dim"] = largest.to_json();
        }
        if let Some(conditional) = &self.conditional {
            document["conditionally_positive_definite"] = conditional.to_json();
        }
        if let Some(qualities) = &self.qualities {
            document["strictly_positive_definite"] = qualities.strict.to_json();
            document["characteristic"] = qualities.characteristic.to_json();
            document["universal"] = qualities.universal.to_json();
        }
        if self.verdict.refutation().is_some() {
            document["repairs"] = json!(self.repairs.iter().map(Repair::to_json).collect::<Vec<_>>());
        }
        document
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The search for a proof or a counter-example about all values of `?` at once says less than the ranges.
        match (&self.parameter, &self.verdict) {
            (Some(ranges), Verdict::Undecided(_)) => write!(f, "depends on ?: {ranges}")?,
            (Some(ranges), verdict) => write!(f, "depends on ?: {ranges}\n{verdict}")?,
            (None, verdict) => write!(f, "{verdict}")?,
        }
        if let Some(largest) = &self.largest_dim {
            write!(f, "\n{largest}")?;
        }
        if let Some(conditional) = &self.conditional {
            write!(f, "\n{conditional}")?;
        }
        if let Some(qualities) = &self.qualities {
            write!(f, "\n{qualities}")?;
        }
        for repair in &self.repairs {
            write!(f, "\nrepair: {repair}")?;
        }
        Ok(())
    }
}
