//! Kernel machines: write a kernel as on paper, train with it, predict anywhere.
//!
//! A kernel is an expression, and everything else is a reading of that expression: its value at a pair of
//! points ([`kernel::Kernel::eval`]), a proof that it is positive semidefinite, the tile program that fills
//! Gram matrices at the speed of the machine, the model that is trained and saved with it.
//!
//! Layers, each using only what stands to its left:
//! `{real, watch, pool} → {data, kernel} → tile → gram → solve → session → features → model → learn → select`.

pub mod data;
pub mod features;
pub mod gram;
pub mod kernel;
pub mod learn;
pub mod memory;
pub mod model;
pub mod pool;
pub mod real;
pub mod select;
pub mod session;
pub mod solve;
pub mod tile;
pub mod watch;

/// The README's Rust example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
