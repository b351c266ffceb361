//! The Gram matrix as an operator: apply it, read a block of it, never hold more of it than asked.

mod engine;
mod operator;

pub use engine::{Engine, GramError, Part, Resident};
pub use operator::{Gram, LinearOperator};
