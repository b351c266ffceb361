//! Learning problems: inputs, targets, weights and their origin.

use std::borrow::Cow;

use crate::data::{AnySamples, Classes, Matrix, Passes, Scaling, Schema, TargetValues};
use crate::gram::Gram;

use super::codes::{check_codes, check_range};
use super::error::LearnError;
use super::targets;
use super::weights::check_weights;

/// A learning problem.
///
/// ```
/// use mercer::learn::Problem;
/// let problem = Problem::new(&[[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], &[0.5, 1.5, 2.5]);
/// assert_eq!((problem.nrows(), problem.numbers()?.ncols()), (3, 1));
/// # Ok::<(), mercer::learn::LearnError>(())
/// ```
pub struct Problem<'a> {
    /// One row per sample.
    pub inputs: Inputs<'a>,
    /// The target of each row.
    pub targets: Targets<'a>,
    /// The weight of each row, 0 or more; `None` if every weight is 1.
    pub weights: Option<Cow<'a, [f64]>>,
    /// The origin of the inputs and targets.
    pub origin: Origin,
}

/// The rows of a problem.
pub enum Inputs<'a> {
    /// Samples, already scaled.
    Samples(AnySamples<'a>),
    /// The kernel matrix, without the samples.
    Gram(&'a dyn Gram),
    /// Scaled rows with their targets that are read in passes.
    Stream(&'a dyn Passes),
}

/// The targets.
#[derive(Debug, Clone)]
pub enum Targets<'a> {
    /// None: one-class estimation uses only the inputs, and the rows of a stream come with their numbers.
    None,
    /// One row per sample and one column per target.
    Numbers(Cow<'a, Matrix<f64>>),
    /// The class of each row by its index in `classes`.
    Classes {
        /// One code per row, from 0.
        codes: Cow<'a, [usize]>,
        /// The classes.
        classes: Classes,
    },
}

impl<'a> Targets<'a> {
    /// The targets of some rows.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Targets<'static> {
        match self {
            Self::None => Targets::None,
            Self::Numbers(numbers) => numbers.select(rows).into(),
            Self::Classes { codes, classes } => {
                let codes = rows.iter().map(|&row| codes[row]).collect();
                Targets::Classes { codes, classes: classes.clone() }
            }
        }
    }

    /// Classes without names, by their codes 0, 1, …, `classes` − 1.
    #[must_use]
    pub fn codes(codes: impl Into<Cow<'a, [usize]>>, classes: usize) -> Self {
        Self::Classes { codes: codes.into(), classes: unnamed(classes) }
    }
}

/// Classes that are named by their codes.
pub(super) fn unnamed(classes: usize) -> Classes {
    Classes::Numbers((0..classes).map(|code| code as f64).collect())
}

/// The origin of inputs and targets, as stored in a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// The mapping of a file's columns to features; `None` for arrays.
    pub schema: Option<Schema>,
    /// The names of the targets.
    pub outputs: Vec<String>,
    /// The scaling that was applied to the inputs.
    pub scaling: Scaling,
}

impl Default for Origin {
    fn default() -> Self {
        Self { schema: None, outputs: Vec::new(), scaling: Scaling::None }
    }
}

impl<'a> Problem<'a> {
    /// The problem of predicting `targets` at `inputs`, with the weight 1 for every row.
    pub fn new(inputs: impl Into<Inputs<'a>>, targets: impl Into<Targets<'a>>) -> Self {
        let (inputs, targets) = (inputs.into(), targets.into());
        Self { inputs, targets, weights: None, origin: Origin::default() }
    }

    /// The problem of predicting the targets of a stream at its rows, or their classes if it has classes.
    #[must_use]
    pub fn stream(passes: &'a dyn Passes) -> Self {
        let survey = passes.survey();
        let origin = Origin {
            schema: passes.schema().cloned(),
            outputs: survey.targets.clone(),
            scaling: survey.scaling.clone(),
        };
        let targets = passes.classes().map_or(Targets::None, |(classes, codes)| Targets::Classes {
            codes: codes.into(),
            classes: classes.clone(),
        });
        Self { inputs: Inputs::Stream(passes), targets, weights: None, origin }
    }

    /// The same problem with a weight for each row.
    #[must_use]
    pub fn weighted(self, weights: Option<impl Into<Cow<'a, [f64]>>>) -> Self {
        Self { weights: weights.map(Into::into), ..self }
    }

    /// The same problem with other targets: the classes of the rows of a stream.
    #[must_use]
    pub fn with_targets(self, targets: impl Into<Targets<'a>>) -> Self {
        Self { targets: targets.into(), ..self }
    }

    /// The same problem with another origin of the data.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        match &self.inputs {
            Inputs::Samples(samples) => samples.nrows(),
            Inputs::Gram(gram) => gram.nrows(),
            Inputs::Stream(passes) => usize::try_from(passes.survey().rows).unwrap_or(usize::MAX),
        }
    }

    /// The weights of the rows; `None` if every weight is 1.
    #[must_use]
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The names of the columns of a file; none for arrays.
    pub(crate) fn column_names(&self) -> Vec<String> {
        self.origin.schema.as_ref().map(Schema::feature_names).unwrap_or_default()
    }

    /// The rows of positive weight.
    pub(crate) fn counted(&self) -> Vec<usize> {
        let weights = self.weights();
        (0..self.nrows()).filter(|&row| weights.is_none_or(|w| w[row] > 0.0)).collect()
    }

    /// The samples, at least one row and one column of them.
    ///
    /// # Errors
    /// [`LearnError::Unsupported`] for a kernel matrix and for a stream, [`LearnError::Empty`] for no rows or no columns.
    pub fn samples(&self) -> Result<&AnySamples<'a>, LearnError> {
        let samples = match &self.inputs {
            Inputs::Samples(samples) => samples,
            Inputs::Gram(_) => {
                return Err(LearnError::Unsupported(
                    "this learner needs the samples, not their kernel matrix",
                ));
            }
            Inputs::Stream(_) => {
                return Err(LearnError::Unsupported("this learner needs all samples in memory"));
            }
        };
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 { Err(LearnError::Empty { rows, columns }) } else { Ok(samples) }
    }

    /// The samples or, of a stream, a sample of them; and the number of all rows.
    ///
    /// # Errors
    /// As [`samples`](Self::samples), but not for a stream.
    pub fn sample(&self) -> Result<(&AnySamples<'a>, u64), LearnError> {
        match self.inputs {
            Inputs::Stream(passes) => Ok((&passes.survey().sample, passes.survey().rows)),
            _ => self.samples().map(|samples| (samples, samples.nrows() as u64)),
        }
    }

    /// The targets of a regression, checked together with the weights: one row of finite numbers per sample.
    ///
    /// # Errors
    /// If the targets are classes or missing, or if they or the weights do not line up or are out of range.
    pub fn numbers(&self) -> Result<&Matrix<f64>, LearnError> {
        let Targets::Numbers(numbers) = &self.targets else {
            return Err(LearnError::Unsupported("a regression needs targets that are numbers"));
        };
        targets::check(self.nrows(), numbers)?;
        check_weights(self.nrows(), self.weights())?;
        Ok(numbers)
    }

    /// The targets as numbers: those of a regression, or one column per class, 1 for the class of the row and 0 for others.
    ///
    /// # Errors
    /// If there are none, or if they do not line up with the rows or are out of range.
    pub fn numbers_or_shares(&self) -> Result<Cow<'_, Matrix<f64>>, LearnError> {
        let Targets::Classes { codes, classes } = &self.targets else {
            return self.numbers().map(Cow::Borrowed);
        };
        check_range(self.nrows(), codes, classes.len())?;
        Ok(Cow::Owned(classes.one_hot(codes)))
    }

    /// Rejects weights, for learners that do not support them.
    ///
    /// # Errors
    /// If there are weights.
    pub fn unweighted(&self) -> Result<(), LearnError> {
        match self.weights {
            None => Ok(()),
            Some(_) => Err(LearnError::Unsupported("this learner does not take weights of rows")),
        }
    }

    /// The class codes and the number of classes, checked together with the weights: two classes or more, each with a row
    /// of positive weight.
    ///
    /// # Errors
    /// If the targets are not classes, or if they or the weights do not line up or are out of range.
    pub fn codes(&self) -> Result<(&[usize], usize), LearnError> {
        let Targets::Classes { codes, classes } = &self.targets else {
            return Err(LearnError::Unsupported("a classifier needs targets that are classes"));
        };
        check_codes(self.nrows(), codes, classes.len(), self.weights())?;
        Ok((codes, classes.len()))
    }

    /// The classes, where the targets are classes.
    #[must_use]
    pub fn classes(&self) -> Option<&Classes> {
        match &self.targets {
            Targets::Classes { classes, .. } => Some(classes),
            Targets::None | Targets::Numbers(_) => None,
        }
    }
}

/// Anything that is samples; a kernel matrix is [`Inputs::Gram`].
impl<'a, S: Into<AnySamples<'a>>> From<S> for Inputs<'a> {
    fn from(samples: S) -> Self {
        Self::Samples(samples.into())
    }
}

impl<'a> From<&'a Matrix<f64>> for Targets<'a> {
    fn from(numbers: &'a Matrix<f64>) -> Self {
        Self::Numbers(Cow::Borrowed(numbers))
    }
}

impl From<Matrix<f64>> for Targets<'_> {
    fn from(numbers: Matrix<f64>) -> Self {
        Self::Numbers(Cow::Owned(numbers))
    }
}

/// One number per row.
impl From<&[f64]> for Targets<'_> {
    fn from(numbers: &[f64]) -> Self {
        Matrix::from_entries(numbers.len(), 1, numbers.to_vec()).into()
    }
}

/// One number per row.
impl<const N: usize> From<&[f64; N]> for Targets<'_> {
    fn from(numbers: &[f64; N]) -> Self {
        numbers.as_slice().into()
    }
}

/// One number per row.
impl From<&Vec<f64>> for Targets<'_> {
    fn from(numbers: &Vec<f64>) -> Self {
        numbers.as_slice().into()
    }
}

/// The class of each row by name; the classes are sorted.
impl From<&[&str]> for Targets<'_> {
    fn from(names: &[&str]) -> Self {
        let labels = names.iter().map(|&name| name.to_owned()).collect();
        let (classes, codes) = Classes::of(&TargetValues::Labels(labels));
        Self::Classes { codes: Cow::Owned(codes), classes }
    }
}

/// The class of each row by name; the classes are sorted.
impl From<&Vec<&str>> for Targets<'_> {
    fn from(names: &Vec<&str>) -> Self {
        names.as_slice().into()
    }
}

/// The class of each row by name; the classes are sorted.
impl<const N: usize> From<&[&str; N]> for Targets<'_> {
    fn from(names: &[&str; N]) -> Self {
        names.as_slice().into()
    }
}

/// One number per row.
#[cfg(feature = "ndarray")]
impl From<ndarray::ArrayView1<'_, f64>> for Targets<'_> {
    fn from(numbers: ndarray::ArrayView1<'_, f64>) -> Self {
        Matrix::from_entries(numbers.len(), 1, numbers.to_vec()).into()
    }
}
