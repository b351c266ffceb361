//! `mercer check`.

use std::io::{self, Write};

use mercer::kernel::Kernel;
use mercer::kernel::check::Verdict;

use crate::args::Check;
use crate::failure::Failure;
use crate::output;

/// Exit code of a refuted formula.
const REFUTED: u8 = 3;

/// Exit code of an undecided formula.
const UNDECIDED: u8 = 4;

/// Decides and prints; the exit code is the verdict.
pub fn run(arguments: &Check) -> Result<u8, Failure> {
    let kernel: Kernel = arguments.kernel.parse().map_err(Failure::usage)?;
    let verdict = kernel.check(arguments.dim, arguments.domain).map_err(Failure::work)?;
    if arguments.json {
        output::print_json(&verdict.to_json(&arguments.kernel, arguments.dim, arguments.domain))?;
    } else {
        writeln!(io::stdout(), "{verdict}").map_err(|error| Failure::stdout(&error))?;
    }
    Ok(match verdict {
        Verdict::Proven(_) => 0,
        Verdict::Refuted(_) => REFUTED,
        Verdict::Undecided(_) => UNDECIDED,
    })
}
