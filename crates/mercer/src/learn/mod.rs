//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod error;
mod ridge;

pub use error::LearnError;
pub use ridge::{Bias, Coefficients, Ridge};
