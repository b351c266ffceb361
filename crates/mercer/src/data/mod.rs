//! Rows of numbers: where they come from and how they are held.

mod samples;

pub use samples::{AnySamples, InvalidSamples, Matrix, Samples, Storage};
