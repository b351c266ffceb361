//! Kernel values times coefficients, a block of rows at a time, while the values are in cache.
//!
//! Right-hand sides and results are held one output after the other, so that both products run along rows of the block.
//! Sums are `f64` whatever the tile, in an order that only the shape of the matrix fixes.

use crate::data::Matrix;
use crate::tile::{Element, Simd, ValueBlock, Vectorized};

use super::store::converted;

/// Numbers for every row of a matrix side, one output after the other.
#[derive(Debug, Clone)]
pub(super) struct ByOutput {
    len: usize,
    entries: Vec<f64>,
}

impl ByOutput {
    /// Zeros.
    pub fn zeros(len: usize, outputs: usize) -> Self {
        Self { len, entries: vec![0.0; len * outputs] }
    }

    /// The columns of `matrix`.
    pub fn columns_of(matrix: &Matrix<f64>) -> Self {
        let mut columns = Self::zeros(matrix.nrows(), matrix.ncols());
        for i in 0..matrix.nrows() {
            for (o, v) in matrix.row(i).iter().enumerate() {
                columns.entries[o * columns.len + i] = *v;
            }
        }
        columns
    }

    /// The entry of row `i` for output `o`.
    pub fn entry(&self, i: usize, o: usize) -> f64 {
        self.entries[o * self.len + i]
    }

    fn outputs(&self) -> usize {
        self.entries.len() / self.len.max(1)
    }
}

/// `out[rows] += values · rhs[cols]` for a block whose first column is `first`; `out` is `offset` rows in.
pub(super) fn forward<T: Element>(
    block: &ValueBlock<'_, T>,
    first: usize,
    cols: usize,
    rhs: &ByOutput,
    out: &mut ByOutput,
    offset: usize,
    buffer: &mut Vec<f64>,
) {
    let values = converted::<T, f64>(block, buffer);
    let rows = block.rows.start - offset;
    for o in 0..rhs.outputs() {
        let rhs = &rhs.entries[o * rhs.len + first..][..cols];
        let out = &mut out.entries[o * out.len + rows..][..block.rows.len()];
        f64::vectorize(Dots { values, stride: block.stride, rhs, out });
    }
}

/// `out[cols] += valuesᵀ · rhs[rows]`.
pub(super) fn backward<T: Element>(
    block: &ValueBlock<'_, T>,
    first: usize,
    cols: usize,
    rhs: &ByOutput,
    out: &mut ByOutput,
    buffer: &mut Vec<f64>,
) {
    let values = converted::<T, f64>(block, buffer);
    for o in 0..rhs.outputs() {
        let rhs = &rhs.entries[o * rhs.len + block.rows.start..][..block.rows.len()];
        let out = &mut out.entries[o * out.len + first..][..cols];
        f64::vectorize(Combination { values, stride: block.stride, rhs, out });
    }
}

/// Each row of `values` times `rhs`.
struct Dots<'a> {
    values: &'a [f64],
    stride: usize,
    rhs: &'a [f64],
    out: &'a mut [f64],
}

/// Rows that are multiplied together, so that `rhs` is read once for all of them.
const TOGETHER: usize = 4;

impl Vectorized<f64> for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, s: S) {
        let cols = self.rhs.len();
        let whole = cols - cols % S::LANES;
        for (group, out) in self.out.chunks_mut(TOGETHER).enumerate() {
            // A block has room for whole groups of rows; what is beyond its last row does not count.
            let values = &self.values[group * TOGETHER * self.stride..];
            assert!(values.len() >= (TOGETHER - 1) * self.stride + cols);
            let mut sums = [s.splat(0.0); TOGETHER];
            for k in (0..whole).step_by(S::LANES) {
                // SAFETY: by the assertion, `cols` entries are in each of the rows.
                unsafe {
                    let v = s.load(self.rhs.as_ptr().add(k));
                    for (r, sum) in sums.iter_mut().enumerate() {
                        *sum = s.mul_add(s.load(values.as_ptr().add(r * self.stride + k)), v, *sum);
                    }
                }
            }
            for (r, out) in out.iter_mut().enumerate() {
                let mut lanes = [0.0; 8];
                // SAFETY: no vector of f64 has more than 8 lanes.
                unsafe { s.store(lanes.as_mut_ptr(), sums[r]) };
                let row = &values[r * self.stride..][..cols];
                let mut sum = lanes.iter().sum::<f64>();
                for k in whole..cols {
                    sum += row[k] * self.rhs[k];
                }
                *out += sum;
            }
        }
    }
}

/// The rows of `values`, each times its own number of `rhs`, added up.
struct Combination<'a> {
    values: &'a [f64],
    stride: usize,
    rhs: &'a [f64],
    out: &'a mut [f64],
}

impl Vectorized<f64> for Combination<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, s: S) {
        let (cols, rows) = (self.out.len(), self.rhs.len());
        assert!(rows > 0 && self.values.len() >= (rows - 1) * self.stride + cols);
        let whole = cols - cols % S::LANES;
        for k in (0..whole).step_by(S::LANES) {
            // SAFETY: by the assertion, `cols` entries are in each of the rows.
            unsafe {
                let mut sum = s.load(self.out.as_ptr().add(k));
                for (r, v) in self.rhs.iter().enumerate() {
                    sum = s.mul_add(s.load(self.values.as_ptr().add(r * self.stride + k)), s.splat(*v), sum);
                }
                s.store(self.out.as_mut_ptr().add(k), sum);
            }
        }
        for k in whole..cols {
            for (r, v) in self.rhs.iter().enumerate() {
                self.out[k] += self.values[r * self.stride + k] * v;
            }
        }
    }
}
