//! Kernel machines: write a kernel as a formula, train with it, and predict.
//!
//! A kernel is an expression, and every part of the crate interprets that expression: its value at a pair of points
//! ([`kernel::Kernel::eval`]), a proof that it is positive semidefinite, the tile program that fills Gram matrices at
//! the speed of the machine, the model that is trained and saved with it.
//!
//! The crates `mercer-kernel` and `mercer-data` are re-exported as [`kernel`] and [`data`]. Layers, each of which uses only
//! those before it: `{memory, pool} → tile → linalg → gram → session → design → solve → model → learn → select`.

pub mod design;
pub mod gram;
pub mod learn;
pub mod linalg;
pub mod memory;
pub mod model;
pub mod pool;
pub mod prelude;
pub mod select;
pub mod session;
pub mod solve;
pub mod tile;

pub use mercer_data as data;
pub use mercer_data::{real, watch};
pub use mercer_kernel as kernel;

/// The README's Rust example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
