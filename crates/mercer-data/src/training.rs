//! Training files larger than memory: their rows in chunks, with numbers as targets.

use super::chunks::{Chunks, FileChunks};
use super::dataset::Dataset;
use super::error::DataError;
use super::options::{Dtype, Missing, ReadOptions};
use super::read::{sparse_schema, sparse_text};
use super::rows::{Phase, Role, RowBuilder};
use super::schema::{Encoding, FeatureColumn, Features, Schema, TargetColumn, TargetKind};
use super::source::{Format, Source};
use super::svmlight::SparseRows;
use super::table::{Parts, Table, parts_to_learn};
use crate::real::Real;
use crate::watch::{Stopped, Watch};

/// Rows whose columns are learnt at a time.
const ROWS: usize = 1 << 14;

/// A training file with numbers as its targets, read in chunks: the rows and the schema that [`read`](super::read) gives,
/// without holding them all.
///
/// Text in a target is an error here. Notes on rows left out are those of [`notes`](Self::notes), not of the chunks.
pub struct TrainingChunks {
    chunks: FileChunks,
}

/// Why the columns of a file could not be learnt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// The file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl TrainingChunks {
    /// Opens a file and learns its schema, which takes a pass over it for categories, for means that missing values become,
    /// and for the number of columns of a LIBSVM file.
    ///
    /// # Errors
    /// As [`read`](super::read), where such a pass is needed of a source that can be read only once, and where `watch` asks
    /// to stop.
    pub fn open(
        source: Source,
        options: &ReadOptions,
        rows_per_chunk: usize,
        watch: &dyn Watch,
    ) -> Result<Self, TrainingError> {
        let schema = match options.dtype {
            Dtype::F32 => learn::<f32>(&source, options, watch)?,
            Dtype::F64 => learn::<f64>(&source, options, watch)?,
        };
        let chunks = FileChunks::open_for(Phase::Training, source, schema, rows_per_chunk, options.layout)?;
        Ok(Self { chunks })
    }

    /// The same file, `rows` rows at a time.
    #[must_use]
    pub fn with_rows_per_chunk(mut self, rows: usize) -> Self {
        self.chunks.set_rows_per_chunk(rows);
        self
    }

    /// How columns become features.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.chunks.schema()
    }

    /// What a user should be told about the rows since the first.
    pub fn notes(&mut self) -> Vec<String> {
        self.chunks.take_notes()
    }
}

impl Chunks for TrainingChunks {
    fn read_chunk(&mut self) -> Result<Option<Dataset>, DataError> {
        self.chunks.read_chunk()
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        self.chunks.rewind()
    }
}

fn learn<T: Real>(
    source: &Source,
    options: &ReadOptions,
    watch: &dyn Watch,
) -> Result<Schema, TrainingError> {
    let opened = source.open(options.layout.format)?;
    if opened.format == Format::Svmlight {
        return learn_sparse::<T>(source, options, watch);
    }
    let file = opened.name.clone();
    let mut table = Table::open(opened, &options.layout)?;
    let parts = parts_to_learn(&table, &file, options)?;
    let names = table.names().to_vec();
    let features = parts.features(&names);
    let Parts { roles, targets, named } = parts;
    let target =
        |&at: &usize| TargetColumn { name: names[at].clone(), position: at, kind: TargetKind::Number };
    let targets: Vec<TargetColumn> = targets.iter().map(target).collect();
    let columns = if options.categorical.is_empty() && options.missing != Missing::Mean {
        let number = |(name, position, _): (String, usize, Role)| FeatureColumn {
            name,
            position,
            encoding: Encoding::Number { mean: None },
        };
        features.into_iter().map(number).collect()
    } else {
        source.require_restartable()?;
        let mut rows = RowBuilder::<T>::learning(roles, options.missing);
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
    Ok(Schema { features, targets, named, missing: options.missing, dtype: options.dtype })
}

/// The width and the number of labels of a LIBSVM file.
fn learn_sparse<T: Real>(
    source: &Source,
    options: &ReadOptions,
    watch: &dyn Watch,
) -> Result<Schema, TrainingError> {
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
