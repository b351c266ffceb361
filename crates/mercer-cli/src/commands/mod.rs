//! One file per sub-command.

pub mod check;
mod coefficients;
pub mod completions;
pub mod convert;
pub mod discover;
#[cfg(feature = "explore")]
pub mod explore;
pub mod fit;
pub mod gram;
pub mod info;
pub mod plan;
pub mod plot;
pub mod predict;
pub mod tune;
mod tune_picture;
pub mod verify;
