//! Why a text is not a kernel: the problem, its position, and the text with that position marked.

use super::cursor::{SyntaxProblem, TextError, TextProblem};

/// Why a text is not a kernel, and where.
pub type ParseError = TextError<Problem>;

/// The errors of kernel texts.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An error common to all languages.
    #[error(transparent)]
    Syntax(#[from] SyntaxProblem),
    /// The kernel has too many parts.
    #[error("the kernel has more than {limit} parts (operators, atoms and hyper-parameter values)")]
    TooManyNodes {
        /// Parts allowed.
        limit: usize,
    },
    /// Neither a kernel nor a function.
    #[error("unknown name `{name}`{}; kernels: {kernels}; functions: {functions}", did_you_mean(suggestion))]
    UnknownName {
        /// The name found.
        name: String,
        /// The nearest known name.
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
        /// The nearest known name.
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
        /// The token found.
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
    /// A prior of an unknown that takes one of a few values.
    #[error("a prior belongs to an unknown on a range, `?` or `?lo..hi`, not to one of a list")]
    PriorOfList,
    /// A prior without a density.
    #[error("lognormal(mu,s) takes a finite mu and s > 0, found mu = {mu} and s = {s}")]
    Prior {
        /// The mean of the logarithm found.
        mu: f64,
        /// The standard deviation of the logarithm found.
        s: f64,
    },
    /// A hyper-parameter that depends on x or z.
    #[error("a hyper-parameter must be a constant, this depends on x or z")]
    NotConstant,
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

impl TextProblem for Problem {
    const TEXT: &'static str = "kernel text";
    const NOUN: &'static str = "a kernel";
    const QUOTED_NAMES: bool = false;
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The name nearest to `found`, if any is within a third of its length (at least one edit) of it; capitals do not count.
pub fn nearest<'n>(found: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let length = found.chars().count();
    if length > 32 {
        return None;
    }
    let allowed = (length / 3).max(1);
    let found = found.to_lowercase();
    names
        .map(|name| (edit_distance(&found, &name.to_lowercase()), name))
        .min()
        .filter(|best| best.0 <= allowed)
        .map(|b| b.1)
}

/// Damerau's distance: insertions, deletions and replacements of characters, and exchanges of neighbours.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut distance = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            distance[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = distance[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let exchanged = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    distance[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                replaced.min(distance[i - 1][j] + 1).min(distance[i][j - 1] + 1).min(exchanged)
            };
        }
    }
    distance[a.len()][b.len()]
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
}
