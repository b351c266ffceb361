//! Choosing: the hyper-parameters to train with, and the way to do a piece of work.

pub mod plan;
mod tune;

pub use tune::{Grid, Tune, Tuned};
