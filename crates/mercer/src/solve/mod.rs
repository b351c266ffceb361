//! Solvers: they see a matrix as an operator and never a kernel.

mod conjugate_gradient;
pub mod descent;
mod direct;
mod held_hinge;
mod held_ridge;
mod least_squares;
mod linear_loss;
mod logistic;
mod path;
mod pivoted;
mod rank;
mod report;
mod restricted;
pub mod svm;
mod system;

pub use conjugate_gradient::{
    CgError, CgProblem, CgState, Coarse, ConjugateGradient, LowRank, Preconditioner, Unconditioned,
};
pub use direct::{Factor, SolveError, solve_direct};
pub(crate) use direct::{MIXED_FROM, MIXED_LIMIT};
pub use held_hinge::{HeldHinge, HingeFit};
pub use held_ridge::{HeldFit, HeldRidge};
pub use least_squares::{Group, Rows, normal_equations_bytes, solve_least_squares};
pub use linear_loss::{FeatureBlocks, LinearLossFit, LinearLossSettings, RowLoss, minimise};
pub use logistic::{
    Labels, LogisticError, LogisticProblem, LogisticSettings, LogisticSolution, LogisticSolver,
};
pub(crate) use logistic::{row_loss, sigmoid, softmax};
pub use path::{PathProblem, PathSolution, RidgePath, cross_validate, refit};
pub use pivoted::{PivotedCholesky, randomly_pivoted};
pub use rank::{NumericalRank, numerical_rank};
pub use report::{Report, Status};
pub use restricted::{RestrictedNormal, RestrictedPreconditioner};
pub(crate) use system::scale_rows;
pub use system::{Penalised, Regularised};
