//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod error;
mod knn;
mod loss;
mod ridge;
mod smoother;

pub use admission::{Admission, Admitted};
pub use error::LearnError;
pub use knn::Knn;
pub use loss::Loss;
pub use ridge::{Bias, Coefficients, Ridge};
pub use smoother::Smoother;
