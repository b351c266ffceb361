//! The threads all work runs on.
//!
//! One pool per thread count and process: a forked child finds none and makes its own. Work inside is split by
//! its own shape, never by the number of threads, so that answers do not depend on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// The number of threads used where none is asked for: every core this process may use.
#[must_use]
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work` on `threads` threads, all available ones for `None`.
pub fn with<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> R {
    let threads = threads.unwrap_or_else(available).max(1);
    match pool(threads) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The pool, or `None` where the system gives no more threads: the caller's own thread then does the work.
fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    let pools = pools.get_or_insert_with(HashMap::new);
    if let Some(pool) = pools.get(&key) {
        return Some(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("mercer-{i}"))
        .build()
        .ok()
        .map(Arc::new)?;
    pools.insert(key, Arc::clone(&pool));
    Some(pool)
}
