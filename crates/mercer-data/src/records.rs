//! Records: the rows of a text table, split into fields.
//!
//! Fields may be quoted (RFC 4180: `""` inside quotes is a quote, line ends and delimiters inside quotes are text); a
//! quote that does not open its field is an ordinary character. Blank lines are skipped, a byte-order mark and the `\r`
//! of `\r\n` are dropped. Line numbers are those shown by an editor, so the lines are counted here: a parser that only
//! sees a stream of bytes miscounts with `\r\n` and blank lines.

use std::collections::VecDeque;
use std::ops::Range;

use super::error::{DataError, Place, RowNumber};
use super::lines::Lines;
use super::options::Delimiter;

/// One row of text fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    text: Vec<u8>,
    fields: Vec<Range<usize>>,
    line: u64,
}

impl Record {
    /// The record without its leading `#`; `None` without one.
    pub fn uncommented(&self) -> Option<Self> {
        let start = self.text.first().filter(|b| **b == b'#').map(|_| 1)?;
        let mut record = self.clone();
        if let Some(field) = record.fields.first_mut() {
            field.start = start.min(field.end);
            // A `#` followed by a blank.
            if field.start == field.end {
                record.fields.remove(0);
            }
        }
        Some(record)
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Field `index`, without surrounding blanks.
    pub fn field(&self, index: usize) -> &[u8] {
        self.text[self.fields[index].clone()].trim_ascii()
    }

    /// All fields in order.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.field(index))
    }

    /// The line the record starts on, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }
}

/// Reads records one after another into one buffer.
pub(super) struct Records {
    lines: Lines,
    delimiter: Delimiter,
    current: Record,
    put_back: VecDeque<Record>,
}

impl Records {
    pub fn new(lines: Lines, delimiter: Delimiter) -> Self {
        Self { lines, delimiter, current: Record::default(), put_back: VecDeque::new() }
    }

    /// Puts `record` back, to be read after those put back before it.
    pub fn put_back(&mut self, record: Record) {
        self.put_back.push_back(record);
    }

    /// The next lines, unless a record was put back before them; see [`Lines::look_ahead`].
    pub fn look_ahead(&mut self, size: usize) -> Result<&[u8], DataError> {
        if self.put_back.is_empty() { self.lines.look_ahead(size) } else { Ok(&[]) }
    }

    /// Consumes whole lines that were looked at.
    pub fn pass(&mut self, bytes: usize, lines: u64) {
        self.lines.pass(bytes, lines);
    }

    /// The line last read, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The separator of fields, if it is one byte.
    pub fn delimiter(&self) -> Option<u8> {
        match self.delimiter {
            Delimiter::Byte(byte) => Some(byte),
            Delimiter::Whitespace => None,
        }
    }

    /// Reads the next record, `None` at the end of the file.
    pub fn advance(&mut self) -> Result<Option<&Record>, DataError> {
        if let Some(record) = self.put_back.pop_front() {
            self.current = record;
            return Ok(Some(&self.current));
        }
        loop {
            self.current.text.clear();
            self.current.fields.clear();
            if !self.lines.append_next(&mut self.current.text)? {
                return Ok(None);
            }
            self.current.line = self.lines.number();
            let blank = |b: &u8| *b == b' ' || (*b == b'\t' && self.delimiter != Delimiter::Byte(b'\t'));
            if !self.current.text.iter().all(blank) {
                break;
            }
        }
        if self.current.text.contains(&b'"') {
            self.split_quoted()?;
        } else {
            self.split_plain();
        }
        Ok(Some(&self.current))
    }

    fn split_plain(&mut self) {
        let Record { text, fields, .. } = &mut self.current;
        let mut start = 0;
        match self.delimiter {
            Delimiter::Byte(delimiter) => {
                for (at, &byte) in text.iter().enumerate() {
                    if byte == delimiter {
                        fields.push(start..at);
                        start = at + 1;
                    }
                }
                fields.push(start..text.len());
            }
            Delimiter::Whitespace => {
                for (at, byte) in text.iter().enumerate() {
                    if is_blank(*byte) {
                        if start < at {
                            fields.push(start..at);
                        }
                        start = at + 1;
                    }
                }
                if start < text.len() {
                    fields.push(start..text.len());
                }
            }
        }
    }

    /// Splits a record that has quotes, moving the fields' text over the quotes that are dropped.
    fn split_quoted(&mut self) -> Result<(), DataError> {
        let delimiter = self.delimiter;
        let ends_field = |byte: u8| match delimiter {
            Delimiter::Byte(delimiter) => byte == delimiter,
            Delimiter::Whitespace => is_blank(byte),
        };
        let (mut read, mut write) = (0, 0);
        loop {
            if delimiter == Delimiter::Whitespace {
                while self.current.text.get(read).is_some_and(|&b| is_blank(b)) {
                    read += 1;
                }
                if read == self.current.text.len() {
                    return Ok(());
                }
            }
            let start = write;
            if self.current.text.get(read) == Some(&b'"') {
                read += 1;
                loop {
                    if read == self.current.text.len() {
                        self.current.text.push(b'\n');
                        if !self.lines.append_next(&mut self.current.text)? {
                            let row = RowNumber::Line(self.current.line);
                            return Err(DataError::UnclosedQuote {
                                place: Place::at(self.lines.file(), row),
                            });
                        }
                    }
                    let byte = self.current.text[read];
                    read += 1;
                    if byte == b'"' {
                        if self.current.text.get(read) != Some(&b'"') {
                            break;
                        }
                        read += 1;
                    }
                    self.current.text[write] = byte;
                    write += 1;
                }
            }
            let text = &mut self.current.text;
            while read < text.len() && !ends_field(text[read]) {
                text[write] = text[read];
                (read, write) = (read + 1, write + 1);
            }
            self.current.fields.push(start..write);
            if read == self.current.text.len() {
                return Ok(());
            }
            read += 1;
            // The byte that ended the field stays between it and the next, so that ranges never touch and `write` never
            // overtakes `read`.
            write += 1;
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Guesses the delimiter from the first lines of a table: the most frequent of comma, semicolon, tab and bar in the
/// first line that is not a comment, not counting decimal commas; otherwise runs of blanks if the first two lines have
/// equally many; otherwise comma.
pub(super) fn sniff_delimiter(head: &[u8]) -> Delimiter {
    let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let first = lines.next().unwrap_or_default();
    let mut quoted = false;
    let mut counts = [(b',', 0usize), (b';', 0), (b'\t', 0), (b'|', 0)];
    for &byte in first {
        quoted ^= byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(d, _)| *d == byte && !quoted) {
            *count += 1;
        }
    }
    // Commas between digits are decimal commas if another character can separate the fields.
    let decimal = |comma: usize| {
        let digit = |at: Option<usize>| at.and_then(|at| first.get(at)).is_some_and(u8::is_ascii_digit);
        digit(comma.checked_sub(1)) && digit(Some(comma + 1))
    };
    if counts[1..].iter().any(|(_, count)| *count > 0) && memchr::memchr_iter(b',', first).all(decimal) {
        counts[0].1 = 0;
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most > 0 {
        let delimiter = counts.iter().find(|(_, count)| *count == most).map_or(b',', |(d, _)| *d);
        return Delimiter::Byte(delimiter);
    }
    let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let width = words(first);
    // A line cut off at the end of the sample may lack its last words.
    let agrees = lines.next().is_none_or(|second| words(second) == width || head.ends_with(second));
    if width > 1 && agrees { Delimiter::Whitespace } else { Delimiter::Byte(b',') }
}
