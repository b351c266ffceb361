//! Choosing: which rows to hold out, and later which hyper-parameters and which solver.

mod split;

pub use split::{InvalidFraction, Split};
