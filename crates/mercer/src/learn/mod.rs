//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod approx_choice;
mod approx_classes;
mod approx_quality;
mod approx_ridge;
mod codes;
mod error;
mod form;
mod held_features;
mod held_machines;
mod iterative;
mod knn;
mod lms;
mod lms_features;
mod logistic;
mod loss;
mod perceptron;
mod restricted;
mod ridge;
mod ridge_features;
mod rounded_hinge;
mod smoother;
pub mod svm;
mod targets;
mod weights;

pub use admission::{Admission, Admitted};
pub use approx_choice::{choose_approximation, suggested_features};
pub use approx_classes::{ApproxClassifier, ClassLoss};
pub use approx_quality::{Quality, Sizes, Summed};
pub use approx_ridge::{ApproxFit, ApproxRidge, BeyondSample, Prepared, Solution, SummedError};
pub use error::LearnError;
pub use form::{Form, FormChoice};
pub(crate) use iterative::STEPS_ON_TILES;
pub use iterative::{AfterStep, IterativeRidge};
pub use knn::Knn;
pub use lms::{GramStorage, Lms, LmsCoefficients, LmsReport};
pub use lms_features::{LmsFeatures, LmsWeights};
pub use logistic::{ClassWeight, Logistic};
pub use loss::Loss;
pub use perceptron::{BudgetedPerceptron, FeatureWeights, Perceptron, PerceptronReport, Rule, Standing};
pub use restricted::RestrictedRidge;
pub use ridge::{Bias, Coefficients, Ridge};
pub use ridge_features::RidgeFeatures;
pub use smoother::Smoother;

pub use crate::solve::descent::{Mode, Step};
