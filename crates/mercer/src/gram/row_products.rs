//! A few rows of a matrix, widened to double precision while in cache, times vectors from either side.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::real::Real;
use crate::tile::{Element, Simd, Vectorized};

use super::accumulate::{Combination, Dots};

/// At most [`ROWS`](Self::ROWS) rows in double precision.
pub struct RowProducts<'a, T> {
    values: &'a [f64],
    width: usize,
    rows: usize,
    from: PhantomData<T>,
}

impl<'a, T: Real> RowProducts<'a, T> {
    /// Rows at most: 16 of 2,000 entries fit the second cache twice.
    pub const ROWS: usize = 16;

    /// Rows of `width` entries, row after row; `buffer` is for their conversion.
    ///
    /// # Panics
    /// Where there are more than [`ROWS`](Self::ROWS).
    pub fn new(entries: &'a [T], width: usize, buffer: &'a mut Vec<f64>) -> Self {
        let rows = entries.len() / width.max(1);
        assert!(rows <= Self::ROWS);
        if rows == Self::ROWS && TypeId::of::<T>() == TypeId::of::<f64>() {
            // SAFETY: the two types are one.
            let values = unsafe { std::slice::from_raw_parts(entries.as_ptr().cast(), entries.len()) };
            return Self { values, width, rows, from: PhantomData };
        }
        // Products take whole groups of rows; what is beyond the last one does not count.
        buffer.resize(Self::ROWS * width, 0.0);
        f64::vectorize(Widened { entries, out: &mut buffer[..entries.len()] });
        Self { values: buffer, width, rows, from: PhantomData }
    }

    /// out = rows · v.
    pub fn dot(&self, v: &[f64], out: &mut [f64]) {
        assert_eq!((v.len(), out.len()), (self.width, self.rows));
        out.fill(0.0);
        f64::vectorize(Dots { values: self.values, stride: self.width, rhs: v, out });
    }

    /// out += rowsᵀ · v.
    pub fn combine(&self, v: &[f64], out: &mut [f64]) {
        assert_eq!((v.len(), out.len()), (self.rows, self.width));
        f64::vectorize(Combination { values: self.values, stride: self.width, rhs: v, out });
    }
}

struct Widened<'a, T> {
    entries: &'a [T],
    out: &'a mut [f64],
}

impl<T: Real> Vectorized<f64> for Widened<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, _: S) {
        self.out.iter_mut().zip(self.entries).for_each(|(out, v)| *out = v.to_f64());
    }
}
