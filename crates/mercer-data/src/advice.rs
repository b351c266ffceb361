//! Advice for fields that are not numbers, appended to messages.

use std::borrow::Cow;

use super::dates;
use super::error::as_argument;
use super::fields::{Cell, Parsed, parse_number};

/// What is known of the column of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    /// A training file has no numbers above the field.
    Nothing,
    /// A training file has numbers above the field.
    Numbers,
    /// The column is one of numbers by the schema of a model, or a target.
    Model,
}

/// The remedy for a feature column without any value.
pub(super) fn of_empty_column(position: usize, name: &str) -> Box<str> {
    format!("the whole column is empty; `--drop {}` leaves it out", as_argument(position, name)).into()
}

/// Advice for text in a column of numbers.
pub(super) fn advice(cell: Cell<'_>, column: &str, above: Above) -> String {
    let text = cell.text();
    let text = &*text;
    let training = above != Above::Model;
    let drop = format!("`--drop {column}` leaves the column out");
    if dates::days(text).is_some() {
        return if training {
            format!("; it looks like a date: `--dates days` reads dates as numbers of days, {drop}")
        } else {
            ": it is a date, and the model was not trained with `--dates days`".to_owned()
        };
    }
    if training && looks_like_date(text) {
        return format!(
            "; it looks like a date: write dates as 2024-12-31 and read them with `--dates days`, or {drop}"
        );
    }
    if text.starts_with(b"#") && text.ends_with(b"!") || text == b"#NAME?" {
        return ": it is an error of a spreadsheet; correct the formula, or leave the field empty".to_owned();
    }
    if let Some(cause) = str::from_utf8(text).ok().and_then(cause) {
        return format!(": it has {cause}");
    }
    if !training {
        return String::new();
    }
    if !text.iter().any(u8::is_ascii_alphanumeric) || names_a_missing_value(text) {
        return format!("; if the value is missing, leave the field empty or write NA; {drop}");
    }
    match above {
        Above::Numbers if names_a_total(text) => "; a line of totals is not data: delete it".to_owned(),
        Above::Numbers => format!(
            "; the column has numbers above: correct the field, or leave it empty if the value is missing \
             (`--categorical {column}` one-hot encodes a column of codes)"
        ),
        _ => format!("; `--categorical {column}` one-hot encodes a column of text, {drop}"),
    }
}

/// Whether a text is probably a date in a form that is not read: `1/31/2024`, `31.12.24` or `1 Jan 2024`.
fn looks_like_date(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| b"/.- ,".contains(byte)).filter(|part| !part.is_empty());
    let is_number = |part: &[u8]| matches!(part.len(), 1 | 2 | 4) && part.iter().all(u8::is_ascii_digit);
    let is_month = |part: &[u8]| {
        const MONTHS: [&[u8]; 12] =
            [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
        part.get(..3).is_some_and(|start| MONTHS.contains(&&*start.to_ascii_lowercase()))
    };
    let months = parts.clone().filter(|part| is_month(part)).count();
    parts.clone().count() == 3 && months <= 1 && parts.all(|part| is_number(part) || is_month(part))
}

/// Whether a text is a word that other programs write for a missing value.
fn names_a_missing_value(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 7] = [b"n/a", b"#n/a", b"<na>", b"none", b"nil", b"missing", b"unknown"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text is a word that begins the last line of a spreadsheet.
fn names_a_total(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [b"total", b"totals", b"grand total", b"sum", b"average", b"mean"];
    let text = text.strip_suffix(b":").unwrap_or(text);
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Why a text with digits is not a number; `None` for other texts.
fn cause(text: &str) -> Option<Cow<'static, str>> {
    let is_number = |text: &str| matches!(parse_number(text.as_bytes()), Parsed::Number(_));
    if let Some(hexadecimal) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        let number = u64::from_str_radix(hexadecimal, 16).ok()?;
        return Some(format!("hexadecimal digits; write {number}").into());
    }
    if let Some(sign) = text.chars().next().filter(|c| "−–—".contains(*c)) {
        let rest = text[sign.len_utf8()..].trim_start();
        if is_number(rest) {
            return Some(format!("the sign `{sign}`; write -{rest}").into());
        }
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'))
        && is_number(inner)
    {
        return Some(format!("parentheses; if they stand for a minus sign, write -{inner}").into());
    }
    has_unit(text).then(|| "a unit; write the number alone".into()).or_else(|| signs(text))
}

/// Whether a text is a number with a unit, as `6.8 kg` and `6.8kg` are, or after a currency, as in `EUR 6`.
fn has_unit(text: &str) -> bool {
    let is_number = |text: &str| matches!(parse_number(text.as_bytes()), Parsed::Number(_));
    let is_word = |text: &str| text.chars().all(|c| c.is_alphabetic() || "/²³°·".contains(c));
    let after = text.find(|c: char| c.is_alphabetic() || c == '°').map(|at| text.split_at(at));
    let is_unit = |(number, unit): (&str, &str)| {
        (number.ends_with(' ') || number.contains('.')) && is_number(number.trim_end()) && is_word(unit)
    };
    let is_price = |(currency, number): (&str, &str)| {
        currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_uppercase()) && is_number(number)
    };
    after.is_some_and(is_unit) || text.split_once(' ').is_some_and(is_price)
}

/// The signs that prevent a text with digits from being a number.
fn signs(text: &str) -> Option<Cow<'static, str>> {
    let rest = text.trim_matches(|c: char| "%$€£¥+-() ".contains(c));
    let digits =
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with(|c: char| c.is_ascii_digit());
    let others = rest.chars().any(|c| !c.is_ascii_digit() && !".,' \u{2019}\u{a0}\u{202f}_".contains(c));
    if !digits || others {
        return None;
    }
    if text.contains('%') {
        return Some("a percent sign; write the number alone".into());
    }
    if text.contains(['$', '€', '£', '¥']) {
        return Some("a currency sign; write the number alone".into());
    }
    let one_comma = rest.split_once(',').filter(|(_, after)| !after.contains(','));
    Some(match one_comma {
        // 1,234 is either 1.234 or 1234.
        Some((before, after)) if after.len() == 3 && !rest.contains(|c: char| c != ',' && !c.is_ascii_digit()) => {
            format!("a comma; write {before}.{after} for a decimal comma, {before}{after} for a separator of thousands")
                .into()
        }
        Some(_) if !rest.contains('.') => {
            "a decimal comma; a file with decimal commas separates its columns by semicolons or tabs and has no decimal points".into()
        }
        _ => "separators between its digits; write the digits alone".into(),
    })
}
