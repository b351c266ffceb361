//! Choosing hyper-parameters and algorithms.

mod choose;
pub mod discover;
pub mod plan;
mod tune;

pub use choose::{Choose, Chosen, Open, baseline, default_kernel, tube};
pub use tune::{Grid, Tune, Tuned, Values};
