//! The report of a solver.

use serde::{Deserialize, Serialize};

/// The status of a solver. A solution exists in each case; the status describes its quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The stopping rule was met.
    Converged,
    /// The caller asked to stop; the best solution so far was kept.
    Stopped,
    /// The iteration limit was reached.
    OutOfIterations,
    /// The residual stagnated before the stopping rule was met: rounding does not allow a better solution.
    Stagnated,
}

/// The quality of a solution. It contains no wall times, so that the same fit gives the same report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The status.
    pub status: Status,
    /// The algorithm, such as `cholesky f64` or `cholesky f32 + refinement`.
    pub solver: String,
    /// Iterations or refinement steps.
    pub iterations: usize,
    /// ‖b − Ax‖/‖b‖, the largest over the right-hand sides, recomputed from the operator in double precision.
    pub residual: f64,
    /// Why the solver ended before its stopping rule was met, if known; empty if it converged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Further warnings about the solution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Report {
    /// A report without reasons and warnings.
    #[must_use]
    pub fn new(status: Status, solver: impl Into<String>, iterations: usize, residual: f64) -> Self {
        let (reasons, warnings) = (Vec::new(), Vec::new());
        Self { status, solver: solver.into(), iterations, residual, reasons, warnings }
    }

    /// The reasons and the warnings.
    pub fn remarks(&self) -> impl Iterator<Item = &String> {
        self.reasons.iter().chain(&self.warnings)
    }
}
