//! The fast parser for lines of plain numbers, on all cores.
//!
//! Lines with anything else (quotes, missing values, text, a ragged row) are left to the general parser, which handles
//! them and reports positions.

use rayon::prelude::*;

use super::fields::{Parsed, parse_number};
use super::rows::Role;
use crate::real::Real;

/// Bytes per task.
const PIECE: usize = 1 << 17;

/// Rows of plain numbers.
pub(super) struct PlainRows<T> {
    pub nrows: usize,
    /// Row-major.
    pub numbers: Vec<T>,
    /// One for each target.
    pub targets: Vec<PlainTarget>,
}

/// The fields of one target column.
#[derive(Default, Clone)]
pub(super) struct PlainTarget {
    pub numbers: Vec<f64>,
    /// The fields as written, one after the other; empty if not requested.
    pub text: Vec<u8>,
    pub text_ends: Vec<usize>,
}

/// The shape of the rows.
pub(super) struct Shape<'a> {
    pub delimiter: u8,
    pub roles: &'a [Role],
    pub nnumbers: usize,
    pub ntargets: usize,
    /// Whether targets are also returned as written.
    pub texts: bool,
}

/// The rows in whole lines of text; `None` if any of them is not plain. Blank lines are skipped.
pub(super) fn parse<T: Real>(block: &[u8], shape: &Shape<'_>) -> Option<PlainRows<T>> {
    if memchr::memchr(b'"', block).is_some() {
        return None;
    }
    let parts: Option<Vec<PlainRows<T>>> =
        pieces(block).into_par_iter().map(|piece| parse_piece(piece, shape)).collect();
    let mut parts = parts?.into_iter();
    let mut all = parts.next()?;
    for part in parts {
        all.nrows += part.nrows;
        all.numbers.extend_from_slice(&part.numbers);
        for (to, from) in all.targets.iter_mut().zip(&part.targets) {
            let before = to.text.len();
            to.numbers.extend_from_slice(&from.numbers);
            to.text.extend_from_slice(&from.text);
            to.text_ends.extend(from.text_ends.iter().map(|end| before + end));
        }
    }
    Some(all)
}

/// The block, split after line ends.
fn pieces(mut block: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(block.len() / PIECE + 1);
    while !block.is_empty() {
        let cut = block.get(PIECE..).and_then(|rest| memchr::memchr(b'\n', rest));
        let (piece, rest) = block.split_at(cut.map_or(block.len(), |at| PIECE + at + 1));
        pieces.push(piece);
        block = rest;
    }
    pieces
}

fn parse_piece<T: Real>(piece: &[u8], shape: &Shape<'_>) -> Option<PlainRows<T>> {
    let guess = piece.len() / (4 * shape.roles.len().max(1)) + 1;
    let mut rows = PlainRows {
        nrows: 0,
        numbers: Vec::with_capacity(guess * shape.nnumbers),
        targets: vec![PlainTarget::default(); shape.ntargets],
    };
    let mut rest = piece;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let blank = |b: &u8| *b == b' ' || (*b == b'\t' && shape.delimiter != b'\t');
        if !line.iter().all(blank) {
            parse_line(line, shape, &mut rows)?;
            rows.nrows += 1;
        }
    }
    Some(rows)
}

fn parse_line<T: Real>(line: &[u8], shape: &Shape<'_>, rows: &mut PlainRows<T>) -> Option<()> {
    let start = rows.numbers.len();
    rows.numbers.resize(start + shape.nnumbers, T::default());
    let row = &mut rows.numbers[start..];
    let mut at = 0;
    for (place, role) in shape.roles.iter().enumerate() {
        let (from, read) = (at, read_number(line, at, shape.delimiter));
        // The general parser may read numbers that the fast one does not.
        let (value, end) = match read {
            Some(read) => read,
            None => {
                let end = memchr::memchr(shape.delimiter, &line[from..]).map_or(line.len(), |n| from + n);
                match role {
                    Role::Ignored => (0.0, end),
                    _ => match parse_number(line[from..end].trim_ascii()) {
                        Parsed::Number(value) => (value, end),
                        _ => return None,
                    },
                }
            }
        };
        match *role {
            Role::Number(slot) => {
                let value = T::from_f64(value);
                if !value.to_f64().is_finite() {
                    return None;
                }
                row[slot] = value;
            }
            Role::Target(slot) => {
                let target = &mut rows.targets[slot];
                target.numbers.push(value);
                if shape.texts {
                    target.text.extend_from_slice(line[from..end].trim_ascii());
                    target.text_ends.push(target.text.len());
                }
            }
            Role::Ignored => {}
            Role::Category(_) => return None,
        }
        let last = place + 1 == shape.roles.len();
        if last != (end == line.len()) {
            return None;
        }
        at = end + 1;
    }
    Some(())
}

/// 10^k for every k whose power is exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The number that starts at a position and the end of its field; `None` if there is anything but a decimal number of
/// at most 2⁵³ in its digits and 22 in its exponent, whose value is one correctly rounded operation away (Clinger
/// 1990).
#[inline]
fn read_number(line: &[u8], start: usize, delimiter: u8) -> Option<(f64, usize)> {
    let mut at = start;
    let byte = |at: usize| line.get(at).copied();
    let negative = byte(at) == Some(b'-');
    at += usize::from(negative);
    let (mut digits, mut scale, mut any) = (0u64, 0i32, 0usize);
    while let Some(d) = byte(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d <= 9) {
        digits = digits.wrapping_mul(10).wrapping_add(u64::from(d));
        (at, any) = (at + 1, any + 1);
    }
    if byte(at) == Some(b'.') {
        at += 1;
        while let Some(d) = byte(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d <= 9) {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(d));
            (at, any, scale) = (at + 1, any + 1, scale - 1);
        }
    }
    if matches!(byte(at), Some(b'e' | b'E')) {
        at += 1;
        let down = byte(at) == Some(b'-');
        at += usize::from(down || byte(at) == Some(b'+'));
        let first = at;
        let mut exponent = 0i32;
        while let Some(d) = byte(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d <= 9) {
            exponent = exponent.saturating_mul(10).saturating_add(i32::from(d));
            at += 1;
        }
        if at == first {
            return None;
        }
        scale = if down { scale.saturating_sub(exponent) } else { scale.saturating_add(exponent) };
    }
    // Nineteen digits do not overflow.
    let exact = (1..=19).contains(&any) && digits <= 1 << 53 && scale.unsigned_abs() <= 22;
    if !exact || byte(at).is_some_and(|b| b != delimiter) {
        return None;
    }
    let power = POWERS[scale.unsigned_abs() as usize];
    let value = if scale < 0 { digits as f64 / power } else { digits as f64 * power };
    Some((if negative { -value } else { value }, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROLES: [Role; 3] = [Role::Number(0), Role::Target(0), Role::Number(1)];

    fn parsed(text: &str) -> Option<PlainRows<f64>> {
        let shape = Shape { delimiter: b',', roles: &ROLES, nnumbers: 2, ntargets: 1, texts: true };
        parse(text.as_bytes(), &shape)
    }

    #[test]
    fn plain_rows_are_read() {
        let rows = parsed("1,2.50,-3e-2\r\n\n  \n .5 , 1e400000000 ,7").map(|r| r.nrows);
        assert_eq!(rows, None, "infinite");
        let rows = parsed("1,2.50,-3e-2\r\n\n  \n .5 , 12345678901234567890 ,7").unwrap();
        assert_eq!((rows.nrows, rows.numbers), (2, vec![1.0, -3e-2, 0.5, 7.0]));
        assert_eq!(rows.targets[0].numbers, [2.5, 12_345_678_901_234_567_890.0]);
        assert_eq!(rows.targets[0].text, b"2.5012345678901234567890");
        assert_eq!(rows.targets[0].text_ends, [4, 24]);
    }

    #[test]
    fn other_formats_are_left_to_the_general_parser() {
        for text in [
            "1,2",
            "1,2,3,4",
            "1,,3",
            "1,2,x",
            "1,2,nan",
            "1,2,inf",
            "\"1\",2,3",
            "1,2,3\n4",
            "1,2,1e",
            "1,2,.",
        ] {
            assert!(parsed(text).is_none(), "{text}");
        }
    }

    #[test]
    fn many_pieces_are_one_block() {
        let text: String = (0..30_000).map(|i| format!("{i},{},-{i}.5\n", i + 1)).collect();
        assert!(pieces(text.as_bytes()).len() > 3);
        let rows = parsed(&text).unwrap();
        assert_eq!(rows.nrows, 30_000);
        assert!(
            (0..30_000)
                .all(|i| rows.numbers[2 * i] == i as f64 && rows.numbers[2 * i + 1] == -(i as f64) - 0.5)
        );
        assert!((0..30_000).all(|i| rows.targets[0].numbers[i] == i as f64 + 1.0));
        assert_eq!(rows.targets[0].text_ends.len(), 30_000);
        assert_eq!(&rows.targets[0].text[rows.targets[0].text.len() - 5..], b"30000");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The same bits as the standard library's parser, for any digits.
        #[test]
        fn numbers_are_correctly_rounded(text in "-?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?") {
            if let Some((value, end)) = read_number(text.as_bytes(), 0, b',') {
                prop_assert_eq!(end, text.len());
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{}", text);
            }
        }

        #[test]
        fn doubles_survive(value in any::<f64>()) {
            let text = format!("{value}");
            if let Some((read, _)) = read_number(text.as_bytes(), 0, b',') {
                prop_assert_eq!(read.to_bits(), value.to_bits());
            }
        }
    }
}
