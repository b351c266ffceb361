//! Vectors of `f32` and `f64`, one set of operations for every instruction set.
//!
//! Numerical code is written once, generic over [`Simd`], in functions marked `#[inline(always)]`. [`Element::vectorize`]
//! picks the widest instruction set the processor has and calls the code inside a function compiled for it, into which
//! everything inlines.

mod portable;

use crate::real::Real;

pub(crate) use portable::Portable;

/// Bytes in a panel of rows: two of the widest vectors, so that one layout serves every instruction set.
const PANEL_BYTES: usize = 128;

/// Operations on vectors of one element type under one instruction set.
pub(crate) trait Simd: Copy {
    /// The element.
    type T: Real;
    /// A vector of [`LANES`](Self::LANES) elements.
    type V: Copy;
    /// A truth value per lane.
    type M: Copy;
    /// Elements in a vector.
    const LANES: usize;

    /// Every lane `value`.
    fn splat(self, value: Self::T) -> Self::V;
    /// The [`LANES`](Self::LANES) elements at `from`.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn load(self, from: *const Self::T) -> Self::V;
    /// Writes the lanes to `to`.
    ///
    /// # Safety
    /// There must be room for them.
    unsafe fn store(self, to: *mut Self::T, v: Self::V);
    /// a + b.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a·b.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a/b.
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// a·b + c, rounded once where the processor can.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// √a.
    fn sqrt(self, a: Self::V) -> Self::V;
    /// |a|.
    fn abs(self, a: Self::V) -> Self::V;
    /// b where either is NaN, else the lesser.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// b where either is NaN, else the greater.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// a < b, false for NaN.
    fn lt(self, a: Self::V, b: Self::V) -> Self::M;
    /// a = b, false for NaN.
    fn eq(self, a: Self::V, b: Self::V) -> Self::M;
    /// a where `mask`, else b.
    fn select(self, mask: Self::M, a: Self::V, b: Self::V) -> Self::V;

    /// `value`, rounded to the element type, in every lane.
    #[inline(always)]
    fn number(self, value: f64) -> Self::V {
        self.splat(Self::T::from_f64(value))
    }
}

/// Work that is compiled for each instruction set. `run` must be `#[inline(always)]`.
pub(crate) trait Vectorized<T: Element> {
    /// What it returns.
    type Output;
    /// Does the work.
    fn run<S: Simd<T = T>>(self, simd: S) -> Self::Output;
}

/// An element type of tiles.
pub(crate) trait Element: Real {
    /// Rows that are stored together, element by element, in a pack.
    const PANEL: usize = PANEL_BYTES / size_of::<Self>();

    /// Runs `work` on the widest vectors this processor has.
    fn vectorize<W: Vectorized<Self>>(work: W) -> W::Output;
}

impl Element for f32 {
    fn vectorize<W: Vectorized<Self>>(work: W) -> W::Output {
        work.run(Portable::<f32>::new())
    }
}

impl Element for f64 {
    fn vectorize<W: Vectorized<Self>>(work: W) -> W::Output {
        work.run(Portable::<f64>::new())
    }
}
