//! Progress and stop of long calls.

use std::sync::atomic::{AtomicBool, Ordering};

/// The [`Watch`] stopped the work before it had a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before completion")]
pub struct Stopped;

/// Follows one long call: it receives the progress of the work and decides whether to continue.
///
/// Called from worker threads, often: implementations must be quick and must not block.
pub trait Watch: Sync {
    /// A stage of the work begins; `total` is in the units of [`advance`](Watch::advance), 0 where it is not known.
    fn begin(&self, stage: &str, total: u64) {
        let _ = (stage, total);
    }

    /// `amount` more units of the current stage are done.
    fn advance(&self, amount: u64) {
        let _ = amount;
    }

    /// A one-line note on the current stage, such as a residual or the best value so far.
    fn note(&self, text: &str) {
        let _ = text;
    }

    /// Whether the caller wants the work to end now.
    fn stop_requested(&self) -> bool {
        false
    }

    /// `Err(Stopped)` where a stop was requested: the form for `?` in loops.
    fn check(&self) -> Result<(), Stopped> {
        if self.stop_requested() { Err(Stopped) } else { Ok(()) }
    }
}

/// Watches nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// A flag as a watch: set it from a signal handler or another thread to stop the work.
impl Watch for AtomicBool {
    fn stop_requested(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
