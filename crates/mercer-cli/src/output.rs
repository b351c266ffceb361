//! What commands print: lines for people or one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use crate::args::Common;
use crate::failure::Failure;

/// Prints a report: `json` as one document where asked for, else `lines` of a label and a text, else nothing.
pub fn report(common: &Common, json: &impl Serialize, lines: &[(&str, String)]) -> Result<(), Failure> {
    if common.json {
        return print_json(json);
    }
    if common.quiet {
        return Ok(());
    }
    print_lines(lines)
}

/// Prints one JSON document on standard output.
pub fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(Failure::work)?;
    writeln!(io::stdout(), "{text}").map_err(|error| Failure::stdout(&error))
}

/// Prints labelled lines on standard output.
pub fn print_lines(lines: &[(&str, String)]) -> Result<(), Failure> {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let mut out = io::stdout().lock();
    lines
        .iter()
        .try_for_each(|(label, text)| writeln!(out, "{label:<width$}  {text}"))
        .and_then(|()| out.flush())
        .map_err(|error| Failure::stdout(&error))
}

/// Tells something on standard error, unless told to be quiet.
pub fn note(common: &Common, text: &str) {
    if !common.quiet {
        eprintln!("note: {text}");
    }
}

/// Warns on standard error.
pub fn warn(text: &str) {
    eprintln!("warning: {text}");
}
