//! `mercer completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Arguments, Completions};
use crate::failure::Failure;

/// Prints the script.
pub fn run(arguments: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "mercer", &mut script);
    let mut out = std::io::stdout();
    out.write_all(&script).and_then(|()| out.flush()).map_err(|error| Failure::stdout(&error))
}
