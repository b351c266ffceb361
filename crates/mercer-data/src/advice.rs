//! Advice for text in a column of numbers.

use std::borrow::Cow;

use super::dates;
use super::fields::Cell;
use super::rows::Phase;

/// Advice for text in a column of numbers, appended to the message.
pub(super) fn advice(cell: Cell<'_>, column: &str, phase: Phase) -> String {
    let text = cell.text();
    let text = &*text;
    let training = phase == Phase::Training;
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
    if let Some(cause) = number_with_signs(cell) {
        return format!(": it has {cause}");
    }
    if !training {
        return String::new();
    }
    if !text.iter().any(u8::is_ascii_alphanumeric) || names_a_missing_value(text) {
        return format!("; if the value is missing, leave the field empty or write NA; {drop}");
    }
    format!("; `--categorical {column}` one-hot encodes a column of text, {drop}")
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

/// The kind of characters that prevent a text with digits from being a number; `None` for other texts.
fn number_with_signs(cell: Cell<'_>) -> Option<Cow<'static, str>> {
    let text = cell.text();
    let text = str::from_utf8(&text).ok()?;
    let rest = text.trim_matches(|c: char| "%$€£¥+-() ".contains(c));
    let digits =
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with(|c: char| c.is_ascii_digit());
    let others = rest.chars().any(|c| !c.is_ascii_digit() && !".,' \u{a0}\u{202f}_".contains(c));
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
