//! Reports exhausted memory with a message and exit code 1 instead of an abort.
//!
//! The library rejects work that does not fit its memory budget before it starts. Other failures, such as small buffers
//! under a tight `ulimit -v`, end here.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which ends the program if it has no more memory.
pub struct Allocator;

// SAFETY: every call is passed unchanged to the system's allocator, and its result is returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc`.
        present(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        present(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `realloc`.
        present(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn present(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() { out_of_memory(bytes) } else { pointer }
}

/// This does not allocate.
#[cold]
fn out_of_memory(mut bytes: usize) -> ! {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (bytes % 10) as u8;
        bytes /= 10;
        if bytes == 0 {
            break;
        }
    }
    let parts: [&[u8]; 3] = [
        b"error: out of memory: ",
        &digits[first..],
        b" bytes could not be allocated; nothing was written\n  hint: allow more memory (`ulimit -v`, the limit of the container), or \
          use fewer rows, --threads 1 or --approx\n",
    ];
    for part in parts {
        write_error(part);
    }
    exit(1)
}

/// Writes to standard error without a lock or a buffer.
#[cfg(unix)]
pub fn write_error(text: &[u8]) {
    // SAFETY: the pointer and the length are those of a slice; a message that cannot be written is lost.
    let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Ends the program without running exit handlers.
#[cfg(unix)]
pub fn exit(code: i32) -> ! {
    // SAFETY: no cleanup is needed.
    unsafe { libc::_exit(code) }
}

#[cfg(not(unix))]
fn write_error(text: &[u8]) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text);
}

#[cfg(not(unix))]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}

/// If the address space is limited, the threads of the C library share one heap: one for each would reserve 64 MB.
pub fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: no other thread runs yet, and the call only changes a setting.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1)
    };
}
