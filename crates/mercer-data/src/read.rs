//! Reads a whole file and learns its schema.

use std::path::Path;

use super::dataset::{Dataset, Target, TargetValues};
use super::error::DataError;
use super::lines::Lines;
use super::options::{ColumnRef, Dates, Layout, ReadOptions};
use super::rows::{Phase, RowBuilder};
use super::schema::{Features, Reading, Schema, TargetColumn, TargetKind};
use super::source::{Format, Opened, Source};
use super::suspects::suspects;
use super::svmlight::{SparseRows, SparseText};
use super::table::{Parts, Table, parts_to_learn};
use crate::real::{Precision, Real};

/// Reads the file at `path` (`-`: standard input) as a training set, and learns the schema, which
/// [`chunks`](super::chunks) applies to files for prediction.
///
/// The target of a LIBSVM file is its label, named `label`, or `label_1`, `label_2`, … if rows have several; that of an
/// `.npz` file is its array `y`. Time and memory are proportional to the size of the data.
///
/// # Errors
/// If the file cannot be read, does not have the expected format, lacks a requested column, or holds a value that is
/// not finite or, unless the options allow it, missing.
///
/// ```
/// use mercer_data::{ReadOptions, Source, read_source};
///
/// let file = Source::bytes("houses.csv", *b"area,price\n50,3\n80,5\n");
/// let options = ReadOptions { target: vec!["price".parse()?], ..ReadOptions::default() };
/// let (houses, schema) = read_source(&file, &options)?;
/// assert_eq!(houses.feature_names, ["area"]);
/// assert_eq!(houses.nrows(), 2);
/// assert_eq!(schema.targets[0].name, "price");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    read_source(&Source::path(path), options)
}

/// [`read`] from any source.
///
/// # Errors
/// As for [`read`].
pub fn read_source(source: &Source, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    let opened = source.open(options.layout.format)?;
    match options.dtype {
        Precision::Single => read_as::<f32>(opened, options),
        Precision::Double => read_as::<f64>(opened, options),
    }
}

/// The names of a file's columns, including targets. For a LIBSVM file only `label`, since its features have no names.
///
/// # Errors
/// If the file's beginning cannot be read.
pub fn column_names(path: &Path, layout: &Layout) -> Result<Vec<String>, DataError> {
    let opened = Source::path(path).open(layout.format)?;
    if opened.format == Format::Svmlight {
        return Ok(vec!["label".to_owned()]);
    }
    Ok(Table::open(opened, layout)?.names().to_vec())
}

fn read_as<T: Real>(opened: Opened, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    match opened.format {
        Format::Svmlight => read_sparse::<T>(opened, options),
        _ => read_table::<T>(opened, options),
    }
}

fn read_table<T: Real>(opened: Opened, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    let file = opened.name.clone();
    let mut table = Table::open(opened, &options.layout)?;
    let parts = parts_to_learn(&table, &file, options)?;
    let names = table.names().to_vec();
    let features = parts.features(&names);
    let reading = parts.reading(options);
    let Parts { roles, targets, named } = parts;
    let mut rows = RowBuilder::<T>::training(roles, options.missing).with_dates(options.dates);
    while table.read_into(&mut rows, usize::MAX)? {}
    if rows.nrows() == 0 {
        return Err(rows.none_left(file, &names));
    }
    let columns = rows.learn_columns(&file, features)?;
    let targets: Vec<TargetColumn> = targets
        .iter()
        .zip(rows.target_kinds())
        .map(|(&at, kind)| TargetColumn { name: names[at].clone(), position: at, kind })
        .collect();
    let suspects = suspects(&columns, rows.nrows(), options.dates, |column| rows.numbers_of(column));
    let features = rows.take_features(&columns)?;
    let values = rows.take_targets(targets.iter().map(|target| target.name.as_str()));
    let schema = Schema {
        features: Features::Columns(columns),
        targets,
        named,
        missing: options.missing,
        dtype: options.dtype,
        reading,
    };
    let dataset = Dataset {
        features: features.into(),
        feature_names: schema.feature_names(),
        targets: values,
        notes: rows.take_notes().into_iter().chain(suspects).collect(),
        source: file,
    };
    Ok((dataset, schema))
}

fn read_sparse<T: Real>(opened: Opened, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    let file = opened.name.clone();
    let mut text = sparse_text(opened, options)?;
    let mut rows = SparseRows::<T>::new();
    while text.read_into(&mut rows, usize::MAX)? {}
    let notes: Vec<String> = dropped_rows(rows.dropped).into_iter().collect();
    if rows.nrows() == 0 {
        let what = notes.into_iter().next().unwrap_or_else(|| "only blank lines and comments".to_owned());
        return Err(DataError::NoRows { file, what });
    }
    let schema = sparse_schema(&file, rows.width, rows.labels.len(), options)?;
    let targets = sparse_targets(&mut rows);
    let features = rows.into_samples(schema.nfeatures())?.into();
    Ok((Dataset { features, feature_names: Vec::new(), targets, notes, source: file }, schema))
}

/// The rows of a LIBSVM file for training, if it has the requested columns.
pub(super) fn sparse_text(opened: Opened, options: &ReadOptions) -> Result<SparseText, DataError> {
    let file = opened.name;
    let names_label = |column: &ColumnRef| matches!(column, ColumnRef::Name(name) if name == "label");
    if let Some(other) = options.target.iter().find(|column| !names_label(column)) {
        let (wanted, columns) = (other.to_string(), "`label` and numbered features".to_owned());
        return Err(DataError::NoSuchColumn { file, wanted, advice: String::new(), columns });
    }
    let named = [
        ("--categorical", !options.categorical.is_empty()),
        ("--columns", !options.columns.is_empty()),
        ("--drop", !options.drop.is_empty()),
        ("--dates", options.dates != Dates::Refuse),
    ];
    if let Some((flag, _)) = named.iter().find(|(_, given)| *given) {
        let problem = format!("{flag} is for tables; the columns of a LIBSVM file are numbers without names");
        return Err(DataError::WrongKind { file, problem });
    }
    let lines = Lines::new(file, opened.bytes);
    Ok(SparseText::new(lines, Phase::Training, options.missing, options.ncols))
}

/// The schema of a LIBSVM file whose rows have this many labels and no more than `width` columns.
pub(super) fn sparse_schema(
    file: &str,
    width: usize,
    labels: usize,
    options: &ReadOptions,
) -> Result<Schema, DataError> {
    let ncols = options.ncols.unwrap_or(width);
    if ncols == 0 {
        return Err(DataError::NoFeatures { file: file.to_owned() });
    }
    let kind = TargetKind::Number;
    let target = |position| TargetColumn { name: label_name(position, labels), position, kind };
    Ok(Schema {
        features: Features::Sparse { ncols },
        targets: (0..labels).map(target).collect(),
        named: false,
        missing: options.missing,
        dtype: options.dtype,
        reading: Reading::default(),
    })
}

/// A note on rows left out, if any.
pub(super) fn dropped_rows(dropped: usize) -> Option<String> {
    let rows = if dropped == 1 { "row" } else { "rows" };
    (dropped > 0).then(|| format!("{dropped} {rows} with missing values left out"))
}

/// The name of a label of LIBSVM rows: `label`, or `label_1`, `label_2`, … of several.
fn label_name(slot: usize, labels: usize) -> String {
    if labels > 1 { format!("label_{}", slot + 1) } else { "label".to_owned() }
}

/// The labels of LIBSVM rows as targets.
pub(super) fn sparse_targets<T>(rows: &mut SparseRows<T>) -> Vec<Target> {
    let labels = std::mem::take(&mut rows.labels);
    let name = |slot: usize| label_name(slot, labels.len());
    let names: Vec<String> = (0..labels.len()).map(name).collect();
    let target = |(name, values)| Target { name, values: TargetValues::Numbers(values) };
    names.into_iter().zip(labels).map(target).collect()
}
