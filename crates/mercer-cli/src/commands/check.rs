//! `mercer check`.

use std::io::{self, Write};
use std::path::Path;

use mercer::data::write_atomically;
use mercer::kernel::Kernel;
use mercer::kernel::check::{Certificate, Verdict};

use crate::args::Check;
use crate::failure::Failure;
use crate::output;

/// The exit code for a formula that is refuted, or undefined somewhere.
const REFUTED: u8 = 3;

/// The exit code for an undecided formula.
const UNDECIDED: u8 = 4;

/// Decides and prints; the exit code gives the verdict.
pub fn run(arguments: &Check) -> Result<u8, Failure> {
    if let Some(path) = &arguments.certificate {
        output::check_output(path, &[])?;
    }
    let kernel: Kernel = arguments.kernel.parse().map_err(Failure::usage)?;
    let findings = kernel.findings(arguments.dim, arguments.domain).map_err(Failure::work)?;
    let verdict = &findings.verdict;
    if let Some(path) = &arguments.certificate {
        certify(arguments, verdict, path)?;
    }
    if arguments.json {
        output::print_json(&findings.to_json(&arguments.kernel, arguments.dim, arguments.domain))?;
    } else {
        writeln!(io::stdout(), "{findings}").map_err(|error| Failure::stdout(&error))?;
    }
    Ok(match verdict {
        Verdict::Proven(_) => 0,
        Verdict::Refuted(_) | Verdict::Undefined(_) => REFUTED,
        Verdict::Undecided(_) => UNDECIDED,
    })
}

/// Writes the certificate, after reading it back and verifying it.
fn certify(arguments: &Check, verdict: &Verdict, path: &Path) -> Result<(), Failure> {
    let Some(certificate) = Certificate::of(&arguments.kernel, arguments.dim, arguments.domain, verdict)
    else {
        output::warn(&format!("{} was not written: there is nothing to certify", path.display()));
        return Ok(());
    };
    let text = serde_json::to_string_pretty(&certificate).map_err(Failure::work)?;
    Certificate::parse(&text)
        .and_then(|read| read.verify())
        .map_err(|error| Failure::work(format!("{} was not written: {error}", path.display())))?;
    Ok(write_atomically(path, |out| writeln!(out, "{text}"))?)
}
