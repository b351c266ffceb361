//! Models: the results of learners, which predict and can be saved.

mod calibration;
mod checked;
mod describe;
mod domain;
mod error;
mod expansion;
mod facts;
mod file;
mod gaussian_classes;
mod gaussian_process;
mod header;
pub mod libsvm;
mod linear;
mod link;
mod neighbours;
mod pairs;
mod parts;
mod predictor;
mod ranks;
mod score;
mod smoothing;
mod tensors;
mod voted;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Classes, Matrix, Scaling, Schema};
use crate::kernel::check::Domain;
use crate::session::Session;

pub use calibration::{Calibration, Sigmoid, couple};
pub use domain::first_outside;
pub(crate) use domain::{first_negative, norm};
pub use error::ModelError;
pub use expansion::Expansion;
pub(crate) use expansion::subtract;
pub use facts::Facts;
pub use gaussian_classes::GaussianClasses;
pub use gaussian_process::GaussianProcess;
pub use header::{FORMAT, Words};
pub use linear::Linear;
pub use link::{Link, probabilities};
pub(crate) use neighbours::{Mean, queries_at_once};
pub use neighbours::{Neighbours, Rule, Weights};
pub use pairs::{Pairs, classes_of_pairs, one_vs_rest_decisions, pairs_of, vote};
pub use parts::{Array, Arrays, Parts};
pub use predictor::Predictor;
pub use ranks::Ranks;
pub use score::{
    CalibrationLine, ClassErrors, ClassSums, DensityErrors, Errors, InlierShare, NumberErrors, NumberSums,
    Score,
};
pub(crate) use score::{Confusion, ErrorSums, Moments, log_loss};
pub(crate) use smoothing::smooth_leaving_out;
pub use voted::{Voted, VotedStep};

/// The method that trained a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Ridge regression, on a kernel or on features.
    Ridge,
    /// Least mean squares: gradient descent on the squared error, on a kernel or on features.
    Lms,
    /// The Nadaraya–Watson smoother.
    Smoother,
    /// k nearest neighbours.
    Knn,
    /// The kernel perceptron.
    Perceptron,
    /// Kernel logistic regression.
    Logistic,
    /// Support vector classification with C.
    Svc,
    /// Support vector classification with ν.
    NuSvc,
    /// Support vector regression with ε.
    Svr,
    /// Support vector regression with ν.
    NuSvr,
    /// One-class estimation: inliers and outliers.
    OneClass,
    /// A Gaussian process.
    Gp,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A trained model with everything needed to predict from raw data.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The method that trained it.
    pub method: Method,
    /// The hyper-parameters of training, by name.
    pub settings: Facts,
    /// The predictor.
    pub predictor: Predictor,
    /// How the columns of a file become features; `None` for a model trained on arrays.
    pub schema: Option<Schema>,
    /// The names of the targets. A regression has one output for each; a classifier has one target.
    pub outputs: Vec<String>,
    /// The classes of a classifier. Its predictor has one output for each, one for the second of two, or one for each pair: see
    /// [`link`](Self::link).
    pub classes: Option<Classes>,
    /// The type of the labels in the program that they come from, such as NumPy's `int32` or `bool`; `None` for those
    /// of a file.
    pub label_type: Option<String>,
    /// The calibration of a support vector machine's decisions to probabilities.
    pub calibration: Option<Calibration>,
    /// The scaling that is applied to the features first.
    pub scaling: Scaling,
    /// The report of training, by name, without wall times.
    pub report: Facts,
}

impl Model {
    /// The schema, or for a model trained on arrays one that takes columns by their index.
    #[must_use]
    pub fn schema_or_positional(&self) -> Schema {
        let positional = || {
            let sparse = self.predictor.rows().is_some_and(AnySamples::is_sparse);
            Schema::positional(self.predictor.ncols(), sparse, self.predictor.dtype())
        };
        self.schema.clone().unwrap_or_else(positional)
    }

    /// The names of the columns, or `x0`, `x1`, … if they have none.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        let names = self.schema.as_ref().map(Schema::feature_names).unwrap_or_default();
        if names.is_empty() {
            (0..self.predictor.ncols()).map(|column| format!("x{column}")).collect()
        } else {
            names
        }
    }

    /// The model's outputs at raw samples (before scaling): one row per sample, one column per output.
    ///
    /// # Errors
    /// If the samples do not have the model's columns, or if the session is stopped.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        domain::check_samples(samples, self.predictor.ncols(), None)?;
        self.predictor.predict(&self.scaled(samples)?.0, session)
    }

    /// The number of raw samples that are clipped before a prediction: those below the smallest value of a column in
    /// training, where the kernel needs features of 0 or more and the columns were scaled to [0, 1].
    ///
    /// # Errors
    /// If the samples do not have the model's columns.
    pub fn clipped_rows(&self, samples: &AnySamples<'_>) -> Result<usize, ModelError> {
        if !self.clips() {
            return Ok(0);
        }
        domain::check_samples(samples, self.predictor.ncols(), None)?;
        Ok(self.scaled(samples)?.1)
    }

    /// The scaled samples, within the orthant where that is the kernel's domain, and how many were outside.
    fn scaled(&self, samples: &AnySamples<'_>) -> Result<(AnySamples<'static>, usize), ModelError> {
        let lowest = if self.clips() { 0.0 } else { f64::NEG_INFINITY };
        Ok(self.scaling.apply_from(samples.view(), lowest)?)
    }

    fn clips(&self) -> bool {
        matches!(self.scaling, Scaling::MinMax { .. }) && self.predictor.domain() == Some(Domain::Orthant)
    }

    /// The standard deviations of the targets at raw samples, given the model: one row per sample, one column per output.
    ///
    /// # Errors
    /// [`ModelError::NoVariance`] if the model is not a Gaussian process or was saved without its variance; otherwise
    /// as [`predict`](Self::predict).
    pub fn deviations(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        let Predictor::GaussianProcess(process) = &self.predictor else { return Err(ModelError::NoVariance) };
        domain::check_samples(samples, self.predictor.ncols(), None)?;
        process.deviations(&self.scaled(samples)?.0, true, session)
    }

    /// The interpretation of a classifier's outputs.
    #[must_use]
    pub fn link(&self) -> Link {
        Link::of(self.method, &self.predictor)
    }

    /// The probability of each class from the outputs of [`predict`](Self::predict): one row per sample, one column per
    /// class. `None` if the model does not say.
    #[must_use]
    pub fn probabilities(&self, outputs: &Matrix<f64>) -> Option<Matrix<f64>> {
        let link = self.link();
        match &self.calibration {
            Some(calibration) => calibration.probabilities(outputs, link == Link::Votes),
            None => link.probabilities(outputs),
        }
    }
}
