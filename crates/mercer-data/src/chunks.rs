//! Chunks: a file read a bounded number of rows at a time under a known schema.

use std::path::Path;

use super::dataset::Dataset;
use super::error::DataError;
use super::lines::Lines;
use super::options::Layout;
use super::read::{dropped_rows, sparse_targets};
use super::rows::{Phase, RowBuilder};
use super::schema::{FeatureColumn, Features, Schema, TargetKind};
use super::source::{Format, Opened, Source};
use super::svmlight::{SparseRows, SparseText};
use super::table::{Table, parts_to_replay};
use crate::real::{Precision, Real};

/// Reads the file at `path` (`-`: standard input) `rows_per_chunk` rows at a time, as `schema` says.
///
/// Columns are matched by name if both the training file and this one have a header: their order is free and others are
/// ignored. Otherwise they are matched by position, with or without the targets. Targets are returned if present. At
/// most one chunk is in memory, except that an `.npz` file or an array in Fortran order is read as a whole.
///
/// A category that was not in the training data is an error, or treated as missing if missing values are filled in.
///
/// # Errors
/// If the file cannot be opened or lacks columns that the schema names.
pub fn chunks(path: &Path, schema: &Schema, rows_per_chunk: usize) -> Result<FileChunks, DataError> {
    FileChunks::open(Source::path(path), schema, rows_per_chunk, Layout::default())
}

/// A file being read in chunks: see [`chunks`]. The iterator ends after an error.
pub struct FileChunks {
    file: String,
    schema: Schema,
    rows_per_chunk: usize,
    stream: Box<dyn Stream>,
    started: bool,
    failed: bool,
}

impl FileChunks {
    /// [`chunks`] from any source, with the layout `layout`.
    ///
    /// # Errors
    /// As for [`chunks`].
    pub fn open(
        source: Source,
        schema: &Schema,
        rows_per_chunk: usize,
        layout: Layout,
    ) -> Result<Self, DataError> {
        let stream = open_stream(&source, schema, &layout, Phase::Prediction)?;
        let (file, schema, rows_per_chunk) =
            (source.name().to_owned(), schema.clone(), rows_per_chunk.max(1));
        Ok(Self { file, schema, rows_per_chunk, stream, started: false, failed: false })
    }

    /// The schema of the rows.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl FileChunks {
    fn read_chunk(&mut self) -> Result<Option<Dataset>, DataError> {
        let chunk = self.stream.read_chunk(&self.schema, self.rows_per_chunk)?;
        if chunk.is_none() && !self.started {
            return Err(DataError::NoRows {
                file: self.file.clone(),
                what: "only a header, comments or blank lines".to_owned(),
            });
        }
        self.started = true;
        Ok(chunk)
    }
}

impl Iterator for FileChunks {
    type Item = Result<Dataset, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let chunk = self.read_chunk().transpose();
        self.failed = matches!(chunk, Some(Err(_)));
        chunk
    }
}

/// An open file, whatever its format and precision.
pub(super) trait Stream: Send {
    fn read_chunk(&mut self, schema: &Schema, limit: usize) -> Result<Option<Dataset>, DataError>;

    /// Notes for the user about the rows read since the last call.
    fn take_notes(&mut self) -> Vec<String>;
}

pub(super) fn open_stream(
    source: &Source,
    schema: &Schema,
    layout: &Layout,
    phase: Phase,
) -> Result<Box<dyn Stream>, DataError> {
    let opened = source.open(layout.format)?;
    match schema.dtype {
        Precision::Single => stream_as::<f32>(opened, schema, layout, phase),
        Precision::Double => stream_as::<f64>(opened, schema, layout, phase),
    }
}

fn stream_as<T: Real>(
    opened: Opened,
    schema: &Schema,
    layout: &Layout,
    phase: Phase,
) -> Result<Box<dyn Stream>, DataError> {
    let file = opened.name.clone();
    match (&schema.features, opened.format) {
        (Features::Sparse { .. }, Format::Svmlight) => Ok(sparse_stream::<T>(opened, schema, phase)),
        (Features::Sparse { .. }, _) => {
            let problem = "the model has numbered columns without names, as LIBSVM text has, and this file is not LIBSVM text; write its \
                           rows as `LABEL 1:VALUE 2:VALUE …`"
                .to_owned();
            Err(DataError::WrongKind { file, problem })
        }
        (Features::Columns(_), Format::Svmlight) => {
            let problem =
                "this file is LIBSVM text, but the model was trained on a table of columns".to_owned();
            Err(DataError::WrongKind { file, problem })
        }
        (Features::Columns(columns), _) => table_stream::<T>(opened, schema, layout, columns, phase),
    }
}

/// LIBSVM text under a schema.
fn sparse_stream<T: Real>(opened: Opened, schema: &Schema, phase: Phase) -> Box<dyn Stream> {
    let file = opened.name;
    let lines = Lines::new(file.clone(), opened.bytes);
    let text = SparseText::new(lines, phase, schema.missing, Some(schema.nfeatures()));
    Box::new(SparseStream { file, text, dropped: 0, precision: std::marker::PhantomData::<T> })
}

/// A table under a schema, whose columns are `columns`.
fn table_stream<T: Real>(
    opened: Opened,
    schema: &Schema,
    layout: &Layout,
    columns: &[FeatureColumn],
    phase: Phase,
) -> Result<Box<dyn Stream>, DataError> {
    let file = opened.name.clone();
    let table = Table::open(opened, layout)?;
    let parts = parts_to_replay(&table, &file, schema, columns)?;
    let kinds: Vec<TargetKind> = parts.targets.iter().map(|&target| schema.targets[target].kind).collect();
    let rows = match phase {
        Phase::Training => RowBuilder::<T>::training_again(parts.roles, schema.missing, columns, &kinds),
        Phase::Prediction => RowBuilder::<T>::prediction(parts.roles, schema.missing, columns, &kinds),
    };
    let rows = rows.with_dates(schema.reading.dates);
    let (columns, names) = (columns.to_vec(), schema.feature_names());
    Ok(Box::new(TableStream { file, table, rows, phase, columns, names, targets: parts.targets }))
}

struct TableStream<T> {
    file: String,
    table: Table,
    rows: RowBuilder<T>,
    phase: Phase,
    columns: Vec<FeatureColumn>,
    names: Vec<String>,
    /// The targets of the schema that the file has.
    targets: Vec<usize>,
}

impl<T: Real> Stream for TableStream<T> {
    fn read_chunk(&mut self, schema: &Schema, limit: usize) -> Result<Option<Dataset>, DataError> {
        self.table.read_into(&mut self.rows, limit)?;
        if self.rows.nrows() == 0 {
            return Ok(None);
        }
        let features = self.rows.take_features(&self.columns)?.into();
        let names = self.targets.iter().map(|&target| schema.targets[target].name.as_str());
        Ok(Some(Dataset {
            features,
            feature_names: self.names.clone(),
            targets: self.rows.take_targets(names),
            notes: if self.phase == Phase::Prediction { self.rows.take_notes() } else { Vec::new() },
            source: self.file.clone(),
        }))
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.rows.take_notes()
    }
}

struct SparseStream<T> {
    file: String,
    text: SparseText,
    dropped: usize,
    precision: std::marker::PhantomData<T>,
}

impl<T: Real> Stream for SparseStream<T> {
    fn read_chunk(&mut self, schema: &Schema, limit: usize) -> Result<Option<Dataset>, DataError> {
        let mut rows = SparseRows::<T>::new();
        self.text.read_into(&mut rows, limit)?;
        self.dropped += rows.dropped;
        if rows.nrows() == 0 {
            return Ok(None);
        }
        let mut targets = sparse_targets(&mut rows);
        // Rows of a model without targets, or with another number of them, are not scored.
        if targets.len() != schema.targets.len() {
            targets.clear();
        }
        Ok(Some(Dataset {
            features: rows.into_samples(schema.nfeatures())?.into(),
            feature_names: Vec::new(),
            targets,
            notes: Vec::new(),
            source: self.file.clone(),
        }))
    }

    fn take_notes(&mut self) -> Vec<String> {
        dropped_rows(std::mem::take(&mut self.dropped)).into_iter().collect()
    }
}
