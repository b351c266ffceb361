//! Kernel values times coefficients, a block of rows at a time, while the values are in cache.
//!
//! Right-hand sides and results are held one output after the other, so that both products run along rows of the block.
//! Sums are `f64` whatever the tile, in an order that only the shape of the matrix fixes.

use crate::data::Matrix;
use crate::real::Real;
use crate::tile::{Element, Simd, ValueBlock, Vectorized};

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
) {
    let rows = block.rows.start - offset;
    for o in 0..rhs.outputs() {
        let rhs = &rhs.entries[o * rhs.len + first..][..cols];
        let out = &mut out.entries[o * out.len + rows..][..block.rows.len()];
        T::vectorize(Products { block, rhs, out, mirrored: None });
    }
}

/// `out[rows] += values · rhs[cols]` and `out[cols] += valuesᵀ · rhs[rows]`, for a block whose columns are before its rows.
pub(super) fn both_ways<T: Element>(
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
        let mirrored = Some((&rhs[rows.clone()], mirrored));
        T::vectorize(Products { block, rhs: &rhs[first..first + cols], out, mirrored });
    }
}

/// Each row of a block times `rhs`, and where wanted its rows times their own numbers, added up.
struct Products<'a, 'b, T> {
    block: &'a ValueBlock<'b, T>,
    rhs: &'a [f64],
    out: &'a mut [f64],
    /// The numbers of the rows, and what their combination is added to.
    mirrored: Option<(&'a [f64], &'a mut [f64])>,
}

/// Rows that are multiplied together, so that `rhs` is read once for all of them.
const TOGETHER: usize = 4;

impl<T: Element> Vectorized<T> for Products<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let Self { block, rhs, out, mut mirrored } = self;
        let whole = out.len() - out.len() % TOGETHER;
        for first in (0..whole).step_by(TOGETHER) {
            let out = out[first..].first_chunk_mut().expect("a whole group of rows");
            rows_from::<S, TOGETHER>(s, block, first, rhs, out, &mut mirrored);
        }
        // What the block has beyond its last row may be anything, so it is not touched.
        for (first, out) in out.iter_mut().enumerate().skip(whole) {
            rows_from::<S, 1>(s, block, first, rhs, std::array::from_mut(out), &mut mirrored);
        }
    }
}

/// As [`Products`], for R rows from `first` on.
#[inline(always)]
fn rows_from<S: Simd, const R: usize>(
    s: S,
    block: &ValueBlock<'_, S::T>,
    first: usize,
    rhs: &[f64],
    out: &mut [f64; R],
    mirrored: &mut Option<(&[f64], &mut [f64])>,
) {
    let values = &block.values[first * block.stride..];
    let sums = match mirrored {
        Some((numbers, mirrored)) => {
            let numbers = std::array::from_fn(|r| numbers[first + r]);
            products::<S, R, true>(s, values, block.stride, rhs, numbers, mirrored)
        }
        None => products::<S, R, false>(s, values, block.stride, rhs, [0.0; R], &mut []),
    };
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
}

/// The products of R rows with `rhs`; `mirrored`, as long as `rhs`, gets their combination where it is wanted.
#[inline(always)]
fn products<S: Simd, const R: usize, const MIRRORED: bool>(
    s: S,
    values: &[S::T],
    stride: usize,
    rhs: &[f64],
    numbers: [f64; R],
    mirrored: &mut [f64],
) -> [f64; R] {
    let (cols, wide) = (rhs.len(), s.wide());
    let half = <S::Wide as Simd>::LANES;
    assert!(values.len() >= (R - 1) * stride + cols && (!MIRRORED || mirrored.len() == cols));
    let whole = cols - cols % (2 * half);
    let splats = numbers.map(|v| wide.splat(v));
    let mut lanes = [[wide.splat(0.0); 2]; R];
    for k in (0..whole).step_by(2 * half) {
        // SAFETY: by the assertion, `cols` entries are in each of the rows and in both vectors of numbers.
        unsafe {
            let (first, second) = (wide.load(rhs.as_ptr().add(k)), wide.load(rhs.as_ptr().add(k + half)));
            let mut down = [wide.splat(0.0); 2];
            if MIRRORED {
                let from = mirrored.as_ptr().add(k);
                down = [wide.load(from), wide.load(from.add(half))];
            }
            for (r, lanes) in lanes.iter_mut().enumerate() {
                let [a, b] = s.load_wide(values.as_ptr().add(r * stride + k));
                *lanes = [wide.mul_add(a, first, lanes[0]), wide.mul_add(b, second, lanes[1])];
                if MIRRORED {
                    down = [wide.mul_add(a, splats[r], down[0]), wide.mul_add(b, splats[r], down[1])];
                }
            }
            if MIRRORED {
                let to = mirrored.as_mut_ptr().add(k);
                wide.store(to, down[0]);
                wide.store(to.add(half), down[1]);
            }
        }
    }
    std::array::from_fn(|r| {
        let mut folded = [0.0; 8];
        // SAFETY: no vector of f64 has more than 8 lanes.
        unsafe { wide.store(folded.as_mut_ptr(), wide.add(lanes[r][0], lanes[r][1])) };
        let mut sum = folded.iter().sum::<f64>();
        for k in whole..cols {
            let value = values[r * stride + k].to_f64();
            sum += value * rhs[k];
            if MIRRORED {
                mirrored[k] += value * numbers[r];
            }
        }
        sum
    })
}
