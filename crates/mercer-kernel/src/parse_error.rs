//! Why a text is not a kernel: the problem, its place, and a picture of that place.

use std::fmt;

/// Characters of the text that an error message shows.
const WINDOW: usize = 72;

/// Why a text is not a kernel, and where.
///
/// Displayed as one line that says what was found and what was expected, then the text with a caret under
/// the place. Of a long text only the surroundings of the place are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError(Box<Details>);

#[derive(Debug, Clone, PartialEq)]
struct Details {
    problem: Problem,
    place: Place,
}

impl ParseError {
    /// A problem at character `at`, counted from 0, of `text`.
    pub(super) fn new(problem: Problem, text: &[char], at: usize) -> Self {
        Self(Box::new(Details { problem, place: Place::new(text, at) }))
    }

    /// The place: the number of the character, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.place.column
    }

    /// What is wrong there.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { problem, place } = &*self.0;
        write!(f, "kernel text, column {}: {problem}{place}", place.column)
    }
}

impl std::error::Error for ParseError {}

/// A place in a text. Displayed as the text around it on a line of its own, with a caret under the place.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The number of the character, counted from 1.
    pub column: usize,
    excerpt: String,
    caret: usize,
}

impl Place {
    /// Character `at`, counted from 0, of `text`.
    pub fn new(text: &[char], at: usize) -> Self {
        let start = if text.len() <= WINDOW {
            0
        } else {
            at.saturating_sub(WINDOW / 2).min(text.len().saturating_sub(WINDOW))
        };
        let end = text.len().min(start + WINDOW);
        let mut excerpt = String::new();
        if start > 0 {
            excerpt.push('…');
        }
        let caret = excerpt.chars().count() + at.saturating_sub(start);
        excerpt.extend(text[start..end].iter().map(|&c| if c.is_control() { ' ' } else { c }));
        if end < text.len() {
            excerpt.push('…');
        }
        Self { column: at + 1, excerpt, caret }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { excerpt, caret, .. } = self;
        if !excerpt.is_empty() {
            write!(f, "\n  {excerpt}\n  {:caret$}^", "")?;
        }
        Ok(())
    }
}

/// What is wrong with a kernel text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text has more characters than a kernel may have.
    #[error("the text has {length} characters or more, at most {limit} are allowed")]
    TooLong {
        /// Characters, or a lower bound of them.
        length: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// Brackets, signs, powers or quotients are nested too deeply.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
    /// The kernel has too many parts.
    #[error("the kernel has more than {limit} parts (operators, atoms and hyper-parameter values)")]
    TooManyNodes {
        /// Parts allowed.
        limit: usize,
    },
    /// A character that no kernel text has.
    #[error("`{}` has no meaning in a kernel", found.escape_debug())]
    UnknownCharacter {
        /// The character.
        found: char,
    },
    /// Something else was expected here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would have been right.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Neither a kernel nor a function.
    #[error("unknown name `{name}`{}; kernels: {kernels}; functions: {functions}", did_you_mean(suggestion))]
    UnknownName {
        /// The name found.
        name: String,
        /// The nearest name there is.
        suggestion: Option<&'static str>,
        /// The named kernels.
        kernels: String,
        /// The functions.
        functions: String,
    },
    /// The named kernel has no such hyper-parameter.
    #[error("{family} has no parameter `{name}`{}; it takes {known}", did_you_mean(suggestion))]
    UnknownParameter {
        /// The named kernel.
        family: &'static str,
        /// The name found.
        name: String,
        /// The nearest name there is.
        suggestion: Option<&'static str>,
        /// The kernel's hyper-parameters.
        known: String,
    },
    /// An argument without its name.
    #[error("arguments of {family} are given by name: it takes {known}; found {found}")]
    PositionalArgument {
        /// The named kernel.
        family: &'static str,
        /// The kernel's hyper-parameters.
        known: String,
        /// What is there.
        found: String,
    },
    /// The same hyper-parameter twice, or in two spellings.
    #[error("{family}: `{second}` cannot be given together with `{first}`")]
    GivenTwice {
        /// The named kernel.
        family: &'static str,
        /// The spelling found first.
        first: &'static str,
        /// The spelling found now.
        second: &'static str,
    },
    /// A hyper-parameter outside its range.
    #[error("{family}: {parameter} must be {allowed}, found {value}")]
    OutOfRange {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
        /// The numbers it takes.
        allowed: &'static str,
        /// The number found.
        value: f64,
    },
    /// `auto` for a hyper-parameter that no property of the data determines.
    #[error("{family}: {parameter} cannot be `auto`, expected a number or `?`")]
    NoAuto {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
    },
    /// A list for a hyper-parameter that all columns share.
    #[error("{family}: {parameter} is one number for all columns, not a list")]
    NoList {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
    },
    /// `?lo..hi` where not 0 < lo < hi.
    #[error("a range to search must have 0 < low < high, found {low}..{high}")]
    SearchRange {
        /// The lower end found.
        low: f64,
        /// The upper end found.
        high: f64,
    },
    /// A hyper-parameter that depends on x or z.
    #[error("a hyper-parameter must be a constant, this depends on x or z")]
    NotConstant,
    /// A constant beyond the largest number, or one that is undefined.
    #[error("{value} is not a finite number")]
    NotFinite {
        /// The constant, as written or as it came out.
        value: String,
    },
    /// A function with the wrong number of arguments.
    #[error("{function} takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// How many it takes, in words.
        expected: &'static str,
        /// How many were given.
        found: usize,
    },
    /// `[3..3]` or `[5..2]`.
    #[error("the range {start}..{end} holds no column: the end is not included")]
    EmptyColumns {
        /// First column.
        start: usize,
        /// One past the last column.
        end: usize,
    },
    /// A column chosen twice.
    #[error("column {column} is chosen twice")]
    RepeatedColumn {
        /// The column, from 0.
        column: usize,
    },
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The name nearest to `found`, if any is within a third of its length (at least one edit) of it.
pub fn nearest<'n>(found: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let length = found.chars().count();
    if length > 32 {
        return None;
    }
    let allowed = (length / 3).max(1);
    names.map(|name| (edit_distance(found, name), name)).min().filter(|best| best.0 <= allowed).map(|b| b.1)
}

/// Levenshtein's distance: insertions, deletions and replacements of characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(ca != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "rbf"), 3);
        assert_eq!(edit_distance("rbf", "rbf"), 0);
    }

    #[test]
    fn the_caret_stands_under_the_place_in_long_texts() {
        for at in [0, 5, 60, 500, 999, 1000] {
            let mut text = vec!['a'; 1000];
            if at < 1000 {
                text[at] = '#';
            }
            let shown = ParseError::new(Problem::NotConstant, &text, at).to_string();
            let lines: Vec<&str> = shown.lines().collect();
            assert!(lines[1].chars().count() <= WINDOW + 4);
            let caret = lines[2].chars().position(|c| c == '^').unwrap();
            assert_eq!(lines[1].chars().nth(caret), (at < 1000).then_some('#'));
        }
    }
}
