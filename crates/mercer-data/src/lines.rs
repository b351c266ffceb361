//! Lines of a text file, counted as an editor counts them.

use std::io::{BufRead, Read};

use super::error::{DataError, Place, RowNumber};

/// The longest line that is read, in bytes: a file that is not text is rejected before it fills the memory.
const MAX_LINE: u64 = 1 << 30;

/// A text file being read line by line.
pub(super) struct Lines {
    file: String,
    bytes: Box<dyn BufRead + Send>,
    read: u64,
    /// Bytes read ahead; those from `at` on are not consumed yet.
    ahead: Vec<u8>,
    at: usize,
}

impl Lines {
    pub fn new(file: String, bytes: Box<dyn BufRead + Send>) -> Self {
        Self { file, bytes, read: 0, ahead: Vec::new(), at: 0 }
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

    /// The next whole lines, as many as fit about `size` bytes; empty if a line is longer than that, and at the end of
    /// the file. This does not consume them.
    pub fn look_ahead(&mut self, size: usize) -> Result<&[u8], DataError> {
        let held = self.ahead.len() - self.at;
        if held < size / 2 {
            self.ahead.drain(..self.at);
            self.at = 0;
            let wanted = (size - held) as u64;
            let read = self.bytes.by_ref().take(wanted).read_to_end(&mut self.ahead);
            read.map_err(|source| DataError::Read { place: self.place(), source })?;
        }
        let coming = &self.ahead[self.at..];
        let end = memchr::memrchr(b'\n', coming).map_or(0, |end| end + 1);
        Ok(&coming[..end])
    }

    /// Consumes whole lines that were returned by `look_ahead`.
    pub fn pass(&mut self, bytes: usize, lines: u64) {
        self.at += bytes;
        self.read += lines;
    }

    /// Appends the next line to `text` without its end, and the first without a byte-order mark; false at the end of
    /// the file.
    pub fn append_next(&mut self, text: &mut Vec<u8>) -> Result<bool, DataError> {
        let start = text.len();
        self.read += 1;
        let held = &self.ahead[self.at..];
        let line = memchr::memchr(b'\n', held).map_or(held, |end| &held[..=end]);
        text.extend_from_slice(line);
        self.at += line.len();
        if !text[start..].ends_with(b"\n") {
            let rest = self.bytes.by_ref().take(MAX_LINE).read_until(b'\n', text);
            rest.map_err(|source| DataError::Read { place: self.place(), source })?;
        }
        let read = text.len() - start;
        if read == 0 {
            self.read -= 1;
            return Ok(false);
        }
        if text.ends_with(b"\n") {
            text.pop();
            if text[start..].ends_with(b"\r") {
                text.pop();
            }
        } else if read as u64 >= MAX_LINE {
            return Err(DataError::LineTooLong { place: self.place(), limit: MAX_LINE });
        }
        if self.read == 1 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        Ok(true)
    }
}
