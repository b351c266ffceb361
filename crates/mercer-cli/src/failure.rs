//! Errors for the user: a message, a hint, and the exit code.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use mercer::data::{DataError, PassError, reason};
use mercer::design::DesignError;
use mercer::gram::GramError;
use mercer::kernel::{EvalError, ParseError, ResolveError};
use mercer::learn::{KERNEL_MATRIX, LearnError};
use mercer::linalg::NormalEquationsError;
use mercer::memory;
use mercer::model::ModelError;
use mercer::solve::SolveError;
use mercer::watch::Stopped;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The request or its input is invalid.
    pub fn usage(message: impl ToString) -> Self {
        Self { code: 2, message: message.to_string(), hint: None }
    }

    /// The work itself failed.
    pub fn work(message: impl ToString) -> Self {
        Self { code: 1, message: message.to_string(), hint: None }
    }

    /// Ctrl-C.
    pub fn interrupted() -> Self {
        Self { code: 130, message: "interrupted; nothing was written".into(), hint: None }
    }

    /// A file could not be written.
    pub fn write(path: &Path, error: &io::Error) -> Self {
        Self::work(format!("cannot write {}: {}", path.display(), reason(error)))
    }

    /// Standard output could not be written.
    pub fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => {
                Self::work("standard output was closed before everything was written")
            }
            _ => Self::work(format!("cannot write to standard output: {}", reason(error))),
        }
    }

    /// Whether Ctrl-C caused the failure.
    pub fn is_interrupt(&self) -> bool {
        self.code == 130
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The hint, if there is one.
    #[cfg(feature = "explore")]
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// A hint for the user.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Reports the failure, as one JSON document on standard output with `--json`, and returns the exit code.
    pub fn report(self) -> ExitCode {
        if std::env::args_os().any(|word| word == "--json") {
            let document = serde_json::json!({ "error": self.message, "hint": self.hint, "code": self.code });
            // If that cannot be written, standard error is used.
            if writeln!(io::stdout(), "{document:#}").is_ok() {
                return ExitCode::from(self.code);
            }
        }
        tell(format_args!("error: {}", self.message));
        if let Some(hint) = self.hint {
            tell(format_args!("  hint: {hint}"));
        }
        ExitCode::from(self.code)
    }
}

/// Writes a line to standard error; a failure is ignored.
pub fn tell(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::usage(format!("in --kernel: {error}"))
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Write { .. } | DataError::Changed { .. } => Self::work(error),
            other => Self::usage(other),
        }
    }
}

impl From<GramError> for Failure {
    fn from(error: GramError) -> Self {
        match error {
            GramError::Stopped(_) => Self::interrupted(),
            GramError::Engine(_) => Self::work(error).hint("--device cpu does the same work without the GPU"),
            GramError::EngineMemory(_) => Self::work(error).hint(device_memory_hint(KERNEL_MATRIX)),
            other => Self::usage(other),
        }
    }
}

impl From<DesignError> for Failure {
    fn from(error: DesignError) -> Self {
        LearnError::from(error).into()
    }
}

impl From<NormalEquationsError> for Failure {
    fn from(error: NormalEquationsError) -> Self {
        LearnError::from(error).into()
    }
}

impl From<PassError> for Failure {
    fn from(error: PassError) -> Self {
        match error {
            PassError::Data(error) => error.into(),
            PassError::Stopped(stopped) => stopped.into(),
            other => Self::work(other),
        }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        Self::usage(error)
    }
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        Self::usage(error)
    }
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Self {
        Self::interrupted()
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Gram(error) => error.into(),
            ModelError::Data(error) => error.into(),
            ModelError::Design(error) if !error.is_of_map() => error.into(),
            ModelError::Newer { .. } | ModelError::Requires { .. } => {
                Self::usage(error).hint("update mercer, or refit the model with this version")
            }
            ModelError::OutsideDomain { .. } => Self::usage(error).hint(
                "the row lies outside the range of the training rows: leave it out, or refit on rows that cover it",
            ),
            other => Self::usage(other),
        }
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        if error.is_stop() {
            return Self::interrupted();
        }
        if let LearnError::Gram(error @ (GramError::Engine(_) | GramError::EngineMemory(_)))
        | LearnError::Design(DesignError::Gram(
            error @ (GramError::Engine(_) | GramError::EngineMemory(_)),
        )) = error
        {
            return error.into();
        }
        if let Some(hint) = hint(&error) {
            return Self::work(error).hint(hint);
        }
        match &error {
            LearnError::Design(map) if map.is_of_map() => Self::usage(format!("in --features: {error}")),
            LearnError::Design(DesignError::Spectrum(_)) => {
                Self::usage(format!("random features are not available: {error}"))
                    .hint("--approx nystrom:2000 works with every kernel")
            }
            LearnError::Design(DesignError::Parameter { .. }) => Self::usage(format!("--approx: {error}")),
            LearnError::NotAWeight { .. } => Self::usage(error)
                .hint("use a kernel of |x-z| that is nowhere negative, such as rbf(sigma=1)"),
            LearnError::NoFiniteMap { .. } => Self::usage(error).hint("use --solver auto"),
            LearnError::Resolve(
                ResolveError::NoDerivative { .. }
                | ResolveError::Corner { .. }
                | ResolveError::Prior { .. }
                | ResolveError::EachColumn { .. },
            ) => Self::usage(error),
            LearnError::TooManyNeighbours { rows, .. } => {
                Self::usage(&error).hint(format!("-k must be from 1 to {rows}"))
            }
            LearnError::UnknownClass { .. } => Self::usage(format!("--class-weight: {error}")),
            LearnError::Solve(
                SolveError::Parameter { .. }
                | SolveError::Empty
                | SolveError::Shape { .. }
                | SolveError::Value { .. }
                | SolveError::InfeasibleNu { .. }
                | SolveError::NoMargin { .. }
                | SolveError::StepTooLarge { .. }
                | SolveError::Diverges { .. }
                | SolveError::NegativeEigenvalue { .. },
            ) => Self::usage(error),
            LearnError::Parameter { .. }
            | LearnError::Lambdas { .. }
            | LearnError::NormalEquations(NormalEquationsError::Lambda { .. })
            | LearnError::Kernel(_)
            | LearnError::Compose(_)
            | LearnError::Unsupported(_) => Self::usage(error),
            _ => Self::work(error),
        }
    }
}

/// The hint where the memory of the device is too small, which no flag changes.
fn device_memory_hint(what: &str) -> String {
    let instead = match what {
        KERNEL_MATRIX => {
            "--solver cg, --approx fourier:4096 and --approx nystrom:2000 need less of the GPU's memory"
        }
        _ => "--approx fourier:256 and --approx nystrom:256 need less of the GPU's memory",
    };
    format!("{instead}; or use fewer rows or features, or --device cpu")
}

/// Hints for failed work.
fn hint(error: &LearnError) -> Option<String> {
    Some(match error {
        LearnError::Solve(
            SolveError::Singular { suggestion, .. } | SolveError::RankDeficient { suggestion, .. },
        )
        | LearnError::NormalEquations(NormalEquationsError::RankDeficient { suggestion, .. }) => {
            format!("pass --lambda {suggestion:e} or more")
        }
        LearnError::Solve(SolveError::Indefinite { .. }) => {
            "pass a larger --lambda, or a kernel that is positive semidefinite".into()
        }
        LearnError::DeviceMemory { what, .. } => device_memory_hint(what),
        LearnError::Memory { what, needed, .. } => {
            let size = memory::human(*needed).replace(' ', "");
            let instead = if *what == KERNEL_MATRIX {
                "--approx fourier:4096, --approx nystrom:2000 and --solver cg need no such matrix; `mercer plan` compares them"
            } else if what.contains("inverse") {
                "--solver cg and --approx nystrom:512 need no such matrices; `mercer plan gp` compares them"
            } else if what.contains("preconditioner and vectors") {
                "--approx nystrom:512 needs less; `mercer plan gp` compares them"
            } else if what.contains("of the classes") {
                "`fit logistic --approx nystrom:512` needs less"
            } else if what.contains("inducing points") {
                "fewer inducing points need less, --approx nystrom:64 for example"
            } else {
                "--approx fourier:256 and --approx nystrom:256 need less"
            };
            format!("{instead}; or use fewer rows, or a machine with more memory and --memory {size}")
        }
        LearnError::NormalEquations(NormalEquationsError::Indefinite { .. }) => {
            "pass a larger --lambda, or --dtype f64".into()
        }
        LearnError::Design(DesignError::Memory { .. }) => {
            "use fewer features or landmarks, or raise --memory, which does not change that of a GPU".into()
        }
        LearnError::NotAKernel { kernel, .. } if kernel.contains("chi2") || kernel.contains("spline") => {
            "chi2 and spline need features of 0 or more, which --scale minmax gives; --assume-psd trains anyway".into()
        }
        LearnError::NotAKernel { .. } => "pass --assume-psd to train anyway".into(),
        LearnError::KernelValue { .. }
        | LearnError::Solve(SolveError::KernelValue { .. } | SolveError::NotFinite) => {
            "scale the data, or change the kernel".into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_device_is_not_the_users_mistake() {
        let broken = || GramError::Engine("broken".into());
        let full = || GramError::EngineMemory("2.0 GB of GPU memory needed".into());
        for error in [broken(), full()] {
            let learning = Failure::from(LearnError::Gram(error.clone()));
            for failure in [Failure::from(error), learning] {
                assert_eq!(failure.code, 1);
                let hint = failure.hint.unwrap();
                assert!(hint.contains("--device cpu") && !hint.contains("--memory"), "{hint}");
            }
        }
        let room = LearnError::DeviceMemory { rows: 9, what: KERNEL_MATRIX, needed: 1 << 40, room: 1 << 30 };
        let hint = Failure::from(room).hint.unwrap();
        assert!(hint.contains("--solver cg") && !hint.contains("--memory"), "{hint}");
        let columns = GramError::Columns { rows: 1, cols: 2 };
        assert_eq!(Failure::from(columns).code, 2);
    }
}
