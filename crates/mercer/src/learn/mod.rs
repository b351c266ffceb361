//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod approx_classes;
mod codes;
pub mod cost;
mod digest;
mod error;
mod fitted;
mod held_machines;
mod knn;
mod learner;
mod lift;
mod lms;
mod lms_features;
mod logistic;
mod loss;
mod perceptron;
mod problem;
mod ridge;
mod rounded_hinge;
mod smoother;
pub mod svm;
mod targets;
mod weights;

pub use admission::{Admission, Admitted};
pub use approx_classes::{ApproxClassifier, ClassLoss};
pub(crate) use digest::Digest;
pub use error::LearnError;
pub use fitted::{Facts, Fitted, Settings};
pub use knn::Knn;
pub use learner::{Learner, Requires, Shape};
pub use lift::{Lift, Prepared};
pub use lms::{GramStorage, Lms, LmsCoefficients, LmsReport};
pub use lms_features::{LmsFeatures, LmsWeights};
pub use logistic::{ClassWeight, Logistic};
pub use loss::Loss;
pub use perceptron::{BudgetedPerceptron, FeatureWeights, Perceptron, PerceptronReport, Rule, Standing};
pub use problem::{Inputs, Origin, Problem, Targets};
pub use ridge::{
    AllRows, ApproxFit, Bias, Coefficients, FormChoice, Quality, Ridge, RidgeMethod, Sizes, Solution,
    SolvedSums, TargetError, add_rows, check_matrix_memory, choose_approximation, empty_sums,
};
pub(crate) use ridge::{STEPS_ON_TILES, check_problem};
pub use smoother::Smoother;

pub use crate::solve::descent::{Mode, Step};
