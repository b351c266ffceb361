//! A standard output that is closed before the program starts, as by `mercer predict … >&-`.
//!
//! Rust opens `/dev/null` in its place before `main`, so that output would disappear without an error. The state is
//! therefore recorded earlier, and writing then fails as on a closed pipe.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
extern "C" fn note() {
    // SAFETY: F_GETFD takes no further argument and fails with EBADF on a descriptor that is not open.
    CLOSED.store(unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1, Ordering::Relaxed);
}

// SAFETY: the loader calls each function of this section, of type `extern "C" fn()`, once before Rust's runtime starts; `note`
// needs nothing of that runtime.
#[cfg(unix)]
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = note;

/// Whether standard output was closed when the program started.
pub fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Makes writing to standard output fail if it was closed.
pub fn refuse_writes() {
    if !was_closed() {
        return;
    }
    #[cfg(unix)]
    break_output();
}

/// Replaces standard output by a closed pipe.
#[cfg(unix)]
fn break_output() {
    let mut ends = [-1; 2];
    // SAFETY: `ends` has room for the two descriptors, which are open and belong to nobody else once the call has succeeded.
    unsafe {
        if libc::pipe(ends.as_mut_ptr()) == 0 {
            libc::close(ends[0]);
            libc::dup2(ends[1], libc::STDOUT_FILENO);
            libc::close(ends[1]);
        }
    }
}
