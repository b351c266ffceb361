//! Vectors of `f32` and `f64`, one set of operations for every instruction set.
//!
//! Numerical code is written once, generic over [`Simd`], in functions marked `#[inline(always)]`. [`Element::vectorize`]
//! calls the code inside a function compiled for the [`InstructionSet`] in use, into which everything inlines.

mod instruction_set;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::real::Real;

pub use instruction_set::{InstructionSet, InstructionSetError};
use portable::Portable;

/// Bytes in a panel of rows: two of the widest vectors, so that one layout serves every instruction set.
const PANEL_BYTES: usize = 128;

/// Operations on vectors of one element type under one instruction set.
pub(crate) trait Simd: Copy {
    /// The element.
    type T: Element;
    /// A vector of [`LANES`](Self::LANES) elements.
    type V: Copy;
    /// A truth value per lane.
    type M: Copy;
    /// Elements in a vector.
    const LANES: usize;
    /// Rows of two vectors whose sums fit in the registers.
    const REGISTER_ROWS: usize;
    /// Whether [`mul_add`](Self::mul_add) rounds once.
    const FUSED: bool;

    /// Every lane `value`.
    fn splat(self, value: Self::T) -> Self::V;
    /// The [`LANES`](Self::LANES) elements at `from`.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn load(self, from: *const Self::T) -> Self::V;
    /// The [`LANES`](Self::LANES) 16-bit integers at `from`, as elements.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn load_short(self, from: *const i16) -> Self::V;
    /// Writes the lanes to `to`.
    ///
    /// # Safety
    /// There must be room for them.
    unsafe fn store(self, to: *mut Self::T, v: Self::V);
    /// Prefetches the cache line at `at` into the second-level cache, if the processor can. Any address is allowed.
    #[inline(always)]
    fn prefetch(self, at: *const Self::T) {
        let _ = at;
    }
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

    /// The nearest integer, ties to even.
    fn round(self, a: Self::V) -> Self::V;
    /// a·2ⁿ for an integer n of at most twice the exponent range, rounded once where the result is subnormal.
    fn scale(self, a: Self::V, n: Self::V) -> Self::V;
    /// (m, e) with a = m·2ᵉ and 1 ≤ m < 2, for positive normal a.
    fn split(self, a: Self::V) -> (Self::V, Self::V);
    /// |magnitude| with the sign of `sign`.
    fn with_sign(self, magnitude: Self::V, sign: Self::V) -> Self::V;
    /// Whether the mask is true in any lane.
    fn any(self, mask: Self::M) -> bool;
    /// The mask as bits, the first lane lowest.
    fn bits(self, mask: Self::M) -> u64;

    /// The `f64` vectors of the same instruction set.
    type Wide: Simd<T = f64>;
    /// The same instruction set for `f64`.
    fn wide(self) -> Self::Wide;
    /// Two vectors of `f64` from as many elements at `from`.
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    unsafe fn load_wide(self, from: *const Self::T) -> [<Self::Wide as Simd>::V; 2] {
        let wide = self.wide();
        // SAFETY: the caller's promise; where both have as many lanes, the elements are `f64` already.
        unsafe {
            if Self::LANES == <Self::Wide as Simd>::LANES {
                let from = from.cast::<f64>();
                [wide.load(from), wide.load(from.add(Self::LANES))]
            } else {
                self.widen(self.load(from))
            }
        }
    }
    /// The lanes in double precision: the first half and the second, the same twice for `f64`.
    fn widen(self, a: Self::V) -> [<Self::Wide as Simd>::V; 2];
    /// The inverse of [`widen`](Self::widen), rounded; of two vectors of `f64`, the first.
    fn narrow(self, a: [<Self::Wide as Simd>::V; 2]) -> Self::V;
    /// Applies `f` to the lanes widened to `f64`, and rounds back.
    #[inline(always)]
    fn in_double(
        self,
        a: Self::V,
        f: impl Fn(Self::Wide, <Self::Wide as Simd>::V) -> <Self::Wide as Simd>::V,
    ) -> Self::V {
        self.in_double2(
            a,
            a,
            #[inline(always)]
            |wide, a, _| f(wide, a),
        )
    }
    /// As [`in_double`](Self::in_double), of two arguments.
    #[inline(always)]
    fn in_double2(
        self,
        a: Self::V,
        b: Self::V,
        f: impl Fn(Self::Wide, <Self::Wide as Simd>::V, <Self::Wide as Simd>::V) -> <Self::Wide as Simd>::V,
    ) -> Self::V {
        let wide = self.wide();
        let ([a_first, a_second], [b_first, b_second]) = (self.widen(a), self.widen(b));
        let first = f(wide, a_first, b_first);
        let is_wide = Self::LANES == <Self::Wide as Simd>::LANES;
        self.narrow([first, if is_wide { first } else { f(wide, a_second, b_second) }])
    }

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

    /// eˣ, lane by lane.
    fn exp<S: Simd<T = Self>>(s: S, x: S::V) -> S::V;

    /// Writes the transpose of an 8 × 8 block.
    ///
    /// # Safety
    /// Eight entries must be readable at each of eight rows `stride` apart, and as many writable at `to`.
    unsafe fn transpose8(from: *const Self, stride: usize, to: *mut Self, to_stride: usize);

    /// Runs `work` compiled for `set`.
    ///
    /// # Safety
    /// The processor must have the instructions: [`InstructionSet::is_available`].
    unsafe fn run_on<W: Vectorized<Self>>(set: InstructionSet, work: W) -> W::Output;

    /// Runs `work` compiled for the instruction set in use.
    #[inline]
    fn vectorize<W: Vectorized<Self>>(work: W) -> W::Output {
        // SAFETY: the set in use is one that the processor has.
        unsafe { Self::run_on(InstructionSet::in_use(), work) }
    }
}

macro_rules! element {
    ($t:ty, $exp:ident, $transpose:ident) => {
        impl Element for $t {
            #[inline(always)]
            fn exp<S: Simd<T = Self>>(s: S, x: S::V) -> S::V {
                super::math::$exp(s, x)
            }

            #[inline]
            unsafe fn transpose8(from: *const $t, stride: usize, to: *mut $t, to_stride: usize) {
                #[cfg(target_arch = "x86_64")]
                if InstructionSet::in_use() != InstructionSet::Portable {
                    // SAFETY: AVX-512 includes AVX2, so the processor has it; the rest is the caller's promise.
                    return unsafe { x86::$transpose(from, stride, to, to_stride) };
                }
                for i in 0..8 {
                    for j in 0..8 {
                        // SAFETY: the caller's promise.
                        unsafe { *to.add(j * to_stride + i) = *from.add(i * stride + j) };
                    }
                }
            }

            #[inline]
            unsafe fn run_on<W: Vectorized<Self>>(set: InstructionSet, work: W) -> W::Output {
                match set {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the caller's promise.
                    InstructionSet::Avx512 => unsafe { x86::avx512::<$t, W>(work) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the caller's promise.
                    InstructionSet::Avx2 => unsafe { x86::avx2::<$t, W>(work) },
                    #[cfg(target_arch = "aarch64")]
                    InstructionSet::Neon => work.run(neon::Neon::<$t>::new()),
                    _ => work.run(Portable::<$t>::new()),
                }
            }
        }
    };
}

element!(f32, exp_f32, transpose8_f32);
element!(f64, exp_f64, transpose8_f64);

/// Calls `f` with each instruction set this machine has, the widest first.
#[cfg(test)]
pub(super) fn each_instruction_set(f: impl Fn(InstructionSet)) {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available()).for_each(f);
}

/// Runs `work` on an instruction set that this machine must have.
#[cfg(test)]
pub(super) fn run_at<T: Element, W: Vectorized<T>>(set: InstructionSet, work: W) -> W::Output {
    assert!(set.is_available());
    // SAFETY: checked above.
    unsafe { T::run_on(set, work) }
}
