//! `mercer plot` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Common;

/// `mercer plot`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer plot m.mercer data.csv                        in the terminal
  mercer plot m.mercer data.csv -o fit.svg
  mercer plot m.mercer --surface -o surface.png        two columns, in space
  mercer plot m.mercer data.csv --kind residuals -o residuals.svg
  mercer plot m.mercer data.csv --kind slice --column temperature -o slice.svg

What is drawn by default: with one column the curve and the bumps it is made of, with two a contour map, with more the
predicted against the actual values, or without DATA a slice along the first column. Classifiers: a map of the classes
with two columns, else a reliability diagram.")]
pub struct Plot {
    /// A model that `mercer fit` wrote
    pub model: PathBuf,
    /// Data to draw with it: the model's columns and, where it is there, its target; `-` is standard input
    pub data: Option<PathBuf>,
    /// File to write: .svg, .png or .txt; `-` is text on standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to draw
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// Draw a surface in space: the same as --kind surface
    #[arg(long, conflicts_with = "kind")]
    pub surface: bool,
    /// Column that a slice runs along, by name or number from 0 [default: the first]
    #[arg(long, value_name = "NAME|INDEX")]
    pub column: Option<String>,
    /// Output to draw, by name or number from 0 [default: the first]
    #[arg(long, value_name = "NAME|INDEX")]
    pub target: Option<String>,
    /// Pixels to a point in a PNG; a figure is about 640 points wide
    #[arg(long, value_name = "NUMBER", default_value_t = 2.0, allow_negative_numbers = true)]
    pub zoom: f64,
    #[command(flatten)]
    pub common: Common,
}

/// What can be drawn of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The curve of one column, with the bumps it is the sum of
    Curve,
    /// Bands of colour over two columns
    Contour,
    /// A surface in space over two columns
    Surface,
    /// Predicted against actual values
    Predicted,
    /// Residuals against predicted values
    Residuals,
    /// The curve along one column, the others at their median
    Slice,
    /// The kernel matrix of the data, or of the model's centres
    Gram,
    /// Which class wins where, over two columns
    Classes,
    /// How often a classifier is right, by how sure it is
    Reliability,
}
