//! The command `mercer`: fit, predict and inspect kernel machines.

mod allocator;
mod args;
mod checkpoint;
mod choice;
mod commands;
mod describe;
mod failure;
mod input;
mod libsvm;
mod output;
mod plot;
mod progress;
mod score;
mod settings;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use mercer::tile::InstructionSet;
use mercer::{memory, pool};

use crate::args::{Arguments, Command};
use crate::failure::Failure;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
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
    let typed =
        Arguments::command().try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match typed {
        Ok(arguments) => arguments,
        // Help and the version go to standard output, everything else to standard error.
        Err(error) => match error.print().and_then(|()| std::io::stdout().flush()) {
            Err(unwritten) if !error.use_stderr() => return Failure::stdout(&unwritten).report(),
            _ => return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
        },
    };
    let outcome = match arguments.command {
        Command::Check(arguments) => return finish(commands::check::run(&arguments)),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Fit(arguments) => commands::fit::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments),
        Command::Gram(arguments) => commands::gram::run(&arguments),
        Command::Plan(arguments) => commands::plan::run(&arguments),
        Command::Plot(arguments) => commands::plot::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::SvmTrain(typed) => return libsvm::train(&typed.arguments),
        Command::SvmPredict(typed) => return libsvm::predict(&typed.arguments),
        Command::SvmScale(typed) => return libsvm::scale(&typed.arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
    };
    finish(outcome.map(|()| 0))
}

fn finish(outcome: Result<u8, Failure>) -> ExitCode {
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.report(),
    }
}
