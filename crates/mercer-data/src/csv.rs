//! Text tables separated by commas, semicolons, tabs or blanks, with or without a header.

use super::advice::of_empty_column;
use super::error::{DataError, Place, RowNumber};
use super::fields::{Cell, Parsed, has_decimal_comma, parse_comma_number, parse_number};
use super::lines::Lines;
use super::options::{Delimiter, Layout};
use super::plain;
use super::records::{Record, Records, sniff_delimiter};
use super::rows::RowBuilder;
use super::source::Opened;
use crate::real::Real;

/// A text table with its column names, positioned before its first row of data.
pub(super) struct TextTable {
    pub names: Vec<String>,
    /// Whether the names come from a header.
    pub named: bool,
    file: String,
    /// Whether numbers have a decimal comma.
    comma: bool,
    records: Records,
    /// The line up to which rows are known not to be plain.
    unusual_until: u64,
}

/// Bytes of lines parsed at a time.
const BLOCK: usize = 1 << 22;

impl TextTable {
    pub fn open(opened: Opened, layout: &Layout) -> Result<Self, DataError> {
        let declared = declared_delimiter(&opened.head);
        let delimiter = layout.delimiter.or(declared).unwrap_or_else(|| {
            if opened.tab_separated { Delimiter::Byte(b'\t') } else { sniff_delimiter(&opened.head) }
        });
        let file = opened.name;
        let comma = uses_decimal_comma(&opened.head, delimiter);
        let mut records = Records::new(Lines::new(file.clone(), opened.bytes), delimiter);
        if declared.is_some() {
            records.advance()?;
        }
        let Some(first) = first_record(&mut records, comma)? else { return Err(DataError::Empty { file }) };
        let named = match layout.header {
            Some(named) => named,
            None => {
                let second = records.advance()?.cloned();
                let named = is_header(&first, second.as_ref(), comma);
                if !named {
                    records.put_back(first.clone());
                }
                if let Some(second) = second {
                    records.put_back(second);
                }
                named
            }
        };
        if layout.header == Some(false) {
            records.put_back(first.clone());
        }
        let name = |(place, field): (usize, &[u8])| match field {
            field if named && !field.is_empty() => String::from_utf8(field.to_vec()).map_err(|_| {
                let place =
                    Place::at(&file, RowNumber::Line(first.line())).column(place, &format!("x{place}"));
                DataError::NotUtf8 { place }
            }),
            _ => Ok(format!("x{place}")),
        };
        let names = first.fields().enumerate().map(name).collect::<Result<_, _>>()?;
        Ok(Self { names, named, file, comma, records, unusual_until: 0 })
    }

    /// Reads up to `limit` rows into `rows`; false once the file is at its end.
    pub fn read_into<T: Real>(&mut self, rows: &mut RowBuilder<T>, limit: usize) -> Result<bool, DataError> {
        let full = rows.nrows().saturating_add(limit);
        while rows.nrows() < full {
            if self.read_plain(rows, full - rows.nrows())? {
                continue;
            }
            let Some(record) = self.records.advance()? else { return Ok(false) };
            let row = RowNumber::Line(record.line());
            let cell = |column: usize| match record.field(column) {
                field if self.comma => Cell::CommaText(field),
                field => Cell::Text(field),
            };
            if let Err(error) = rows.push(&self.file, &self.names, row, record.len(), cell) {
                return Err(match &error {
                    DataError::MissingValue { place, .. } | DataError::NotANumber { place, .. }
                        if place.column.as_ref().is_some_and(|(column, _)| rows.begins_with(*column)) =>
                    {
                        self.explained(error)
                    }
                    _ => error,
                });
            }
        }
        Ok(true)
    }
}

impl TextTable {
    /// An error of a feature in the first row of data, with advice from the rows below.
    fn explained(&mut self, error: DataError) -> DataError {
        match error {
            DataError::MissingValue { place, text, remedy } => {
                let Some((column, name)) = place.column.clone() else {
                    return DataError::MissingValue { place, text, remedy };
                };
                let mut empty = true;
                while let (true, Ok(Some(record))) = (empty, self.records.advance()) {
                    empty = column >= record.len() || Cell::Text(record.field(column)).is_missing();
                }
                let remedy = if empty { of_empty_column(column, &name) } else { remedy };
                DataError::MissingValue { place, text, remedy }
            }
            DataError::NotANumber { place, text, advice } => {
                let parse = if self.comma { parse_comma_number } else { parse_number };
                let below = match (&place.column, self.records.advance()) {
                    (Some((column, _)), Ok(Some(record))) if *column < record.len() => {
                        parse(record.field(*column))
                    }
                    _ => Parsed::Text,
                };
                let advice = match below {
                    Parsed::Number(_) => {
                        "; the line below has a number there: correct the field, or delete the line if it is a second header".into()
                    }
                    _ => advice,
                };
                DataError::NotANumber { place, text, advice }
            }
            other => other,
        }
    }

    /// Reads some rows if the next ones are plain numbers; otherwise returns false.
    fn read_plain<T: Real>(&mut self, rows: &mut RowBuilder<T>, limit: usize) -> Result<bool, DataError> {
        let Some(delimiter) = self.records.delimiter().filter(|_| self.records.line() >= self.unusual_until)
        else {
            return Ok(false);
        };
        let Some(shape) = rows.plain_shape(delimiter) else { return Ok(false) };
        let mut block = self.records.look_ahead(BLOCK)?;
        if limit < block.len() {
            block = memchr::memchr_iter(b'\n', block).nth(limit - 1).map_or(block, |end| &block[..=end]);
        }
        if block.is_empty() {
            return Ok(false);
        }
        let (bytes, lines) = (block.len(), memchr::memchr_iter(b'\n', block).count() as u64);
        match plain::parse::<T>(block, &shape) {
            Some(plain) => {
                rows.extend_plain(plain);
                self.records.pass(bytes, lines);
                Ok(true)
            }
            None => {
                self.unusual_until = self.records.line() + lines;
                Ok(false)
            }
        }
    }
}

/// The delimiter that the first line declares: `sep=;`, as spreadsheet programs write and read it.
fn declared_delimiter(head: &[u8]) -> Option<Delimiter> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = text.split(|&b| b == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(b"sep=")? {
        &[delimiter @ (b',' | b';' | b'\t' | b'|')] => Some(Delimiter::Byte(delimiter)),
        _ => None,
    }
}

/// The first record after the comments at the beginning of a file. The last comment is the header if it has a name for
/// each column, as written by NumPy.
fn first_record(records: &mut Records, comma: bool) -> Result<Option<Record>, DataError> {
    let mut comment = None;
    loop {
        let Some(record) = records.advance()?.cloned() else { return Ok(None) };
        if let Some(uncommented) = record.uncommented() {
            comment = Some(uncommented);
            continue;
        }
        let header = comment.filter(|header| header.len() == record.len() && header.len() > 1);
        return Ok(Some(match header {
            Some(header) if is_header(&header, Some(&record), comma) && !is_header(&record, None, comma) => {
                records.put_back(record);
                header
            }
            _ => record,
        }));
    }
}

/// Whether the first lines of a table, whose columns are not separated by commas, have numbers with a decimal comma and none with
/// a point.
fn uses_decimal_comma(head: &[u8], delimiter: Delimiter) -> bool {
    if delimiter == Delimiter::Byte(b',') {
        return false;
    }
    let separates = |b: &u8| match delimiter {
        Delimiter::Byte(delimiter) => *b == delimiter,
        Delimiter::Whitespace => b.is_ascii_whitespace(),
    };
    let lines = head.split(|&b| b == b'\n').filter(|line| !line.starts_with(b"#"));
    let mut found = false;
    for field in lines.flat_map(|line| line.split(separates)).map(<[u8]>::trim_ascii) {
        if field.contains(&b'.') && matches!(parse_number(field), Parsed::Number(_)) {
            return false;
        }
        found |= has_decimal_comma(field);
    }
    found
}

/// Whether the first record is a header: if none of its fields is a number, or if some field that is not a number is
/// above one that is.
fn is_header(first: &Record, second: Option<&Record>, comma: bool) -> bool {
    let parse = if comma { parse_comma_number } else { parse_number };
    let is_text = |field: &[u8]| matches!(parse(field), Parsed::Text);
    if !first.fields().any(is_text) {
        return false;
    }
    let all_text = first.fields().all(|field| is_text(field) || field.is_empty());
    all_text
        || second.is_some_and(|second| {
            first.fields().zip(second.fields()).any(|(above, below)| is_text(above) && !is_text(below))
        })
}
