//! The schema: the encoding of a file's columns learnt in training, applied to files for prediction.

use serde::{Deserialize, Serialize};

use super::options::{Dates, Missing};
use crate::real::Precision;

/// The category of a missing value, if it has one.
pub(super) const MISSING: &str = "missing";

/// The mapping of a file's columns to features and targets. Fitted by [`read`](super::read), stored in the model,
/// applied by [`chunks`](super::chunks).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The features.
    pub features: Features,
    /// The targets.
    pub targets: Vec<TargetColumn>,
    /// Whether the names come from a header, so that a later file's columns are matched by name, otherwise by position.
    pub named: bool,
    /// How to handle missing values.
    pub missing: Missing,
    /// The precision of the features.
    pub dtype: Precision,
    /// How fields are read, if not by default.
    #[serde(default, skip_serializing_if = "Reading::is_usual")]
    pub reading: Reading,
}

/// How the fields of a file are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// How to read dates in columns of numbers.
    pub dates: Dates,
    /// The number of columns of the training file, if some of them are neither features nor targets.
    pub file_columns: Option<usize>,
}

impl Reading {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The features of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Features {
    /// Columns of a table, in the order of the file.
    Columns(Vec<FeatureColumn>),
    /// Numbered columns of a sparse file, without names.
    Sparse {
        /// Their number.
        ncols: usize,
    },
}

/// A column that gives features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureColumn {
    /// The column's name.
    pub name: String,
    /// Its index in the training file, from 0.
    pub position: usize,
    /// The encoding of its fields.
    pub encoding: Encoding,
}

/// The encoding of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// One feature, the number.
    Number {
        /// The replacement of missing values, if they are filled in.
        mean: Option<f64>,
        /// Whether a second feature indicates missing values.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        indicator: bool,
    },
    /// One feature for each category, 1 for the one named and 0 for the others.
    OneHot {
        /// The texts, sorted.
        categories: Vec<String>,
        /// Share of the training rows in each category, which replace missing values if they are filled in.
        shares: Option<Vec<f64>>,
    },
}

impl Encoding {
    /// A number that is never missing.
    pub const NUMBER: Self = Self::Number { mean: None, indicator: false };

    /// The number of features of the column.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Number { indicator, .. } => 1 + usize::from(*indicator),
            Self::OneHot { categories, .. } => categories.len(),
        }
    }
}

/// A column that is a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetColumn {
    /// The column's name.
    pub name: String,
    /// Its index in the training file, from 0.
    pub position: usize,
    /// The kind of its values.
    pub kind: TargetKind,
}

/// The kind of a target's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// Numbers.
    Number,
    /// Texts, or integers of which some are beyond 2⁵³.
    Label,
}

impl Schema {
    /// A schema of `ncols` number columns matched by position, for models trained on arrays.
    #[must_use]
    pub fn positional(ncols: usize, sparse: bool, dtype: Precision) -> Self {
        let column = |position: usize| FeatureColumn {
            name: format!("x{position}"),
            position,
            encoding: Encoding::NUMBER,
        };
        let features = if sparse {
            Features::Sparse { ncols }
        } else {
            Features::Columns((0..ncols).map(column).collect())
        };
        let reading = Reading::default();
        Self { features, targets: Vec::new(), named: false, missing: Missing::Error, dtype, reading }
    }

    /// Number of features, one-hot columns counted once for each category.
    #[must_use]
    pub fn nfeatures(&self) -> usize {
        match &self.features {
            Features::Columns(columns) => columns.iter().map(|c| c.encoding.width()).sum(),
            Features::Sparse { ncols } => *ncols,
        }
    }

    /// A name for each feature, one-hot features as `colour=red`, indicators as `age=missing`; empty for sparse data.
    #[must_use]
    pub fn feature_names(&self) -> Vec<String> {
        let Features::Columns(columns) = &self.features else { return Vec::new() };
        let mut names = Vec::with_capacity(self.nfeatures());
        for column in columns {
            match &column.encoding {
                Encoding::Number { indicator, .. } => {
                    names.push(column.name.clone());
                    names.extend(indicator.then(|| format!("{}={MISSING}", column.name)));
                }
                Encoding::OneHot { categories, .. } => {
                    names.extend(categories.iter().map(|category| format!("{}={category}", column.name)));
                }
            }
        }
        names
    }
}
