//! Box-constrained quadratic problems, for engines that solve them as a whole.

/// A quadratic problem over a kernel matrix K:
///
/// ```text
/// minimise    ½ βᵀKβ + Σᵥ (qᵥβᵥ + kink·|βᵥ|)
/// subject to  lowerᵥ ≤ βᵥ ≤ upperᵥ,   Σ βᵥ over each group as at the start
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BoxProblem<'a> {
    /// The row of K that each variable belongs to.
    pub rows: &'a [usize],
    /// q.
    pub linear: &'a [f64],
    /// The factor of |β|.
    pub kink: f64,
    /// The least value of each variable.
    pub lower: &'a [f64],
    /// The greatest value of each variable.
    pub upper: &'a [f64],
    /// Variables of the first group; the others are the second. Either may be empty.
    pub first: usize,
    /// The violation of the optimality conditions at which to stop.
    pub tolerance: f64,
    /// The most steps of two variables.
    pub steps: u64,
    /// Bytes of kernel rows that may be cached.
    pub cache: u64,
}

/// The work of solving a [`BoxProblem`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Descent {
    /// Steps of two variables.
    pub steps: u64,
    /// Working sets.
    pub rounds: u64,
    /// Kernel values computed.
    pub evaluations: u64,
}
