//! Memory for large matrices.

use std::panic::resume_unwind;

use crate::memory::OutOfMemory;

/// `len` zeros whose pages the system provides only when they are first written, by the thread that fills them.
///
/// Large buffers request huge pages where the system has them: 512 times fewer page faults. If the system has no memory
/// for them, this unwinds with [`OutOfMemory`].
#[must_use]
pub fn zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    // Reserving first costs nothing compared with the work on a large buffer; `vec!` would abort the program.
    if Vec::<T>::new().try_reserve_exact(len).is_err() {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        resume_unwind(Box::new(OutOfMemory { bytes }));
    }
    let buffer = vec![T::default(); len];
    #[cfg(target_os = "linux")]
    advise_huge_pages(&buffer);
    buffer
}

/// Buffers below this many bytes are left to the allocator.
#[cfg(target_os = "linux")]
const LARGE: usize = 8 << 20;

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(buffer: &[T]) {
    const PAGE: usize = 4096;
    let bytes = size_of_val(buffer);
    if bytes < LARGE {
        return;
    }
    let start = buffer.as_ptr().cast::<u8>();
    let skip = start.align_offset(PAGE);
    // SAFETY: the range lies within the buffer and starts at a page. The advice changes no contents; a system
    // without huge pages refuses it, and nothing depends on the answer.
    unsafe {
        libc::madvise(start.add(skip).cast_mut().cast(), (bytes - skip) & !(PAGE - 1), libc::MADV_HUGEPAGE)
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn failed_allocations_can_be_caught() {
        assert_eq!(zeroed::<f64>(3), [0.0; 3]);
        let panic = catch_unwind(|| zeroed::<f64>(usize::MAX / 16)).unwrap_err();
        let OutOfMemory { bytes } = *panic.downcast::<OutOfMemory>().unwrap();
        assert_eq!(bytes, (usize::MAX / 16 * 8) as u64);
    }
}
