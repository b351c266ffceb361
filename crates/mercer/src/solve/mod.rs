//! Solvers: they see a matrix as an operator and never a kernel.

mod cholesky;
mod conjugate_gradient;
mod direct;
mod eigen;
mod moments;
mod pivoted;
mod rank;
mod report;
mod restricted;
mod saved;
mod system;

pub use cholesky::{Cholesky, CholeskyError};
pub use conjugate_gradient::{
    CgError, CgProblem, CgState, ConjugateGradient, LowRank, Preconditioner, Unconditioned,
};
pub use direct::{Factor, SolveError, solve_direct};
pub use eigen::{Eigen, EigenError};
pub use moments::{Intercept, LinearFit, Moments, MomentsError, RidgePath, cross_validate};
pub use pivoted::{PivotedCholesky, randomly_pivoted};
pub use rank::{NumericalRank, numerical_rank};
pub use report::{Report, Status};
pub use restricted::{RestrictedNormal, RestrictedPreconditioner};
pub use saved::InvalidSaved;
pub use system::Regularised;
pub(crate) use system::scale_rows;
