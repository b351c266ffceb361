//! Solvers: they see a matrix as an operator and never a kernel.

mod cholesky;
mod direct;
mod rank;
mod report;
pub mod svm;
mod system;

pub use cholesky::{Cholesky, CholeskyError};
pub use direct::{Factor, SolveError, solve_direct};
pub use rank::{NumericalRank, numerical_rank};
pub use report::{Report, Status};
pub use system::Regularised;
pub(crate) use system::scale_rows;
