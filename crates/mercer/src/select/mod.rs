//! Choosing: which rows to hold out, which way to do a piece of work, and later which hyper-parameters.

pub mod plan;
mod split;

pub use split::{InvalidFraction, Split};
