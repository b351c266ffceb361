//! NumPy arrays: `.npy` files and the `.npz` archives that hold several.

use std::io::{self, BufRead, Cursor, Read, Write};
use std::path::Path;

use super::atomic_file::write_atomically;
use super::error::{DataError, Place, RowNumber, listed};
use super::fields::Cell;
use super::npy_header::{Element, NpyHeader};
use super::rows::RowBuilder;
use super::source::Opened;
use crate::real::{Precision, Real};

/// Rows of one array.
///
/// An array in C order is read row by row, with one row in memory; one in Fortran order, whose rows are scattered over
/// the file, is read as a whole.
struct ArrayRows {
    file: String,
    element: Element,
    nrows: u64,
    ncols: usize,
    bytes: Box<dyn BufRead + Send>,
    /// All columns one after another, for Fortran order.
    columns: Option<Vec<u8>>,
    row: Vec<u8>,
    values: Vec<f64>,
    /// Rows decoded so far.
    decoded: u64,
}

impl ArrayRows {
    /// Reads the header. A shape is trusted only as far as there are bytes: the first row is read before anything as
    /// wide as the header claims is allocated.
    fn open(file: String, mut bytes: Box<dyn BufRead + Send>) -> Result<Self, DataError> {
        let header = NpyHeader::read(&file, &mut bytes)?;
        let broken = |problem: String| DataError::Npy { file: file.clone(), problem };
        let (nrows, ncols) = match header.shape[..] {
            [nrows] => (nrows, 1),
            [nrows, ncols] => (nrows, ncols),
            _ => {
                let dimensions = header.shape.len();
                return Err(broken(format!("expected an array of 1 or 2 dimensions, found {dimensions}")));
            }
        };
        if nrows == 0 {
            return Err(DataError::NoRows { file, what: format!("the array has shape (0, {ncols})") });
        }
        if ncols == 0 {
            return Err(DataError::NoFeatures { file });
        }
        let row_bytes = ncols.checked_mul(header.element.size() as u64);
        let total_bytes = row_bytes.and_then(|row| row.checked_mul(nrows));
        let (Some(row_bytes), Some(total_bytes)) = (row_bytes, total_bytes) else {
            return Err(broken(format!("a shape of ({nrows}, {ncols}) is beyond what a file can hold")));
        };
        let scattered = header.fortran_order && nrows > 1 && ncols > 1;
        let wanted = if scattered { total_bytes } else { row_bytes };
        let mut first = Vec::new();
        let read = bytes.by_ref().take(wanted).read_to_end(&mut first);
        let read = read.map_err(|source| DataError::Read { place: Place::file(&file), source })?;
        if (read as u64) < wanted {
            return Err(broken(format!(
                "the header promises {total_bytes} bytes for a shape of ({nrows}, {ncols}), but there are {read}"
            )));
        }
        let (columns, row) = if scattered { (Some(first), Vec::new()) } else { (None, first) };
        let mut rows = Self {
            file,
            element: header.element,
            nrows,
            ncols: ncols as usize,
            bytes,
            columns,
            row,
            values: Vec::new(),
            decoded: 0,
        };
        rows.decode_row();
        Ok(rows)
    }

    /// Decodes the next row from the bytes read.
    fn decode_row(&mut self) {
        self.values.clear();
        if let Some(columns) = &self.columns {
            let size = self.element.size();
            self.row.clear();
            for column in 0..self.ncols {
                // Both fit: the product of the shape and the size is the length of `columns`.
                let at = (column * self.nrows as usize + self.decoded as usize) * size;
                self.row.extend_from_slice(&columns[at..at + size]);
            }
        }
        self.element.decode(&self.row, &mut self.values);
        self.decoded += 1;
    }

    /// Advances to the next row; false after the last.
    fn advance(&mut self) -> Result<bool, DataError> {
        if self.decoded == self.nrows {
            return Ok(false);
        }
        if self.columns.is_none() {
            self.bytes.read_exact(&mut self.row).map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => DataError::Npy {
                    file: self.file.clone(),
                    problem: format!(
                        "the header promises {} rows, but the data end in row {} (counted from 0)",
                        self.nrows, self.decoded
                    ),
                },
                _ => DataError::Read { place: Place::at(&self.file, RowNumber::Index(self.decoded)), source },
            })?;
        }
        self.decode_row();
        Ok(true)
    }
}

/// The arrays of a file as a table: the columns of the features, then those of an archive's `y`.
pub(super) struct ArrayTable {
    pub names: Vec<String>,
    /// The number of trailing columns from `y`.
    pub ntargets: usize,
    features: ArrayRows,
    targets: Option<ArrayRows>,
    /// Whether the current row of the arrays has not been returned yet.
    fresh: bool,
}

impl ArrayTable {
    /// The one array of an `.npy` file.
    pub fn open_npy(opened: Opened) -> Result<Self, DataError> {
        Self::new(ArrayRows::open(opened.name, opened.bytes)?, None)
    }

    /// The arrays `X` and `y` of an `.npz` file, or `X_train` and `y_train`, or its only array as features.
    pub fn open_npz(mut opened: Opened) -> Result<Self, DataError> {
        let file = opened.name;
        let mut bytes = Vec::new();
        let read = opened.bytes.read_to_end(&mut bytes);
        read.map_err(|source| DataError::Read { place: Place::file(&file), source })?;
        let broken = |problem: String| DataError::Npy { file: file.clone(), problem };
        let not_an_archive = |e: zip::result::ZipError| broken(format!("not a readable .npz archive: {e}"));
        let length = bytes.len() as u64;
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(not_an_archive)?;
        let entries = archive.file_names().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|name| name.strip_suffix(".npy").map(str::to_owned)).collect();
        names.sort();
        let has = |name: &str| names.iter().any(|n| n == name);
        let (features, targets) = if has("X") {
            ("X", Some("y").filter(|y| has(y)))
        } else if has("X_train") {
            ("X_train", Some("y_train").filter(|y| has(y)))
        } else if let [only] = &names[..] {
            (only.as_str(), None)
        } else {
            let found = listed(&names);
            return Err(broken(format!(
                "expected an array `X` (and `y`), or `X_train`, or one array; found {found}"
            )));
        };
        let mut array = |name: &str| {
            let mut entry = archive.by_name(&format!("{name}.npy")).map_err(not_an_archive)?;
            // An archive may claim any size of its arrays.
            let mut bytes = Vec::with_capacity(entry.size().min(length) as usize);
            let read = entry.read_to_end(&mut bytes);
            let file = format!("{file}, array `{name}`");
            read.map_err(|source| DataError::Read { place: Place::file(&file), source })?;
            ArrayRows::open(file, Box::new(Cursor::new(bytes)))
        };
        let features = array(features)?;
        let targets = targets.map(array).transpose()?;
        Self::new(features, targets)
    }

    fn new(features: ArrayRows, targets: Option<ArrayRows>) -> Result<Self, DataError> {
        let mut names: Vec<String> = (0..features.ncols).map(|column| format!("x{column}")).collect();
        let ntargets = targets.as_ref().map_or(0, |y| y.ncols);
        if let Some(y) = &targets {
            if y.nrows != features.nrows {
                let problem = format!("{} rows, but the features have {}", y.nrows, features.nrows);
                return Err(DataError::Npy { file: y.file.clone(), problem });
            }
            if ntargets == 1 {
                names.push("y".to_owned());
            } else {
                names.extend((0..ntargets).map(|column| format!("y_{column}")));
            }
        }
        Ok(Self { names, ntargets, features, targets, fresh: true })
    }

    /// Reads up to `limit` rows into `rows`; false once the arrays are at their end.
    pub fn read_into<T: Real>(&mut self, rows: &mut RowBuilder<T>, limit: usize) -> Result<bool, DataError> {
        let full = rows.nrows().saturating_add(limit);
        while rows.nrows() < full {
            if !std::mem::take(&mut self.fresh) {
                if !self.features.advance()? {
                    return Ok(false);
                }
                if let Some(targets) = &mut self.targets {
                    targets.advance()?;
                }
            }
            let features = &self.features.values;
            let targets = self.targets.as_ref().map_or(&[][..], |y| &y.values);
            let row = RowNumber::Index(self.features.decoded - 1);
            let value = |column: usize| match column.checked_sub(features.len()) {
                None => Cell::Value(features[column]),
                Some(column) => Cell::Value(targets[column]),
            };
            rows.push(&self.features.file, &self.names, row, features.len() + targets.len(), value)?;
        }
        Ok(true)
    }
}

/// Writes a matrix in C order as an `.npy` file, completely or not at all.
///
/// # Errors
/// If the file cannot be written, or `entries` is not `nrows * ncols` long.
pub fn write_npy<T: Real>(path: &Path, nrows: usize, ncols: usize, entries: &[T]) -> Result<(), DataError> {
    let expected = nrows.saturating_mul(ncols);
    if entries.len() != expected {
        let found = entries.len();
        return Err(super::InvalidSamples::Length { nrows, ncols, expected, found }.into());
    }
    write_atomically(path, |file| {
        write_npy_header::<T>(file, nrows, ncols)?;
        write_npy_entries(file, entries)
    })
}

/// Writes the header of an array of `nrows` rows in C order, for entries that follow as they are computed.
///
/// # Errors
/// Those of `writer`.
pub fn write_npy_header<T: Real>(writer: &mut dyn Write, nrows: usize, ncols: usize) -> io::Result<()> {
    // Magic, version and length take 10 bytes; NumPy requires a total length that is a multiple of 64, ending in a
    // newline.
    let size = T::PRECISION.bytes();
    let mut text = format!("{{'descr': '<f{size}', 'fortran_order': False, 'shape': ({nrows}, {ncols}), }}");
    let padded = (10 + text.len() + 1).next_multiple_of(64);
    while text.len() + 11 < padded {
        text.push(' ');
    }
    text.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(text.len() as u16).to_le_bytes())?;
    writer.write_all(text.as_bytes())
}

/// Writes entries of an array after its header.
///
/// # Errors
/// Those of `writer`.
pub fn write_npy_entries<T: Real>(writer: &mut dyn Write, entries: &[T]) -> io::Result<()> {
    let mut bytes = vec![0; entries.len().min(8192) * size_of::<T>()];
    for block in entries.chunks(8192) {
        let bytes = &mut bytes[..size_of_val(block)];
        match T::PRECISION {
            Precision::Single => {
                let numbers = bytes.as_chunks_mut::<4>().0.iter_mut().zip(block);
                numbers.for_each(|(bytes, v)| *bytes = (v.to_f64() as f32).to_le_bytes());
            }
            Precision::Double => {
                let numbers = bytes.as_chunks_mut::<8>().0.iter_mut().zip(block);
                numbers.for_each(|(bytes, v)| *bytes = v.to_f64().to_le_bytes());
            }
        }
        writer.write_all(bytes)?;
    }
    Ok(())
}
