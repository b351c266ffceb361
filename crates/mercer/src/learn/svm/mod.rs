//! Support vector machines: classification, regression and one-class estimation, with C or ν.
//!
//! Every machine is a [`BoxQp`](crate::solve::svm::BoxQp) over the kernel matrix of its samples, in LIBSVM's scale and with its
//! stopping rule. Kernel values are computed in single precision where that is enough, and the answer is held against
//! double precision.

mod classify;
mod machines;
mod one_class;
mod one_vs_one;
mod one_vs_rest;
mod path;
mod primal;
mod probability;
mod regress;
mod sigmoid;
mod training;

pub use classify::{NuSvc, Svc};
pub use one_class::OneClass;
pub use one_vs_one::OneVsOne;
pub use one_vs_rest::OneVsRest;
pub use primal::ApproxSvc;
pub use probability::density_marks;
pub use regress::{NuSvr, Svr};
pub use sigmoid::fit_sigmoid;
pub use training::{SupportVectors, Training};
