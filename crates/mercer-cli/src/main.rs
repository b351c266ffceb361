//! The command `mercer`: fit, predict and inspect kernel machines.

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

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use mercer::tile::InstructionSet;

use crate::args::{Arguments, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    if let Err(error) = InstructionSet::chosen() {
        return Failure::usage(error).report();
    }
    if let Some(code) = libsvm::called_by_name() {
        return code;
    }
    let matches = Arguments::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
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
