//! A progress bar with an estimate, and Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer::watch::Watch;

#[cfg(unix)]
use crate::allocator::{exit, write_error};
use crate::device;
use crate::failure::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether work that checks [`STOP`] is running.
static WORKING: AtomicBool = AtomicBool::new(false);

/// The time before a stage's bar is drawn.
const PATIENCE: Duration = Duration::from_millis(700);

/// Handles Ctrl-C. The first one asks running work to stop; a second one, or one before the work starts (nothing is
/// written then), ends the program immediately.
#[cfg(unix)]
pub fn listen() {
    extern "C" fn interrupt(_: libc::c_int) {
        if ends_the_program() {
            write_error(b"error: interrupted\n");
            exit(130);
        }
    }
    let handler: extern "C" fn(libc::c_int) = interrupt;
    // SAFETY: the structure is filled in before it is used. The handler reads and writes atomic numbers and makes two system calls,
    // which a signal handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigemptyset(&raw mut action.sa_mask);
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

/// As on Unix.
#[cfg(not(unix))]
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ends_the_program() {
            eprintln!("error: interrupted");
            std::process::exit(130);
        }
    });
}

/// Whether this Ctrl-C ends the program: it is the second one, or no work is running.
fn ends_the_program() -> bool {
    STOP.swap(true, Ordering::Relaxed) || !WORKING.load(Ordering::Relaxed)
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Fails if the device failed in a call that could not return it, before an answer is written.
///
/// # Errors
/// The failure of the device.
pub fn check_device() -> Result<(), Failure> {
    device::explain(Ok(()), interrupted())
}

/// Draws a bar on standard error for stages that take a while, unless quiet.
#[derive(Debug)]
pub struct Progress {
    quiet: bool,
    stage: Mutex<Option<Stage>>,
}

#[derive(Debug)]
struct Stage {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
}

impl Stage {
    fn show_when_due(&mut self) {
        if !self.shown && self.since.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
    }
}

impl Progress {
    /// A bar, or none if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, stage: Mutex::new(None) }
    }

    /// Removes the bar from the screen.
    pub fn finish(&self) {
        if let Some(stage) = self.stage.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stage.bar.finish_and_clear();
        }
    }
}

impl Watch for Progress {
    /// From the first stage on, the work handles Ctrl-C; before that, while the program may wait for input, Ctrl-C ends
    /// the program.
    fn begin(&self, name: &str, total: u64) {
        WORKING.store(true, Ordering::Relaxed);
        if self.quiet {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(
            "{prefix:<16} [{bar:32}] {percent:>3}%  {elapsed} (about {eta} left)  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_prefix(name.to_owned());
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = stage.take() {
            old.bar.finish_and_clear();
        }
        *stage = Some(Stage { bar, since: Instant::now(), shown: false });
    }

    fn advance(&self, amount: u64) {
        if self.quiet {
            return;
        }
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stage) = stage.as_mut() {
            stage.bar.inc(amount);
            stage.show_when_due();
        }
    }

    fn note(&self, text: &str) {
        if let Some(stage) = self.stage.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            stage.bar.set_message(text.to_owned());
            stage.show_when_due();
        }
    }

    fn stop_requested(&self) -> bool {
        interrupted()
    }
}
