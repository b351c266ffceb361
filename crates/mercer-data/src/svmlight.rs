//! LIBSVM (svmlight) text: `label index:value index:value … # comment`, indices from 1 and ascending.

use std::io::{self, Write};

use super::error::{DataError, shortened};
use super::fields::{Parsed, parse_number};
use super::lines::Lines;
use super::options::Missing;
use super::rows::Phase;
use super::{AnySamples, Samples, Storage};
use crate::real::Real;
use crate::with_samples;

/// A reader of LIBSVM text.
pub(super) struct SparseText {
    lines: Lines,
    line: Vec<u8>,
    phase: Phase,
    missing: Missing,
    /// The limit on columns.
    limit: Option<usize>,
    /// The number of labels per row, once the first row has been read.
    nlabels: Option<usize>,
}

/// Rows read, compressed.
pub(super) struct SparseRows<T> {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
    /// One vector for each label of a row.
    pub labels: Vec<Vec<f64>>,
    /// One more than the largest column found.
    pub width: usize,
    pub dropped: usize,
}

impl<T: Real> SparseRows<T> {
    pub fn new() -> Self {
        let (indices, values, labels) = (Vec::new(), Vec::new(), Vec::new());
        Self { indptr: vec![0], indices, values, labels, width: 0, dropped: 0 }
    }

    pub fn nrows(&self) -> usize {
        self.indptr.len() - 1
    }

    pub fn into_samples(self, ncols: usize) -> Result<Samples<'static, T>, DataError> {
        Ok(Samples::sparse(ncols, self.indptr, self.indices, self.values)?)
    }
}

impl SparseText {
    pub fn new(lines: Lines, phase: Phase, missing: Missing, limit: Option<usize>) -> Self {
        Self { lines, line: Vec::new(), phase, missing, limit, nlabels: None }
    }

    /// Reads up to `limit` rows into `rows`; false once the file is at its end.
    pub fn read_into<T: Real>(&mut self, rows: &mut SparseRows<T>, limit: usize) -> Result<bool, DataError> {
        let full = rows.nrows().saturating_add(limit);
        let mut line = std::mem::take(&mut self.line);
        while rows.nrows() < full {
            line.clear();
            if !self.lines.append_next(&mut line)? {
                return Ok(false);
            }
            let data = line.split(|&b| b == b'#').next().unwrap_or_default();
            self.push_row(rows, data)?;
        }
        self.line = line;
        Ok(true)
    }

    fn broken(&self, problem: String) -> DataError {
        DataError::Svmlight { place: self.lines.place(), problem }
    }

    fn push_row<T: Real>(&mut self, rows: &mut SparseRows<T>, data: &[u8]) -> Result<(), DataError> {
        let mut fields = data.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).peekable();
        let Some(&first) = fields.peek() else { return Ok(()) };
        let labels: Vec<&[u8]> = if first.contains(&b':') {
            Vec::new()
        } else {
            fields.next();
            first.split(|&b| b == b',').collect()
        };
        let expected = *self.nlabels.get_or_insert(labels.len());
        if labels.len() != expected {
            let found = labels.len();
            return Err(self.broken(format!("found {found} labels, but the first row has {expected}")));
        }
        rows.labels.resize_with(expected, Vec::new);

        let mut keep = true;
        let mut previous = 0;
        let start = rows.values.len();
        for field in fields {
            let Some(colon) = field.iter().position(|&b| b == b':') else {
                return Err(self.broken(format!("expected index:value, found `{}`", shortened(field))));
            };
            let (key, text) = (&field[..colon], &field[colon + 1..]);
            if key == b"qid" {
                continue;
            }
            let index = self.index(key, previous)?;
            previous = index;
            match self.value(text.trim_ascii(), index)? {
                Some(value) => {
                    rows.indices.push(index - 1);
                    rows.values.push(value);
                }
                None => keep = false,
            }
        }
        for (slot, text) in labels.iter().enumerate() {
            let value = self.label(text)?;
            keep &= value.is_some();
            rows.labels[slot].push(value.unwrap_or(f64::NAN));
        }
        if keep {
            rows.indptr.push(rows.values.len());
            rows.width = rows.width.max(previous as usize);
        } else {
            rows.dropped += 1;
            rows.values.truncate(start);
            rows.indices.truncate(start);
            let nrows = rows.nrows();
            rows.labels.iter_mut().for_each(|column| column.truncate(nrows));
        }
        Ok(())
    }

    /// The value in `text`; `None` if it is missing and the row is left out.
    fn value<T: Real>(&self, text: &[u8], index: u32) -> Result<Option<T>, DataError> {
        let place = || self.lines.place().column(index as usize - 1, &index.to_string());
        match parse_number(text) {
            Parsed::Number(value) if T::from_f64(value).to_f64().is_finite() => Ok(Some(T::from_f64(value))),
            Parsed::Missing if self.missing == Missing::Drop && self.phase == Phase::Training => Ok(None),
            Parsed::Missing => {
                let remedy =
                    "in LIBSVM text an index left out is 0; `--missing drop` leaves such training rows out";
                let remedy = remedy.into();
                Err(DataError::MissingValue { place: place(), text: shortened(text), remedy })
            }
            Parsed::Number(_) | Parsed::Infinite => {
                Err(DataError::NotFinite { place: place(), text: shortened(text), dtype: T::NAME })
            }
            Parsed::Text => {
                let text = shortened(text);
                Err(self.broken(format!("the value of index {index}, `{text}`, is not a number")))
            }
        }
    }

    /// The label in `text`, NaN if a row for prediction has none; `None` if it is missing and the row is left out.
    fn label(&self, text: &[u8]) -> Result<Option<f64>, DataError> {
        match parse_number(text) {
            Parsed::Number(value) => Ok(Some(value)),
            Parsed::Missing if self.phase == Phase::Prediction => Ok(Some(f64::NAN)),
            Parsed::Missing if self.missing != Missing::Error => Ok(None),
            _ => Err(self.broken(format!("the label `{}` is not a finite number", shortened(text)))),
        }
    }

    /// The index in `text`, from 1, which must come after `previous`.
    fn index(&self, text: &[u8], previous: u32) -> Result<u32, DataError> {
        let digits =
            str::from_utf8(text).ok().filter(|t| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()));
        let Some(digits) = digits else {
            return Err(self.broken(format!("expected an index from 1, found `{}`", shortened(text))));
        };
        // u32::MAX itself would make one column too many to count.
        let Some(index) = digits.parse::<u32>().ok().filter(|&index| index < u32::MAX) else {
            return Err(self.broken(format!("the index {} is too large", shortened(text))));
        };
        if index == 0 {
            return Err(self.broken("found the index 0, but indices start at 1".to_owned()));
        }
        if index <= previous {
            return Err(
                self.broken(format!("found the index {index} after {previous}, but indices must ascend"))
            );
        }
        if let Some(limit) = self.limit.filter(|&limit| index as usize > limit) {
            return Err(self.broken(format!("found the index {index}, but there are {limit} features")));
        }
        Ok(index)
    }
}

/// Writes samples as LIBSVM text, one label per row, without zeros. Numbers read back exactly.
///
/// # Errors
/// Those of `writer`.
pub fn write_svmlight(writer: &mut impl Write, samples: &AnySamples<'_>, labels: &[f64]) -> io::Result<()> {
    with_samples!(samples, samples => {
        for (row, label) in labels.iter().enumerate().take(samples.nrows()) {
            write!(writer, "{label}")?;
            match samples.storage() {
                Storage::Dense(entries) => {
                    let entries = &entries[row * samples.ncols()..(row + 1) * samples.ncols()];
                    for (column, value) in entries.iter().enumerate().filter(|(_, v)| v.to_f64() != 0.0) {
                        write!(writer, " {}:{value}", column + 1)?;
                    }
                }
                Storage::Sparse { indptr, indices, values } => {
                    for k in indptr[row]..indptr[row + 1] {
                        write!(writer, " {}:{}", u64::from(indices[k]) + 1, values[k])?;
                    }
                }
            }
            writeln!(writer)?;
        }
        Ok(())
    })
}
