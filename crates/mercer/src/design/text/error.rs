//! Why a text is not a feature map: the problem, its place, and a picture of that place.

use std::fmt;

use crate::design::error::did_you_mean;
use crate::kernel::Place;

/// Why a text is not a feature map, and where.
///
/// Displayed as one line that says what was found and what was expected, then the text with a caret under the place.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTextError(Box<Details>);

#[derive(Debug, Clone, PartialEq)]
struct Details {
    problem: FeatureProblem,
    place: Place,
}

impl FeatureTextError {
    /// A problem at character `at`, counted from 0, of `text`.
    pub(super) fn new(problem: FeatureProblem, text: &[char], at: usize) -> Self {
        Self(Box::new(Details { problem, place: Place::new(text, at) }))
    }

    /// The place: the number of the character, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.place.column
    }

    /// What is wrong there.
    #[must_use]
    pub fn problem(&self) -> &FeatureProblem {
        &self.0.problem
    }
}

impl fmt::Display for FeatureTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { problem, place } = &*self.0;
        write!(f, "features text, column {}: {problem}{place}", place.column)
    }
}

impl std::error::Error for FeatureTextError {}

/// What is wrong with the text of a feature map.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureProblem {
    /// The text has more characters than are read.
    #[error("the text has {length} characters or more, at most {limit} are allowed")]
    TooLong {
        /// Characters, or a lower bound of them.
        length: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// Brackets, signs or powers are nested too deeply.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
    /// The formulas have too many parts.
    #[error("the formulas have more than {limit} parts (operators, columns and numbers)")]
    TooManyParts {
        /// Parts allowed.
        limit: usize,
    },
    /// A character that no formula has.
    #[error("`{}` has no meaning in a formula", found.escape_debug())]
    UnknownCharacter {
        /// The character.
        found: char,
    },
    /// A backquote without its other half.
    #[error("the backquote before a column's name is not closed")]
    OpenQuote,
    /// Something else was expected here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would have been right.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A name with an argument list that is no function.
    #[error("unknown function `{name}`{}; functions: {functions}", did_you_mean(suggestion))]
    UnknownFunction {
        /// The name found.
        name: String,
        /// The nearest name there is.
        suggestion: Option<String>,
        /// The functions.
        functions: String,
    },
    /// A map such as `poly(degree=3)` among formulas.
    #[error("{map} is a whole feature map: it stands alone, not in a formula or a list")]
    NotAlone {
        /// The kind of map.
        map: &'static str,
    },
    /// The map has no such parameter.
    #[error("{map} has no parameter `{name}`{}; it takes {known}", did_you_mean(suggestion))]
    UnknownParameter {
        /// The kind of map.
        map: &'static str,
        /// The name found.
        name: String,
        /// The nearest name there is.
        suggestion: Option<String>,
        /// The map's parameters.
        known: &'static str,
    },
    /// The same parameter twice.
    #[error("{map}: `{parameter}` is given twice")]
    GivenTwice {
        /// The kind of map.
        map: &'static str,
        /// Its parameter.
        parameter: String,
    },
    /// A parameter outside of its range.
    #[error("{map}: {parameter} must be {allowed}, found {value}")]
    OutOfRange {
        /// The kind of map.
        map: &'static str,
        /// Its parameter.
        parameter: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// What was given.
        value: String,
    },
    /// A number beyond the largest there is.
    #[error("{value} is not a finite number")]
    NotFinite {
        /// The number as written.
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
}
