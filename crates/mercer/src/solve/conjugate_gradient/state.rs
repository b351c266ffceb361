//! The state of conjugate gradients between two steps.

use crate::data::Matrix;
use crate::linalg::saved::{self, InvalidSaved, Mark};

const MARK: Mark = "mercer cgstate 3";

/// The state of conjugate gradients between two steps: enough to continue later with the same bits.
#[derive(Debug, Clone, PartialEq)]
pub struct CgState {
    /// The current solution.
    pub(super) x: Matrix<f64>,
    /// b − Ax, by the recurrence.
    pub(super) residual: Matrix<f64>,
    /// The direction of the next step.
    pub(super) direction: Matrix<f64>,
    /// ⟨r, P⁻¹r⟩ of each right-hand side.
    pub(super) rho: Vec<f64>,
    /// α of the last step of each right-hand side.
    pub(super) lengths: Vec<f64>,
    /// ‖b − Ax‖/‖b‖ of the last true residual.
    pub(super) checked: Vec<f64>,
    /// The progress of each right-hand side.
    pub(super) standing: Vec<Standing>,
    /// Steps taken.
    pub(super) iterations: u64,
    /// Steps since the last true residual.
    pub(super) since_check: u64,
    /// The operator of the steps.
    pub(super) operator: Operator,
}

/// What steps are taken with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// The fast operator; there was no coarse one so far.
    Fast,
    /// The coarse operator.
    Coarse,
    /// The fast operator: the errors of the coarse one were too large for the problem.
    WithoutCoarse,
    /// The exact operator: the errors of the fast one were too large as well.
    Exact,
}

/// The progress of a right-hand side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The next step restarts along the preconditioned residual.
    Fresh,
    /// In progress.
    Running,
    /// The stopping rule is met, by the true residual.
    Converged,
    /// It stagnates.
    Stagnated,
}

impl Standing {
    const ALL: [Self; 4] = [Self::Fresh, Self::Running, Self::Converged, Self::Stagnated];

    pub fn is_active(self) -> bool {
        matches!(self, Self::Fresh | Self::Running)
    }
}

impl CgState {
    /// The start X = 0 of A·X = `rhs`.
    #[must_use]
    pub fn start(rhs: &Matrix<f64>) -> Self {
        let (n, t) = (rhs.nrows(), rhs.ncols());
        let zero = |o: usize| (0..n).all(|i| rhs.row(i)[o] == 0.0);
        let standing =
            (0..t).map(|o| if zero(o) { Standing::Converged } else { Standing::Fresh }).collect::<Vec<_>>();
        let checked = standing.iter().map(|s| f64::from(u8::from(s.is_active()))).collect();
        Self {
            x: Matrix::zeros(n, t),
            residual: rhs.clone(),
            direction: Matrix::zeros(n, t),
            rho: vec![0.0; t],
            lengths: vec![0.0; t],
            checked,
            standing,
            iterations: 0,
            since_check: 0,
            operator: Operator::Fast,
        }
    }

    /// Whether steps are taken with a coarse operator.
    #[must_use]
    pub fn uses_coarse(&self) -> bool {
        self.operator == Operator::Coarse
    }

    /// Whether a coarse operator was abandoned because its errors were too large for the problem.
    #[must_use]
    pub fn gave_up_coarse(&self) -> bool {
        self.operator == Operator::WithoutCoarse
    }

    /// Whether steps are taken with the exact operator: the errors of the fast one were too large for the problem.
    #[must_use]
    pub fn uses_exact(&self) -> bool {
        self.operator == Operator::Exact
    }

    /// Whether every right-hand side is solved or stagnates.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.active().is_empty()
    }

    /// The current solution.
    #[must_use]
    pub fn solution(&self) -> &Matrix<f64> {
        &self.x
    }

    /// Steps taken.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The state as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (n, t) = (self.x.nrows() as u64, self.x.ncols() as u64);
        let counts = [n, t, self.iterations, self.since_check, self.operator as u64];
        let standing: Vec<f64> = self.standing.iter().map(|s| f64::from(*s as u8)).collect();
        let numbers = [
            self.x.entries(),
            self.residual.entries(),
            self.direction.entries(),
            &self.rho,
            &self.lengths,
            &self.checked,
            &standing,
        ];
        saved::to_bytes(MARK, &counts, numbers.into_iter())
    }

    /// The state that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// If the bytes are not those of a state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSaved> {
        let count = |[n, t, ..]: [u64; 5]| n.checked_mul(t)?.checked_mul(3)?.checked_add(t.checked_mul(4)?);
        let ([n, t, iterations, since_check, operator], mut numbers) = saved::from_bytes(MARK, bytes, count)?;
        // There are as many bytes as both say: they fit the address space.
        let (n, t) = (n as usize, t as usize);
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<f64>>();
        let [x, residual, direction] = [(); 3].map(|()| Matrix::from_entries(n, t, take(n * t)));
        let [rho, lengths, checked] = [(); 3].map(|()| take(t));
        let standing = take(t)
            .into_iter()
            .map(|s| Standing::ALL.get(s as usize).copied().ok_or(InvalidSaved::Checksum))
            .collect::<Result<_, _>>()?;
        let operator = match operator {
            0 => Operator::Fast,
            1 => Operator::Coarse,
            2 => Operator::WithoutCoarse,
            _ => Operator::Exact,
        };
        Ok(Self {
            x,
            residual,
            direction,
            rho,
            lengths,
            checked,
            standing,
            iterations,
            since_check,
            operator,
        })
    }

    /// Whether the next step of a right-hand side continues the recurrence.
    pub(super) fn is_running(&self, column: usize) -> bool {
        self.standing[column] == Standing::Running
    }

    /// The right-hand sides that are not done.
    pub(super) fn active(&self) -> Vec<usize> {
        (0..self.standing.len()).filter(|&o| self.standing[o].is_active()).collect()
    }
}
