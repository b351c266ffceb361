//! Training files larger than memory: their rows in chunks, with targets that are numbers or the name of a class.

use super::chunks::{Stream, open_stream};
use super::dataset::Dataset;
use super::error::DataError;
use super::options::ReadOptions;
use super::passes::PassError;
use super::read::{sparse_schema, sparse_text};
use super::rows::{Phase, Role, RowBuilder};
use super::schema::{Encoding, FeatureColumn, Features, Schema, TargetColumn, TargetKind};
use super::source::{Format, Source};
use super::svmlight::SparseRows;
use super::table::{Parts, Table, parts_to_learn};
use crate::real::{Precision, Real};
use crate::watch::Watch;

/// Rows per step of learning the columns.
const ROWS: usize = 1 << 14;

/// The approximate bytes of the features in a chunk.
const CHUNK: usize = 4 << 20;

/// A training file and its schema.
#[derive(Debug, Clone)]
pub(super) struct TrainingFile {
    pub source: Source,
    pub schema: Schema,
    /// Whether the target is a class.
    pub has_classes: bool,
    options: ReadOptions,
    rows_per_chunk: usize,
}

impl TrainingFile {
    /// The rows from the first.
    pub fn chunks(&self) -> Result<TrainingChunks, DataError> {
        let stream = open_stream(&self.source, &self.schema, &self.options.layout, Phase::Training)?;
        Ok(TrainingChunks { file: self.clone(), stream, rows: 0 })
    }
}

/// A training file read in chunks: the same rows and schema as from [`read`](super::read), without storing all rows.
///
/// Text in a target is an error, unless the target is a class. Notes on rows left out are those of [`notes`](Self::notes), not
/// of the chunks.
pub struct TrainingChunks {
    file: TrainingFile,
    stream: Box<dyn Stream>,
    rows: u64,
}

impl TrainingChunks {
    /// Opens a file and learns its schema, which takes a pass over it for categories, for the means that replace
    /// missing values, and for the number of columns of a LIBSVM file. A chunk has about 4 MiB of numbers.
    ///
    /// # Errors
    /// As [`read`](super::read), if such a pass is needed of a source that can be read only once, and if `watch` asks
    /// to stop.
    pub fn open(source: Source, options: &ReadOptions, watch: &dyn Watch) -> Result<Self, PassError> {
        Self::open_as(TargetKind::Number, source, options, watch)
    }

    /// [`open`](Self::open) for a file whose target is a class: a number or a text in each row, which the chunks have as
    /// text.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_classes(source: Source, options: &ReadOptions, watch: &dyn Watch) -> Result<Self, PassError> {
        Self::open_as(TargetKind::Label, source, options, watch)
    }

    fn open_as(
        targets: TargetKind,
        source: Source,
        options: &ReadOptions,
        watch: &dyn Watch,
    ) -> Result<Self, PassError> {
        let schema = match options.dtype {
            Precision::Single => learn::<f32>(&source, options, targets, watch)?,
            Precision::Double => learn::<f64>(&source, options, targets, watch)?,
        };
        let rows_per_chunk = (CHUNK / (8 * schema.nfeatures().max(1))).clamp(1_024, 16_384);
        let (options, has_classes) = (options.clone(), targets == TargetKind::Label);
        Ok(TrainingFile { source, schema, has_classes, options, rows_per_chunk }.chunks()?)
    }

    /// The same file with this many rows in a chunk.
    #[must_use]
    pub fn rows_per_chunk(mut self, rows: usize) -> Self {
        self.file.rows_per_chunk = rows.max(1);
        self
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.file.schema
    }

    pub(super) fn file(&self) -> &TrainingFile {
        &self.file
    }

    /// Notes for the user about the rows since the first.
    pub fn notes(&mut self) -> Vec<String> {
        self.stream.take_notes()
    }

    /// The next rows, `None` after the last.
    ///
    /// # Errors
    /// If the rows cannot be read or do not fit the schema. What follows an error is unspecified.
    pub fn read_chunk(&mut self) -> Result<Option<Dataset>, DataError> {
        let chunk = self.stream.read_chunk(&self.file.schema, self.file.rows_per_chunk)?;
        if chunk.is_none() && self.rows == 0 {
            let what = self.stream.take_notes().pop();
            let what = what.unwrap_or_else(|| "only a header, comments or blank lines".to_owned());
            return Err(DataError::NoRows { file: self.file.source.name().to_owned(), what });
        }
        self.rows += chunk.as_ref().map_or(0, |chunk| chunk.nrows() as u64);
        Ok(chunk)
    }

    /// Calls `visit` with every remaining chunk, while other threads of the pool read the next one.
    ///
    /// # Errors
    /// The first error of reading or visiting, in the order of the rows.
    pub fn for_each<E: From<DataError> + Send>(
        &mut self,
        mut visit: impl FnMut(Dataset) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let mut next = self.read_chunk()?;
        while let Some(chunk) = next {
            let (visited, read) = rayon::join(|| visit(chunk), || self.read_chunk());
            visited?;
            next = read?;
        }
        Ok(())
    }
}

fn learn<T: Real>(
    source: &Source,
    options: &ReadOptions,
    kind: TargetKind,
    watch: &dyn Watch,
) -> Result<Schema, PassError> {
    let opened = source.open(options.layout.format)?;
    if opened.format == Format::Svmlight {
        return learn_sparse::<T>(source, options, watch);
    }
    let file = opened.name.clone();
    let mut table = Table::open(opened, &options.layout)?;
    let parts = parts_to_learn(&table, &file, options)?;
    let names = table.names().to_vec();
    let features = parts.features(&names);
    let reading = parts.reading(options);
    let Parts { roles, targets, named } = parts;
    let target = |&at: &usize| TargetColumn { name: names[at].clone(), position: at, kind };
    let targets: Vec<TargetColumn> = targets.iter().map(target).collect();
    let columns = if options.categorical.is_empty() && !options.missing.fills() {
        let number = |(name, position, _): (String, usize, Role)| FeatureColumn {
            name,
            position,
            encoding: Encoding::NUMBER,
        };
        features.into_iter().map(number).collect()
    } else {
        source.require_restartable()?;
        let mut rows = RowBuilder::<T>::learning(roles, options.missing, kind).with_dates(options.dates);
        watch.begin("columns", 0);
        loop {
            watch.check()?;
            let more = table.read_into(&mut rows, ROWS)?;
            rows.keep_means();
            if !more {
                break;
            }
        }
        if rows.nrows() == 0 {
            return Err(rows.none_left(file, &names).into());
        }
        rows.learn_columns(&file, features)?
    };
    let features = Features::Columns(columns);
    Ok(Schema { features, targets, named, missing: options.missing, dtype: options.dtype, reading })
}

/// The width and the number of labels of a LIBSVM file.
fn learn_sparse<T: Real>(
    source: &Source,
    options: &ReadOptions,
    watch: &dyn Watch,
) -> Result<Schema, PassError> {
    let opened = source.open(options.layout.format)?;
    let file = opened.name.clone();
    let mut text = sparse_text(opened, options)?;
    source.require_restartable()?;
    let (mut ncols, mut labels, mut found) = (0, 0, 0usize);
    watch.begin("columns", 0);
    loop {
        watch.check()?;
        let mut rows = SparseRows::<T>::new();
        let more = text.read_into(&mut rows, ROWS)?;
        found += rows.nrows();
        (ncols, labels) = (ncols.max(rows.width), rows.labels.len().max(labels));
        if !more {
            break;
        }
    }
    if found == 0 {
        return Err(DataError::NoRows { file, what: "only blank lines and comments".to_owned() }.into());
    }
    Ok(sparse_schema(&file, ncols, labels, options)?)
}
