//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod error;
mod lms;
mod lms_features;
mod ridge;
mod targets;

pub use admission::{Admission, Admitted};
pub use error::LearnError;
pub use lms::{GramStorage, Lms, LmsCoefficients, LmsReport};
pub use lms_features::{LmsFeatures, LmsWeights};
pub use ridge::{Bias, Coefficients, Ridge};
