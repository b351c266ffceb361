//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod error;
mod form;
mod ridge;
mod ridge_features;

pub use admission::{Admission, Admitted};
pub use error::LearnError;
pub use form::{Form, FormChoice};
pub use ridge::{Bias, Coefficients, Ridge};
pub use ridge_features::RidgeFeatures;
