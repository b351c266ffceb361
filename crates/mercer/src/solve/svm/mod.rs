//! Support vector machines: the quadratic program behind them and its solver.
//!
//! | file | content |
//! | --- | --- |
//! | `problem` | [`BoxQp`]: classification, regression, one-class and ν-problems as one program |
//! | `pairwise` | two variables at a time on a stored matrix |
//! | `newton` | all free variables at a time, if steps of two converge slowly |
//! | `decomposition`, `working_set` | a few hundred variables at a time, kernel rows computed on demand; an engine's
//! own solver is used if there is one |
//! | `shrink` | variables at their bounds left out of the steps for a while |
//! | `scan` | the passes over the gradient, in vectors |
//! | `exact` | the verification of a solution in double precision |
//! | `solution` | [`BoxQp::solve`], which combines all of these, and the [`SvmReport`] |

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
