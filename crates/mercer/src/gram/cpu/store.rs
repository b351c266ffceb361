//! Copies a block of rows from cache to its place in a large matrix.

use std::any::TypeId;

use crate::real::Real;
use crate::tile::{Element, ROWS, ValueBlock};

/// A buffer whose disjoint parts are written by several threads.
pub(super) struct Shared<O>(pub *mut O);

// SAFETY: every use reads and writes entries that no other task touches.
unsafe impl<O: Send> Sync for Shared<O> {}

/// The values of `block` as `O`: the same memory if `O` is `T`, otherwise rounded or widened into `buffer`.
pub(super) fn converted<'a, T: Real, O: Real>(
    block: &'a ValueBlock<'_, T>,
    buffer: &'a mut Vec<O>,
) -> &'a [O] {
    if TypeId::of::<T>() == TypeId::of::<O>() {
        // SAFETY: the two types are one.
        return unsafe { std::slice::from_raw_parts(block.values.as_ptr().cast(), block.values.len()) };
    }
    buffer.clear();
    buffer.extend(block.values.iter().map(|v| O::from_f64(v.to_f64())));
    buffer
}

/// Writes `rows` rows of `cols` entries, `from_stride` apart, to `out`, `stride` apart.
///
/// # Safety
/// `out` must have room for `cols` entries at each of the rows that nothing else uses.
pub(super) unsafe fn store<O: Real>(
    values: &[O],
    from_stride: usize,
    [rows, cols]: [usize; 2],
    out: *mut O,
    stride: usize,
) {
    for r in 0..rows {
        let from = &values[r * from_stride..r * from_stride + cols];
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), out.add(r * stride), cols) };
    }
}

/// As [`store`], transposed: entry (r, c) goes to row c, column r. At most [`ROWS`] rows.
///
/// # Safety
/// `out` must have room for `rows` entries at each of `cols` rows, `stride` apart, that nothing else uses.
pub(super) unsafe fn store_transposed<O: Element>(
    values: &[O],
    from_stride: usize,
    [rows, cols]: [usize; 2],
    out: *mut O,
    stride: usize,
) {
    assert!(values.len() >= ROWS * from_stride && cols <= from_stride);
    let whole = if rows == ROWS { cols - cols % 8 } else { 0 };
    for c in (0..whole).step_by(8) {
        // SAFETY: eight entries from c on are in each of the eight rows; the caller's promise on `out`.
        unsafe { O::transpose8(values.as_ptr().add(c), from_stride, out.add(c * stride), stride) };
    }
    for c in whole..cols {
        for r in 0..rows {
            // SAFETY: the caller's promise.
            unsafe { *out.add(c * stride + r) = values[r * from_stride + c] };
        }
    }
}
