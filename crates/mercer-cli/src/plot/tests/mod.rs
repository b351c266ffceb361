//! Whole pictures.

mod golden;
mod hostile;
mod samples;
mod structure;
