//! LIBSVM's programs: svm-train, svm-predict and svm-scale with their options, files, lines and exit codes.
//!
//! They are for scripts that call those programs, so they follow LIBSVM's conventions where mercer's own commands
//! differ: options of one letter, no scaling, classes in the order they appear, errors without hints.

mod cross_validation;
mod predict;
mod problem;
mod scale;
mod train;
mod train_options;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use crate::closed_output;
use crate::failure::Failure;

pub use predict::predict;
pub use scale::scale;
pub use train::train;

/// Runs the program by whose name this one was called, if it is one of LIBSVM's.
pub fn called_by_name() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let name = arguments.next()?;
    let run: fn(&[String]) -> ExitCode = match Path::new(&name).file_stem()?.to_str()? {
        "svm-train" => train,
        "svm-predict" => predict,
        "svm-scale" => scale,
        _ => return None,
    };
    let typed: Result<Vec<String>, OsString> = arguments.map(OsString::into_string).collect();
    Some(match typed {
        Ok(typed) => run(&typed),
        Err(argument) => Refusal::new(format!("{} is not text", argument.display())).report(),
    })
}

/// Why a program failed: the message for standard error, the usage text if needed, and the exit code.
#[derive(Debug)]
pub struct Refusal {
    message: String,
    usage: Option<&'static str>,
    code: u8,
}

impl Refusal {
    /// A failure with a message.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), usage: None, code: 1 }
    }

    /// A failure with the usage text on standard output.
    pub fn usage(message: impl fmt::Display, usage: &'static str) -> Self {
        Self { message: message.to_string(), usage: Some(usage), code: 1 }
    }

    /// Ctrl-C.
    pub fn interrupted() -> Self {
        Self { message: "interrupted".into(), usage: None, code: 130 }
    }

    /// Reports the failure, and returns the exit code.
    pub fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            eprintln!("{}", self.message);
        }
        if let Some(usage) = self.usage {
            say(format_args!("{usage}"));
        }
        ExitCode::from(self.code)
    }
}

/// The first failure to write to standard output.
static UNSAID: OnceLock<io::Error> = OnceLock::new();

/// Prints on standard output. A failure does not stop a program that writes a file; [`finish`] reports it.
pub fn say(text: fmt::Arguments<'_>) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush()) {
        UNSAID.get_or_init(|| error);
    }
}

/// The exit code of a program. A closed pipe is not a failure of a program that finished its work.
pub fn finish(outcome: Result<(), Refusal>) -> ExitCode {
    let code = match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.report(),
    };
    let counts =
        |error: &&io::Error| error.kind() != io::ErrorKind::BrokenPipe || closed_output::was_closed();
    match UNSAID.get().filter(counts) {
        Some(error) => Failure::stdout(error).report(),
        None => code,
    }
}
