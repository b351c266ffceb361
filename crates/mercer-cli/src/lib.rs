//! The command `mercer`: fit, predict and inspect kernel machines.
//!
//! It is a library so that cargo compiles it in parallel with the library that it depends on: a program would wait for
//! that to finish.

mod allocator;
mod args;
mod checkpoint;
mod choice;
mod closed_output;
mod commands;
mod describe;
mod device;
mod failure;
mod input;
mod libsvm;
mod output;
mod plot;
mod progress;
mod score;
mod settings;
mod tune_settings;

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};
use mercer::tile::InstructionSet;
use mercer::{memory, pool};

use crate::args::{Arguments, Command};
use crate::failure::Failure;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    closed_output::refuse_writes();
    if memory::address_space_limit().is_some() {
        allocator::share_one_heap();
        pool::prepare();
    }
    if let Err(error) = InstructionSet::chosen() {
        return Failure::usage(error).report();
    }
    if let Some(code) = libsvm::called_by_name() {
        return code;
    }
    let typed = args::command().try_get_matches().and_then(|matches| {
        output::silence_warnings(is_quiet(&matches));
        Arguments::from_arg_matches(&matches)
    });
    let arguments = match typed {
        Ok(arguments) => arguments,
        Err(error) => return misunderstood(&error),
    };
    let outcome = match arguments.command {
        Command::Check(arguments) => return finish(commands::check::run(&arguments)),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Fit(arguments) => commands::fit::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Discover(arguments) => commands::discover::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments),
        Command::Gram(arguments) => commands::gram::run(&arguments),
        Command::Plan(arguments) => commands::plan::run(&arguments),
        Command::Plot(arguments) => commands::plot::run(&arguments),
        #[cfg(feature = "explore")]
        Command::Explore(arguments) => commands::explore::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::SvmTrain(typed) => return libsvm::train(&typed.arguments),
        Command::SvmPredict(typed) => return libsvm::predict(&typed.arguments),
        Command::SvmScale(typed) => return libsvm::scale(&typed.arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
    };
    finish(outcome.map(|()| 0))
}

/// Whether only errors are to be printed.
fn is_quiet(matches: &ArgMatches) -> bool {
    let of_command = |(_, typed): (&str, &ArgMatches)| matches!(typed.try_get_one("quiet"), Ok(Some(true)));
    matches.subcommand().is_some_and(of_command)
}

/// Reports an invalid command line; help and the version are printed on standard output.
fn misunderstood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let written = error.print().and_then(|()| std::io::stdout().flush());
        return written.map_or_else(|error| Failure::stdout(&error).report(), |()| ExitCode::SUCCESS);
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    let failure = Failure::usage(args::message(error));
    match args::hint(error) {
        Some(hint) => failure.hint(hint).report(),
        None => failure.report(),
    }
}

fn finish(outcome: Result<u8, Failure>) -> ExitCode {
    device::explain(outcome, progress::interrupted()).map_or_else(Failure::report, ExitCode::from)
}
