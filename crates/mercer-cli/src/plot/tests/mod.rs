//! Whole pictures.

mod golden;
mod hostile;
mod numbers;
mod pdf;
mod samples;
mod structure;
