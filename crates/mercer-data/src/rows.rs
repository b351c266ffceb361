//! Builds rows: entries of a table are sorted into numbers, categories and targets, then encoded as features.

use super::Samples;
use super::advice::{Above, advice, of_empty_column};
use super::categories::{Categories, NO_CATEGORY};
use super::dataset::Target;
use super::dates;
use super::error::{DataError, Place, RowNumber, listed, shortened};
use super::fields::{Cell, Parsed};
use super::options::{Dates, Missing};
use super::plain::{PlainRows, Shape};
use super::schema::{Encoding, FeatureColumn, MISSING, TargetKind};
use super::target_rows::TargetRows;
use crate::real::Real;

/// The most categories a column may have. One-hot features are dense, so a column of identifiers mistaken for
/// categories would otherwise need rows² entries.
const MAX_CATEGORIES: usize = 4096;

/// The kind of a column; the number is its slot among columns of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Number(usize),
    Category(usize),
    Target(usize),
    Ignored,
}

/// Whether the columns are learnt or given by a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Training,
    Prediction,
}

/// Collects rows and turns them into features and targets.
pub(super) struct RowBuilder<T> {
    roles: Vec<Role>,
    missing: Missing,
    dates: Dates,
    phase: Phase,
    nrows: usize,
    nnumbers: usize,
    /// Row-major; NaN where a value is missing.
    numbers: Vec<T>,
    /// The mean and count of each column of numbers, if the numbers themselves are not stored.
    means: Option<Vec<(f64, f64)>>,
    categories: Vec<Categories>,
    targets: Vec<TargetRows>,
    counts: Counts,
    /// Whether rows were collected and taken.
    taken: bool,
}

/// Counts of missing and unknown values, by how they were handled.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    dropped: usize,
    filled: usize,
    unknown: usize,
}

/// The outcome for one entry.
enum Fate {
    Kept,
    DropRow,
}

impl<T: Real> RowBuilder<T> {
    /// A builder that learns the columns given by `roles`.
    pub fn training(roles: Vec<Role>, missing: Missing) -> Self {
        let count = |role: fn(&Role) -> bool| roles.iter().filter(|r| role(r)).count();
        let nnumbers = count(|r| matches!(r, Role::Number(_)));
        let categories =
            (0..count(|r| matches!(r, Role::Category(_)))).map(|_| Categories::default()).collect();
        let targets = (0..count(|r| matches!(r, Role::Target(_)))).map(|_| TargetRows::new(None)).collect();
        Self {
            roles,
            missing,
            dates: Dates::Refuse,
            phase: Phase::Training,
            nrows: 0,
            nnumbers,
            numbers: Vec::new(),
            means: None,
            categories,
            targets,
            counts: Counts::default(),
            taken: false,
        }
    }

    /// A builder for known columns; `targets` are the kinds of those that the file has.
    pub fn prediction(
        roles: Vec<Role>,
        missing: Missing,
        columns: &[FeatureColumn],
        targets: &[TargetKind],
    ) -> Self {
        let (mut nnumbers, mut categories, mut filled) = (0, Vec::new(), true);
        for column in columns {
            match &column.encoding {
                Encoding::Number { mean, .. } => {
                    nnumbers += 1;
                    filled &= mean.is_some_and(|mean| T::from_f64(mean).to_f64().is_finite());
                }
                Encoding::OneHot { categories: texts, .. } => categories.push(Categories::known(texts)),
            }
        }
        let targets = targets.iter().map(|&kind| TargetRows::new(Some(kind))).collect();
        let (phase, dates) = (Phase::Prediction, Dates::Refuse);
        // A schema from a damaged model may lack means that it declares.
        let missing = if filled { missing } else { Missing::Error };
        let numbers = Vec::new();
        let counts = Counts::default();
        Self {
            roles,
            missing,
            dates,
            phase,
            nrows: 0,
            nnumbers,
            numbers,
            means: None,
            categories,
            targets,
            counts,
            taken: false,
        }
    }

    /// The same builder with another handling of dates.
    pub fn with_dates(self, dates: Dates) -> Self {
        Self { dates, ..self }
    }

    /// A builder that only learns the columns, with targets of a kind: collected rows are dropped by
    /// [`keep_means`](Self::keep_means).
    pub fn learning(roles: Vec<Role>, missing: Missing, targets: TargetKind) -> Self {
        let mut builder = Self::training(roles, missing);
        builder.targets.iter_mut().for_each(|target| *target = TargetRows::new(Some(targets)));
        builder.means = Some(vec![(0.0, 0.0); builder.nnumbers]);
        builder
    }

    /// A builder that collects training rows of known columns.
    pub fn training_again(
        roles: Vec<Role>,
        missing: Missing,
        columns: &[FeatureColumn],
        targets: &[TargetKind],
    ) -> Self {
        let replay = Self::prediction(roles, missing, columns, targets);
        let missing = if missing == Missing::Drop { Missing::Drop } else { replay.missing };
        Self { phase: Phase::Training, missing, ..replay }
    }

    /// Adds the collected numbers to the means of their columns, and drops them and the targets.
    pub fn keep_means(&mut self) {
        let nnumbers = self.nnumbers;
        if let Some(means) = &mut self.means {
            for row in self.numbers.chunks_exact(nnumbers.max(1)) {
                for ((mean, count), value) in means.iter_mut().zip(row) {
                    let value = value.to_f64();
                    if !value.is_nan() {
                        // The running form cannot overflow.
                        *count += 1.0;
                        *mean += value / *count - *mean / *count;
                    }
                }
            }
        }
        self.numbers.clear();
        self.targets.iter_mut().for_each(TargetRows::forget);
    }

    /// Collected rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Whether a column of the file is ignored.
    #[cfg(feature = "parquet")]
    pub fn ignores(&self, column: usize) -> bool {
        self.roles.get(column) == Some(&Role::Ignored)
    }

    /// The shape of rows of plain numbers; `None` if columns hold something else.
    pub fn plain_shape(&self, delimiter: u8) -> Option<Shape<'_>> {
        let plain = self.categories.is_empty() && self.targets.iter().all(TargetRows::takes_numbers);
        plain.then(|| Shape {
            delimiter,
            roles: &self.roles,
            nnumbers: self.nnumbers,
            ntargets: self.targets.len(),
            texts: self.targets.iter().any(TargetRows::keeps_texts),
        })
    }

    /// Adds rows of plain numbers.
    pub fn extend_plain(&mut self, rows: PlainRows<T>) {
        self.nrows += rows.nrows;
        if self.numbers.is_empty() {
            self.numbers = rows.numbers;
        } else {
            self.numbers.extend_from_slice(&rows.numbers);
        }
        self.targets.iter_mut().zip(rows.targets).for_each(|(to, from)| to.extend(from));
    }

    /// Adds the row with the entries `cell(0)`, …, `cell(width - 1)`, unless a missing value drops it.
    pub fn push<'c>(
        &mut self,
        file: &str,
        names: &[String],
        row: RowNumber,
        width: usize,
        cell: impl Fn(usize) -> Cell<'c>,
    ) -> Result<(), DataError> {
        if width != self.roles.len() {
            let place = Place::at(file, row);
            let comment = width > 0 && cell(0).text().starts_with(b"#");
            let ended = width == self.roles.len() + 1 && cell(width - 1).text().is_empty();
            let advice = match (comment, ended) {
                (true, _) => "; comments are read before the first row only",
                (_, true) => "; the line ends with a separator, the first line does not",
                _ => "",
            };
            return Err(DataError::Ragged { place, expected: self.roles.len(), found: width, advice });
        }
        let start = self.numbers.len();
        let filled = self.counts.filled;
        self.numbers.resize(start + self.nnumbers, T::default());
        let mut keep = true;
        for column in 0..width {
            let cell = cell(column);
            let place = || Place::at(file, row).column(column, &names[column]);
            let fate = match self.roles[column] {
                Role::Number(slot) => self.put_number(start + slot, cell, place)?,
                Role::Category(slot) => self.push_category(slot, cell, place)?,
                Role::Target(slot) => self.push_target(slot, cell, place)?,
                Role::Ignored => Fate::Kept,
            };
            keep &= matches!(fate, Fate::Kept);
        }
        if keep {
            self.nrows += 1;
        } else {
            self.counts.dropped += 1;
            self.counts.filled = filled;
            self.numbers.truncate(start);
            self.categories.iter_mut().for_each(|column| column.truncate(self.nrows));
            // If only means are kept, the targets are not needed.
            self.targets.iter_mut().for_each(|column| column.truncate(self.nrows));
        }
        Ok(())
    }

    fn put_number(
        &mut self,
        at: usize,
        cell: Cell<'_>,
        place: impl Fn() -> Place,
    ) -> Result<Fate, DataError> {
        let parsed = match cell.number() {
            Parsed::Text if self.dates == Dates::Days => {
                dates::days(&cell.text()).map_or(Parsed::Text, Parsed::Number)
            }
            parsed => parsed,
        };
        match parsed {
            Parsed::Number(value) if T::from_f64(value).to_f64().is_finite() => {
                self.numbers[at] = T::from_f64(value);
                Ok(Fate::Kept)
            }
            Parsed::Missing => {
                self.numbers[at] = T::from_f64(f64::NAN);
                self.missing_feature(cell, place)
            }
            Parsed::Number(_) | Parsed::Infinite => {
                let text = shortened(&cell.text());
                Err(DataError::NotFinite { place: place(), text, dtype: T::NAME })
            }
            Parsed::Text if str::from_utf8(&cell.text()).is_err() => {
                Err(DataError::NotUtf8 { place: place() })
            }
            Parsed::Text => {
                let (text, place) = (shortened(&cell.text()), place());
                let above = match (self.phase, self.has_numbers(at % self.nnumbers)) {
                    (Phase::Prediction, _) => Above::Model,
                    (Phase::Training, true) => Above::Numbers,
                    (Phase::Training, false) => Above::Nothing,
                };
                let advice = advice(cell, &place.column_name(), above);
                Err(DataError::NotANumber { place, text, advice: advice.into() })
            }
        }
    }

    /// Whether a complete row has a number in this slot.
    fn has_numbers(&self, slot: usize) -> bool {
        let complete = &self.numbers[..self.numbers.len() - self.nnumbers];
        self.taken
            || complete.iter().skip(slot).step_by(self.nnumbers).any(|value| !value.to_f64().is_nan())
            || self.means.as_ref().is_some_and(|means| means[slot].1 > 0.0)
    }

    /// Whether rows are collected to train on, and `column` is a feature of none so far.
    pub fn begins_with(&self, column: usize) -> bool {
        let is_feature = matches!(self.roles.get(column), Some(Role::Number(_) | Role::Category(_)));
        self.phase == Phase::Training && self.nrows == 0 && !self.taken && is_feature
    }

    fn missing_feature(&mut self, cell: Cell<'_>, place: impl Fn() -> Place) -> Result<Fate, DataError> {
        let remedy = match (self.missing, self.phase) {
            (Missing::Mean | Missing::Indicator, _) => {
                self.counts.filled += 1;
                return Ok(Fate::Kept);
            }
            (Missing::Drop, Phase::Training) => return Ok(Fate::DropRow),
            (Missing::Error, Phase::Training) => format!(
                "`--missing mean` fills in such values, `--missing indicator` also marks them, `--missing drop` leaves out the rows, \
                 `--drop {}` leaves out the column",
                place().column_name()
            ),
            (_, Phase::Prediction) => {
                "fill it in, or train the model with `--missing mean`, which stores a value to use".to_owned()
            }
        };
        let remedy = remedy.into();
        Err(DataError::MissingValue { place: place(), text: shortened(&cell.text()), remedy })
    }

    fn push_category(
        &mut self,
        slot: usize,
        cell: Cell<'_>,
        place: impl Fn() -> Place,
    ) -> Result<Fate, DataError> {
        let own_category = self.missing == Missing::Indicator;
        if cell.is_missing() && !own_category {
            self.categories[slot].push(NO_CATEGORY);
            return self.missing_feature(cell, place);
        }
        let bytes = if cell.is_missing() { MISSING.as_bytes().into() } else { cell.text() };
        let text = str::from_utf8(&bytes).map_err(|_| DataError::NotUtf8 { place: place() })?;
        let column = &mut self.categories[slot];
        let code = match (column.find(text), self.phase) {
            (Some(code), _) => code,
            (None, Phase::Training) => {
                if column.texts().len() == MAX_CATEGORIES {
                    return Err(DataError::TooManyCategories { place: place(), limit: MAX_CATEGORIES });
                }
                column.add(text.to_owned())
            }
            (None, Phase::Prediction) if self.missing.fills() => {
                self.counts.unknown += 1;
                NO_CATEGORY
            }
            (None, Phase::Prediction) => {
                let known = listed(column.texts());
                return Err(DataError::UnknownCategory { place: place(), text: shortened(&bytes), known });
            }
        };
        column.push(code);
        Ok(Fate::Kept)
    }

    fn push_target(
        &mut self,
        slot: usize,
        cell: Cell<'_>,
        place: impl Fn() -> Place,
    ) -> Result<Fate, DataError> {
        let training = self.phase == Phase::Training;
        let column = &mut self.targets[slot];
        if cell.is_missing() {
            if training && self.missing == Missing::Error {
                let remedy = "`--missing drop` leaves out rows without a target".into();
                return Err(DataError::MissingValue {
                    place: place(),
                    text: shortened(&cell.text()),
                    remedy,
                });
            }
            column.push_missing();
            return Ok(if training { Fate::DropRow } else { Fate::Kept });
        }
        match column.push(cell) {
            Ok(()) => Ok(Fate::Kept),
            Err(Parsed::Infinite) => {
                Err(DataError::NotFinite { place: place(), text: shortened(&cell.text()), dtype: "f64" })
            }
            Err(_) => {
                let (text, place) = (shortened(&cell.text()), place());
                let advice = advice(cell, &place.column_name(), Above::Model);
                Err(DataError::NotANumber { place, text, advice: advice.into() })
            }
        }
    }

    /// The encodings of the feature columns, learnt from the collected rows; `features` gives the name and index of
    /// each, in the order of the slots.
    pub fn learn_columns(
        &mut self,
        file: &str,
        features: Vec<(String, usize, Role)>,
    ) -> Result<Vec<FeatureColumn>, DataError> {
        let fill = self.missing.fills();
        let nothing_there = |position: usize, name: &str| DataError::MissingValue {
            place: Place::file(file).column(position, name),
            text: String::new(),
            remedy: of_empty_column(position, name),
        };
        let mut columns = Vec::with_capacity(features.len());
        for (name, position, role) in features {
            let encoding = match role {
                Role::Category(slot) => {
                    let column = &mut self.categories[slot];
                    column.settle();
                    let shares = fill.then(|| column.shares());
                    if fill && column.texts().is_empty() {
                        return Err(nothing_there(position, &name));
                    }
                    Encoding::OneHot { categories: column.texts().to_vec(), shares }
                }
                Role::Number(slot) if fill => {
                    let (mean, known) = match &self.means {
                        Some(means) => means[slot],
                        None => mean_of_known(&self.numbers, self.nnumbers, slot),
                    };
                    if known == 0.0 {
                        return Err(nothing_there(position, &name));
                    }
                    let indicator = self.missing == Missing::Indicator && known < self.nrows as f64;
                    Encoding::Number { mean: Some(mean), indicator }
                }
                _ => Encoding::NUMBER,
            };
            columns.push(FeatureColumn { name, position, encoding });
        }
        Ok(columns)
    }

    /// The collected numbers of one slot; NaN for missing values.
    pub fn numbers_of(&self, slot: usize) -> impl Iterator<Item = f64> + Clone {
        self.numbers.iter().skip(slot).step_by(self.nnumbers.max(1)).map(|v| v.to_f64())
    }

    /// The kind of each target.
    pub fn target_kinds(&self) -> impl Iterator<Item = TargetKind> {
        self.targets.iter().map(TargetRows::found_kind)
    }

    /// The features of the collected rows, encoded according to `columns`; the rows are then dropped.
    pub fn take_features(&mut self, columns: &[FeatureColumn]) -> Result<Samples<'static, T>, DataError> {
        let nrows = self.nrows;
        let mut numbers = std::mem::take(&mut self.numbers);
        let width: usize = columns.iter().map(|column| column.encoding.width()).sum();
        let indicated =
            |column: &FeatureColumn| matches!(column.encoding, Encoding::Number { indicator: true, .. });
        if self.categories.is_empty() && !columns.iter().any(indicated) {
            let means: Vec<_> = columns.iter().map(number_mean).collect();
            if means.iter().any(Option::is_some) {
                for row in numbers.chunks_exact_mut(width.max(1)) {
                    for (entry, mean) in row.iter_mut().zip(&means) {
                        *entry = known_or(*entry, *mean);
                    }
                }
            }
            return Ok(Samples::dense(nrows, width, numbers)?);
        }
        let mut entries = Vec::with_capacity(nrows * width);
        for row in 0..nrows {
            let mut values = numbers[row * self.nnumbers..(row + 1) * self.nnumbers].iter();
            let mut codes = self.categories.iter().map(|column| column.codes()[row]);
            for column in columns {
                match &column.encoding {
                    Encoding::Number { mean, indicator } => {
                        let value = values.next().copied().unwrap_or_default();
                        entries.push(known_or(value, *mean));
                        let missing = T::from_f64(f64::from(u8::from(value.to_f64().is_nan())));
                        entries.extend(indicator.then_some(missing));
                    }
                    Encoding::OneHot { categories, shares } => {
                        let code = codes.next().unwrap_or(NO_CATEGORY);
                        entries.extend((0..).take(categories.len()).map(|category: u32| {
                            if code == NO_CATEGORY {
                                let share = shares.as_ref().and_then(|s| s.get(category as usize));
                                T::from_f64(share.copied().unwrap_or(0.0))
                            } else {
                                T::from_f64(f64::from(u8::from(category == code)))
                            }
                        }));
                    }
                }
            }
        }
        self.categories.iter_mut().for_each(|column| column.truncate(0));
        Ok(Samples::dense(nrows, width, entries)?)
    }

    /// The targets of the collected rows, named by `names`; they are then dropped, and the count of rows is reset.
    pub fn take_targets<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Vec<Target> {
        self.taken |= self.nrows > 0;
        self.nrows = 0;
        let columns = self.targets.iter_mut().zip(names);
        columns.map(|(column, name)| Target { name: name.to_owned(), values: column.take() }).collect()
    }

    /// The error for a file with columns `names` and no usable row.
    pub fn none_left(&mut self, file: String, names: &[String]) -> DataError {
        let dropped = self.take_notes().pop();
        let what = dropped.unwrap_or_else(|| format!("only a header naming {}", listed(names)));
        DataError::NoRows { file, what }
    }

    /// Notes for the user about the rows collected since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        let counts = std::mem::take(&mut self.counts);
        let mut notes = Vec::new();
        let mut note = |count: usize, one: &str, many: &str, what: &str| {
            if count > 0 {
                notes.push(format!("{count} {} {what}", if count == 1 { one } else { many }));
            }
        };
        note(counts.dropped, "row", "rows", "with missing values left out");
        note(counts.filled, "missing value", "missing values", "replaced by the mean of the training rows");
        note(counts.unknown, "unknown category", "unknown categories", "taken as missing");
        notes
    }
}

fn number_mean(column: &FeatureColumn) -> Option<f64> {
    match &column.encoding {
        Encoding::Number { mean, .. } => *mean,
        Encoding::OneHot { .. } => None,
    }
}

fn known_or<T: Real>(value: T, mean: Option<f64>) -> T {
    match mean {
        Some(mean) if value.to_f64().is_nan() => T::from_f64(mean),
        _ => value,
    }
}

/// Mean and number of the entries of one column that are not NaN. The running form cannot overflow.
fn mean_of_known<T: Real>(entries: &[T], ncols: usize, column: usize) -> (f64, f64) {
    let known = entries.iter().skip(column).step_by(ncols).map(|v| v.to_f64()).filter(|v| !v.is_nan());
    let (mut mean, mut count) = (0.0, 0.0);
    for value in known {
        count += 1.0;
        mean += value / count - mean / count;
    }
    (mean, count)
}
