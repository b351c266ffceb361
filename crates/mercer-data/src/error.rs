//! Why data could not be read or written.

use std::fmt;
use std::io;

use super::InvalidSamples;

/// Why data could not be read or written. Every message names the file, and the line and column where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file could not be opened.
    #[error("{file}: cannot be opened: {source}")]
    Open {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file could not be read to its end: a failing disk, a truncated or damaged gzip stream.
    #[error("{place}: cannot be read: {source}")]
    Read {
        /// Where reading stopped.
        place: Place,
        /// What the system or the decompressor said.
        source: io::Error,
    },
    /// The file could not be written; whatever was there before still is.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing to start again from: standard input is read once.
    #[error("{file} can be read only once, but a second pass is needed; save it to a file first")]
    NotRestartable {
        /// The name standing for the stream.
        file: String,
    },
    /// A file had other rows in a later pass.
    #[error(
        "{file} had {before} rows in the first pass and {now} in a later one: the file changed during the fit"
    )]
    Changed {
        /// The file.
        file: String,
        /// Rows in the first pass.
        before: u64,
        /// Rows in a later one.
        now: u64,
    },
    /// The file has no bytes, or only blank lines.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file has a header or a shape but no rows.
    #[error("{file}: there are no rows of data ({what})")]
    NoRows {
        /// The file.
        file: String,
        /// What there is instead.
        what: String,
    },
    /// Every column is a target.
    #[error("{file}: no feature columns are left")]
    NoFeatures {
        /// The file.
        file: String,
    },
    /// A row has more or fewer fields than the first.
    #[error("{place}: expected {expected} fields, found {found}{advice}")]
    Ragged {
        /// The row.
        place: Place,
        /// Fields of the first row.
        expected: usize,
        /// Fields of this row.
        found: usize,
        /// What the row may be, as it follows the message.
        advice: &'static str,
    },
    /// A line is longer than any row of data.
    #[error("{place}: the line is longer than {limit} bytes; is this a text file?")]
    LineTooLong {
        /// The line.
        place: Place,
        /// The most bytes there may be.
        limit: u64,
    },
    /// A quoted field runs to the end of the file.
    #[error("{place}: a quote opened in this row is never closed")]
    UnclosedQuote {
        /// Where the row starts.
        place: Place,
    },
    /// Text where a number belongs.
    #[error("{place}: `{text}` is not a number{advice}")]
    NotANumber {
        /// The field.
        place: Place,
        /// What is in it, shortened.
        text: String,
        /// Why it is not, or what to do about it, as it follows the message.
        advice: Box<str>,
    },
    /// A text is not in UTF-8.
    #[error(
        "{place}: the text is not UTF-8; convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
    )]
    NotUtf8 {
        /// The field.
        place: Place,
    },
    /// A value is missing and the options or the model do not say what to do about it.
    #[error("{place}: the value is missing{}; {remedy}", if .text.is_empty() { String::new() } else { format!(" (`{}`)", .text) })]
    MissingValue {
        /// The field.
        place: Place,
        /// What is in it.
        text: String,
        /// What would help.
        remedy: Box<str>,
    },
    /// An infinite number, or one too large for the precision asked for.
    #[error("{place}: `{text}` is not a finite number in {dtype}")]
    NotFinite {
        /// The field.
        place: Place,
        /// What is in it, shortened.
        text: String,
        /// The precision.
        dtype: &'static str,
    },
    /// A category that was not in the training data.
    #[error("{place}: the category `{text}` was not in the training data, which had {known}")]
    UnknownCategory {
        /// The field.
        place: Place,
        /// The category, shortened.
        text: String,
        /// The categories there were.
        known: String,
    },
    /// A column has too many distinct texts to be one-hot encoded.
    #[error("{place}: more than {limit} distinct values are too many to one-hot encode")]
    TooManyCategories {
        /// The column, and the line that went over the limit.
        place: Place,
        /// The most there may be.
        limit: usize,
    },
    /// Two columns have one name.
    #[error("{file}: two columns are named `{name}`")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
    /// A column was asked for that is not there.
    #[error("{file}: there is no column `{wanted}`{advice}; the columns are {columns}")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// The name or place asked for.
        wanted: String,
        /// What may be meant, as it follows the name.
        advice: String,
        /// The columns there are.
        columns: String,
    },
    /// A column is both a target and a feature or a column left out, or is named twice.
    #[error("{file}: the column `{name}` is listed twice among the targets, features and dropped columns")]
    ColumnAskedTwice {
        /// The file.
        file: String,
        /// The column.
        name: String,
    },
    /// The file lacks a column that the model was trained on.
    #[error("{file}: the model needs the column{} {missing}; the file has {columns}", if *.count == 1 { "" } else { "s" })]
    ColumnsAbsent {
        /// The file.
        file: String,
        /// How many columns are absent.
        count: usize,
        /// Their names.
        missing: String,
        /// The columns there are.
        columns: String,
    },
    /// The file has another number of columns than the model was trained on.
    #[error("{file}: found {found} columns; the model needs {expected}")]
    ColumnCount {
        /// The file.
        file: String,
        /// Columns of the file.
        found: usize,
        /// What would do.
        expected: String,
    },
    /// A LIBSVM row breaks the format.
    #[error("{place}: {problem}")]
    Svmlight {
        /// The row.
        place: Place,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes are not a NumPy file this program reads.
    #[error("{file}: {problem}")]
    Npy {
        /// The file, with the array's name for an `.npz`.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes are not a Parquet file this program reads.
    #[error("{file}: not a Parquet file that can be read: {problem}")]
    Parquet {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The kind of file does not fit the request or the model.
    #[error("{file}: {problem}")]
    WrongKind {
        /// The file.
        file: String,
        /// What does not fit.
        problem: String,
    },
    /// The file's bytes are of no known format.
    #[error(
        "{file}: the format is not recognised (known: CSV and TSV, LIBSVM text, .npy, .npz, each also as .gz, and Parquet)"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A value is infinite or not a number, in data handed over in memory.
    #[error("{what}, row {row}, column {column} (counted from 0): {value} is not a finite number")]
    NonFiniteEntry {
        /// `features` or the target's name.
        what: String,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The value.
        value: f64,
    },
    /// Parts read do not make up a set of samples.
    #[error(transparent)]
    Samples(#[from] InvalidSamples),
}

/// A place in a file: the file, and the row and column where they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The row.
    pub row: Option<RowNumber>,
    /// The column's place, from 0, and its name.
    pub column: Option<(usize, String)>,
}

/// A row's number, as the tool shows it that a user would open the file with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowNumber {
    /// A line of a text file, from 1, as an editor shows it.
    Line(u64),
    /// A row of an array, from 0, as NumPy counts.
    Index(u64),
}

impl Place {
    pub(super) fn file(file: &str) -> Self {
        Self { file: file.to_owned(), row: None, column: None }
    }

    pub(super) fn at(file: &str, row: RowNumber) -> Self {
        Self { file: file.to_owned(), row: Some(row), column: None }
    }

    pub(super) fn column(mut self, index: usize, name: &str) -> Self {
        self.column = Some((index, name.to_owned()));
        self
    }

    pub(super) fn column_name(&self) -> &str {
        self.column.as_ref().map_or("NAME", |(_, name)| name)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match (self.row, &self.column) {
            (None, None) => Ok(()),
            (None, Some((index, name))) => write!(f, ", column {} (`{name}`)", index + 1),
            (Some(RowNumber::Line(line)), None) => write!(f, ", line {line}"),
            (Some(RowNumber::Line(line)), Some((index, name))) => {
                write!(f, ", line {line}, column {} (`{name}`)", index + 1)
            }
            (Some(RowNumber::Index(row)), None) => write!(f, ", row {row} (counted from 0)"),
            (Some(RowNumber::Index(row)), Some((index, name))) if *name == format!("x{index}") => {
                write!(f, ", row {row}, column {index} (counted from 0)")
            }
            (Some(RowNumber::Index(row)), Some((index, name))) => {
                write!(f, ", row {row}, column {index} (`{name}`; counted from 0)")
            }
        }
    }
}

/// `text` as a message shows it: control characters escaped, and no more than 40 characters of it.
pub(super) fn shortened(text: &[u8]) -> String {
    const LIMIT: usize = 40;
    let head = &text[..text.len().min(4 * LIMIT + 4)];
    let decoded = String::from_utf8_lossy(head);
    let mut shown: String = decoded.chars().take(LIMIT).flat_map(char::escape_debug).collect();
    if decoded.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    shown
}

/// Names as a message lists them: in backquotes, and the first 20 of many.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const LIMIT: usize = 20;
    let mut text: Vec<String> =
        names.iter().take(LIMIT).map(|name| format!("`{}`", shortened(name.as_ref().as_bytes()))).collect();
    if names.len() > LIMIT {
        text.push(format!("… ({} in all)", names.len()));
    }
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}
