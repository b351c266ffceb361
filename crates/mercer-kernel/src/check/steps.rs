//! The limit of a check, in counted steps, so that a question has the same verdict on every machine and under any load.
//!
//! A step is an amount of work that takes about 0.1 µs. Expensive operations count their steps: arithmetic on
//! enclosures by the length of the numbers, products of forms and of polynomials by their terms, Gram matrices by
//! their entries, eigenvalues by the cube of the order. A check runs on one thread, which keeps the count.

use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Adds steps to this thread's count.
pub(crate) fn count(steps: usize) {
    TAKEN.set(TAKEN.get().wrapping_add(steps as u64));
}

/// This thread's count; only differences are meaningful.
pub(crate) fn taken() -> u64 {
    TAKEN.get()
}

/// Whether this thread's check is so far beyond its limit that the current operation must stop.
pub(crate) fn are_spent() -> bool {
    TAKEN.get() > LAST.get()
}

/// The count at which a search stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(u64);

impl Limit {
    /// No limit.
    pub const NEVER: Self = Self(u64::MAX);

    /// The given number of steps from now.
    pub fn after(steps: u64) -> Self {
        Self(taken().saturating_add(steps))
    }

    /// Stops all work of this thread some steps after this limit.
    pub fn stop_all(self, grace: u64) {
        LAST.set(self.0.saturating_add(grace));
    }

    /// One of `parts` equal parts of the remaining steps.
    pub fn part(self, parts: u64) -> Self {
        Self::after(self.0.saturating_sub(taken()) / parts)
    }

    /// Whether it has been reached.
    pub fn is_reached(self) -> bool {
        taken() > self.0 || are_spent()
    }
}
