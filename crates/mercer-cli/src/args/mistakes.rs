//! Messages and hints for invalid command lines.

use std::iter;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use mercer::kernel::nearest;

use super::fit::METHODS;

/// The problem, in one sentence if possible.
pub fn message(error: &Error) -> String {
    let (flag, value) = (flag(error), text(error, ContextKind::InvalidValue));
    match (error.kind(), flag, value) {
        (ErrorKind::UnknownArgument, Some(word), _) if !word.starts_with('-') => match command(error) {
            Some(command) => format!("`{command}` has no place for a further argument, `{word}`"),
            None => format!("there is one argument too many, `{word}`"),
        },
        (ErrorKind::UnknownArgument, Some(flag), _) => match command(error) {
            Some(command) => format!("`{command}` has no option {flag}"),
            None => format!("there is no option {flag}"),
        },
        (ErrorKind::InvalidSubcommand, ..) => {
            format!("there is no command {}", text(error, ContextKind::InvalidSubcommand).unwrap_or_default())
        }
        (ErrorKind::InvalidValue, Some("<METHOD>"), Some(method)) if !method.is_empty() => {
            format!("there is no method {method} here; choose one of {}", allowed(error))
        }
        (ErrorKind::MissingRequiredArgument, ..) => {
            let needed = texts(error, ContextKind::InvalidArg).join(" and ");
            match command(error) {
                Some(command) => format!("`{command}` needs {needed}"),
                None => format!("{needed} is missing"),
            }
        }
        (ErrorKind::ArgumentConflict, Some(flag), _) => {
            let others: Vec<&str> =
                texts(error, ContextKind::PriorArg).iter().map(|text| name(text)).collect();
            match others.as_slice() {
                [other] if *other == flag => format!("{flag} is given twice"),
                [] => format!("{flag} cannot be combined with the other options"),
                others => format!("{flag} cannot be combined with {}", others.join(" and ")),
            }
        }
        (ErrorKind::InvalidValue, Some(flag), Some(value)) if !value.is_empty() => {
            format!("{flag} is `{value}`; it must be one of {}", allowed(error))
        }
        (ErrorKind::ValueValidation, Some(flag), Some(value)) => {
            let reason = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            let reason = match reason.as_str() {
                "invalid float literal" | "cannot parse float from empty string" => {
                    "it must be a number".into()
                }
                "invalid digit found in string" | "cannot parse integer from empty string" => {
                    "it must be a whole number, 0 or more".into()
                }
                "number would be zero for non-zero type" => "it must be a whole number, 1 or more".into(),
                "number too large to fit in target type" => "the number is too large".into(),
                // The value is named once.
                other
                    if other
                        .split_once("; ")
                        .is_some_and(|(start, _)| start.contains(&format!("`{value}`"))) =>
                {
                    other.split_once("; ").map_or(other, |(_, rest)| rest).into()
                }
                _ => reason,
            };
            format!("{flag} is `{value}`; {reason}")
        }
        (ErrorKind::TooManyValues, Some(flag), _) => format!("{flag} takes no value"),
        _ => {
            let rendered = error.render().to_string();
            let rendered = rendered.trim_start_matches("error: ").trim_end();
            rendered.trim_end_matches("For more information, try '--help'.").trim_end().to_owned()
        }
    }
}

/// A hint: this program's name for an option that other programs call differently, or a name similar to the one typed.
pub fn hint(error: &Error) -> Option<String> {
    if let Some(known) = translated(error) {
        return Some(known.to_owned());
    }
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand];
    let alike = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.clone()),
        Some(ContextValue::Strings(names)) => names.first().cloned(),
        _ => None,
    });
    // Clap's names may differ from the typed one in most letters.
    let places = [ContextKind::InvalidValue, ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let typed = places.into_iter().find_map(|kind| text(error, kind));
    let alike =
        alike.filter(|name| typed.is_none_or(|typed| nearest(typed, iter::once(name.as_str())).is_some()));
    match (alike, error.kind()) {
        (Some(name), _) => Some(format!("did you mean {name}?")),
        (None, ErrorKind::UnknownArgument) => Some(format!("`{} --help` lists the options", command(error)?)),
        (None, ErrorKind::MissingRequiredArgument) => {
            Some(format!("`{} --help` shows examples", command(error)?))
        }
        (None, ErrorKind::InvalidSubcommand) if typed.is_some_and(is_method) => {
            Some(format!("did you mean `mercer fit {}`?", typed.unwrap_or_default()))
        }
        (None, ErrorKind::InvalidSubcommand) => Some("`mercer --help` lists the commands".to_owned()),
        (None, _) => None,
    }
}

/// A hint for flags and methods by the names of other programs, and for values that belong to another command.
fn translated(error: &Error) -> Option<&'static str> {
    let (flag, value) = (flag(error)?, text(error, ContextKind::InvalidValue));
    match (error.kind(), flag) {
        (ErrorKind::UnknownArgument, "--gamma" | "-g") => {
            Some("write it in the kernel: --kernel \"rbf(gamma=0.1)\"")
        }
        (ErrorKind::UnknownArgument, "--sigma" | "--length" | "--length-scale" | "--bandwidth") => {
            Some("write it in the kernel: --kernel \"rbf(sigma=2)\"")
        }
        (ErrorKind::UnknownArgument, "--degree" | "--coef0") => {
            Some("write it in the kernel: --kernel \"poly(degree=3, c=1)\"")
        }
        (ErrorKind::UnknownArgument, "--alpha" | "--regularization" | "--ridge") => {
            Some("the penalty is --lambda; it is added to the diagonal of the kernel matrix")
        }
        (ErrorKind::UnknownArgument, "--c" | "-c" | "--cost" | "-C") => Some("the cost of an error is --C"),
        (ErrorKind::UnknownArgument, "--label" | "--y" | "--outcome") => {
            Some("the column to predict is --target NAME")
        }
        (ErrorKind::UnknownArgument, "--n-jobs" | "--jobs" | "-j") => {
            Some("the number of threads is --threads")
        }
        (ErrorKind::UnknownArgument, "--folds") => {
            Some("`fit` holds rows out once, with --holdout; `mercer tune` takes --folds")
        }
        (ErrorKind::UnknownArgument, "--test-size" | "--split") => {
            Some("the fraction of rows to hold out is --holdout")
        }
        (ErrorKind::UnknownArgument, "--cv") => Some("the number of folds is --folds, for `mercer tune`"),
        (ErrorKind::UnknownArgument, "--standardize" | "--normalize") => Some("see --scale"),
        (ErrorKind::ValueValidation, "--lambda" | "--C" | "--nu" | "--epsilon" | "-k")
            if value.is_some_and(|value| value.starts_with('?')) =>
        {
            Some("`?` marks a value to search for; use `mercer tune` instead of `mercer fit`")
        }
        (ErrorKind::InvalidValue, "<METHOD>") => of_method(value?),
        _ => None,
    }
}

/// Whether a word is the name of a method.
fn is_method(word: &str) -> bool {
    METHODS.iter().any(|(_, name, _)| *name == word)
}

/// A hint for other programs' names of methods.
fn of_method(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "svm" => Some("svc classifies, svr predicts numbers, one-class finds outliers"),
        "classification" | "classifier" | "classify" => {
            Some("svc and logistic classify; logistic gives probabilities")
        }
        "regression" | "regressor" => Some("ridge and svr predict numbers"),
        // `tune` does not take these two.
        "lms" => {
            Some("lms has no penalty to tune; `mercer fit lms` finds its step, `mercer tune ridge` a penalty")
        }
        "gp" => Some("`mercer fit gp` learns every `?` of its kernel from the likelihood"),
        "krr" | "kernel-ridge" | "linear" | "ols" => Some("the method is ridge"),
        "logit" | "logreg" => Some("the method is logistic"),
        "gpr" | "gpc" | "gaussian-process" | "kriging" => Some("the method is gp"),
        "kneighbors" | "neighbours" | "neighbors" => Some("the method is knn"),
        "outliers" | "anomaly" | "novelty" => Some("the method is one-class"),
        _ => None,
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// One text or several.
fn texts(error: &Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    }
}

/// The flag as typed, without clap's suffix: `--lambda` of `--lambda <NUMBER>`.
fn flag(error: &Error) -> Option<&str> {
    text(error, ContextKind::InvalidArg).map(name)
}

/// A flag without the name of its value.
fn name(flag: &str) -> &str {
    flag.split([' ', '=']).next().unwrap_or(flag)
}

/// The command and the method, from the usage that belongs to the error.
fn command(error: &Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let words = usage.trim().trim_start_matches("Usage:").split_whitespace();
    let words: Vec<&str> = words.take_while(|word| !word.starts_with(['[', '<', '-'])).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The values that are allowed.
fn allowed(error: &Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.join(", "),
        _ => String::new(),
    }
}
