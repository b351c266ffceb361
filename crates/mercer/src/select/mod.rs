//! Choosing hyper-parameters and algorithms.

mod choose;
pub mod discover;
pub mod plan;
mod tune;

pub use choose::{Choose, Chosen, Open, default_kernel};
pub use tune::{Grid, Tune, Tuned, Values};
