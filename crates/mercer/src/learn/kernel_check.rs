//! Checks before training that a kernel is positive semidefinite on the samples.
//!
//! The kernel is checked at the samples' dimension on all of R^d, else on the orthant (where every entry is ≥ 0), else on
//! the ball that holds the samples. The first domain with a proof is kept with the model and enforced when it predicts.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::kernel::check::{Dim, Domain, Evidence, Verdict};
use crate::model::{first_negative, norm};

use super::error::LearnError;

/// The steps after which the check on one domain stops searching: about 100 ms.
const MOST_STEPS: u64 = 1_000_000;

/// Verdicts stored for later fits with the same kernel.
const KEPT: usize = 1_000;

/// Whether a learner requires a proof that its kernel is positive semidefinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelCheck {
    /// Yes: a refuted kernel is an error, an undecided one a warning.
    #[default]
    Check,
    /// No: the caller asserts that it is.
    Assume,
}

/// A kernel that passed the check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedKernel {
    /// The domain on which it is proven to be positive semidefinite; `None` if that was assumed or is undecided.
    pub domain: Option<Domain>,
    /// A warning for the user.
    pub warning: Option<String>,
}

impl KernelCheck {
    /// Decides whether `kernel` may be trained with on `samples`.
    ///
    /// # Errors
    /// [`LearnError::NotAKernel`] if it is refuted on the narrowest domain that holds the samples.
    pub fn decide(self, kernel: &Kernel, samples: &AnySamples<'_>) -> Result<CheckedKernel, LearnError> {
        if self == Self::Assume {
            return Ok(CheckedKernel { domain: None, warning: None });
        }
        let dim = Dim::Exactly(samples.ncols());
        // The samples are examined only if the kernel is not proven everywhere.
        let narrower = std::iter::once_with(|| narrower_domains(samples)).flatten();
        let mut narrowest = None;
        for domain in std::iter::once(Domain::All).chain(narrower) {
            let verdict = check(kernel, dim, domain);
            if matches!(verdict, Verdict::Proven(_)) {
                return Ok(CheckedKernel { domain: Some(domain), warning: None });
            }
            narrowest = Some((domain, verdict));
        }
        match narrowest {
            Some((domain, verdict @ (Verdict::Refuted(_) | Verdict::Undefined(_)))) => {
                Err(LearnError::NotAKernel {
                    kernel: kernel.to_string(),
                    domain,
                    refutation: verdict.to_string(),
                })
            }
            _ => Ok(CheckedKernel {
                domain: None,
                warning: Some(format!(
                    "whether {kernel} is positive semidefinite on these samples is undecided; results may be meaningless"
                )),
            }),
        }
    }
}

impl CheckedKernel {
    /// The verdict on the kernel with the values that its unknowns have learnt: an open question is asked again. A refutation is then a
    /// warning, since the kernel matrix of the samples had a factor.
    #[must_use]
    pub fn settled(self, kernel: &Kernel, samples: &AnySamples<'_>) -> Self {
        if self.warning.is_none() {
            return self;
        }
        KernelCheck::Check.decide(kernel, samples).unwrap_or_else(|error| Self {
            domain: None,
            warning: Some(format!("with the values learnt, {error}; give each ? a range, ?lo..hi")),
        })
    }
}

/// The domains to try after all of R^d, from the wider to the narrower.
fn narrower_domains(samples: &AnySamples<'_>) -> Vec<Domain> {
    let (mut orthant, mut radius) = (true, 0.0f64);
    for row in 0..samples.nrows() {
        orthant &= first_negative(samples, row).is_none();
        radius = radius.max(norm(samples, row));
    }
    let mut domains = Vec::new();
    if orthant {
        domains.push(Domain::Orthant);
    }
    if radius > 0.0 && radius.is_finite() {
        domains.push(Domain::Ball(radius));
    }
    domains
}

/// The verdict, stored if the same kernel was checked before.
fn check(kernel: &Kernel, dim: Dim, domain: Domain) -> Verdict {
    static VERDICTS: Mutex<Option<HashMap<String, Verdict>>> = Mutex::new(None);
    let question = format!("{:?} on {domain} in {dim}", kernel.formula());
    let known = VERDICTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|map| map.get(&question).cloned());
    if let Some(verdict) = known {
        return verdict;
    }
    let verdict = match kernel.check_within(dim, domain, MOST_STEPS) {
        Ok(checked) => checked.verdict,
        Err(contradiction) => {
            Verdict::Undecided(Evidence { note: Some(contradiction.to_string()), ..Evidence::default() })
        }
    };
    let mut verdicts = VERDICTS.lock().unwrap_or_else(PoisonError::into_inner);
    let verdicts = verdicts.get_or_insert_with(HashMap::new);
    if verdicts.len() >= KEPT {
        verdicts.clear();
    }
    verdicts.insert(question, verdict.clone());
    verdict
}
