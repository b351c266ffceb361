//! Whole pictures.

mod golden;
mod samples;
