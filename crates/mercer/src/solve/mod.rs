//! Solvers: they see a matrix as an operator and never a kernel.

mod cholesky;
pub mod descent;
mod direct;
mod least_squares;
mod path;
mod qr;
mod logistic;
mod rank;
mod report;
pub mod svm;
mod system;

pub use cholesky::{Cholesky, CholeskyError};
pub use direct::{Factor, SolveError, solve_direct};
pub(crate) use direct::{MIXED_FROM, MIXED_LIMIT};
pub use least_squares::{Group, Rows, normal_equations_bytes, solve_least_squares};
pub use path::{PathProblem, PathSolution, RidgePath, cross_validate, refit};
pub use logistic::{
    Labels, LogisticError, LogisticProblem, LogisticSettings, LogisticSolution, LogisticSolver,
};
pub(crate) use logistic::{sigmoid, softmax};
pub use rank::{NumericalRank, numerical_rank};
pub use report::{Report, Status};
pub use system::Regularised;
pub(crate) use system::scale_rows;
