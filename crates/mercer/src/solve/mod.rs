//! Solvers, which use a matrix as an operator and never see a kernel.

mod bounded_lbfgs;
mod conjugate_gradient;
pub mod descent;
mod direct;
mod error;
mod falkon;
mod hinge_newton;
mod inducing;
mod laplace;
mod lbfgs;
mod least_squares;
mod logistic;
mod normal_cg;
mod path;
mod quasi_newton;
mod report;
pub mod svm;
mod system;
mod wide;

pub(crate) use bounded_lbfgs::{
    Minimum, Options as MinimiseOptions, Start as MinimiseStart, minimise as minimise_in_box,
};
pub use conjugate_gradient::{
    CgProblem, CgState, Coarse, ConjugateGradient, Lanczos, LowRank, Preconditioner, Unconditioned,
};
pub use direct::{Factor, solve_direct};
pub(crate) use direct::{MIXED_FROM, MIXED_LIMIT, solve_double, solve_single};
pub use error::SolveError;
pub use falkon::{FalkonPreconditioner, LandmarkSystem};
pub use hinge_newton::{HingeFit, HingeNewton};
pub(crate) use inducing::{Bound, factor_of_points, whiten};
pub use inducing::{InducingSums, RowSlopes};
pub use laplace::{ClassRule, Laplace, Latent};
pub use lbfgs::{LinearLossFit, LinearLossSettings, minimise};
pub use least_squares::{Group, normal_equations_bytes, solve_least_squares};
pub(crate) use logistic::extrapolated;
pub use logistic::{
    Labels, LogisticFolds, LogisticProblem, LogisticSettings, LogisticSolution, LogisticSolver,
};
pub use normal_cg::{NormalCg, NormalCgFit, NormalOperator, affordable_passes};
pub use path::{PathProblem, PathSolution, RidgePath, cross_validate, refit};
pub use report::{Report, Status};
pub use system::{Penalised, Regularised};
pub(crate) use system::{bordered_right_hand_sides, bordered_solution, scale_rows};
pub use wide::{is_wide, wide_bytes};
