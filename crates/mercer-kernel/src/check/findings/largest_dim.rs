//! The largest dimension in which a formula is a kernel.

use std::fmt;

use serde_json::{Value as Json, json};

use super::About;
use crate::check::{Dim, Needs, Proof, Refutation, Verdict};

/// The largest dimension to try.
const LARGEST: usize = 12;

/// The dimensions up to which a formula is proven, and the next one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LargestDim {
    /// It is positive semidefinite in the dimensions from the least that its columns need up to this one.
    pub dim: usize,
    /// The proof in that dimension.
    pub proof: Proof,
    /// A larger dimension in which it is refuted, and the refutation; `None` if none is known.
    pub refuted: Option<(usize, Refutation)>,
}

/// Searches for it: each dimension is proven separately.
pub(super) fn find(about: About<'_>, verdict: &Verdict) -> Option<LargestDim> {
    let needs = Needs::of(about.formula);
    if needs.exactly.is_some() {
        return None;
    }
    let last = match about.dim {
        Dim::Any => LARGEST,
        Dim::Exactly(d) => LARGEST.min(d - 1),
    };
    let mut best = None;
    for d in needs.least..=last {
        match (About { dim: Dim::Exactly(d), ..about }).proof() {
            Some(proof) => best = Some((d, proof)),
            None => break,
        }
    }
    let (dim, proof) = best?;
    let next = About { dim: Dim::Exactly(dim + 1), ..about };
    let refuted = match (about.dim, verdict.refutation()) {
        (Dim::Exactly(d), Some(refutation)) if d == dim + 1 => Some((d, refutation.clone())),
        (asked, known) => match next.verdict() {
            Some(Verdict::Refuted(refutation) | Verdict::Undefined(refutation)) => {
                Some((dim + 1, refutation))
            }
            _ => match (asked, known) {
                (Dim::Exactly(d), Some(refutation)) => Some((d, refutation.clone())),
                (Dim::Any, Some(Refutation::Theorem(theorem))) if theorem.dim > dim => {
                    Some((theorem.dim, Refutation::Theorem(theorem.clone())))
                }
                _ => None,
            },
        },
    };
    Some(LargestDim { dim, proof, refuted })
}

impl LargestDim {
    pub(super) fn to_json(&self) -> Json {
        json!({
            "proven_up_to": self.dim,
            "refuted_in": self.refuted.as_ref().map(|(d, _)| d),
            "proof": self.proof.to_json(),
            "refutation": self.refuted.as_ref().map(|(_, refutation)| refutation.to_json()),
            "text": self.to_string(),
        })
    }
}

impl fmt::Display for LargestDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "positive semidefinite up to dimension {}", self.dim)?;
        match &self.refuted {
            Some((d, Refutation::Undefined { .. })) => write!(f, ", undefined at points of dimension {d}"),
            Some((d, _)) => write!(f, ", refuted in dimension {d}"),
            None => write!(f, " (larger dimensions: not decided)"),
        }
    }
}
