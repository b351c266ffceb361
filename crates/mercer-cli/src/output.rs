//! The output of commands: lines of text or one JSON document.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub use mercer::data::counted;
use serde::Serialize;

use crate::args::Common;
use crate::failure::{Failure, tell};

/// Prints a report: one JSON document if requested, otherwise `lines` of a label and a text, or nothing.
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

/// A number with some decimals; with as many significant digits after the first where it is tiny or huge.
pub fn number(value: f64, decimals: usize) -> String {
    if value == 0.0 || !value.is_finite() || (1e-3..1e6).contains(&value.abs()) {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.decimals$e}")
    }
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

/// The same path without links, also of a file that does not exist yet.
fn resolved(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    })
}

/// Whether two paths without links name the same file, also by hard links.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
        if identity(one).is_some_and(|one| identity(other) == Some(one)) {
            return true;
        }
    }
    one == other
}

/// Rejects writing to a file that is also read, even by another name.
fn refuse_overwriting(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let Some(file) = path.canonicalize().ok().filter(|file| file.is_file()) else { return Ok(()) };
    match inputs.iter().find(|input| input.canonicalize().is_ok_and(|input| is_same(&input, &file))) {
        Some(input) => {
            let message = format!("{} would overwrite the input {}", path.display(), input.display());
            Err(Failure::usage(message).hint("write to another file"))
        }
        None => Ok(()),
    }
}

/// Rejects a second file of a command that is the same as its output, even by another name.
pub fn refuse_same_as_output(flag: &str, path: &Path, output: &Path) -> Result<(), Failure> {
    let is_special = output.exists() && !output.is_file();
    let same = resolved(path).zip(resolved(output)).is_some_and(|(path, output)| is_same(&path, &output));
    if !is_special && same {
        let message = format!("{flag} and --output name the same file, {}", output.display());
        return Err(Failure::usage(message).hint("write to two files"));
    }
    Ok(())
}

/// Checks before the work that a file can be written and is not one of the input files.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    refuse_overwriting(path, inputs)?;
    // Terminals, pipes and devices are written directly, without a temporary file.
    if path.exists() && !path.is_file() && !path.is_dir() {
        return Ok(());
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(Failure::usage(format!("cannot write {}: it is a folder", path.display())));
    }
    if !folder.is_dir() {
        return Err(Failure::usage(format!(
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        )));
    }
    tempfile::tempfile_in(folder).map(drop).map_err(|error| Failure::write(path, &error))
}

/// Prints a note to standard error, unless quiet.
pub fn note(common: &Common, text: &str) {
    if !common.quiet {
        tell(format_args!("note: {text}"));
    }
}

/// Whether warnings are silenced.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Silences all later warnings of this process, or not.
pub fn silence_warnings(silent: bool) {
    SILENT.store(silent, Ordering::Relaxed);
}

/// Prints a warning to standard error, unless warnings are silenced.
pub fn warn(text: &str) {
    if !SILENT.load(Ordering::Relaxed) {
        tell(format_args!("warning: {text}"));
    }
}
