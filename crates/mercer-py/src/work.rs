//! Long calls: the work runs on mercer's threads while the calling thread listens for Ctrl-C and shows progress.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mercer::memory::OutOfMemory;
use mercer::pool;
use mercer::session::Session;
use mercer::tile::InstructionSet;
use mercer::watch::Watch;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

use crate::device;
use crate::errors::{gram_error, value_error};

/// The interval at which the calling thread checks for signals: a quarter of the tenth of a second that Ctrl-C may
/// take.
pub const LISTEN: Duration = Duration::from_millis(25);

/// The number of threads that `n_jobs=None` uses.
#[pyfunction]
pub fn available_threads() -> usize {
    pool::available()
}

/// The vector instructions in use, by their name in `MERCER_SIMD`.
#[pyfunction]
pub fn instruction_set() -> PyResult<String> {
    InstructionSet::chosen().map(|set| set.to_string()).map_err(value_error)
}

/// The settings of the work: threads, progress and seed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Job<'py> {
    threads: Option<usize>,
    /// Called as `progress(stage, done, total)`, on the calling thread only.
    progress: Option<Bound<'py, PyAny>>,
    /// The seed of the session.
    #[pyo3(default)]
    seed: u64,
    /// The device, by its name; `None` for the CPU.
    #[pyo3(default)]
    device: Option<String>,
}

/// State shared by the working threads and the calling thread.
#[derive(Default)]
struct Board {
    stop: AtomicBool,
    finished: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    stage: Mutex<String>,
}

impl Watch for Board {
    fn begin(&self, stage: &str, total: u64) {
        stage.clone_into(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner));
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Board {
    fn show(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        progress.call1((stage, done, total)).map(drop)
    }
}

impl Job<'_> {
    /// The number of threads; `None` for all cores.
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// The seed of the session.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs `work` with the interpreter's lock released.
    ///
    /// Python runs its signal handlers on the main thread only, so that thread must not compute: a separate thread
    /// passes the work to the pool, and this one wakes up every 25 ms to run the handlers.
    ///
    /// # Errors
    /// The exceptions of signal handlers and of the progress callback; a panic of the work as `RuntimeError`.
    pub fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&Session<'_>) -> R + Send) -> PyResult<R> {
        let board = Board::default();
        let engine = device::engine(self.device.as_deref())?;
        let (threads, seed) = (self.threads, self.seed);
        let work = Mutex::new(Some(work));
        let compute = || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let session = Session::new(Arc::clone(&engine)).with_watch(&board).with_seed(seed);
                work.map(|work| pool::with(threads, || work(&session)))
            }));
            board.finished.store(true, Ordering::Release);
            outcome
        };
        // Discards a failure that earlier work did not report.
        drop(engine.take_fault());
        let caller = thread::current();
        let outcome = thread::scope(|scope| {
            let spawned = thread::Builder::new().name("mercer".into()).spawn_scoped(scope, || {
                let outcome = compute();
                caller.unpark();
                outcome
            });
            // If no thread can be started, this one computes, and handles signals only afterwards.
            let Ok(worker) = spawned else { return Ok(py.detach(compute)) };
            let heard = listen(py, &board, self.progress.as_ref());
            if heard.is_err() {
                board.stop.store(true, Ordering::Relaxed);
            }
            let outcome = py.detach(|| worker.join().unwrap_or_else(Err));
            heard.map(|()| outcome)
        });
        // The device may have failed in a call that could only return a stop.
        let fault = engine.take_fault();
        match (outcome?, fault) {
            (_, Some(fault)) => Err(gram_error(fault)),
            (outcome, None) => handed_back(outcome),
        }
    }
}

/// The result of work on a thread.
fn handed_back<R>(outcome: thread::Result<Option<R>>) -> PyResult<R> {
    match outcome {
        Ok(Some(result)) => Ok(result),
        Ok(None) => Err(PyRuntimeError::new_err("mercer: the work was taken twice")),
        Err(panic) => Err(internal_error(&*panic)),
    }
}

/// Runs `work`, which cannot be stopped, with the interpreter's lock released. After a signal this returns immediately
/// and the work continues on a separate thread, so it must be short.
///
/// # Errors
/// As [`Job::run`].
pub fn run_or_leave<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let board = Arc::new(Board::default());
    let worker = thread::Builder::new().name("mercer".into()).spawn({
        let (board, caller) = (Arc::clone(&board), thread::current());
        move || {
            let outcome = catch_unwind(AssertUnwindSafe(work));
            board.finished.store(true, Ordering::Release);
            caller.unpark();
            outcome
        }
    })?;
    listen(py, &board, None)?;
    py.detach(|| worker.join().unwrap_or_else(Err)).map_err(|panic| internal_error(&*panic))
}

/// Waits for the work to be finished, running Python's signal handlers and showing progress meanwhile.
fn listen(py: Python<'_>, board: &Board, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    loop {
        py.detach(|| {
            let until = Instant::now() + LISTEN;
            while !board.finished.load(Ordering::Acquire) {
                let Some(left) = until.checked_duration_since(Instant::now()) else { break };
                thread::park_timeout(left);
            }
        });
        if board.finished.load(Ordering::Acquire) {
            return Ok(());
        }
        py.check_signals()?;
        if let Some(progress) = progress {
            board.show(progress)?;
        }
    }
}

/// A panic as a Python exception.
pub fn internal_error(panic: &(dyn Any + Send)) -> PyErr {
    if let Some(error) = panic.downcast_ref::<OutOfMemory>() {
        return PyMemoryError::new_err(error.to_string());
    }
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    PyRuntimeError::new_err(format!("mercer: internal error, please report it: {message}"))
}
