//! Where and how work runs: passed to every `fit`, `predict` and `tune` with its data.

use std::fmt;
use std::sync::Arc;

use crate::data::AnySamples;
use crate::gram::{Engine, GramError, Resident, SampleScales, default_engine};
use crate::memory;
use crate::watch::{Unwatched, Watch};

/// An engine, a memory budget, a seed, a watch and a checkpoint.
///
/// The same session settings and data give the same bits on any number of threads and under any load: no decision
/// depends on a clock or on the memory that is currently free.
///
/// A session is itself a [`Watch`] that forwards to the one it holds, so that solvers can report their progress to it.
///
/// ```
/// use mercer::session::Session;
/// let session = Session::default().with_seed(7).with_memory(2 << 30);
/// assert_eq!(session.seed(), 7);
/// assert_eq!(session.memory(), 2 << 30);
/// ```
#[derive(Clone)]
pub struct Session<'a> {
    engine: Arc<dyn Engine>,
    budget: u64,
    seed: u64,
    watch: &'a dyn Watch,
    checkpoint: Option<&'a dyn Checkpoint>,
    /// Whether stages and notes are not forwarded to the watch.
    silent: bool,
}

/// Storage for the states of long work, each under a number that identifies the work.
pub trait Checkpoint: Sync {
    /// The last saved state of this work, if any.
    fn load(&self, work: u64) -> Option<Vec<u8>>;

    /// Whether it is time to save again.
    fn due(&self) -> bool;

    /// Saves the state of this work. A failure does not end the work; the implementor records it.
    fn save(&self, work: u64, state: Vec<u8>);
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("budget", &self.budget)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// The CPU, four fifths of the machine's memory, seed 0, no watch and no checkpoint.
impl Default for Session<'_> {
    fn default() -> Self {
        Self::new(default_engine())
    }
}

impl<'a> Session<'a> {
    /// A session on `engine`; the memory budget is four fifths of the machine's memory, the seed is 0, and there is no
    /// watch.
    #[must_use]
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        Self {
            engine,
            budget: memory::default_budget(),
            seed: 0,
            watch: &Unwatched,
            checkpoint: None,
            silent: false,
        }
    }

    /// The same session on another engine.
    #[must_use]
    pub fn on(&self, engine: Arc<dyn Engine>) -> Self {
        Self { engine, ..self.clone() }
    }

    /// The same session with a memory budget of `bytes`.
    #[must_use]
    pub fn with_memory(&self, bytes: u64) -> Self {
        Self { budget: bytes, ..self.clone() }
    }

    /// The same session with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// The same session, watched by `watch`.
    #[must_use]
    pub fn with_watch<'b>(&self, watch: &'b dyn Watch) -> Session<'b>
    where
        'a: 'b,
    {
        Session { watch, silent: false, ..self.clone() }
    }

    /// The same session, whose long work is saved to `checkpoint` and resumed from it.
    #[must_use]
    pub fn with_checkpoint<'b>(&self, checkpoint: &'b dyn Checkpoint) -> Session<'b>
    where
        'a: 'b,
    {
        Session { checkpoint: Some(checkpoint), ..self.clone() }
    }

    /// The same session without a checkpoint, for work that is not worth keeping.
    #[must_use]
    pub fn without_checkpoint(&self) -> Self {
        Self { checkpoint: None, ..self.clone() }
    }

    /// The session for a part of the work: it can be stopped but reports no progress, which the whole reports itself.
    #[must_use]
    pub fn part(&self) -> Self {
        Self { silent: true, ..self.clone() }
    }

    /// Where kernel matrices are computed.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The bytes that the work may take in addition to its samples.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.budget
    }

    /// The bytes that a matrix stored by the engine may take: those of its device, or the memory budget.
    #[must_use]
    pub fn matrix_memory(&self) -> u64 {
        self.engine.memory().unwrap_or(self.budget)
    }

    /// The seed of all random choices.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The checkpoint, if any.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&'a dyn Checkpoint> {
        self.checkpoint
    }

    /// Makes samples resident on the engine.
    ///
    /// # Errors
    /// If the engine cannot hold them.
    pub fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        self.engine.load(samples)
    }

    /// The scales of samples that `auto` in a kernel stands for.
    #[must_use]
    pub fn scales<'s>(&'s self, samples: &'s AnySamples<'s>) -> SampleScales<'s> {
        SampleScales::new(samples, self.engine(), self.seed)
    }
}

impl Watch for Session<'_> {
    fn begin(&self, stage: &str, total: u64) {
        if !self.silent {
            self.watch.begin(stage, total);
        }
    }

    fn advance(&self, amount: u64) {
        if !self.silent {
            self.watch.advance(amount);
        }
    }

    fn note(&self, text: &str) {
        if !self.silent {
            self.watch.note(text);
        }
    }

    fn stop_requested(&self) -> bool {
        self.watch.stop_requested()
    }
}
