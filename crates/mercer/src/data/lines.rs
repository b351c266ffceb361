//! Lines of a text file, counted as an editor counts them.

use std::io::{BufRead, Read};

use super::error::{DataError, Place, RowNumber};

/// The longest line that is read, in bytes: a file that is no text at all is refused before it fills the memory.
const MAX_LINE: u64 = 1 << 30;

/// A text file being read line by line.
pub(super) struct Lines {
    file: String,
    bytes: Box<dyn BufRead + Send>,
    read: u64,
}

impl Lines {
    pub fn new(file: String, bytes: Box<dyn BufRead + Send>) -> Self {
        Self { file, bytes, read: 0 }
    }

    /// The line last read, from 1.
    pub fn number(&self) -> u64 {
        self.read
    }

    /// The line last read, as a place.
    pub fn place(&self) -> Place {
        Place::at(&self.file, RowNumber::Line(self.read))
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Appends the next line to `text` without its end, and the first without a byte-order mark; false at the end of
    /// the file.
    pub fn append_next(&mut self, text: &mut Vec<u8>) -> Result<bool, DataError> {
        let start = text.len();
        self.read += 1;
        let read = self.bytes.by_ref().take(MAX_LINE).read_until(b'\n', text);
        let read = read.map_err(|source| DataError::Read { place: self.place(), source })?;
        if read == 0 {
            self.read -= 1;
            return Ok(false);
        }
        if text.ends_with(b"\n") {
            text.pop();
            if text[start..].ends_with(b"\r") {
                text.pop();
            }
        } else if read as u64 == MAX_LINE {
            return Err(DataError::LineTooLong { place: self.place(), limit: MAX_LINE });
        }
        if self.read == 1 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        Ok(true)
    }
}
