//! The vectors of x86-64 processors.
//!
//! Methods call intrinsics from functions without the matching target feature: they are sound because a token exists only
//! inside [`avx512`] or [`avx2`], whose callers promise that the processor has the instructions, and fast because
//! they inline into those.

mod avx2;
mod avx512;
mod transpose;

pub(crate) use avx2::{avx2, has_avx2};
pub(crate) use avx512::{avx512, has_avx512};
pub(crate) use transpose::{transpose8_f32, transpose8_f64};
