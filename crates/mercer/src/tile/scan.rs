//! Finds the values of a block that are not above a limit.

use std::cmp::Ordering;

use super::fill::ValueBlock;
use super::simd::{Element, Simd, Vectorized};

/// Calls `found(r, column)` for the values of each row `r` of the block, in the order of their columns, that are not above
/// the row's limit at that moment; its answer is the row's new limit. A NaN is not above any limit.
///
/// Only the first `cols` columns are looked at. `limits` has one entry per row of the block.
pub(crate) fn scan<T: Element>(
    block: &ValueBlock<'_, T>,
    cols: usize,
    limits: &mut [T],
    found: &mut dyn FnMut(usize, usize) -> T,
) {
    assert_eq!(limits.len(), block.rows.len(), "one limit per row");
    assert!(cols <= block.stride && block.stride.is_multiple_of(T::PANEL));
    assert!(block.values.len() >= limits.len() * block.stride);
    T::vectorize(Scan { block, cols, limits, found });
}

struct Scan<'a, 'b, T> {
    block: &'a ValueBlock<'b, T>,
    cols: usize,
    limits: &'a mut [T],
    found: &'a mut dyn FnMut(usize, usize) -> T,
}

impl<T: Element> Vectorized<T> for Scan<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let stride = self.block.stride;
        for (r, limit) in self.limits.iter_mut().enumerate() {
            let row = &self.block.values[r * stride..(r + 1) * stride];
            for first in (0..self.cols).step_by(2 * S::LANES) {
                // SAFETY: a row is a whole number of panels, and a panel a whole number of pairs of vectors.
                let above = unsafe {
                    let vector = s.splat(*limit);
                    let (a, b) =
                        (s.load(row.as_ptr().add(first)), s.load(row.as_ptr().add(first + S::LANES)));
                    s.bits(s.lt(vector, a)) | (s.bits(s.lt(vector, b)) << S::LANES)
                };
                let mut hits = !above & ((1 << (2 * S::LANES)) - 1);
                while hits != 0 {
                    let column = first + hits.trailing_zeros() as usize;
                    hits &= hits - 1;
                    // The limit may have come down since the vectors were compared.
                    if column < self.cols && row[column].partial_cmp(limit) != Some(Ordering::Greater) {
                        *limit = (self.found)(r, column);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::simd::{each_instruction_set, run_at};

    #[test]
    fn finds_what_is_not_above_a_falling_limit() {
        let (rows, cols, stride) = (3, 41, 2 * f32::PANEL);
        let mut values: Vec<f32> = (0..rows * stride).map(|i| ((i * 7919) % 101) as f32).collect();
        values[stride + 5] = f32::NAN;
        let block = ValueBlock { rows: 0..rows, values: &values, stride };
        each_instruction_set(|set| {
            let mut limits = [f32::INFINITY, 50.0, f32::NEG_INFINITY];
            let mut seen = Vec::new();
            let mut found = |r: usize, c: usize| {
                seen.push((r, c));
                values[r * stride + c].min(50.0)
            };
            run_at(set, Scan { block: &block, cols, limits: &mut limits, found: &mut found });
            let mut expected = Vec::new();
            for (r, mut limit) in [f32::INFINITY, 50.0, f32::NEG_INFINITY].into_iter().enumerate() {
                for c in 0..cols {
                    let value = values[r * stride + c];
                    if value.is_nan() || value <= limit {
                        expected.push((r, c));
                        limit = value.min(50.0);
                    }
                }
            }
            assert_eq!(seen, expected);
            assert!(expected.contains(&(1, 5)) && expected.len() > 5);
        });
    }
}
