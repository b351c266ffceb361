//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod error;
mod iterative;
mod restricted;
mod ridge;

pub use admission::{Admission, Admitted};
pub use error::LearnError;
pub use iterative::{AfterStep, IterativeRidge};
pub use restricted::RestrictedRidge;
pub use ridge::{Bias, Coefficients, Ridge};
