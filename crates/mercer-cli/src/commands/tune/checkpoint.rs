//! Trials kept in a file while a search runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mercer::data;
use mercer::select::Trials;

use crate::failure::Failure;

/// A file that trials are kept in.
pub struct Checkpoint {
    path: PathBuf,
    found: Option<Trials>,
}

impl Checkpoint {
    /// Reads the trials that are there, if any.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let found = match fs::read(path) {
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| {
                Failure::usage(format!("{}: these are not the trials of a search: {error}", path.display()))
                    .hint("name another file, or remove this one")
            })?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::usage(format!("{}: {error}", path.display()))),
        };
        Ok(Self { path: path.to_owned(), found })
    }

    /// The trials to go on from.
    pub fn take(&mut self) -> Option<Trials> {
        self.found.take()
    }

    /// Writes all trials made so far. The file is whole whenever the work ends.
    pub fn keep(&self, trials: &Trials) -> Result<(), Failure> {
        let bytes = serde_json::to_vec(trials).map_err(Failure::work)?;
        Ok(data::write_atomically(&self.path, |file| file.write_all(&bytes))?)
    }
}
