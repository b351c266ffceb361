//! Why a text is not a feature map: the problem, its position, and the text with that position marked.

use crate::design::error::did_you_mean;
use crate::kernel::{SyntaxProblem, TextError, TextProblem};

/// Why a text is not a feature map, and where.
pub type FeatureTextError = TextError<FeatureProblem>;

/// What is wrong with the text of a feature map.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureProblem {
    /// What is wrong with a text of any language.
    #[error(transparent)]
    Syntax(#[from] SyntaxProblem),
    /// The formulas have too many parts.
    #[error("the formulas have more than {limit} parts (operators, columns and numbers)")]
    TooManyParts {
        /// Parts allowed.
        limit: usize,
    },
    /// A name with an argument list that is not a function.
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
    #[error("{map} is a complete feature map; it cannot be part of a formula or a list")]
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
}

impl TextProblem for FeatureProblem {
    const TEXT: &'static str = "features text";
    const NOUN: &'static str = "a formula";
    const QUOTED_NAMES: bool = true;
}
