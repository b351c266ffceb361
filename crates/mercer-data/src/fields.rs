//! Fields of tables, and the numbers in them.

use std::borrow::Cow;

/// One entry of a table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    /// Text, without surrounding blanks.
    Text(&'a [u8]),
    /// Text of a file that writes numbers with a decimal comma.
    CommaText(&'a [u8]),
    /// A number of an array.
    Value(f64),
}

/// The interpretation of an entry as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Parsed {
    /// A finite number.
    Number(f64),
    /// A missing value: an empty field, `NA`, `NaN`, `null` or `?`.
    Missing,
    /// An infinity, or digits beyond the range of `f64`.
    Infinite,
    /// Not a number.
    Text,
}

impl<'a> Cell<'a> {
    pub fn number(self) -> Parsed {
        match self {
            Self::Text(text) => parse_number(text),
            Self::CommaText(text) => parse_comma_number(text),
            Self::Value(value) => classify(value),
        }
    }

    /// Whether the value is missing.
    pub fn is_missing(self) -> bool {
        match self {
            Self::Text(text) | Self::CommaText(text) => is_missing(text),
            Self::Value(value) => value.is_nan(),
        }
    }

    /// The entry as text.
    pub fn text(self) -> Cow<'a, [u8]> {
        match self {
            Self::Text(text) | Self::CommaText(text) => Cow::Borrowed(text),
            Self::Value(value) => Cow::Owned(value.to_string().into_bytes()),
        }
    }
}

fn classify(value: f64) -> Parsed {
    if value.is_finite() {
        Parsed::Number(value)
    } else if value.is_nan() {
        Parsed::Missing
    } else {
        Parsed::Infinite
    }
}

/// `field` as a number.
#[inline]
pub(super) fn parse_number(field: &[u8]) -> Parsed {
    let number = str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
    match number {
        Some(value) => classify(value),
        None if is_missing(field) => Parsed::Missing,
        None => Parsed::Text,
    }
}

/// `field` as a number with a decimal comma.
pub(super) fn parse_comma_number(field: &[u8]) -> Parsed {
    if field.contains(&b'.') {
        // The points are thousands separators, or part of a date.
        return Parsed::Text;
    }
    let pointed: Vec<u8> = field.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
    parse_number(&pointed)
}

/// Whether `field` is digits around a comma, with an optional sign.
pub(super) fn has_decimal_comma(field: &[u8]) -> bool {
    field.contains(&b',') && matches!(parse_comma_number(field), Parsed::Number(_))
}

/// Whether `field` denotes a missing value.
fn is_missing(field: &[u8]) -> bool {
    field.len() <= 4
        && (field.is_empty()
            || field == b"?"
            || [&b"na"[..], b"nan", b"null"].iter().any(|token| field.eq_ignore_ascii_case(token)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_missing_values_infinities_and_text_are_distinguished() {
        for (text, expected) in [
            ("1", Parsed::Number(1.0)),
            ("-1.5e-3", Parsed::Number(-0.0015)),
            ("+.5", Parsed::Number(0.5)),
            ("", Parsed::Missing),
            ("NA", Parsed::Missing),
            ("NaN", Parsed::Missing),
            ("-nan", Parsed::Missing),
            ("nan", Parsed::Missing),
            ("?", Parsed::Missing),
            ("NULL", Parsed::Missing),
            ("inf", Parsed::Infinite),
            ("-Infinity", Parsed::Infinite),
            ("1e999", Parsed::Infinite),
            ("red", Parsed::Text),
            ("1 2", Parsed::Text),
            ("0x10", Parsed::Text),
            ("nanny", Parsed::Text),
        ] {
            assert_eq!(parse_number(text.as_bytes()), expected, "{text}");
        }
    }
}
