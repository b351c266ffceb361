//! Sources: files, standard input or bytes in memory, with decompression and detection of the format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::error::{DataError, Place};
use super::foreign::foreign;

/// The number of bytes examined to detect a format.
const PEEK: usize = 1 << 16;

/// A data format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A text table separated by commas, semicolons, tabs or blanks.
    Csv,
    /// LIBSVM (svmlight) text: `label index:value …`, indices from 1.
    Svmlight,
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays.
    Npz,
    /// A Parquet file, if the program was built with support for it.
    Parquet,
}

impl Format {
    /// The format by a file's name, ignoring `.gz`. `.txt` does not determine it: the content is examined.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" | "tsv" => Some(Self::Csv),
            "svm" | "libsvm" | "svmlight" => Some(Self::Svmlight),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The format by the first bytes of a file.
    ///
    /// Text is LIBSVM if one of its first lines is numbers followed by a field of the form `index:value`, and a table
    /// otherwise. `None` if the bytes are neither text nor NumPy's.
    #[must_use]
    pub fn sniff(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x93NUMPY") {
            return Some(Self::Npy);
        }
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Some(Self::Npz);
        }
        if head.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        if head.contains(&0) {
            return None;
        }
        Some(if first_lines(head).any(is_sparse_row) { Self::Svmlight } else { Self::Csv })
    }

    /// What is wrong with the name of a file, if its first bytes are clearly of another format.
    fn contradiction(self, head: &[u8]) -> Option<&'static str> {
        let is_text = |format| matches!(format, Self::Csv | Self::Svmlight);
        match (self, Self::sniff(head)) {
            (named, None) if is_text(named) => Some("this is not text: it contains zero bytes"),
            (named, Some(Self::Npy)) if named != Self::Npy => {
                Some("this is a NumPy array; give the file the ending .npy")
            }
            (named, Some(Self::Npz)) if named != Self::Npz => {
                Some("this is an archive of NumPy arrays; give the file the ending .npz")
            }
            (named, Some(Self::Parquet)) if named != Self::Parquet => {
                Some("this is a Parquet file; give the file the ending .parquet")
            }
            (Self::Npy, Some(found)) if is_text(found) => {
                Some("this is not a NumPy array but text; give the file the ending .csv or .txt")
            }
            (Self::Npz, Some(found)) if is_text(found) => {
                Some("this is not an archive of NumPy arrays but text; give the file the ending .csv or .txt")
            }
            (Self::Parquet, Some(found)) if is_text(found) => {
                Some("this is not a Parquet file but text; give the file the ending .csv or .txt")
            }
            (Self::Csv, Some(Self::Svmlight)) if first_lines(head).all(is_sparse_row) => {
                Some("this is LIBSVM text; give the file the ending .svm")
            }
            _ => None,
        }
    }
}

/// The first lines of a text that are neither blank nor comments.
fn first_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).take(8)
}

/// Whether a line is a row of LIBSVM text: numbers followed by a field of the form `index:value`.
fn is_sparse_row(line: &[u8]) -> bool {
    let number = |text: &[u8]| str::from_utf8(text).is_ok_and(|t| t.parse::<f64>().is_ok());
    let is_pair = |field: &[u8]| {
        let colon = field.iter().position(|&b| b == b':');
        colon.is_some_and(|at| {
            let (key, value) = (&field[..at], &field[at + 1..]);
            (key == b"qid" || (!key.is_empty() && key.iter().all(u8::is_ascii_digit))) && number(value)
        })
    };
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let labelled =
        fields.next().is_some_and(|first| is_pair(first) || first.split(|&b| b == b',').all(number));
    labelled && fields.next().is_some_and(is_pair)
}

/// A source of data.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    origin: Origin,
}

#[derive(Debug, Clone)]
enum Origin {
    Path(PathBuf),
    Stdin,
    Bytes(Arc<[u8]>),
}

/// An open source: its decompressed bytes and their format.
pub(super) struct Opened {
    pub name: String,
    pub format: Format,
    /// Whether the name implies that tabs separate the fields.
    pub tab_separated: bool,
    /// A copy of the first bytes.
    pub head: Vec<u8>,
    pub bytes: Box<dyn BufRead + Send>,
    /// The path, if the same bytes can be read from it in any order.
    pub path: Option<PathBuf>,
}

impl Source {
    /// The file at `path`, or standard input for `-`.
    #[must_use]
    pub fn path(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            return Self { name: "standard input".to_owned(), origin: Origin::Stdin };
        }
        Self { name: path.display().to_string(), origin: Origin::Path(path.to_owned()) }
    }

    /// Bytes in memory, with a name for messages and for detecting their format.
    #[must_use]
    pub fn bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.to_owned(), origin: Origin::Bytes(bytes.into()) }
    }

    /// The name of the source in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the source can be read again from its start. Standard input cannot.
    #[must_use]
    pub fn is_restartable(&self) -> bool {
        !matches!(self.origin, Origin::Stdin)
    }

    /// An estimate of the bytes of its rows in memory: the size of a file, and four times that of a compressed one; `None` if
    /// the size is not known.
    #[must_use]
    pub fn bytes_of_rows(&self) -> Option<u64> {
        let size = match &self.origin {
            Origin::Path(path) => path.metadata().ok()?.len(),
            Origin::Stdin => return None,
            Origin::Bytes(bytes) => bytes.len() as u64,
        };
        let name = self.name.to_ascii_lowercase();
        let compressed = [".gz", ".npz", ".parquet", ".pq"].iter().any(|ending| name.ends_with(ending));
        Some(if compressed { size.saturating_mul(4) } else { size })
    }

    /// Rejects a source that can be read only once.
    pub(super) fn require_restartable(&self) -> Result<(), DataError> {
        if self.is_restartable() {
            Ok(())
        } else {
            Err(DataError::NotRestartable { file: self.name.clone() })
        }
    }

    /// Opens the source at its start and detects its format if `format` does not give it.
    pub(super) fn open(&self, format: Option<Format>) -> Result<Opened, DataError> {
        let raw: Box<dyn BufRead + Send> = match &self.origin {
            Origin::Path(path) => {
                let failed = |source| DataError::Open { file: self.name.clone(), source };
                let file = File::open(path).map_err(failed)?;
                if file.metadata().map_err(failed)?.is_dir() {
                    return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
                }
                Box::new(BufReader::with_capacity(PEEK, file))
            }
            Origin::Stdin => Box::new(BufReader::with_capacity(PEEK, io::stdin())),
            Origin::Bytes(bytes) => Box::new(Cursor::new(bytes.clone())),
        };
        let failed = |source| DataError::Read { place: Place::file(&self.name), source };
        let (head, raw) = peeked(raw, 2).map_err(failed)?;
        let path = match &self.origin {
            Origin::Path(path) if !head.starts_with(&[0x1f, 0x8b]) => Some(path.clone()),
            _ => None,
        };
        let raw: Box<dyn BufRead + Send> = if head.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(PEEK, MultiGzDecoder::new(raw)))
        } else {
            raw
        };
        let (head, bytes) = peeked(raw, PEEK).map_err(failed)?;
        if head.is_empty() {
            return Err(DataError::Empty { file: self.name.clone() });
        }
        if let Some(what) = foreign(&self.name, &head) {
            return Err(DataError::WrongKind { file: self.name.clone(), problem: what.to_owned() });
        }
        let (head, bytes) = match Utf16::of(&head) {
            Some(order) => {
                peeked(Box::new(Cursor::new(order.decode(bytes).map_err(failed)?)), PEEK).map_err(failed)?
            }
            None => (head, bytes),
        };
        let named = Path::new(&self.name);
        let unknown = || DataError::UnknownFormat { file: self.name.clone() };
        let format = match (format, Format::from_path(named)) {
            (Some(format), _) => format,
            (None, Some(format)) => match format.contradiction(&head) {
                Some(problem) => {
                    return Err(DataError::WrongKind {
                        file: self.name.clone(),
                        problem: problem.to_owned(),
                    });
                }
                None => format,
            },
            (None, None) => Format::sniff(&head).ok_or_else(unknown)?,
        };
        let lowercase = self.name.to_ascii_lowercase();
        let tab_separated = lowercase.ends_with(".tsv") || lowercase.ends_with(".tsv.gz");
        Ok(Opened { name: self.name.clone(), format, tab_separated, head, bytes, path })
    }
}

/// Text in UTF-16; the byte-order mark gives the order of the bytes.
enum Utf16 {
    LittleEndian,
    BigEndian,
}

impl Utf16 {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => Some(Self::LittleEndian),
            [0xfe, 0xff, ..] => Some(Self::BigEndian),
            _ => None,
        }
    }

    /// The whole text in UTF-8, without its mark.
    fn decode(&self, mut bytes: Box<dyn BufRead + Send>) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        bytes.read_to_end(&mut all)?;
        let unit = |pair: &[u8]| match self {
            Self::LittleEndian => u16::from_le_bytes([pair[0], pair[1]]),
            Self::BigEndian => u16::from_be_bytes([pair[0], pair[1]]),
        };
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        if all.len() % 2 == 1 {
            return Err(invalid("the text is UTF-16, but it ends in the middle of a character"));
        }
        let units = all.chunks_exact(2).skip(1).map(unit);
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map(String::into_bytes).map_err(|_| invalid("the text is not UTF-16"))
    }
}

/// The first `limit` bytes, fewer at the end of the stream, and the stream as if they had not been read.
fn peeked(
    mut stream: Box<dyn BufRead + Send>,
    limit: usize,
) -> io::Result<(Vec<u8>, Box<dyn BufRead + Send>)> {
    let mut head = Vec::with_capacity(limit);
    stream.by_ref().take(limit as u64).read_to_end(&mut head)?;
    let whole = Cursor::new(head.clone()).chain(stream);
    Ok((head, Box::new(whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("dir.npy/a.TSV.gz", Some(Format::Csv)),
            ("a.libsvm", Some(Format::Svmlight)),
            ("a.svm.gz", Some(Format::Svmlight)),
            ("a.npy", Some(Format::Npy)),
            ("a.npz", Some(Format::Npz)),
            ("a.parquet", Some(Format::Parquet)),
            ("a.txt", None),
            ("a", None),
            ("a.gz", None),
        ] {
            assert_eq!(Format::from_path(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn first_bytes_tell_the_format() {
        for (head, format) in [
            (&b"\x93NUMPY\x01\x00"[..], Some(Format::Npy)),
            (b"PK\x03\x04", Some(Format::Npz)),
            (b"PAR1\x15\x04", Some(Format::Parquet)),
            (b"1 3:0.5\n", Some(Format::Svmlight)),
            (b"# made by hand\n-1,2 1:3e-4 7:1\n", Some(Format::Svmlight)),
            (b"+1\n-1 2:1\n", Some(Format::Svmlight)),
            (b"1:2 3:4", Some(Format::Svmlight)),
            (b"2 qid:1 1:0", Some(Format::Svmlight)),
            (b"a,b\n1,2\n", Some(Format::Csv)),
            (b"when what\n12:30 4\n", Some(Format::Csv)),
            (b"1 2 3\n", Some(Format::Csv)),
            (b"\x7fELF\x02\x01\x01\x00", None),
        ] {
            assert_eq!(Format::sniff(head), format, "{}", String::from_utf8_lossy(head));
        }
    }
}
