//! The items that most programs need: `use mercer::prelude::*;`.
//!
//! ```
//! use mercer::prelude::*;
//! let x: Vec<[f64; 2]> = (0..40).map(|i| [(0.3 * i as f64).sin(), (0.2 * i as f64).cos()]).collect();
//! let labels: Vec<&str> = x.iter().map(|p| if p[0] * p[1] > 0.0 { "same" } else { "other" }).collect();
//! let fitted = Svm::new("rbf(sigma=0.5)".parse()?, Machine::Svc { c: 10.0 }).fit(&x, &labels)?;
//! assert_eq!(fitted.predict_classes(&x)?, labels);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::data::{AnySamples, Matrix, Samples};
pub use crate::design::Approximation;
pub use crate::kernel::Kernel;
pub use crate::learn::svm::{Machine, Svm};
pub use crate::learn::{
    Fitted, Gp, Knn, Learner, Lift, Lms, Logistic, Perceptron, Problem, Ridge, Smoother, Targets,
};
pub use crate::model::Model;
pub use crate::select::Tune;
pub use crate::session::Session;
