//! From a tile in cache to its place in a large matrix.

use crate::real::Real;

/// Rows and columns that are turned together: one cache line of single precision each way.
const SQUARE: usize = 16;

/// Writes a tile of `rows` × `cols`, rows `STRIDE` apart, to `out`, rows `stride` apart.
///
/// # Safety
/// `out` must have room for `cols` entries at each of `rows` rows, `stride` apart, that nothing else uses.
pub(super) unsafe fn store<T: Real, O: Real>(
    tile: &[T],
    from_stride: usize,
    [rows, cols]: [usize; 2],
    out: *mut O,
    stride: usize,
) {
    for r in 0..rows {
        // SAFETY: the caller's promise.
        let to = unsafe { std::slice::from_raw_parts_mut(out.add(r * stride), cols) };
        for (o, v) in to.iter_mut().zip(&tile[r * from_stride..r * from_stride + cols]) {
            *o = O::from_f64(v.to_f64());
        }
    }
}

/// As [`store`], transposed: entry (r, c) of the tile goes to row c, column r.
///
/// # Safety
/// `out` must have room for `rows` entries at each of `cols` rows, `stride` apart, that nothing else uses.
pub(super) unsafe fn store_transposed<T: Real, O: Real>(
    tile: &[T],
    from_stride: usize,
    [rows, cols]: [usize; 2],
    out: *mut O,
    stride: usize,
) {
    for c0 in (0..cols).step_by(SQUARE) {
        for r0 in (0..rows).step_by(SQUARE) {
            let height = SQUARE.min(rows - r0);
            for c in c0..cols.min(c0 + SQUARE) {
                // SAFETY: the caller's promise; c < cols and r0 + height ≤ rows.
                let to = unsafe { std::slice::from_raw_parts_mut(out.add(c * stride + r0), height) };
                for (r, o) in to.iter_mut().enumerate() {
                    *o = O::from_f64(tile[(r0 + r) * from_stride + c].to_f64());
                }
            }
        }
    }
}
