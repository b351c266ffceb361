//! Options of a reader: the target columns, the handling of missing values, and the layout of the text.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::source::Format;
use crate::real::Precision;

/// How a file becomes features and targets. The default reads every column as a feature in double precision and rejects
/// missing values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Columns that are targets. If empty, every column is a feature, except the label of a LIBSVM file and the array
    /// `y` of an `.npz` file, which are always targets.
    pub target: Vec<ColumnRef>,
    /// Columns to one-hot encode: one feature of zeros and ones for each distinct text.
    pub categorical: Vec<ColumnRef>,
    /// The columns that are features, in addition to those in [`categorical`](Self::categorical). Empty: all but the
    /// targets.
    pub columns: Vec<ColumnRef>,
    /// Columns that are neither features nor targets.
    pub drop: Vec<ColumnRef>,
    /// How to read dates in columns of numbers.
    pub dates: Dates,
    /// How to handle missing values.
    pub missing: Missing,
    /// The precision of the features.
    pub dtype: Precision,
    /// The layout of the file, if it is not detected automatically.
    pub layout: Layout,
    /// The number of features of a LIBSVM file, if it is not the largest index found.
    pub ncols: Option<usize>,
}

/// The layout of a file; `None` is detected from its name and first bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// The file's format.
    pub format: Option<Format>,
    /// Whether the first line of a table in text names the columns.
    pub header: Option<bool>,
    /// The separator of fields in a text table.
    pub delimiter: Option<Delimiter>,
}

/// The separator of fields in a text table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// One occurrence of this byte.
    Byte(u8),
    /// A run of spaces and tabs.
    Whitespace,
}

/// A column by its name or its position.
///
/// Text that is an integer is a position, from 0, or from the end if negative (`-1` is the last column); a column whose
/// name is exactly that integer takes precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnRef {
    /// The column of this name.
    Name(String),
    /// The column at this position, from 0, or from the end if negative.
    Index(i64),
}

impl FromStr for ColumnRef {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.parse() {
            Ok(index) => Self::Index(index),
            Err(_) => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

impl ColumnRef {
    /// The index of this column among `names`, or `None` if there is none.
    #[must_use]
    pub fn find(&self, names: &[String]) -> Option<usize> {
        let by_name = |wanted: &str| names.iter().position(|name| name == wanted);
        match self {
            Self::Name(name) => by_name(name),
            Self::Index(index) => by_name(&index.to_string()).or_else(|| {
                let length = i64::try_from(names.len()).ok()?;
                let place = if *index < 0 { index.checked_add(length)? } else { *index };
                usize::try_from(place).ok().filter(|&p| p < names.len())
            }),
        }
    }

    /// A suggestion for a column that does not exist, appended to its name in a message.
    pub(super) fn advice(&self, names: &[String]) -> String {
        match self {
            Self::Name(wanted) => {
                let alike =
                    names.iter().find(|name| name.trim().to_lowercase() == wanted.trim().to_lowercase());
                alike.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
            }
            Self::Index(_) => format!(" (columns are numbered from 0 to {})", names.len().saturating_sub(1)),
        }
    }
}

/// How to handle a missing value: an empty field, `NA`, `NaN`, `null` (in any case) or `?`.
///
/// Targets are never filled in: a training row without one is left out, except with `Error`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Reject the file, naming the line and the column.
    #[default]
    Error,
    /// Leave the row out in training. In prediction, which needs a result for every row, it is an error.
    Drop,
    /// Replace it by the column's mean over the training rows; for a one-hot column, by the share of each category.
    Mean,
    /// As `Mean`, with one more feature for each column that has missing values in the training rows: 1 where the value is
    /// missing, else 0. A missing value of a one-hot column is a category of its own.
    Indicator,
}

impl Missing {
    /// Whether missing values are filled in.
    #[must_use]
    pub fn fills(self) -> bool {
        matches!(self, Self::Mean | Self::Indicator)
    }
}

/// How to read dates, such as `2024-03-01` or `2024-03-01 12:30:00`, in columns of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dates {
    /// Reject them like any other text.
    #[default]
    Refuse,
    /// Read them as days since 1970-01-01, with the time of day as a fraction.
    Days,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "7"].map(String::from).to_vec()
    }

    #[test]
    fn columns_are_found_by_name_place_and_place_from_the_end() {
        let find = |text: &str| text.parse::<ColumnRef>().unwrap().find(&names());
        assert_eq!(find("b"), Some(1));
        assert_eq!(find("0"), Some(0));
        assert_eq!(find("-1"), Some(2));
        assert_eq!(find("-3"), Some(0));
        assert_eq!(find("7"), Some(2), "a column named 7 comes before the place 7");
        for absent in ["c", "3", "-4", "-9223372036854775808"] {
            assert_eq!(find(absent), None, "{absent}");
        }
    }
}
