//! The search over hyper-parameters: its axes, folds and trials, the criterion and the measure that a trial is scored by, and the
//! [`Scorer`] that a learner contributes. [`Tune`](crate::select::Tune) is the driver.

mod axis;
mod criterion;
mod folds;
mod measure;
mod scorer;
#[expect(clippy::module_inception, reason = "the search itself, beside its parts")]
mod search;
mod shared;
mod split;
mod tally;
mod trials;

pub use axis::Axis;
pub use criterion::Criterion;
pub(crate) use criterion::{LeftOut, Parts};
pub use folds::{InvalidFolds, assign_folds, stratify_folds};
pub use measure::Measure;
pub(crate) use scorer::NO_KERNEL;
pub use scorer::{Found, Score, Scorer, Tunable};
pub use search::{Search, Strategy};
pub use shared::{InvalidSpace, Shared};
pub use split::{InvalidFraction, Split};
pub(crate) use tally::{Tally, standard_error};
pub use trials::{Trial, Trials};
