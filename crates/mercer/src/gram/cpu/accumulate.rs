//! Kernel values times coefficients, a block of rows at a time, while the values are in cache.
//!
//! Right-hand sides and results are stored output by output, so that both products run along rows of the block.
//! Sums are `f64` for tiles of either precision, in an order that depends only on the shape of the matrix.

use crate::data::Matrix;
use crate::real::Real;
use crate::tile::{Element, Simd, ValueBlock, Vectorized};

use super::store::converted;

/// One number for each row and output, stored output by output.
#[derive(Debug, Clone)]
pub(in crate::gram) struct ByOutput {
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
pub(in crate::gram) fn forward<T: Element>(
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
    let (stride, height) = (block.stride, block.rows.len());
    let rhs_of = |o: usize| &rhs.entries[o * rhs.len + first..][..cols];
    let whole = rhs.outputs() - rhs.outputs() % OUTPUTS_PER_PASS;
    let mut outs = out.entries.chunks_exact_mut(out.len.max(1)).map(|out| &mut out[rows..][..height]);
    for o in (0..whole).step_by(OUTPUTS_PER_PASS) {
        let out: [&mut [f64]; OUTPUTS_PER_PASS] =
            std::array::from_fn(|_| outs.next().expect("one for each output"));
        f64::vectorize(Dots { values, stride, rhs: std::array::from_fn(|k| rhs_of(o + k)), out });
    }
    for (o, out) in (whole..rhs.outputs()).zip(outs) {
        f64::vectorize(Dots { values, stride, rhs: [rhs_of(o)], out: [out] });
    }
}

/// `out[rows] += values · rhs[cols]` and `out[cols] += valuesᵀ · rhs[rows]`, for a block whose columns are before its rows.
pub(in crate::gram) fn both_ways<T: Element>(
    block: &ValueBlock<'_, T>,
    first: usize,
    cols: usize,
    rhs: &ByOutput,
    out: &mut ByOutput,
) {
    let rows = block.rows.clone();
    for o in 0..rhs.outputs() {
        let rhs = &rhs.entries[o * rhs.len..(o + 1) * rhs.len];
        let (before, after) = out.entries[o * out.len..].split_at_mut(rows.start);
        let (out, mirrored) = (&mut after[..rows.len()], &mut before[first..first + cols]);
        let (rhs, numbers) = (&rhs[first..first + cols], &rhs[rows.clone()]);
        T::vectorize(Mirrored { block, rhs, out, numbers, mirrored });
    }
}

/// Each row of `values` times each of `rhs`.
struct Dots<'a, const N: usize> {
    values: &'a [f64],
    stride: usize,
    rhs: [&'a [f64]; N],
    out: [&'a mut [f64]; N],
}

/// Right-hand sides that share one read of a kernel value: with four rows each, their sums fit the registers.
const OUTPUTS_PER_PASS: usize = 3;

impl<const N: usize> Vectorized<f64> for Dots<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(mut self, s: S) {
        let (rows, cols) = (self.out[0].len(), self.rhs[0].len());
        assert!(self.rhs.iter().all(|rhs| rhs.len() == cols) && self.out.iter().all(|out| out.len() == rows));
        let whole = cols - cols % S::LANES;
        for first in (0..rows).step_by(ROWS_PER_PASS) {
            // A block has room for whole groups of rows; entries beyond its last row are ignored.
            let values = &self.values[first * self.stride..];
            assert!(values.len() >= (ROWS_PER_PASS - 1) * self.stride + cols);
            let mut sums = [[s.splat(0.0); ROWS_PER_PASS]; N];
            for k in (0..whole).step_by(S::LANES) {
                // SAFETY: by the assertions, `cols` entries are in each of the rows and right-hand sides.
                unsafe {
                    let rows: [S::V; ROWS_PER_PASS] =
                        std::array::from_fn(|r| s.load(values.as_ptr().add(r * self.stride + k)));
                    for (sums, rhs) in sums.iter_mut().zip(&self.rhs) {
                        let v = s.load(rhs.as_ptr().add(k));
                        sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum = s.mul_add(row, v, *sum));
                    }
                }
            }
            for ((sums, rhs), out) in sums.iter().zip(&self.rhs).zip(&mut self.out) {
                let count = ROWS_PER_PASS.min(rows - first);
                for (r, out) in out[first..first + count].iter_mut().enumerate() {
                    let mut lanes = [0.0; 8];
                    // SAFETY: no vector of f64 has more than 8 lanes.
                    unsafe { s.store(lanes.as_mut_ptr(), sums[r]) };
                    let row = &values[r * self.stride..][..cols];
                    let mut sum = lanes.iter().sum::<f64>();
                    for k in whole..cols {
                        sum += row[k] * rhs[k];
                    }
                    *out += sum;
                }
            }
        }
    }
}

/// Rows that share one read of a right-hand side.
const ROWS_PER_PASS: usize = 4;

/// Each row of a block times `rhs`, and its rows times their own `numbers`, added up.
struct Mirrored<'a, 'b, T> {
    block: &'a ValueBlock<'b, T>,
    rhs: &'a [f64],
    out: &'a mut [f64],
    numbers: &'a [f64],
    mirrored: &'a mut [f64],
}

impl<T: Element> Vectorized<T> for Mirrored<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let Self { block, rhs, out, numbers, mirrored } = self;
        let whole = out.len() - out.len() % ROWS_PER_PASS;
        let values = |first: usize| &block.values[first * block.stride..];
        for first in (0..whole).step_by(ROWS_PER_PASS) {
            let numbers: [f64; ROWS_PER_PASS] = std::array::from_fn(|r| numbers[first + r]);
            let sums = both_products(s, values(first), block.stride, rhs, numbers, mirrored);
            out[first..].iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
        }
        // Entries beyond the last row of the block are undefined, so they are not read.
        for (first, out) in out.iter_mut().enumerate().skip(whole) {
            let [sum] = both_products(s, values(first), block.stride, rhs, [numbers[first]], mirrored);
            *out += sum;
        }
    }
}

/// The products of R rows with `rhs`; `mirrored`, as long as `rhs`, gets their combination.
#[inline(always)]
fn both_products<S: Simd, const R: usize>(
    s: S,
    values: &[S::T],
    stride: usize,
    rhs: &[f64],
    numbers: [f64; R],
    mirrored: &mut [f64],
) -> [f64; R] {
    let (cols, wide) = (rhs.len(), s.wide());
    let half = <S::Wide as Simd>::LANES;
    assert!(values.len() >= (R - 1) * stride + cols && mirrored.len() == cols);
    let whole = cols - cols % (2 * half);
    let splats = numbers.map(|v| wide.splat(v));
    let mut lanes = [[wide.splat(0.0); 2]; R];
    for k in (0..whole).step_by(2 * half) {
        // SAFETY: by the assertion, `cols` entries are in each of the rows and in both vectors of numbers.
        unsafe {
            let (first, second) = (wide.load(rhs.as_ptr().add(k)), wide.load(rhs.as_ptr().add(k + half)));
            let to = mirrored.as_mut_ptr().add(k);
            let mut down = [wide.load(to), wide.load(to.add(half))];
            for (r, lanes) in lanes.iter_mut().enumerate() {
                let [a, b] = s.load_wide(values.as_ptr().add(r * stride + k));
                *lanes = [wide.mul_add(a, first, lanes[0]), wide.mul_add(b, second, lanes[1])];
                down = [wide.mul_add(a, splats[r], down[0]), wide.mul_add(b, splats[r], down[1])];
            }
            wide.store(to, down[0]);
            wide.store(to.add(half), down[1]);
        }
    }
    // A closure for each row would not be compiled for the instruction set unless it were inlined.
    let mut sums = [0.0; R];
    for (r, sum) in sums.iter_mut().enumerate() {
        let mut folded = [0.0; 8];
        // SAFETY: no vector of f64 has more than 8 lanes.
        unsafe { wide.store(folded.as_mut_ptr(), wide.add(lanes[r][0], lanes[r][1])) };
        *sum = folded.iter().sum::<f64>();
        for k in whole..cols {
            let value = values[r * stride + k].to_f64();
            *sum += value * rhs[k];
            mirrored[k] += value * numbers[r];
        }
    }
    sums
}
