//! Learners: each turns samples and targets into a problem for a solver, and the answer into a model.

mod admission;
mod codes;
mod error;
mod logistic;
mod perceptron;
mod ridge;

pub use admission::{Admission, Admitted};
pub use error::LearnError;
pub use logistic::{ClassWeight, Logistic, probabilities};
pub use perceptron::{
    BudgetedPerceptron, FeatureWeights, Perceptron, PerceptronReport, Rule, Standing, VotedPerceptron,
};
pub use ridge::{Bias, Coefficients, Ridge};
