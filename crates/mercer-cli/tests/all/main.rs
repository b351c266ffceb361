//! The tests of the command line, in one program: it is linked once.

mod bad_input;
mod bench;
mod check;
mod classifiers;
mod defaults;
mod everyday;
#[cfg(feature = "explore")]
mod explore;
mod fit_predict;
mod golden_models;
mod gp;
mod interrupt;
mod large;
mod libsvm;
mod limits;
mod memory;
mod methods;
mod plan;
mod plot;
mod svm;
mod tune;
mod tune_approx;
