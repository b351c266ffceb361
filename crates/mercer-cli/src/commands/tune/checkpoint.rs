//! Trials kept in a file while a search runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mercer::data;
use mercer::learn::search::Trials;
use mercer::session;

use crate::failure::Failure;

/// A file that trials are kept in, as JSON.
pub struct TrialsFile {
    path: PathBuf,
    found: Option<Vec<u8>>,
    /// Trials that were found.
    pub trials: usize,
    /// Why the file could not be written.
    failure: Mutex<Option<Failure>>,
}

impl TrialsFile {
    /// Reads the trials that are there, if any.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let (mut found, mut trials) = (None, 0);
        match fs::read(path) {
            Ok(bytes) => {
                let kept: Trials = serde_json::from_slice(&bytes).map_err(|error| {
                    Failure::usage(format!(
                        "{}: these are not the trials of a search: {error}",
                        path.display()
                    ))
                    .hint("name another file, or remove this one")
                })?;
                (found, trials) = (Some(bytes), kept.rows.len());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::usage(format!("{}: {error}", path.display()))),
        }
        Ok(Self { path: path.to_owned(), found, trials, failure: Mutex::default() })
    }

    /// The first failure to write.
    pub fn failure(self) -> Option<Failure> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl session::Checkpoint for TrialsFile {
    /// Whatever the work is: the search itself refuses trials of another one.
    fn load(&self, _: u64) -> Option<Vec<u8>> {
        self.found.clone()
    }

    fn due(&self) -> bool {
        true
    }

    /// The file is whole whenever the work ends.
    fn save(&self, _: u64, state: Vec<u8>) {
        let written = data::write_atomically(&self.path, |file| file.write_all(&state));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        *failure = failure.take().or(written.err().map(Failure::from));
    }
}
