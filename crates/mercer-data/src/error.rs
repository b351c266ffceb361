//! Why data could not be read or written.

use std::borrow::Cow;
use std::fmt;
use std::io;

use super::InvalidSamples;

/// Why data could not be read or written. Every message names the file, and the line and column where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file could not be opened.
    #[error("{file}: cannot be opened: {}", reason(source))]
    Open {
        /// The file.
        file: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The file could not be read to its end: a failing disk, a truncated or damaged gzip stream.
    #[error("{place}: cannot be read: {}", reason(source))]
    Read {
        /// The position at which reading stopped.
        place: Place,
        /// The error of the system or the decompressor.
        source: io::Error,
    },
    /// The file could not be written; a previous file is unchanged.
    #[error("{file}: cannot be written: {}", reason(source))]
    Write {
        /// The file.
        file: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The source cannot be read again: standard input is read once.
    #[error("{file} can be read only once, but a second pass is needed; save it to a file first")]
    NotRestartable {
        /// The name of the stream.
        file: String,
    },
    /// A file changed between passes.
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
        /// The actual contents.
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
        /// A possible explanation, appended to the message.
        advice: &'static str,
    },
    /// A line is longer than the limit.
    #[error("{place}: the line is longer than {limit} bytes; is this a text file?")]
    LineTooLong {
        /// The line.
        place: Place,
        /// The limit in bytes.
        limit: u64,
    },
    /// A quoted field runs to the end of the file.
    #[error("{place}: a quote opened in this row is never closed")]
    UnclosedQuote {
        /// Where the row starts.
        place: Place,
    },
    /// Text instead of a number.
    #[error("{place}: `{text}` is not a number{advice}")]
    NotANumber {
        /// The field.
        place: Place,
        /// Its text, shortened.
        text: String,
        /// The reason, or advice, appended to the message.
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
    /// A value is missing, and the options or the model do not allow it.
    #[error("{place}: the value is missing{}; {remedy}", if .text.is_empty() { String::new() } else { format!(" (`{}`)", .text) })]
    MissingValue {
        /// The field.
        place: Place,
        /// Its text.
        text: String,
        /// A remedy.
        remedy: Box<str>,
    },
    /// An infinite number, or one too large for the requested precision.
    #[error("{place}: `{text}` is not a finite number in {dtype}")]
    NotFinite {
        /// The field.
        place: Place,
        /// Its text, shortened.
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
        /// The categories of the training data.
        known: String,
    },
    /// A column has too many distinct texts to be one-hot encoded.
    #[error("{place}: more than {limit} distinct values are too many to one-hot encode")]
    TooManyCategories {
        /// The column, and the line that went over the limit.
        place: Place,
        /// The limit.
        limit: usize,
    },
    /// Two columns have one name.
    #[error("{file}: two columns are named `{name}`; give each column a name of its own")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
    /// A requested column does not exist.
    #[error("{file}: there is no column `{wanted}`{advice}; the columns are {columns}")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// The name or position requested.
        wanted: String,
        /// A suggestion, appended to the name.
        advice: String,
        /// The columns of the file.
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
        /// The number of missing columns.
        count: usize,
        /// Their names.
        missing: String,
        /// The columns of the file.
        columns: String,
    },
    /// The file has another number of columns than the model was trained on.
    #[error("{file}: found {found} columns; the model needs {expected}")]
    ColumnCount {
        /// The file.
        file: String,
        /// Columns of the file.
        found: usize,
        /// The expected columns.
        expected: String,
    },
    /// A LIBSVM row breaks the format.
    #[error("{place}: {problem}")]
    Svmlight {
        /// The row.
        place: Place,
        /// The problem.
        problem: String,
    },
    /// The bytes are not a supported NumPy file.
    #[error("{file}: {problem}")]
    Npy {
        /// The file, with the array's name for an `.npz`.
        file: String,
        /// The problem.
        problem: String,
    },
    /// The bytes are not a supported Parquet file.
    #[error("{file}: not a Parquet file that can be read: {problem}")]
    Parquet {
        /// The file.
        file: String,
        /// The problem.
        problem: String,
    },
    /// The kind of file does not fit the request or the model.
    #[error("{file}: {problem}")]
    WrongKind {
        /// The file.
        file: String,
        /// The conflict.
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
    /// The parts read are not a valid set of samples.
    #[error(transparent)]
    Samples(#[from] InvalidSamples),
}

/// A position in a file: the file, and the row and column if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The row.
    pub row: Option<RowNumber>,
    /// The column's index, from 0, and its name.
    pub column: Option<(usize, String)>,
}

/// A row's number, as shown by common tools for the format.
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

    pub(super) fn column_name(&self) -> Cow<'_, str> {
        self.column.as_ref().map_or("NAME".into(), |(index, name)| as_argument(*index, name))
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

/// A column as an argument of a flag in a shell: its name, in quotation marks if necessary, or its index if the name has a comma,
/// which separates columns.
pub(super) fn as_argument(index: usize, name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=+@".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.into()
    } else if name.is_empty() || name.contains([',', '"', '$', '`', '\\', '!']) {
        index.to_string().into()
    } else {
        format!("\"{name}\"").into()
    }
}

/// `text` for messages: as it is but for control characters, which are escaped, and at most 40 characters.
pub(super) fn shortened(text: &[u8]) -> String {
    const LIMIT: usize = 40;
    let head = &text[..text.len().min(4 * LIMIT + 4)];
    let decoded = String::from_utf8_lossy(head);
    let mut shown = String::new();
    for character in decoded.chars().take(LIMIT) {
        match character {
            plain if !plain.is_control() => shown.push(plain),
            control => shown.extend(control.escape_debug()),
        }
    }
    if decoded.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    shown
}

/// The reason of an error of the system in words, without its number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    if text.contains("deflate") || text.contains("gzip") {
        return "the gzip stream is damaged or cut short".to_owned();
    }
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// A number of things for messages: `1 row`, `2 rows`.
#[must_use]
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// Names for messages: in backquotes, and at most the first 20.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const LIMIT: usize = 20;
    let mut text: Vec<String> =
        names.iter().take(LIMIT).map(|name| format!("`{}`", shortened(name.as_ref().as_bytes()))).collect();
    if names.len() > LIMIT {
        text.push(format!("… ({} in all)", names.len()));
    }
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}
