//! From the values of a tile to 16-bit codes.

use crate::tile::{Element, Simd, Vectorized};

use super::TILE;

/// Steps between the least and the greatest value of a tile. A few codes are left over for rounding at both ends.
pub(super) const STEPS: f64 = 65_530.0;

/// The code of the middle, before it is shifted to 0.
const MIDDLE: f32 = 32_768.0;

/// The scale of a tile's codes: k = middle + step·code.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Scale {
    /// The value of code 0; NaN if a value of the tile is not finite.
    pub middle: f64,
    /// The difference between neighbouring codes.
    pub step: f64,
}

impl Scale {
    /// The finest scale over `values`; 0 is on it if it lies between them.
    fn of(values: &[f32]) -> Self {
        let Some((least, greatest)) = f32::vectorize(Range(values)) else {
            return Self { middle: f64::NAN, step: 0.0 };
        };
        let (least, greatest) = (f64::from(least), f64::from(greatest));
        let step = (greatest - least) / STEPS;
        if !(1.0 / step as f32).is_finite() {
            return Self { middle: f64::from(least as f32), step: 0.0 };
        }
        // A whole number of steps from 0: values of 0, which are many in a narrow kernel's matrix, have no error.
        let middle = (0.5 * (least + greatest) / step).round() * step;
        Self { middle: f64::from(middle as f32), step }
    }
}

/// Writes the codes of a tile whose first entry is at (`row`, `col`) of the matrix.
///
/// Each value is rounded up or down at random, with probabilities that make its mean exact. Errors are then independent
/// of each other and of the values, and their matrix has a norm of about √n steps. Errors of rounding to the nearest
/// code repeat if values do, in the tails of a kernel and on a grid of samples; such a matrix can have a norm of n
/// steps. The random bits are a hash of the entry's position, so that the codes are the same in every run.
pub(super) fn round(values: &[f32], [row, col]: [usize; 2], codes: &mut [i16]) -> Scale {
    let scale = Scale::of(values);
    f32::vectorize(Rounding { values, scale, first: [row as u32, col as u32], codes });
    scale
}

/// The least and the greatest of some values, a multiple of every vector's length; `None` where one is not finite.
struct Range<'a>(&'a [f32]);

impl Vectorized<f32> for Range<'_> {
    type Output = Option<(f32, f32)>;

    #[inline(always)]
    fn run<S: Simd<T = f32>>(self, s: S) -> Self::Output {
        let Self(values) = self;
        let first = s.splat(values[0]);
        let (mut least, mut greatest, mut nothing) = (first, first, s.splat(0.0));
        for chunk in values.chunks_exact(S::LANES) {
            // SAFETY: the chunk has as many elements as a vector.
            let v = unsafe { s.load(chunk.as_ptr()) };
            (least, greatest) = (s.min(v, least), s.max(v, greatest));
            // v − v is 0 unless v is infinite or not a number.
            nothing = s.add(nothing, s.sub(v, v));
        }
        let mut lanes = [[0.0; 16]; 3];
        for (lanes, v) in lanes.iter_mut().zip([least, greatest, nothing]) {
            // SAFETY: no vector of f32 has more than 16 lanes.
            unsafe { s.store(lanes.as_mut_ptr(), v) };
        }
        let [least, greatest, nothing] = lanes.map(|lanes| lanes.into_iter().take(S::LANES));
        if nothing.into_iter().any(|v| v != 0.0) {
            return None;
        }
        Some((least.fold(f32::INFINITY, f32::min), greatest.fold(f32::NEG_INFINITY, f32::max)))
    }
}

struct Rounding<'a> {
    values: &'a [f32],
    scale: Scale,
    first: [u32; 2],
    codes: &'a mut [i16],
}

impl Vectorized<f32> for Rounding<'_> {
    type Output = ();

    // The loops are plain: compiled for the instruction set, they run on its vectors.
    #[inline(always)]
    fn run<S: Simd<T = f32>>(self, _: S) {
        let [row, col] = self.first;
        let middle = self.scale.middle as f32;
        let inverse = if self.scale.step > 0.0 { (1.0 / self.scale.step) as f32 } else { 0.0 };
        let mut of_col = [0; TILE];
        (0..).zip(&mut of_col).for_each(|(c, key)| *key = mixed(!(col + c)));
        let rows = self.values.chunks_exact(TILE).zip(self.codes.chunks_exact_mut(TILE));
        for ((values, codes), r) in rows.zip(0..) {
            let of_row = mixed(row + r);
            for ((code, value), key) in codes.iter_mut().zip(values).zip(&of_col) {
                let chance = ((of_row ^ key).wrapping_mul(0x2C1B_3C6D) ^ of_row).wrapping_mul(0x297A_2D39);
                let chance = (chance >> 24) as f32 * (1.0 / 256.0);
                let place = (value - middle) * inverse + MIDDLE + chance;
                *code = (place as i32 - MIDDLE as i32) as i16;
            }
        }
    }
}

/// Mixes `bits`: each bit of the result depends on all of them.
#[inline(always)]
fn mixed(bits: u32) -> u32 {
    let bits = (bits ^ bits >> 16).wrapping_mul(0x7FEB_352D);
    let bits = (bits ^ bits >> 15).wrapping_mul(0x846C_A68B);
    bits ^ bits >> 16
}
