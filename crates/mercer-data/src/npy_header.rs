//! The header of a NumPy array: its shape, element type and order.
//!
//! Reference: NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays" (Kern, 2007), with versions 2 and
//! 3. The header is untrusted: its length is bounded, and nothing is allocated for the shape that it claims.

use std::io::Read;

use super::error::{DataError, Place};

/// The longest header of an array of plain numbers.
const MAX_HEADER: usize = 1 << 16;

/// The contents of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NpyHeader {
    pub element: Element,
    pub fortran_order: bool,
    pub shape: Vec<u64>,
}

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    kind: Kind,
    big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Element {
    /// The element type that NumPy writes as `descr`, such as `<f8`.
    fn parse(descr: &str) -> Option<Self> {
        let (order, code) = match descr.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), ..] => (*order, &descr[1..]),
            _ => (b'=', descr),
        };
        let kind = match code {
            "b1" | "?" => Kind::Bool,
            "i1" => Kind::I8,
            "i2" => Kind::I16,
            "i4" => Kind::I32,
            "i8" => Kind::I64,
            "u1" => Kind::U8,
            "u2" => Kind::U16,
            "u4" => Kind::U32,
            "u8" => Kind::U64,
            "f4" => Kind::F32,
            "f8" => Kind::F64,
            _ => return None,
        };
        let big_endian = order == b'>' || (order == b'=' && cfg!(target_endian = "big"));
        Some(Self { kind, big_endian })
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self.kind {
            Kind::Bool | Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }

    /// Appends the elements held in `bytes` to `values`.
    pub fn decode(self, bytes: &[u8], values: &mut Vec<f64>) {
        macro_rules! widen {
            ($type:ty) => {{
                let (elements, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                if self.big_endian {
                    values.extend(elements.iter().map(|&e| <$type>::from_be_bytes(e) as f64));
                } else {
                    values.extend(elements.iter().map(|&e| <$type>::from_le_bytes(e) as f64));
                }
            }};
        }
        match self.kind {
            Kind::Bool => values.extend(bytes.iter().map(|&b| f64::from(u8::from(b != 0)))),
            Kind::I8 => widen!(i8),
            Kind::I16 => widen!(i16),
            Kind::I32 => widen!(i32),
            Kind::I64 => widen!(i64),
            Kind::U8 => widen!(u8),
            Kind::U16 => widen!(u16),
            Kind::U32 => widen!(u32),
            Kind::U64 => widen!(u64),
            Kind::F32 => widen!(f32),
            Kind::F64 => widen!(f64),
        }
    }
}

impl NpyHeader {
    /// Reads a header, leaving `bytes` at the first element.
    pub fn read(file: &str, bytes: &mut impl Read) -> Result<Self, DataError> {
        let broken = |problem: &str| DataError::Npy { file: file.to_owned(), problem: problem.to_owned() };
        let mut fill = |buffer: &mut [u8]| {
            bytes.read_exact(buffer).map_err(|source| match source.kind() {
                std::io::ErrorKind::UnexpectedEof => broken("the file ends inside its NumPy header"),
                _ => DataError::Read { place: Place::file(file), source },
            })
        };
        let mut start = [0; 8];
        fill(&mut start)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err(broken("this is not a NumPy array: the first bytes are not \\x93NUMPY"));
        }
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                fill(&mut length)?;
                usize::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                fill(&mut length)?;
                u32::from_le_bytes(length) as usize
            }
            _ => return Err(broken("this version of the NumPy format is not known (known: 1, 2, 3)")),
        };
        if length > MAX_HEADER {
            return Err(broken("the NumPy header is longer than any array of plain numbers needs"));
        }
        let mut text = vec![0; length];
        fill(&mut text)?;
        let text = str::from_utf8(&text).map_err(|_| broken("the NumPy header is not text"))?;
        Self::parse(text).map_err(|problem| broken(&problem))
    }

    /// Parses the Python dictionary `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Self, String> {
        let malformed = || "the NumPy header is malformed".to_owned();
        let mut rest = Literal { rest: text.trim() };
        let (mut element, mut fortran_order, mut shape) = (None, None, None);
        rest.eat('{').ok_or_else(malformed)?;
        while rest.eat('}').is_none() {
            let key = rest.string().ok_or_else(malformed)?;
            rest.eat(':').ok_or_else(malformed)?;
            match key {
                "descr" => {
                    let descr = rest.string().ok_or("arrays of records are not read, only plain numbers")?;
                    element = Some(Element::parse(descr).ok_or_else(|| {
                        format!(
                            "the element type `{}` is not read (f4, f8, i1 to i8, u1 to u8 and b1 are)",
                            super::error::shortened(descr.as_bytes())
                        )
                    })?);
                }
                "fortran_order" => fortran_order = Some(rest.boolean().ok_or_else(malformed)?),
                "shape" => shape = Some(rest.tuple().ok_or_else(malformed)?),
                _ => return Err(malformed()),
            }
            if rest.eat(',').is_none() && !rest.rest.starts_with('}') {
                return Err(malformed());
            }
        }
        match (element, fortran_order, shape) {
            (Some(element), Some(fortran_order), Some(shape)) => Ok(Self { element, fortran_order, shape }),
            _ => Err(malformed()),
        }
    }
}

/// The unparsed part of a Python literal.
struct Literal<'t> {
    rest: &'t str,
}

impl<'t> Literal<'t> {
    /// Consumes `sign` and the blanks after it.
    fn eat(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?.trim_start();
        Some(())
    }

    fn string(&mut self) -> Option<&'t str> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, rest) = self.rest[1..].split_once(quote)?;
        self.rest = rest.trim_start();
        Some(text)
    }

    fn boolean(&mut self) -> Option<bool> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest.trim_start();
                return Some(value);
            }
        }
        None
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        self.eat('(')?;
        let mut numbers = Vec::new();
        while self.eat(')').is_none() {
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            numbers.push(self.rest[..end].parse().ok()?);
            self.rest = self.rest[end..].strip_prefix('L').unwrap_or(&self.rest[end..]).trim_start();
            if self.eat(',').is_none() && !self.rest.starts_with(')') {
                return None;
            }
        }
        Some(numbers)
    }
}
