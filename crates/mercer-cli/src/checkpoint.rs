//! Unfinished work, saved in a file from which it is resumed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mercer::data;
use mercer::learn::search::Trials;
use mercer::session;

use crate::failure::Failure;
use crate::output::{check_output, refuse_same_as_output};

const MARK: &[u8] = b"mercer checkpoint 1\n";

/// The least time between two writes; a slow disk makes it longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file of states, each under the fingerprint of the work it belongs to; or of the trials of one search, as JSON.
pub struct Checkpoint {
    path: PathBuf,
    /// Whether the file holds trials.
    of_trials: bool,
    kept: Mutex<Kept>,
}

struct Kept {
    states: BTreeMap<u64, Vec<u8>>,
    due: Instant,
    /// Why the file could not be written.
    failure: Option<Failure>,
}

impl Checkpoint {
    /// Reads the saved states, if any; an error if the file cannot be a checkpoint of work that reads `data` and writes `output`.
    pub fn open(path: &Path, data: &Path, output: &Path) -> Result<Self, Failure> {
        check_output(path, &[data])?;
        refuse_same_as_output("--checkpoint", path, output)?;
        let states = match read(path)? {
            Some(bytes) => decode(&bytes)
                .ok_or_else(|| unreadable(format!("{}: not a checkpoint, or damaged", path.display())))?,
            None => BTreeMap::new(),
        };
        Ok(Self::of(path, false, states))
    }

    /// Reads the saved trials, if any; also returns their number.
    pub fn of_trials(path: &Path) -> Result<(Self, usize), Failure> {
        let (mut states, mut count) = (BTreeMap::new(), 0);
        if let Some(bytes) = read(path)? {
            let trials: Trials = serde_json::from_slice(&bytes).map_err(|error| {
                unreadable(format!("{}: not the trials of a search: {error}", path.display()))
            })?;
            count = trials.rows.len();
            states.insert(0, bytes);
        }
        Ok((Self::of(path, true, states), count))
    }

    fn of(path: &Path, of_trials: bool, states: BTreeMap<u64, Vec<u8>>) -> Self {
        let kept = Kept { states, due: Instant::now() + PATIENCE, failure: None };
        Self { path: path.to_owned(), of_trials, kept: Mutex::new(kept) }
    }

    /// The first failure to write.
    pub fn failure(self) -> Option<Failure> {
        self.kept().failure.take()
    }

    /// The warning that a state could not be written; the work continues.
    pub fn warning(&self) -> Option<String> {
        let failure = &self.kept().failure;
        failure.as_ref().map(|failure| format!("the checkpoint was not saved: {}", failure.message()))
    }

    /// Removes the file after the work is done.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl session::Checkpoint for Checkpoint {
    /// Trials are returned for any work: the search itself rejects those of another one.
    fn load(&self, work: u64) -> Option<Vec<u8>> {
        self.kept().states.get(if self.of_trials { &0 } else { &work }).cloned()
    }

    fn due(&self) -> bool {
        self.of_trials || Instant::now() >= self.kept().due
    }

    /// The file is complete whenever the program ends.
    fn save(&self, work: u64, state: Vec<u8>) {
        let began = Instant::now();
        let mut kept = self.kept();
        let bytes = if self.of_trials {
            state
        } else {
            kept.states.insert(work, state);
            encode(&kept.states)
        };
        let written = data::write_atomically(&self.path, |file| file.write_all(&bytes));
        kept.failure = kept.failure.take().or(written.err().map(Failure::from));
        kept.due = Instant::now() + PATIENCE.max(20 * began.elapsed());
    }
}

/// The bytes of a file; `None` if there is no file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("{}: {error}", path.display()))),
    }
}

fn unreadable(message: String) -> Failure {
    Failure::usage(message).hint("name another file, or remove this one")
}

/// A checksum that detects damaged states (FNV-1a).
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn encode(states: &BTreeMap<u64, Vec<u8>>) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    for (work, state) in states {
        bytes.extend_from_slice(&work.to_le_bytes());
        bytes.extend_from_slice(&(state.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&fingerprint(state).to_le_bytes());
        bytes.extend_from_slice(state);
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<BTreeMap<u64, Vec<u8>>> {
    let mut rest = bytes.strip_prefix(MARK)?;
    let mut states = BTreeMap::new();
    while !rest.is_empty() {
        let (head, after) = rest.split_at_checked(24)?;
        let number = |at: usize| Some(u64::from_le_bytes(head[at..at + 8].try_into().ok()?));
        let (state, after) = after.split_at_checked(usize::try_from(number(8)?).ok()?)?;
        if fingerprint(state) != number(16)? {
            return None;
        }
        states.insert(number(0)?, state.to_vec());
        rest = after;
    }
    Some(states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_states_are_read_back_and_damage_is_noticed() {
        let states = BTreeMap::from([(7, b"seven".to_vec()), (9, Vec::new())]);
        let bytes = encode(&states);
        assert_eq!(decode(&bytes), Some(states));
        for length in MARK.len() + 1..bytes.len() {
            let whole = length == MARK.len() + 24 + 5;
            assert_eq!(decode(&bytes[..length]).is_some(), whole, "{length}");
        }
        let mut flipped = bytes.clone();
        flipped[MARK.len() + 24] ^= 1;
        assert_eq!(decode(&flipped), None);
    }
}
