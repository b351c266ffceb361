//! The work that can be planned.

use std::fmt;

use serde::Serialize;

use super::show::people_count;

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
        /// D, where the kernel has a finite feature map.
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
        /// D, where features are given.
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
    /// Fitting a support vector machine: the most it takes where every row becomes a support vector.
    SupportVectors,
    /// Predicting with one coefficient per sample.
    Predict {
        /// Rows to predict for.
        queries: usize,
    },
    /// Weighted means of the targets.
    Smoother {
        /// Rows to predict for.
        queries: usize,
    },
    /// The nearest neighbours' targets.
    Neighbours {
        /// Rows to predict for.
        queries: usize,
        /// How many of them.
        k: usize,
    },
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: &usize| people_count(*n as u64);
        match self {
            Self::Gram => f.write_str("kernel matrix"),
            Self::Ridge { lambda, .. } => write!(f, "fit ridge, λ = {lambda}"),
            Self::RidgeFeatures { features } => {
                write!(f, "fit ridge on {} features", people_count(*features))
            }
            Self::Lms { epochs, stochastic: false, .. } => write!(f, "fit lms, {} epochs", count(epochs)),
            Self::Lms { epochs, .. } => write!(f, "fit lms one sample at a time, {} epochs", count(epochs)),
            Self::TuneRidge { kernels, lambdas } => {
                write!(f, "tune ridge, {} kernels × {} values of λ", count(kernels), count(lambdas))
            }
            Self::Logistic => f.write_str("fit logistic"),
            Self::Perceptron { epochs } => write!(f, "fit perceptron, {} passes at most", count(epochs)),
            Self::SupportVectors => f.write_str("fit support vectors"),
            Self::Predict { queries } => write!(f, "predict {} rows", count(queries)),
            Self::Smoother { queries } => write!(f, "smoother, predicting {} rows", count(queries)),
            Self::Neighbours { queries, k } => {
                write!(f, "{k} nearest neighbours, predicting {} rows", count(queries))
            }
        }
    }
}
