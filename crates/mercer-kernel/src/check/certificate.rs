//! Verdicts in files, which the checker verifies without the search that found them.
//!
//! A certificate holds the formula as written, the question, and the evidence for the verdict: every step of the proof
//! with its claim and the numbers and functions that the rule needs, or the points and weights of a counter-example, or
//! the theorem that fails. All numbers are exact.

use serde::{Deserialize, Serialize};

use super::exact::Fraction;
use super::form::Space;
use super::proof::{Claim, Failure, Property, Rule};
use super::refute::confirm;
use super::steps::Limit;
use super::verify::{self, Rejection};
use super::{Dim, Domain, GRACE, MOST_STEPS, Needs, Proof, Refutation, Verdict};
use crate::{Kernel, ParseError};

/// The value of the first member of a certificate.
const FORMAT: &str = "mercer certificate";

/// The version of the format.
const VERSION: u32 = 1;

/// A verdict with everything that the checker needs to accept it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    format: String,
    version: u32,
    kernel: String,
    dim: Dim,
    domain: Domain,
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<Step>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refutation: Option<Shown>,
}

/// One rule application. Premises are earlier steps, counted from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Step {
    step: usize,
    #[serde(flatten)]
    rule: Rule,
    #[serde(default)]
    reference: String,
    /// The form as text.
    #[serde(default)]
    text: String,
    claim: Claim,
    premises: Vec<usize>,
}

/// A counter-example, exact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shown {
    /// wᵀKw is at most this number, which is negative; open hyper-parameters have their defaults.
    Points {
        points: Vec<Vec<Fraction>>,
        weights: Vec<Fraction>,
        at_most: Fraction,
    },
    Asymmetric {
        x: Vec<Fraction>,
        z: Vec<Fraction>,
    },
    Undefined {
        x: Vec<Fraction>,
        z: Vec<Fraction>,
        reason: String,
    },
    Theorem {
        reference: String,
        text: String,
        condition: Failure,
    },
}

/// Why a certificate is not accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The text is not a certificate.
    #[error("not a certificate of `mercer check`: {reason}")]
    NotACertificate {
        /// The problem.
        reason: String,
    },
    /// Written by a later version.
    #[error("a certificate of version {found}; this version reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// Its kernel is not a formula.
    #[error("the certificate's kernel cannot be read: {0}")]
    Kernel(#[from] ParseError),
    /// The question is invalid.
    #[error("the certificate's question has no answer: {reason}")]
    Question {
        /// The problem.
        reason: String,
    },
    /// A step of the proof does not follow.
    #[error("step {step} does not hold: {rejection}")]
    Step {
        /// The step, counted from 1.
        step: usize,
        /// The reason.
        rejection: Rejection,
    },
    /// The proof is incomplete: no steps, steps out of order, or a verdict without evidence.
    #[error("the certificate is incomplete: {reason}")]
    Incomplete {
        /// What is missing.
        reason: String,
    },
    /// A counter-example that does not hold.
    #[error("the counter-example does not hold: {reason}")]
    CounterExample {
        /// The reason.
        reason: String,
    },
}

fn fractions(point: &[super::exact::Q]) -> Vec<Fraction> {
    point.iter().cloned().map(Fraction).collect()
}

fn rationals(point: &[Fraction]) -> Vec<super::exact::Q> {
    point.iter().map(|f| f.0.clone()).collect()
}

impl Certificate {
    /// The certificate of a verdict about the kernel with the text `kernel`; `None` for an undecided one.
    #[must_use]
    pub fn of(kernel: &str, dim: Dim, domain: Domain, verdict: &Verdict) -> Option<Self> {
        let mut certificate = Self {
            format: FORMAT.into(),
            version: VERSION,
            kernel: kernel.into(),
            dim,
            domain,
            verdict: verdict.word().into(),
            steps: None,
            refutation: None,
        };
        match verdict {
            Verdict::Proven(proof) => {
                let mut steps = Vec::new();
                push(proof, &mut steps);
                certificate.steps = Some(steps);
            }
            Verdict::Refuted(refutation) | Verdict::Undefined(refutation) => {
                certificate.refutation = Some(shown(refutation, kernel)?);
            }
            Verdict::Undecided(_) => return None,
        }
        Some(certificate)
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// If the text is not a certificate, or one of a later version.
    pub fn parse(text: &str) -> Result<Self, CertificateError> {
        let not = |reason: String| CertificateError::NotACertificate { reason };
        let document: serde_json::Value =
            serde_json::from_str(text).map_err(|e| not(format!("it is no JSON document: {e}")))?;
        if document["format"] != FORMAT {
            return Err(not(format!("its member `format` is not \"{FORMAT}\"")));
        }
        match document["version"].as_u64() {
            Some(version) if version == u64::from(VERSION) => {}
            Some(found) => {
                return Err(CertificateError::Version { found: u32::try_from(found).unwrap_or(u32::MAX) });
            }
            None => return Err(not("it has no version".into())),
        }
        serde_json::from_value(document).map_err(|e| not(e.to_string()))
    }

    /// Verifies it, and returns the number of steps.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn verify(&self) -> Result<usize, CertificateError> {
        let limit = Limit::after(MOST_STEPS);
        limit.stop_all(GRACE);
        super::form::refuel();
        verify::range::forget();
        let outcome = self.check(limit);
        Limit::NEVER.stop_all(0);
        outcome
    }

    /// The kernel's text.
    #[must_use]
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// `proven`, `refuted` or `undefined`.
    #[must_use]
    pub fn verdict(&self) -> &str {
        &self.verdict
    }

    /// The verdict in words: "proven: positive semidefinite on R^3".
    #[must_use]
    pub fn says(&self) -> String {
        let space = Space { dim: self.dim, domain: self.domain };
        match self.verdict.as_str() {
            "proven" => format!("positive semidefinite on {space}"),
            "undefined" => format!("undefined at points of {space}"),
            _ => format!("not positive semidefinite on {space}"),
        }
    }

    fn check(&self, limit: Limit) -> Result<usize, CertificateError> {
        let kernel: Kernel = self.kernel.parse()?;
        let formula = kernel.formula();
        let question = |reason| CertificateError::Question { reason };
        if let Some(problem) = self.domain.problem() {
            return Err(question(problem));
        }
        let dim = Needs::of(&formula).settle(self.dim).map_err(question)?;
        let incomplete = |reason: &str| CertificateError::Incomplete { reason: reason.into() };
        match (self.verdict.as_str(), &self.steps, &self.refutation) {
            ("proven", Some(steps), None) => check_steps(steps, |root, premises| {
                if root.claim.property != Property::PositiveSemidefinite {
                    let reason = "it proves another claim".into();
                    return Err(Rejection { rule: root.rule.name(), reason });
                }
                let space = Space { dim, domain: self.domain };
                verify::root(&root.claim, &root.rule, premises, &formula, space)
            }),
            ("refuted", None, Some(shown)) => {
                if matches!(shown, Shown::Undefined { .. }) {
                    return Err(incomplete("the verdict is `refuted`, the points show `undefined`"));
                }
                shown.check(&formula, dim, self.domain, limit).map(|()| 1)
            }
            ("undefined", None, Some(shown @ Shown::Undefined { .. })) => {
                shown.check(&formula, dim, self.domain, limit).map(|()| 1)
            }
            _ => Err(incomplete(
                "the verdict is not `proven` with steps, nor `refuted` or `undefined` with a refutation",
            )),
        }
    }
}

/// Writes the steps of a proof, premises first, and returns the number of the last one.
fn push(proof: &Proof, steps: &mut Vec<Step>) -> usize {
    let premises = proof.premises.iter().map(|p| push(p, steps)).collect();
    steps.push(Step {
        step: steps.len() + 1,
        rule: proof.rule.clone(),
        reference: proof.rule.reference().into(),
        text: proof.claim.form.to_string(),
        claim: proof.claim.clone(),
        premises,
    });
    steps.len()
}

fn shown(refutation: &Refutation, kernel: &str) -> Option<Shown> {
    Some(match refutation {
        Refutation::Points { points, weights, .. } => {
            let formula = kernel.parse::<Kernel>().ok()?.formula().filled();
            let (_, at_most) = confirm::negative_form(&formula, points, weights, Limit::NEVER)?;
            Shown::Points {
                points: points.iter().map(|p| fractions(p)).collect(),
                weights: fractions(weights),
                at_most: Fraction(at_most),
            }
        }
        Refutation::Asymmetric { x, z, .. } => Shown::Asymmetric { x: fractions(x), z: fractions(z) },
        Refutation::Undefined { x, z, reason } => {
            Shown::Undefined { x: fractions(x), z: fractions(z), reason: reason.clone() }
        }
        Refutation::Theorem(theorem) => Shown::Theorem {
            reference: theorem.reference.clone(),
            text: theorem.text.clone(),
            condition: theorem.failure.clone(),
        },
    })
}

/// Checks the steps in their order; the last one is the root of the proof.
fn check_steps(
    steps: &[Step],
    root: impl Fn(&Step, &[&Claim]) -> Result<(), Rejection>,
) -> Result<usize, CertificateError> {
    let incomplete = |reason: String| CertificateError::Incomplete { reason };
    if steps.is_empty() {
        return Err(incomplete("the proof has no steps".into()));
    }
    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        if step.step != number || step.premises.iter().any(|p| *p == 0 || *p >= number) {
            return Err(incomplete(format!("step {number} is out of order")));
        }
        let premises: Vec<&Claim> = step.premises.iter().map(|p| &steps[p - 1].claim).collect();
        let outcome = if number == steps.len() {
            root(step, &premises)
        } else {
            verify::follows_from(&step.claim, &step.rule, &premises)
        };
        outcome.map_err(|rejection| CertificateError::Step { step: number, rejection })?;
    }
    Ok(steps.len())
}

impl Shown {
    fn check(
        &self,
        formula: &crate::formula::Formula,
        dim: Dim,
        domain: Domain,
        limit: Limit,
    ) -> Result<(), CertificateError> {
        let ensure = |holds: bool, reason: &str| {
            if holds { Ok(()) } else { Err(CertificateError::CounterExample { reason: reason.into() }) }
        };
        let inside = |point: &[super::exact::Q]| confirm::in_domain(point, dim, domain);
        let filled = formula.filled();
        match self {
            Self::Points { points, weights, at_most } => {
                let (points, weights): (Vec<_>, _) =
                    (points.iter().map(|p| rationals(p)).collect(), rationals(weights));
                ensure(
                    !points.is_empty() && points.len() == weights.len(),
                    "the numbers of points and weights differ, or are 0",
                )?;
                ensure(
                    points.iter().all(|p| p.len() == points[0].len()),
                    "the points have different dimensions",
                )?;
                ensure(points.iter().all(|p| inside(p)), "a point lies outside of the domain")?;
                let value = confirm::negative_form(&filled, &points, &weights, limit);
                ensure(value.is_some(), "wᵀKw is not shown to be negative")?;
                ensure(
                    value.is_some_and(|(_, bound)| bound <= at_most.0),
                    "wᵀKw is larger than the value given",
                )
            }
            Self::Asymmetric { x, z } => {
                let (x, z) = (rationals(x), rationals(z));
                ensure(x.len() == z.len() && inside(&x) && inside(&z), "a point lies outside of the domain")?;
                ensure(
                    confirm::asymmetric(&filled, &x, &z).is_some(),
                    "k(x,z) and k(z,x) are not shown to differ",
                )
            }
            Self::Undefined { x, z, .. } => {
                let (x, z) = (rationals(x), rationals(z));
                ensure(x.len() == z.len() && inside(&x) && inside(&z), "a point lies outside of the domain")?;
                ensure(
                    confirm::undefined(&filled, &x, &z).is_some(),
                    "the formula is not shown to be undefined there",
                )
            }
            Self::Theorem { condition, .. } => ensure(
                verify::fails(condition, formula, dim, domain),
                "the theorem's condition is not shown to fail",
            ),
        }
    }
}
