//! The threads on which all work runs.
//!
//! One pool per thread count and process: a forked child finds none and makes its own. Work is split by the shape of
//! the problem, never by the number of threads, so that results do not depend on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::memory;

type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// Address space for each thread: its stack, its heap and its part of the work.
const PER_THREAD: u64 = 64 << 20;

/// The default number of threads: every core that this process may use, or fewer if its address space is limited.
#[must_use]
pub fn available() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let room = memory::address_space_limit().map_or(u64::MAX, |bytes| bytes / PER_THREAD);
    cores.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
}

/// The number of threads to start for a request, or all available ones for `None`. Results do not depend on it, and
/// more than 16 threads per core only wait for each other.
fn allowed(threads: Option<usize>) -> usize {
    let available = available();
    threads.map_or(available, |threads| threads.clamp(1, 16 * available))
}

/// Starts the threads for work outside of [`with`]. If the system cannot start as many, the calling thread does all of
/// its work itself. Without this, such work panics where threads cannot be started.
pub fn prepare() {
    let builder = ThreadPoolBuilder::new().num_threads(available()).thread_name(|i| format!("mercer-{i}"));
    if builder.build_global().is_err() {
        stay_on_this_thread();
    }
}

/// Makes the calling thread the only one of a pool, so that work it starts stays on it; does nothing if it is in a pool
/// already.
fn stay_on_this_thread() {
    if let Ok(pool) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        // The pool is as old as its thread.
        std::mem::forget(pool);
    }
}

/// Runs `work` on `threads` threads, all available ones for `None`, at most 16 per core.
pub fn with<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> R {
    match pool(allowed(threads)) {
        Some(pool) => pool.install(work),
        None => {
            stay_on_this_thread();
            work()
        }
    }
}

/// As [`with`], on separate threads: for work that waits for other work of this process, which might need the same
/// threads.
pub fn apart<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> R {
    match build(allowed(threads)) {
        Some(pool) => pool.install(work),
        None => {
            stay_on_this_thread();
            work()
        }
    }
}

/// The pool, or `None` if the system cannot start more threads: the caller's own thread then does the work.
fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    let pools = pools.get_or_insert_with(HashMap::new);
    if let Some(pool) = pools.get(&key) {
        return Some(Arc::clone(pool));
    }
    let pool = Arc::new(build(threads)?);
    pools.insert(key, Arc::clone(&pool));
    Some(pool)
}

fn build(threads: usize) -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("mercer-{i}")).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_request_starts_few_threads() {
        assert_eq!(allowed(Some(99_999)), 16 * available());
        assert_eq!(with(Some(99_999), rayon::current_num_threads), 16 * available());
        assert_eq!((allowed(Some(0)), allowed(None)), (1, available()));
    }
}
