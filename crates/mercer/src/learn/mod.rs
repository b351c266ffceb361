//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod error;
mod ridge;
pub mod svm;

pub use admission::{Admission, Admitted};
pub use error::LearnError;
pub use ridge::{Bias, Coefficients, Ridge};
