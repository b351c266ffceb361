//! Parquet files, which store tables column by column in groups of rows.

use std::fs::File;
use std::io::Read;
use std::panic::{self, AssertUnwindSafe};

use bytes::Bytes;
use parquet::basic::ConvertedType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::error::{DataError, Place, RowNumber};
use super::fields::Cell;
use super::rows::RowBuilder;
use super::source::Opened;
use crate::real::Real;

/// Rows decoded at a time.
const BATCH: usize = 4096;

/// A Parquet file, positioned before its first row. Its columns must be flat: numbers, booleans or text.
pub(super) struct ParquetTable {
    pub names: Vec<String>,
    file: String,
    reader: Box<dyn FileReader>,
    kinds: Vec<Kind>,
    /// The next group to open.
    next_group: usize,
    /// The columns of the open group; `None` for those not read.
    columns: Vec<Option<ColumnReader>>,
    /// Undecoded rows of the open group.
    left: usize,
    batch: Vec<Values>,
    batch_rows: usize,
    /// Consumed rows of the batch.
    used: usize,
    /// Consumed rows of the file.
    row: u64,
}

/// The meaning of a column's numbers.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Signed,
    Unsigned,
    /// Decimals with a scale: divided by this number.
    Decimal(f64),
}

/// The decoded values of a column.
#[derive(Default)]
struct Values {
    /// NaN for missing values.
    numbers: Vec<f64>,
    /// The texts, instead of numbers, of a text column; empty for missing values.
    texts: Vec<Bytes>,
    /// Whether each value is present; empty if all are.
    present: Vec<i16>,
}

impl ParquetTable {
    pub fn open(opened: Opened) -> Result<Self, DataError> {
        let file = opened.name.clone();
        guarded(&file, || Self::open_unguarded(opened))
    }

    fn open_unguarded(mut opened: Opened) -> Result<Self, DataError> {
        let file = opened.name.clone();
        let broken = |error: ParquetError| broken(&file, &error);
        let reader: Box<dyn FileReader> = match &opened.path {
            Some(path) => {
                let failed = |source| DataError::Open { file: file.clone(), source };
                Box::new(SerializedFileReader::new(File::open(path).map_err(failed)?).map_err(broken)?)
            }
            None => {
                // The metadata is at the end of a Parquet file, so a source that cannot seek is read into memory.
                let mut whole = Vec::new();
                let failed = |source| DataError::Read { place: Place::file(&file), source };
                opened.bytes.read_to_end(&mut whole).map_err(failed)?;
                Box::new(SerializedFileReader::new(Bytes::from(whole)).map_err(broken)?)
            }
        };
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let (mut names, mut kinds) = (Vec::new(), Vec::new());
        for column in schema.columns() {
            let name = column.path().string();
            if column.max_rep_level() > 0 || column.path().parts().len() != 1 {
                let problem = format!("the column `{name}` is nested; only flat columns are read");
                return Err(DataError::WrongKind { file, problem });
            }
            kinds.push(match column.converted_type() {
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Kind::Unsigned,
                ConvertedType::DECIMAL => Kind::Decimal(10f64.powi(column.type_scale())),
                _ => Kind::Signed,
            });
            names.push(name);
        }
        Ok(Self {
            names,
            file,
            reader,
            kinds,
            next_group: 0,
            columns: Vec::new(),
            left: 0,
            batch: Vec::new(),
            batch_rows: 0,
            used: 0,
            row: 0,
        })
    }

    /// Reads up to `limit` rows into `rows`; false once the file is at its end.
    pub fn read_into<T: Real>(&mut self, rows: &mut RowBuilder<T>, limit: usize) -> Result<bool, DataError> {
        let full = rows.nrows().saturating_add(limit);
        while rows.nrows() < full {
            if self.used == self.batch_rows {
                let file = self.file.clone();
                if !guarded(&file, || self.decode(|column| rows.ignores(column)))? {
                    return Ok(false);
                }
            }
            let (batch, row) = (&self.batch, self.used);
            let cell = |column: usize| batch[column].cell(row);
            rows.push(&self.file, &self.names, RowNumber::Index(self.row), self.names.len(), cell)?;
            (self.used, self.row) = (self.used + 1, self.row + 1);
        }
        Ok(true)
    }

    /// Decodes the next batch; false at the end of the file.
    fn decode(&mut self, ignored: impl Fn(usize) -> bool) -> Result<bool, DataError> {
        let file = self.file.clone();
        let broken = |error: ParquetError| broken(&file, &error);
        while self.left == 0 {
            if self.next_group == self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.next_group).map_err(broken)?;
            let rows = usize::try_from(group.metadata().num_rows());
            self.left = rows.map_err(|_| cut_short(&file))?;
            let wanted = (0..self.names.len()).map(|c| (!ignored(c)).then(|| group.get_column_reader(c)));
            self.columns = wanted.map(Option::transpose).collect::<Result<_, _>>().map_err(broken)?;
            self.next_group += 1;
        }
        let count = self.left.min(BATCH);
        self.batch.resize_with(self.names.len(), Values::default);
        let columns = self.columns.iter_mut().zip(&self.kinds).zip(&self.names).zip(&mut self.batch);
        for (((column, kind), name), values) in columns {
            let Some(column) = column else { continue };
            let decoded = values.decode(column, *kind, count).map_err(broken)?;
            match decoded {
                None => {
                    let problem = format!(
                        "the column `{name}` holds neither numbers, booleans nor text of free length"
                    );
                    return Err(DataError::WrongKind { file, problem });
                }
                Some(decoded) if decoded != count => return Err(cut_short(&file)),
                Some(_) => {}
            }
        }
        (self.left, self.batch_rows, self.used) = (self.left - count, count, 0);
        Ok(true)
    }
}

impl Values {
    /// Decodes up to `count` rows of a column and returns how many there were; `None` for a type that is not read.
    fn decode(
        &mut self,
        column: &mut ColumnReader,
        kind: Kind,
        count: usize,
    ) -> Result<Option<usize>, ParquetError> {
        let scaled = |value: f64| if let Kind::Decimal(scale) = kind { value / scale } else { value };
        let unsigned = matches!(kind, Kind::Unsigned);
        Ok(Some(match column {
            ColumnReader::BoolColumnReader(c) => self.numbers(c, count, |v| f64::from(u8::from(*v)))?,
            ColumnReader::Int32ColumnReader(c) if unsigned => {
                self.numbers(c, count, |v| f64::from(*v as u32))?
            }
            ColumnReader::Int32ColumnReader(c) => self.numbers(c, count, |v| scaled(f64::from(*v)))?,
            ColumnReader::Int64ColumnReader(c) if unsigned => self.numbers(c, count, |v| *v as u64 as f64)?,
            ColumnReader::Int64ColumnReader(c) => self.numbers(c, count, |v| scaled(*v as f64))?,
            ColumnReader::FloatColumnReader(c) => self.numbers(c, count, |v| f64::from(*v))?,
            ColumnReader::DoubleColumnReader(c) => self.numbers(c, count, |v| *v)?,
            ColumnReader::ByteArrayColumnReader(c) => {
                let mut values = Vec::new();
                let rows = self.fill(c, count, &mut values)?;
                let mut values = values.into_iter().map(|v| Bytes::copy_from_slice(v.as_bytes()));
                self.texts.clear();
                if self.present.is_empty() {
                    self.texts.extend(values);
                } else {
                    let text = |there: &i16| if *there > 0 { values.next() } else { None };
                    self.texts.extend(self.present.iter().map(text).map(Option::unwrap_or_default));
                }
                rows
            }
            ColumnReader::FixedLenByteArrayColumnReader(c) if matches!(kind, Kind::Decimal(_)) => {
                self.numbers(c, count, |v| scaled(big_endian(v.as_bytes())))?
            }
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                return Ok(None);
            }
        }))
    }

    fn numbers<D: DataType>(
        &mut self,
        column: &mut ColumnReaderImpl<D>,
        count: usize,
        number: impl Fn(&D::T) -> f64,
    ) -> Result<usize, ParquetError> {
        let mut values = Vec::with_capacity(count);
        let rows = self.fill(column, count, &mut values)?;
        let mut values = values.iter().map(number);
        self.numbers.clear();
        if self.present.is_empty() {
            self.numbers.extend(values);
        } else {
            let number = |there: &i16| if *there > 0 { values.next() } else { None };
            self.numbers.extend(self.present.iter().map(number).map(|v| v.unwrap_or(f64::NAN)));
        }
        Ok(rows)
    }

    /// The present values, and the number of rows.
    fn fill<D: DataType>(
        &mut self,
        column: &mut ColumnReaderImpl<D>,
        count: usize,
        values: &mut Vec<D::T>,
    ) -> Result<usize, ParquetError> {
        self.present.clear();
        let mut rows = 0;
        while rows < count {
            let (read, ..) = column.read_records(count - rows, Some(&mut self.present), None, values)?;
            if read == 0 {
                break;
            }
            rows += read;
        }
        Ok(rows)
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match (self.texts.get(row), self.numbers.get(row)) {
            (Some(text), _) => Cell::Text(text.trim_ascii()),
            (None, Some(number)) => Cell::Value(*number),
            // A column that is not read.
            (None, None) => Cell::Text(b""),
        }
    }
}

/// A signed number, its most significant byte first.
fn big_endian(bytes: &[u8]) -> f64 {
    let magnitude = |flip: u8| bytes.iter().fold(0.0, |sum, byte| sum * 256.0 + f64::from(byte ^ flip));
    // In two's complement −v is v with every bit flipped, plus one.
    if bytes.first().is_some_and(|first| first & 0x80 != 0) { -1.0 - magnitude(0xff) } else { magnitude(0) }
}

/// The result of `work`, or an error if the decoder panics, which happens on some damaged files.
fn guarded<R>(file: &str, work: impl FnOnce() -> Result<R, DataError>) -> Result<R, DataError> {
    // The state is not used after a panic: the table is not read any further.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let problem = "its pages cannot be decoded: the file is damaged".to_owned();
        Err(DataError::Parquet { file: file.to_owned(), problem })
    })
}

fn broken(file: &str, error: &ParquetError) -> DataError {
    DataError::Parquet { file: file.to_owned(), problem: error.to_string() }
}

fn cut_short(file: &str) -> DataError {
    let problem = "a group of rows has fewer than it says".to_owned();
    DataError::Parquet { file: file.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::big_endian;

    #[test]
    fn decimals_have_their_sign() {
        for value in [0i32, 1, -1, 255, -256, 123_456_789, i32::MIN, i32::MAX] {
            assert_eq!(big_endian(&value.to_be_bytes()), f64::from(value));
        }
    }
}
