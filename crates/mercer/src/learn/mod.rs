//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod any;
mod basis;
mod class_features;
mod class_scorer;
mod class_weight;
mod codes;
pub mod cost;
mod digest;
mod error;
mod fitted;
mod gp;
mod held_out;
mod kernel_check;
mod knn;
mod learner;
mod lift;
mod lms;
mod logistic;
mod perceptron;
mod problem;
mod ridge;
pub mod search;
mod settings;
mod smoother;
pub mod svm;
mod targets;
mod weights;

pub use any::AnyLearner;
pub use class_weight::ClassWeight;
pub(crate) use digest::Digest;
pub use error::{KERNEL_MATRIX, LearnError};
pub use fitted::Fitted;
pub use gp::{
    Gp, GpObjective, GpSolver, Learnt, ProcessRows, ProcessStart, RowBlocks, TargetMoments, log_likelihood,
};
pub use kernel_check::{CheckedKernel, KernelCheck};
pub use knn::Knn;
pub use learner::{Learner, Requires, Shape};
pub use lift::{Lift, Prepared};
pub use lms::{Lms, LmsSolver};
pub use logistic::Logistic;
pub use perceptron::{BudgetedPerceptron, Perceptron, Rule};
pub use problem::{Inputs, Origin, Problem, Targets};
pub use ridge::{
    Coefficients, FormChoice, Quality, Ridge, RidgeSolver, Sizes, Solution, SolvedSums, TargetSizes,
    add_rows, check_matrix_memory, choose_approximation, empty_sums,
};
pub use smoother::Smoother;

pub use crate::linalg::Intercept;
pub use crate::solve::LogisticSolver;
pub use crate::solve::descent::Step;
