//! Choosing: which rows to hold out, which hyper-parameters to train with, and which way to do a piece of work.

mod axis;
mod class_scores;
mod criterion;
mod fold_sums;
mod folds;
pub mod plan;
mod ridge_scores;
mod search;
mod split;
mod svc_scores;
mod trials;
mod tune_approx_ridge;
mod tune_classifier;
mod tune_neighbours;
mod tune_ridge;
mod tune_svc;

pub use axis::{Axis, CostSpace, InvalidCost, InvalidLambda, LambdaSpace};
pub use criterion::Criterion;
pub use fold_sums::FoldSums;
pub use folds::{InvalidFolds, assign_folds, stratify_folds};
pub use search::{Scorer, Search, Strategy};
pub use split::{InvalidFraction, Split};
pub use trials::{Trial, Trials};
pub use tune_approx_ridge::{Stream, TuneApproxRidge, TunedApproxRidge};
pub use tune_classifier::{ClassCriterion, Classifier, Judge, TuneClassifier, TunedClassifier};
pub use tune_neighbours::{TuneKnn, TuneSmoother, TunedKnn, TunedSmoother};
pub use tune_ridge::{GridScores, TuneRidge, Tuned};
pub use tune_svc::{SvcGrid, TuneSvc, TunedSvc};
