//! Choosing: the hyper-parameters to train with, and the way to do a piece of work.

mod choose;
pub mod discover;
pub mod plan;
mod tune;

pub use choose::{Choose, Chosen, Open, default_kernel};
pub use tune::{Grid, Tune, Tuned};
