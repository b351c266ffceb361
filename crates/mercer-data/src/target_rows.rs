//! The rows of one target column.

use super::dataset::TargetValues;
use super::fields::{Cell, Parsed};
use super::plain::PlainTarget;
use super::schema::TargetKind;

/// A column of targets. While the kind is unknown both forms are stored: one field that is not a number makes all of
/// them texts.
pub(super) struct TargetRows {
    kind: Option<TargetKind>,
    all_numbers: bool,
    numbers: Vec<f64>,
    text: Vec<u8>,
    text_ends: Vec<usize>,
}

impl TargetRows {
    /// A column without rows, of a known kind.
    pub fn new(kind: Option<TargetKind>) -> Self {
        Self { kind, all_numbers: true, numbers: Vec::new(), text: Vec::new(), text_ends: Vec::new() }
    }

    /// Removes all but the first `nrows` rows.
    pub fn truncate(&mut self, nrows: usize) {
        self.numbers.truncate(nrows);
        self.text_ends.truncate(nrows);
        self.text.truncate(self.text_ends.last().copied().unwrap_or(0));
    }

    /// Removes all rows.
    pub fn forget(&mut self) {
        self.numbers.clear();
        self.text.clear();
        self.text_ends.clear();
    }

    /// Adds a row with an unknown target.
    pub fn push_missing(&mut self) {
        self.numbers.push(f64::NAN);
        self.push_text(b"");
    }

    /// Adds a row, or returns why its target is invalid: it is infinite, or text although the kind is known to be
    /// numbers.
    pub fn push(&mut self, cell: Cell<'_>) -> Result<(), Parsed> {
        match (self.kind, cell) {
            (Some(TargetKind::Label), _) => {
                self.push_text(&cell.text());
                return Ok(());
            }
            (None, Cell::Text(text) | Cell::CommaText(text)) => self.push_text(text),
            _ => {}
        }
        match cell.number() {
            Parsed::Number(value) => self.numbers.push(value),
            Parsed::Text if self.kind.is_none() => {
                self.all_numbers = false;
                self.numbers.push(f64::NAN);
            }
            refused => return Err(refused),
        }
        Ok(())
    }

    /// Whether rows of numbers can be added directly.
    pub fn takes_numbers(&self) -> bool {
        self.kind != Some(TargetKind::Label)
    }

    /// Whether fields are also stored as written.
    pub fn keeps_texts(&self) -> bool {
        self.kind.is_none()
    }

    /// Adds rows of numbers.
    pub fn extend(&mut self, rows: PlainTarget) {
        let before = self.text.len();
        self.numbers.extend_from_slice(&rows.numbers);
        if self.keeps_texts() {
            self.text.extend_from_slice(&rows.text);
            self.text_ends.extend(rows.text_ends.iter().map(|end| before + end));
        }
    }

    fn push_text(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text_ends.push(self.text.len());
    }

    /// The kind of the fields, given or detected.
    pub fn found_kind(&self) -> TargetKind {
        let found =
            || if self.all_numbers && !self.merges() { TargetKind::Number } else { TargetKind::Label };
        self.kind.unwrap_or_else(found)
    }

    /// Whether all fields are written as integers and some are beyond 2⁵³, where one double may represent two of them.
    fn merges(&self) -> bool {
        let beyond = |number: &f64| number.abs() >= 9_007_199_254_740_992.0;
        self.text_ends.len() == self.numbers.len()
            && self.numbers.iter().any(beyond)
            && self.texts().all(|text| str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok()))
    }

    /// The fields as written.
    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.text_ends.iter().copied());
        starts.zip(&self.text_ends).map(|(start, &end)| &self.text[start..end])
    }

    /// Takes the values of the rows, which are then empty.
    pub fn take(&mut self) -> TargetValues {
        let values = match self.found_kind() {
            TargetKind::Number => TargetValues::Numbers(std::mem::take(&mut self.numbers)),
            TargetKind::Label => {
                let label = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                TargetValues::Labels(self.texts().map(label).collect())
            }
        };
        self.forget();
        values
    }
}
