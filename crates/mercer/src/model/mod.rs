//! Models: what a learner hands back, what is saved, and what predicts.

mod domain;
mod error;
mod expansion;
mod file;
mod header;
mod linear;
mod tensors;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{AnySamples, Dtype, Matrix, Scaling, Schema};
use crate::watch::Watch;

pub use domain::first_outside;
pub(crate) use domain::{first_negative, norm};
pub use error::ModelError;
pub use expansion::Expansion;
pub(crate) use expansion::subtract;
pub use header::FORMAT;
pub use linear::Linear;

/// The method a model was trained by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Kernel ridge regression.
    Ridge,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ridge => f.write_str("ridge"),
        }
    }
}

/// A trained model with all it needs to predict from raw data.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The method it was trained by.
    pub method: Method,
    /// The hyper-parameters it was trained with, as numbers and words.
    pub settings: BTreeMap<String, Value>,
    /// What predicts.
    pub expansion: Expansion,
    /// How the columns of a file become features; none for a model trained on arrays.
    pub schema: Option<Schema>,
    /// The names of the outputs.
    pub outputs: Vec<String>,
    /// The scaling that is applied to the features first.
    pub scaling: Scaling,
    /// How training ended: numbers and words, no wall times.
    pub report: BTreeMap<String, Value>,
}

impl Model {
    /// The schema, or for a model trained on arrays one that takes columns by their place.
    #[must_use]
    pub fn schema_or_positional(&self) -> Schema {
        let dtype = match self.expansion.centres {
            AnySamples::F32(_) => Dtype::F32,
            AnySamples::F64(_) => Dtype::F64,
        };
        let positional =
            || Schema::positional(self.expansion.centres.ncols(), self.expansion.centres.is_sparse(), dtype);
        self.schema.clone().unwrap_or_else(positional)
    }

    /// The model's outputs at raw samples (before scaling): one row per sample, one column per output.
    ///
    /// # Errors
    /// Where the samples do not have the model's columns, and where `watch` asks to stop.
    pub fn predict(&self, samples: &AnySamples<'_>, watch: &dyn Watch) -> Result<Matrix<f64>, ModelError> {
        let (found, expected) = (samples.ncols(), self.expansion.centres.ncols());
        if found != expected {
            return Err(ModelError::Columns { found, expected });
        }
        self.expansion.predict(&self.scaling.apply(samples.view())?, watch)
    }
}
