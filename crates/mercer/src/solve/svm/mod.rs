//! Support vector machines: the quadratic program behind them and its solver.
//!
//! | file | what |
//! | --- | --- |
//! | `problem` | [`BoxQp`]: classification, regression, one-class and ν-problems as one program |
//! | `pairwise` | two variables at a time on a stored matrix |
//! | `newton` | all free variables at a time, where pairs go back and forth |
//! | `decomposition`, `working_set` | a few hundred variables at a time, kernel rows computed as they are needed; what an engine's own solver can do is left to it |
//! | `shrink` | variables at their bounds left out of the steps for a while |
//! | `scan` | the passes over the gradient, in vectors |
//! | `exact` | the answer held against the matrix in double precision |
//! | `solution` | [`BoxQp::solve`]: the way through all of these, and the [`SvmReport`] |

mod decomposition;
mod exact;
mod newton;
mod pairwise;
mod problem;
mod scan;
mod shrink;
mod solution;
mod working_set;

pub use problem::BoxQp;
pub use solution::{Solution, SvmReport, SvmSettings};
