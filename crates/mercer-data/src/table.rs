//! Tables: the common interface of text and array files, and the roles of their columns.

use std::collections::HashSet;

use super::csv::TextTable;
use super::error::{DataError, listed};
use super::npy::ArrayTable;
use super::options::{ColumnRef, Layout, ReadOptions};
#[cfg(feature = "parquet")]
use super::parquet::ParquetTable;
use super::rows::{Role, RowBuilder};
use super::schema::{Encoding, FeatureColumn, Reading, Schema};
use super::source::{Format, Opened};
use crate::real::Real;

/// A file of rows and columns, positioned before its first row.
pub(super) enum Table {
    Text(Box<TextTable>),
    Arrays(Box<ArrayTable>),
    #[cfg(feature = "parquet")]
    Columns(Box<ParquetTable>),
}

impl Table {
    /// Opens a file of any format except LIBSVM.
    pub fn open(opened: Opened, layout: &Layout) -> Result<Self, DataError> {
        let file = opened.name.clone();
        let table = match opened.format {
            Format::Npy => Self::Arrays(Box::new(ArrayTable::open_npy(opened)?)),
            Format::Npz => Self::Arrays(Box::new(ArrayTable::open_npz(opened)?)),
            #[cfg(feature = "parquet")]
            Format::Parquet => Self::Columns(Box::new(ParquetTable::open(opened)?)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                let problem = "this program was built without the feature `parquet`".to_owned();
                return Err(DataError::WrongKind { file, problem });
            }
            _ => Self::Text(Box::new(TextTable::open(opened, layout)?)),
        };
        let mut seen = HashSet::new();
        match table.names().iter().find(|name| !seen.insert(name.as_str())) {
            Some(name) => Err(DataError::DuplicateColumn { file, name: name.clone() }),
            None => Ok(table),
        }
    }

    pub fn names(&self) -> &[String] {
        match self {
            Self::Text(table) => &table.names,
            Self::Arrays(table) => &table.names,
            #[cfg(feature = "parquet")]
            Self::Columns(table) => &table.names,
        }
    }

    /// Whether the names come from a header.
    fn named(&self) -> bool {
        match self {
            Self::Text(table) => table.named,
            Self::Arrays(_) => false,
            #[cfg(feature = "parquet")]
            Self::Columns(_) => true,
        }
    }

    /// The number of trailing columns that the format marks as targets.
    fn ntargets(&self) -> usize {
        match self {
            Self::Text(_) => 0,
            Self::Arrays(table) => table.ntargets,
            #[cfg(feature = "parquet")]
            Self::Columns(_) => 0,
        }
    }

    /// Reads up to `limit` rows into `rows`; false once the file is at its end.
    pub fn read_into<T: Real>(&mut self, rows: &mut RowBuilder<T>, limit: usize) -> Result<bool, DataError> {
        match self {
            Self::Text(table) => table.read_into(rows, limit),
            Self::Arrays(table) => table.read_into(rows, limit),
            #[cfg(feature = "parquet")]
            Self::Columns(table) => table.read_into(rows, limit),
        }
    }
}

/// The roles of a file's columns, and the columns of the targets in their order.
pub(super) struct Parts {
    pub roles: Vec<Role>,
    pub targets: Vec<usize>,
    pub named: bool,
}

impl Parts {
    /// How the fields of this file are read under `options`.
    pub fn reading(&self, options: &ReadOptions) -> Reading {
        let ignored = self.roles.contains(&Role::Ignored);
        Reading { dates: options.dates, file_columns: ignored.then_some(self.roles.len()) }
    }

    /// Name, index and role of each feature column.
    pub fn features(&self, names: &[String]) -> Vec<(String, usize, Role)> {
        let is_feature = |role: &Role| matches!(role, Role::Number(_) | Role::Category(_));
        let features = self.roles.iter().enumerate().filter(|(_, role)| is_feature(role));
        features.map(|(at, &role)| (names[at].clone(), at, role)).collect()
    }
}

/// The roles requested in `options`, for a training file.
pub(super) fn parts_to_learn(table: &Table, file: &str, options: &ReadOptions) -> Result<Parts, DataError> {
    let names = table.names();
    let find = |column: &ColumnRef| {
        column.find(names).ok_or_else(|| DataError::NoSuchColumn {
            file: file.to_owned(),
            wanted: column.to_string(),
            advice: match column {
                ColumnRef::Name(_) if matches!(table, Table::Text(_)) && !table.named() => {
                    "; no header line was found, so the first line is data".to_owned()
                }
                _ => column.advice(names),
            },
            columns: listed(names),
        })
    };
    let mut roles = vec![Role::Ignored; names.len()];
    let mut targets = Vec::new();
    let asked_twice =
        |at: usize| DataError::ColumnAskedTwice { file: file.to_owned(), name: names[at].clone() };
    let find_free = |column: &ColumnRef, roles: &[Role]| {
        let at = find(column)?;
        if roles[at] == Role::Ignored { Ok(at) } else { Err(asked_twice(at)) }
    };
    for column in &options.target {
        let at = find_free(column, &roles)?;
        roles[at] = Role::Target(targets.len());
        targets.push(at);
    }
    for at in names.len() - table.ntargets()..names.len() {
        if roles[at] == Role::Ignored {
            roles[at] = Role::Target(targets.len());
            targets.push(at);
        }
    }
    for (slot, column) in options.categorical.iter().enumerate() {
        let at = find_free(column, &roles)?;
        roles[at] = Role::Category(slot);
    }
    let mut is_feature = vec![options.columns.is_empty(); names.len()];
    for column in &options.columns {
        let at = find(column)?;
        if matches!(roles[at], Role::Target(_)) {
            return Err(asked_twice(at));
        }
        is_feature[at] = true;
    }
    for column in &options.drop {
        is_feature[find_free(column, &roles)?] = false;
    }
    if number_features(&mut roles, &is_feature) == 0 {
        return Err(DataError::NoFeatures { file: file.to_owned() });
    }
    Ok(Parts { roles, targets, named: table.named() })
}

/// Gives each feature its slot, in the order of the file instead of that of the request, and returns their number.
fn number_features(roles: &mut [Role], is_feature: &[bool]) -> usize {
    let (mut numbers, mut categories) = (0, 0);
    for (role, &is_feature) in roles.iter_mut().zip(is_feature) {
        match role {
            Role::Ignored if is_feature => {
                *role = Role::Number(numbers);
                numbers += 1;
            }
            Role::Ignored => {}
            Role::Category(slot) => {
                *slot = categories;
                categories += 1;
            }
            Role::Number(_) | Role::Target(_) => {}
        }
    }
    numbers + categories
}

/// The roles of a file's columns under `schema`: matched by name if both have a header, otherwise by position. Targets
/// may be absent; the slots of those present index `targets`, which are indices in the schema's list.
pub(super) fn parts_to_replay(
    table: &Table,
    file: &str,
    schema: &Schema,
    columns: &[FeatureColumn],
) -> Result<Parts, DataError> {
    if schema.named && table.named() {
        return parts_by_name(table.names(), file, schema, columns);
    }
    let names = table.names();
    let mut roles = vec![Role::Ignored; names.len()];
    let mut targets = Vec::new();
    let (nfeatures, ntargets) = (columns.len(), schema.targets.len());
    let own_targets = table.ntargets();
    let width = names.len() - own_targets;
    let mut slots = Slots::default();
    if width == nfeatures {
        for (role, column) in roles.iter_mut().zip(columns) {
            *role = slots.next(column);
        }
        if own_targets == ntargets {
            targets = (0..ntargets).collect();
            for (slot, role) in roles[width..].iter_mut().enumerate() {
                *role = Role::Target(slot);
            }
        }
    } else if schema.reading.file_columns == Some(names.len()) {
        // The layout is that of the training file, including ignored columns.
        for column in columns {
            if let Some(role) = roles.get_mut(column.position) {
                *role = slots.next(column);
            }
        }
        for (slot, target) in schema.targets.iter().enumerate() {
            if let Some(role) = roles.get_mut(target.position) {
                *role = Role::Target(slot);
            }
        }
        targets = (0..ntargets).collect();
    } else if width == nfeatures + ntargets {
        // The layout is that of the training file.
        let features = columns.iter().map(|column| (column.position, slots.next(column)));
        let targeted = schema.targets.iter().enumerate().map(|(i, t)| (t.position, Role::Target(i)));
        let mut laid_out: Vec<_> = features.chain(targeted).collect();
        laid_out.sort_by_key(|(position, _)| *position);
        for (role, (_, part)) in roles.iter_mut().zip(laid_out) {
            *role = part;
        }
        targets = (0..ntargets).collect();
    } else {
        let expected = match ntargets {
            0 => format!("{nfeatures}"),
            _ => format!("{nfeatures}, or {} with the target", nfeatures + ntargets),
        };
        return Err(DataError::ColumnCount { file: file.to_owned(), found: width, expected });
    }
    Ok(Parts { roles, targets, named: false })
}

/// The roles of columns that are matched by name.
fn parts_by_name(
    names: &[String],
    file: &str,
    schema: &Schema,
    columns: &[FeatureColumn],
) -> Result<Parts, DataError> {
    let mut roles = vec![Role::Ignored; names.len()];
    let mut targets = Vec::new();
    let place = |wanted: &str| names.iter().position(|name| name == wanted);
    // Only the schema of a damaged model names a column twice.
    let asked_twice =
        |name: &str| DataError::ColumnAskedTwice { file: file.to_owned(), name: name.to_owned() };
    let mut missing = Vec::new();
    let mut slots = Slots::default();
    for column in columns {
        let role = slots.next(column);
        match place(&column.name) {
            Some(at) if roles[at] != Role::Ignored => return Err(asked_twice(&column.name)),
            Some(at) => roles[at] = role,
            None => missing.push(column.name.as_str()),
        }
    }
    if !missing.is_empty() {
        let (file, count) = (file.to_owned(), missing.len());
        let (missing, columns) = (listed(&missing), listed(names));
        return Err(DataError::ColumnsAbsent { file, count, missing, columns });
    }
    for (index, target) in schema.targets.iter().enumerate() {
        if let Some(at) = place(&target.name) {
            if roles[at] != Role::Ignored {
                return Err(asked_twice(&target.name));
            }
            roles[at] = Role::Target(targets.len());
            targets.push(index);
        }
    }
    Ok(Parts { roles, targets, named: true })
}

/// Counts the slots of numbers and of categories.
#[derive(Default)]
struct Slots {
    numbers: usize,
    categories: usize,
}

impl Slots {
    fn next(&mut self, column: &FeatureColumn) -> Role {
        match column.encoding {
            Encoding::Number { .. } => {
                self.numbers += 1;
                Role::Number(self.numbers - 1)
            }
            Encoding::OneHot { .. } => {
                self.categories += 1;
                Role::Category(self.categories - 1)
            }
        }
    }
}
