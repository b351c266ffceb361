//! What a solver says of its answer.

use serde::{Deserialize, Serialize};

/// How a solver ended. An answer exists in each case; this is about its quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The stopping rule was met.
    Converged,
    /// The caller asked to stop; the best answer so far was kept.
    Stopped,
    /// The iteration limit came first.
    OutOfIterations,
    /// The residual stopped falling before the stopping rule was met: rounding does not allow a better answer.
    Stagnated,
}

/// The quality of an answer. Wall times are left to the caller, so that the same fit gives the same report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How the solver ended.
    pub status: Status,
    /// What solved it, such as `cholesky f64` or `cholesky f32 + refinement`.
    pub solver: String,
    /// Iterations or refinement steps.
    pub iterations: usize,
    /// ‖b − Ax‖/‖b‖, the largest over the right-hand sides, recomputed from the operator in double precision.
    pub residual: f64,
    /// Why the solver ended before its stopping rule was met, where it can say; empty where it converged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What else a user should know about the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Report {
    /// The reasons and the warnings.
    pub fn remarks(&self) -> impl Iterator<Item = &String> {
        self.reasons.iter().chain(&self.warnings)
    }
}
