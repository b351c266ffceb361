//! Errors in numbers to draw.

use super::figure::Point;

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// A value is NaN, infinite, or too large for the arithmetic of axes.
    #[error("{what}: value {index} (from 0) is {value}; values must be within ±1e300")]
    NotFinite {
        /// The name of the values.
        what: String,
        /// The index, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// There is nothing to draw.
    #[error("{what}: there are no values to draw")]
    Empty {
        /// The name of the values.
        what: String,
    },
    /// Two lists differ in length.
    #[error("{what}: {found} values, expected {expected}")]
    Length {
        /// The name of the values.
        what: String,
        /// The number found.
        found: usize,
        /// The number expected.
        expected: usize,
    },
    /// A value on a logarithmic axis is not positive.
    #[error("{what}: value {index} (from 0) is {value}; a logarithmic axis needs numbers above 0")]
    NotPositive {
        /// The name of the values.
        what: String,
        /// The index, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// The places of a grid or of a line do not increase.
    #[error("{what}: value {index} (from 0), {value}, is not above the one before it")]
    NotRising {
        /// The name of the values.
        what: String,
        /// The index, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// The number of classes cannot be distinguished by colours.
    #[error("there are {found} classes; a map shows from 2 to {most}")]
    Classes {
        /// The number found.
        found: usize,
        /// The most that a map shows.
        most: usize,
    },
    /// A sample has an unknown class.
    #[error("sample {index} (from 0) has class {found}, but there are {classes} classes, counted from 0")]
    Class {
        /// The sample, from 0.
        index: usize,
        /// Its class.
        found: usize,
        /// The number of classes.
        classes: usize,
    },
    /// The picture would be empty or too large.
    #[error("a picture of {width} × {height} pixels (scale {scale}): each must be between 1 and 20000")]
    Scale {
        /// Pixels to a point.
        scale: f64,
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
    },
    /// The picture could not be drawn.
    #[error("the picture could not be drawn: {reason}")]
    Drawing {
        /// The reason.
        reason: String,
    },
}

/// Rejects numbers that cannot be drawn.
pub fn check(what: &str, values: impl IntoIterator<Item = f64>) -> Result<(), PlotError> {
    let wrong = values.into_iter().enumerate().find(|(_, value)| value.is_nan() || value.abs() > 1e300);
    match wrong {
        Some((index, value)) => Err(PlotError::NotFinite { what: what.into(), index, value }),
        None => Ok(()),
    }
}

/// Rejects points of the data that cannot be drawn.
pub fn check_points(points: impl Iterator<Item = Point> + Clone) -> Result<(), PlotError> {
    check("x of the data", points.clone().map(|(x, _)| x))?;
    check("y of the data", points.map(|(_, y)| y))
}

/// Rejects numbers that are not above 0.
pub fn check_positive(what: &str, values: impl IntoIterator<Item = f64>) -> Result<(), PlotError> {
    match values.into_iter().enumerate().find(|(_, value)| *value <= 0.0) {
        Some((index, value)) => Err(PlotError::NotPositive { what: what.into(), index, value }),
        None => Ok(()),
    }
}

/// Rejects an empty list.
pub fn check_some<T>(what: &str, values: &[T]) -> Result<(), PlotError> {
    if values.is_empty() { Err(PlotError::Empty { what: what.into() }) } else { Ok(()) }
}

/// Rejects a list of another length.
pub fn check_length<T>(what: &str, values: &[T], expected: usize) -> Result<(), PlotError> {
    match values.len() {
        found if found == expected => Ok(()),
        found => Err(PlotError::Length { what: what.into(), found, expected }),
    }
}
