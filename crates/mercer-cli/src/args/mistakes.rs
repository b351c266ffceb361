//! What to do about a command line that cannot be understood.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// A hint for flags of other programs, and for values that belong to another command.
pub fn hint(error: &Error) -> Option<&'static str> {
    let context = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = context(ContextKind::InvalidArg)?.split([' ', '=']).next()?;
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
        (ErrorKind::UnknownArgument, "--cv") => Some("the number of folds is --folds, for `mercer tune`"),
        (ErrorKind::UnknownArgument, "--standardize" | "--normalize") => Some("see --scale"),
        (ErrorKind::ValueValidation, "--lambda" | "--C" | "--nu" | "--epsilon" | "-k")
            if context(ContextKind::InvalidValue).is_some_and(|value| value.starts_with('?')) =>
        {
            Some("`?` marks a value to search for; use `mercer tune` instead of `mercer fit`")
        }
        _ => None,
    }
}
