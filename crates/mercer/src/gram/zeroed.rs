//! Memory for large matrices.

use crate::real::Real;

/// `len` zeros whose pages come from the system only when they are first written: by the thread that fills them.
#[must_use]
pub fn zeroed<T: Real>(len: usize) -> Vec<T> {
    vec![T::default(); len]
}
