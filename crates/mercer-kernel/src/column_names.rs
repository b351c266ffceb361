//! Columns by name in kernel text: `rbf(sigma=1)[crim,rm]` and `[age..tax]` become numbers where the names are known.

use super::parse_error::nearest;

/// A column beyond any data: the last one that a text can name.
const UNKNOWN: usize = 1 << 24;

/// The most names that an error lists.
const LISTED: usize = 12;

/// A choice of columns by name that does not match the data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnNameError {
    /// No column has this name.
    #[error(
        "the kernel names the column `{name}`, which does not exist{}; the columns are {known}",
        did_you_mean(suggestion)
    )]
    Unknown {
        /// The name.
        name: String,
        /// The nearest known name.
        suggestion: Option<String>,
        /// The known names.
        known: String,
    },
    /// A range whose last column comes before its first.
    #[error("the range `{range}` in the kernel runs backwards: `{last}` comes before `{first}`")]
    Backwards {
        /// The range as written.
        range: String,
        /// Its first column.
        first: String,
        /// Its last column.
        last: String,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// A part of a text: plain text, or the inside of `[…]` that chooses columns.
enum Piece<'a> {
    Plain(&'a str),
    Choice(&'a str),
}

/// The pieces of a text. A `[` after `=` opens a list of values, not of columns.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut start, mut before) = (0, ' ');
    let mut open = None;
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('[', None) if before != '=' => {
                pieces.push(Piece::Plain(&text[start..at]));
                open = Some(at + 1);
            }
            (']', Some(from)) => {
                pieces.push(Piece::Choice(&text[from..at]));
                (start, open) = (at + 1, None);
            }
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    pieces.push(Piece::Plain(&text[open.map_or(start, |from: usize| from - 1)..]));
    pieces
}

/// Whether a choice of columns contains names.
fn has_names(choice: &str) -> bool {
    let is_name = |part: &str| !part.trim().is_empty() && part.trim().parse::<usize>().is_err();
    choice.split(',').flat_map(|item| item.split("..")).any(is_name)
}

/// Whether a kernel text chooses columns by name.
///
/// ```
/// use mercer_kernel::names_columns;
/// assert!(names_columns("rbf(sigma=1)[crim,rm]"));
/// assert!(!names_columns("rbf(sigma=[1,2])[0,3..5]"));
/// ```
#[must_use]
pub fn names_columns(text: &str) -> bool {
    pieces(text).iter().any(|piece| matches!(piece, Piece::Choice(choice) if has_names(choice)))
}

/// The text with columns chosen by name replaced by one beyond any data, so that the kernel can be checked before the
/// names are known.
#[must_use]
pub fn with_unknown_columns(text: &str) -> String {
    let shown = |piece: &Piece<'_>| match piece {
        Piece::Plain(text) => (*text).to_owned(),
        Piece::Choice(choice) if has_names(choice) => format!("[{UNKNOWN}]"),
        Piece::Choice(choice) => format!("[{choice}]"),
    };
    pieces(text).iter().map(shown).collect()
}

/// The text with the names of columns replaced by their numbers. Both ends of a range of names are included; a name
/// with a comma, a bracket or two dots in it cannot be written.
///
/// ```
/// use mercer_kernel::bind_columns;
/// let names = ["crim", "age", "rm", "tax"].map(String::from);
/// assert_eq!(bind_columns("rbf(sigma=1)[crim,rm] + linear[age..tax]", &names)?, "rbf(sigma=1)[0,2] + linear[1..4]");
/// # Ok::<(), mercer_kernel::ColumnNameError>(())
/// ```
///
/// # Errors
/// If there is no column of such a name, or if a range runs backwards.
pub fn bind_columns(text: &str, names: &[String]) -> Result<String, ColumnNameError> {
    let mut bound = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Plain(text) => bound.push_str(text),
            Piece::Choice(choice) if has_names(choice) => {
                let items: Result<Vec<String>, _> =
                    choice.split(',').map(|item| bind_item(item.trim(), names)).collect();
                bound.push_str(&format!("[{}]", items?.join(",")));
            }
            Piece::Choice(choice) => bound.push_str(&format!("[{choice}]")),
        }
    }
    Ok(bound)
}

/// The text with the numbers of columns replaced by their names, where a name can be written.
///
/// ```
/// use mercer_kernel::name_columns;
/// let names = ["crim", "age", "rm", "tax"].map(String::from);
/// assert_eq!(name_columns("rbf(sigma=[1,2])[0,2] + linear[1..4]", &names), "rbf(sigma=[1,2])[crim,rm] + linear[age..tax]");
/// ```
#[must_use]
pub fn name_columns(text: &str, names: &[String]) -> String {
    let name = |number: &str| {
        let name = names.get(number.trim().parse::<usize>().ok()?)?;
        let is_plain = |c: char| c.is_alphanumeric() || "_. -".contains(c);
        (name.starts_with(char::is_alphabetic) && name.chars().all(is_plain) && !name.contains(".."))
            .then_some(name.as_str())
    };
    let item = |item: &str| {
        let named = match item.split_once("..") {
            None => name(item).map(str::to_owned),
            Some((first, end)) => {
                let last = end.trim().parse::<usize>().ok().and_then(|end| end.checked_sub(1));
                let last = last.and_then(|last| name(&last.to_string()));
                name(first).zip(last).map(|(first, last)| format!("{first}..{last}"))
            }
        };
        named.unwrap_or_else(|| item.trim().to_owned())
    };
    let shown = |piece: Piece<'_>| match piece {
        Piece::Plain(text) => text.to_owned(),
        Piece::Choice(choice) => format!("[{}]", choice.split(',').map(item).collect::<Vec<_>>().join(",")),
    };
    pieces(text).into_iter().map(shown).collect()
}

/// One item of a choice.
fn bind_item(item: &str, names: &[String]) -> Result<String, ColumnNameError> {
    if !has_names(item) {
        return Ok(item.to_owned());
    }
    let Some((first, last)) = item.split_once("..") else { return Ok(place(item, names)?.to_string()) };
    let (start, end) = (place(first, names)?, place(last, names)?);
    if start > end {
        let (first, last) = (first.trim().to_owned(), last.trim().to_owned());
        return Err(ColumnNameError::Backwards { range: item.to_owned(), first, last });
    }
    Ok(format!("{start}..{}", end + 1))
}

/// The number of the column of this name, which may stand in backquotes.
fn place(name: &str, names: &[String]) -> Result<usize, ColumnNameError> {
    let name = name.trim().trim_matches('`');
    if let Some(place) = names.iter().position(|known| known == name) {
        return Ok(place);
    }
    let mut known = names[..names.len().min(LISTED)].join(", ");
    if names.len() > LISTED {
        known.push_str(&format!(", … ({} in all)", names.len()));
    }
    let suggestion = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    Err(ColumnNameError::Unknown { name: name.to_owned(), suggestion, known })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["crim", "Sepal.Length", "rm", "tax"].map(String::from).to_vec()
    }

    #[test]
    fn names_become_numbers_and_lists_of_values_stay() {
        for (text, expected) in [
            ("rbf(sigma=[1,2])[crim, rm]", "rbf(sigma=[1,2])[0,2]"),
            ("rbf(sigma= [?])[Sepal.Length..tax]*linear[0]", "rbf(sigma= [?])[1..4]*linear[0]"),
            ("linear[`crim`,3]", "linear[0,3]"),
            ("linear", "linear"),
            ("linear[0..2", "linear[0..2"),
        ] {
            assert_eq!(bind_columns(text, &names()).unwrap(), expected, "{text}");
        }
        assert_eq!(with_unknown_columns("rbf[crim] + linear[0,1]"), "rbf[16777216] + linear[0,1]");
    }

    #[test]
    fn numbers_become_names_that_can_be_written() {
        let names = ["crim", "a,b", "rm", "tax"].map(String::from);
        for (text, expected) in [
            ("rbf(sigma=[1,2])[0,2]", "rbf(sigma=[1,2])[crim,rm]"),
            ("linear[2..4]*linear[1,7]", "linear[rm..tax]*linear[1,7]"),
            ("linear[0..2]", "linear[0..2]"),
        ] {
            assert_eq!(name_columns(text, &names), expected);
            assert_eq!(bind_columns(expected, &names).unwrap(), text);
        }
    }

    #[test]
    fn unknown_names_are_named_with_near_ones() {
        let error = bind_columns("rbf[crmi]", &names()).unwrap_err().to_string();
        assert!(error.contains("`crmi`") && error.contains("did you mean `crim`"), "{error}");
        let error = bind_columns("rbf[tax..rm]", &names()).unwrap_err().to_string();
        assert!(error.contains("runs backwards"), "{error}");
    }
}
