//! Options of a reader: which columns are targets, what stands for a missing value, how the text is laid out.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::source::Format;
use crate::real::Precision;

/// How a file becomes features and targets. The default reads every column as a feature in double precision and
/// refuses missing values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Columns that are targets. Empty: every column is a feature, save the label of a LIBSVM file and the array
    /// `y` of an `.npz` file, which are targets whether or not they are asked for.
    pub target: Vec<ColumnRef>,
    /// Columns to one-hot encode: one feature of zeros and ones for each distinct text.
    pub categorical: Vec<ColumnRef>,
    /// The columns that are features, besides those in [`categorical`](Self::categorical). Empty: all but the targets.
    pub columns: Vec<ColumnRef>,
    /// Columns that are neither features nor targets.
    pub drop: Vec<ColumnRef>,
    /// What to do with dates in columns of numbers.
    pub dates: Dates,
    /// What to do with a missing value.
    pub missing: Missing,
    /// Precision the features are held in.
    pub dtype: Precision,
    /// How the file is laid out, where it is not to be recognised.
    pub layout: Layout,
    /// Number of features of a LIBSVM file, where it is not the largest index found.
    pub ncols: Option<usize>,
}

/// How a file is laid out; `None` is recognised from its name and first bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// The file's format.
    pub format: Option<Format>,
    /// Whether the first line of a table in text names the columns.
    pub header: Option<bool>,
    /// What separates the fields of a table in text.
    pub delimiter: Option<Delimiter>,
}

/// What separates the fields of a table in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// One occurrence of this byte.
    Byte(u8),
    /// A run of spaces and tabs.
    Whitespace,
}

/// A column by its name or its place.
///
/// Text that is an integer is a place, from 0, or from the end where it is negative (`-1` is the last column); a
/// column whose name is exactly that integer comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnRef {
    /// The column of this name.
    Name(String),
    /// The column at this place, from 0, or from the end where negative.
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
    /// The place of this column among `names`, or `None` where there is none.
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

    /// What may be meant by a column that is not there, as it follows its name in a message.
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

/// What to do with a missing value: an empty field, `NA`, `NaN`, `null` (in any case) or `?`.
///
/// A target is never made up: a training row without one is left out under all but `Error`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Refuse the file, naming the line and the column.
    #[default]
    Error,
    /// Leave the row out when training. Prediction owes every row an answer, so there it is an error.
    Drop,
    /// Take the column's mean over the training rows; for a one-hot column, the share of each category.
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

/// What to do with dates, such as `2024-03-01` or `2024-03-01 12:30:00`, in columns of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dates {
    /// Refuse them like any other text.
    #[default]
    Refuse,
    /// Read them as days since 1970-01-01, with the time of day as a fraction.
    Days,
}

impl FromStr for Dates {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "days" => Ok(Self::Days),
            _ => Err(UnknownChoice { received: text.to_owned(), allowed: "days" }),
        }
    }
}

impl FromStr for Missing {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "error" => Ok(Self::Error),
            "drop" => Ok(Self::Drop),
            "mean" => Ok(Self::Mean),
            "indicator" => Ok(Self::Indicator),
            _ => Err(UnknownChoice { received: text.to_owned(), allowed: "error, drop, mean, indicator" }),
        }
    }
}

/// A word that is not one of those allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{received}` is not one of {allowed}")]
pub struct UnknownChoice {
    /// The word.
    pub received: String,
    /// The words there are.
    pub allowed: &'static str,
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
