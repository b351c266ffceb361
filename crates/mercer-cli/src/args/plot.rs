//! `mercer plot` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Common;

/// `mercer plot`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer plot m.mercer data.csv                             draw in the terminal
  mercer plot m.mercer data.csv -o fit.svg                  also .png, .pdf and .txt
  mercer plot m.mercer data.csv --columns age,tax -o map.png
  mercer plot m.mercer data.csv --kind residuals -o residuals.pdf
  mercer plot m.mercer data.csv --kind partial-dependence --columns age

Without --kind, the picture depends on the columns of the model:
  regression, 1 column         the curve
  regression, 2 columns        a contour map
  regression, more columns     predicted against actual values; without DATA, a slice along one column
  classifier, 1 column         probabilities or decisions along the column
  classifier, 2 columns        a map of the classes
  classifier, more columns     the confusion matrix; without DATA, a map over two columns
Columns that are not drawn are held at their medians.")]
pub struct Plot {
    /// A model written by `mercer fit` or `mercer tune`
    pub model: PathBuf,
    /// Data with the model's columns and, for some pictures, its target; `-` reads standard input
    pub data: Option<PathBuf>,
    /// Output file: .svg, .png, .pdf or .txt; `-` prints text [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to draw
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// Draw a surface in three dimensions; the same as --kind surface
    #[arg(long, conflicts_with = "kind")]
    pub surface: bool,
    /// Columns to draw along, by name or by number from 0: one for curves, two for maps [default: the first ones]
    #[arg(long, visible_alias = "column", value_name = "NAME[,NAME]", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Output to draw, by name or by number from 0 [default: the first]
    #[arg(long, value_name = "NAME|INDEX")]
    pub target: Option<String>,
    /// Pixels per point in a PNG; a figure is about 640 points wide
    #[arg(long, value_name = "NUMBER", default_value_t = 2.0, allow_negative_numbers = true)]
    pub zoom: f64,
    #[command(flatten)]
    pub common: Common,
}

/// The kinds of pictures of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The fitted curve of one column, with its kernel terms or the tube of a support vector regression
    Curve,
    /// The prediction over two columns as a contour map
    Contour,
    /// The prediction over two columns as a surface in three dimensions
    Surface,
    /// Predicted against actual values
    Predicted,
    /// Residuals against predicted values
    Residuals,
    /// The prediction along one column, the others at their medians
    Slice,
    /// The mean prediction over all rows as one column changes, with single rows behind it
    PartialDependence,
    /// The kernel matrix of the data, or of the rows that the model keeps
    Gram,
    /// The eigenvalues of the kernel matrix
    Spectrum,
    /// The predicted class over two columns
    Classes,
    /// The rows at the height of the decision function over two columns, and the plane that separates them
    Lift,
    /// True against predicted classes
    Confusion,
    /// True positive rate against false positive rate
    Roc,
    /// Observed accuracy against predicted probability
    Reliability,
    /// Training and held-out error against the number of training rows; refits the model
    LearningCurve,
    /// Error against the number of iterations; refits the model unless it recorded them
    Convergence,
}

impl Kind {
    /// The number of columns that `--columns` chooses for this kind.
    pub fn columns(self) -> usize {
        match self {
            Self::Slice | Self::PartialDependence => 1,
            Self::Contour | Self::Surface | Self::Classes | Self::Lift => 2,
            _ => 0,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
