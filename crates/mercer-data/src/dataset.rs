//! A data set: features, targets and their origin.

use std::borrow::Cow;

use super::AnySamples;

/// Features and targets read from one file, or one chunk of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The features, one sample a row.
    pub features: AnySamples<'static>,
    /// A name for each feature, one-hot features as `colour=red`; empty for LIBSVM data, whose columns are numbers.
    pub feature_names: Vec<String>,
    /// The targets; empty if the file has none.
    pub targets: Vec<Target>,
    /// Notes for the user about the reading: rows left out, values filled in.
    pub notes: Vec<String>,
    /// The name of the file.
    pub source: String,
}

impl Dataset {
    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.features.nrows()
    }
}

/// One target column.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The column's name.
    pub name: String,
    /// Its value for each row.
    pub values: TargetValues,
}

/// The values of a target.
///
/// Training rows always have a target. Rows read for prediction may lack it: `NaN`, or an empty label, then means
/// "unknown", and scores skip the row.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetValues {
    /// Numbers: every field of the training file was one.
    Numbers(Vec<f64>),
    /// Texts: some field of the training file was not a number, or all were integers and some beyond 2⁵³, where numbers would
    /// merge neighbours.
    Labels(Vec<String>),
}

impl TargetValues {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Labels(values) => values.len(),
        }
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values as numbers, NaN where one is not known; `None` if some text is not a number.
    #[must_use]
    pub fn numbers(&self) -> Option<Cow<'_, [f64]>> {
        let number = |text: &String| if text.is_empty() { Some(f64::NAN) } else { text.parse().ok() };
        match self {
            Self::Numbers(values) => Some(Cow::Borrowed(values)),
            Self::Labels(texts) => texts.iter().map(number).collect::<Option<Vec<f64>>>().map(Cow::Owned),
        }
    }

    /// The values at `rows`, in that order.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(values) => Self::Numbers(rows.iter().map(|&row| values[row]).collect()),
            Self::Labels(values) => Self::Labels(rows.iter().map(|&row| values[row].clone()).collect()),
        }
    }
}
