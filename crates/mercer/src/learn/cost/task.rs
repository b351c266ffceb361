//! Work whose cost can be estimated before it starts.

use serde::Serialize;

use crate::design::FeatureMap;
use crate::learn::any::AnyLearner;
use crate::learn::error::LearnError;
use crate::learn::lift::Lift;
use crate::learn::lms::LmsSolver;
use crate::real::Precision;

/// The size of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    /// n, the number of samples.
    pub rows: usize,
    /// d, the number of feature columns.
    pub columns: usize,
    /// The number of targets.
    pub targets: usize,
    /// The precision of the samples.
    pub dtype: Precision,
}

/// A piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "method")]
#[non_exhaustive]
pub enum Task {
    /// The kernel matrix itself, stored.
    Gram,
    /// Fitting ridge regression.
    Ridge {
        /// λ.
        lambda: f64,
        /// D, if the kernel has a finite feature map.
        features: Option<u64>,
    },
    /// Fitting ridge regression on explicit features.
    RidgeFeatures {
        /// D.
        features: u64,
    },
    /// Fitting by least mean squares.
    Lms {
        /// Passes over the data.
        epochs: usize,
        /// One sample at a time.
        stochastic: bool,
        /// D, if features are given.
        features: Option<u64>,
    },
    /// Choosing the kernel's hyper-parameters and λ for ridge regression.
    TuneRidge {
        /// Kernels that are tried.
        kernels: usize,
        /// Values of λ that are tried with each.
        lambdas: usize,
    },
    /// Fitting logistic regression; the targets of the shape are its outputs.
    Logistic,
    /// Training a perceptron.
    Perceptron {
        /// Passes over the data, at most.
        epochs: usize,
    },
    /// Fitting a Gaussian process.
    GaussianProcess {
        /// Evaluations of the likelihood and its gradient.
        evaluations: usize,
    },
    /// Fitting a support vector machine; the cost is an upper bound, with every row a support vector.
    SupportVectors,
    /// Predicting with one coefficient per sample.
    Predict {
        /// The number of rows to predict.
        queries: usize,
    },
    /// Weighted means of the targets.
    Smoother {
        /// The number of rows to predict.
        queries: usize,
    },
    /// The nearest neighbours' targets.
    Neighbours {
        /// The number of rows to predict.
        queries: usize,
        /// How many of them.
        k: usize,
    },
}

impl Task {
    /// The work of training a learner on this number of columns; for neighbours and smoothers, of predicting `queries` rows.
    ///
    /// # Errors
    /// If the features do not suit the columns.
    pub fn of(learner: &AnyLearner, columns: usize, queries: usize) -> Result<Self, LearnError> {
        let count = |lift: &Lift| match lift {
            Lift::Features(map) => {
                map.check_columns(columns)?;
                Ok(Some(map.count(columns)?))
            }
            _ => Ok::<_, LearnError>(None),
        };
        Ok(match learner {
            AnyLearner::Ridge(ridge) => match (count(&ridge.lift)?, ridge.lift.kernel()) {
                (Some(features), _) => Self::RidgeFeatures { features },
                (None, kernel) => {
                    // A kernel with more features than can be counted is solved in the dual.
                    let map = kernel.and_then(|kernel| FeatureMap::of_kernel(kernel, columns));
                    let features = map.and_then(|map| map.count(columns).ok());
                    Self::Ridge { lambda: ridge.lambda.first().copied().unwrap_or(1.0), features }
                }
            },
            AnyLearner::Lms(lms) => Self::Lms {
                epochs: lms.epochs,
                stochastic: lms.solver == LmsSolver::Sgd,
                features: count(&lms.lift)?,
            },
            AnyLearner::Smoother(_) => Self::Smoother { queries },
            AnyLearner::Knn(knn) => Self::Neighbours { queries, k: knn.k },
            AnyLearner::Logistic(_) => Self::Logistic,
            AnyLearner::Perceptron(perceptron) => Self::Perceptron { epochs: perceptron.passes },
            AnyLearner::Gp(gp) => Self::GaussianProcess { evaluations: gp.expected_evaluations() },
            AnyLearner::Svm(_) => Self::SupportVectors,
        })
    }
}
