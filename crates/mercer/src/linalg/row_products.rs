//! Products of matrix rows with vectors from either side, in double precision for rows stored in either precision.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::real::Real;
use crate::tile::{Element, Simd, Vectorized};
use crate::watch::{Stopped, Watch};

/// Rows that are in cache between the product with a vector and the sum: two thousand entries of each are 64 or 128 KiB.
const ROWS: usize = 8;

/// Rows that one task passes over.
const TASK: usize = 2048;

/// Tasks whose partial sums are in memory at the same time.
const PARALLEL_TASKS: usize = 64;

/// Σᵢ vᵢ·(row i of `matrix`) for each of `outputs` vectors v, one sum after the other. `factors` receives a block of rows, the number
/// of its first row, and the place for v at these rows, one output after the other.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn combined_rows<T: Real>(
    matrix: &Matrix<T>,
    outputs: usize,
    watch: &dyn Watch,
    factors: impl Fn(RowProducts<'_, T>, usize, &mut [f64]) + Sync,
) -> Result<Vec<f64>, Stopped> {
    let (n, width) = (matrix.nrows(), matrix.ncols());
    let mut sums = vec![0.0; outputs * width];
    let starts: Vec<usize> = (0..n).step_by(TASK).collect();
    for group in starts.chunks(PARALLEL_TASKS) {
        let parts = group.par_iter().map(|&start| {
            watch.check()?;
            let mut part = vec![0.0; outputs * width];
            let mut by_output = Vec::new();
            let end = n.min(start + TASK);
            for first in (start..end).step_by(ROWS) {
                let count = ROWS.min(end - first);
                let entries = &matrix.entries()[first * width..(first + count) * width];
                let block = RowProducts::new(entries, width);
                by_output.clear();
                by_output.resize(outputs * count, 0.0);
                factors(block, first, &mut by_output);
                let pairs = by_output.chunks_exact(count).zip(part.chunks_exact_mut(width));
                for (output, (v, part)) in pairs.enumerate() {
                    // The rows of the next block come from memory while those of this one are summed from cache.
                    let ahead = if output == 0 { ROWS * width } else { 0 };
                    f64::vectorize(Combine { rows: block, v, out: part, ahead });
                }
            }
            Ok::<_, Stopped>(part)
        });
        for part in parts.collect::<Vec<_>>() {
            sums.iter_mut().zip(part?).for_each(|(sum, part)| *sum += part);
        }
    }
    Ok(sums)
}

/// out = matrix · v, for all rows.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn row_dots<T: Real>(
    matrix: &Matrix<T>,
    v: &[f64],
    out: &mut [f64],
    watch: &dyn Watch,
) -> Result<(), Stopped> {
    let width = matrix.ncols();
    assert_eq!(out.len(), matrix.nrows());
    out.par_chunks_mut(CHOSEN).enumerate().try_for_each(|(task, out)| {
        watch.check()?;
        let first = task * CHOSEN * width;
        RowProducts::new(&matrix.entries()[first..first + out.len() * width], width).dot(v, out);
        Ok(())
    })
}

/// Chosen rows of `matrix` · v.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn chosen_row_dots<T: Real>(
    matrix: &Matrix<T>,
    rows: &[usize],
    v: &[f64],
    watch: &dyn Watch,
) -> Result<Vec<f64>, Stopped> {
    let mut out = vec![0.0; rows.len()];
    out.par_chunks_mut(CHOSEN).zip(rows.par_chunks(CHOSEN)).try_for_each(|(out, rows)| {
        watch.check()?;
        RowProducts::of_rows(matrix, rows).dot(v, out);
        Ok(())
    })?;
    Ok(out)
}

/// Σ vᵣ·(row r of `matrix`) over chosen rows.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
pub fn chosen_rows_combined<T: Real>(
    matrix: &Matrix<T>,
    rows: &[usize],
    v: &[f64],
    watch: &dyn Watch,
) -> Result<Vec<f64>, Stopped> {
    let mut sum = vec![0.0; matrix.ncols()];
    for (rows, v) in rows.chunks(PARALLEL_TASKS * CHOSEN).zip(v.chunks(PARALLEL_TASKS * CHOSEN)) {
        let parts = rows.par_chunks(CHOSEN).zip(v.par_chunks(CHOSEN)).map(|(rows, v)| {
            watch.check()?;
            let mut part = vec![0.0; matrix.ncols()];
            RowProducts::of_rows(matrix, rows).combine(v, &mut part);
            Ok(part)
        });
        for part in parts.collect::<Vec<Result<_, Stopped>>>() {
            sum.iter_mut().zip(part?).for_each(|(sum, part)| *sum += part);
        }
    }
    Ok(sum)
}

/// Chosen rows that one task multiplies.
const CHOSEN: usize = 256;

/// Rows that share one read of a vector.
const ROWS_PER_GROUP: usize = 4;

/// Entries of a row processed at a time: two of the widest vectors.
const LANES: usize = 16;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Rows of `width` entries: those of a matrix, row after row, or chosen ones of it.
#[derive(Clone, Copy)]
pub struct RowProducts<'a, T> {
    entries: &'a [T],
    width: usize,
    chosen: Option<&'a [usize]>,
}

impl<'a, T: Real> RowProducts<'a, T> {
    /// These rows.
    pub fn new(entries: &'a [T], width: usize) -> Self {
        assert!(entries.len().is_multiple_of(width.max(1)));
        Self { entries, width, chosen: None }
    }

    /// Chosen rows of `matrix`.
    pub fn of_rows(matrix: &'a Matrix<T>, rows: &'a [usize]) -> Self {
        Self { entries: matrix.entries(), width: matrix.ncols(), chosen: Some(rows) }
    }

    fn count(&self) -> usize {
        self.chosen.map_or(self.entries.len() / self.width.max(1), <[usize]>::len)
    }

    /// out = rows · v.
    pub fn dot(&self, v: &[f64], out: &mut [f64]) {
        assert_eq!((v.len(), out.len() * self.width), (self.width, self.count() * self.width));
        f64::vectorize(Dot { rows: *self, v, out });
    }

    /// out += rowsᵀ · v.
    pub fn combine(&self, v: &[f64], out: &mut [f64]) {
        assert_eq!((out.len(), v.len() * self.width), (self.width, self.count() * self.width));
        f64::vectorize(Combine { rows: *self, v, out, ahead: 0 });
    }

    /// The rows from `first` on, [`ROWS_PER_GROUP`] of them; the last one again where there are fewer.
    #[inline(always)]
    fn group(&self, first: usize, count: usize) -> [&'a [T]; ROWS_PER_GROUP] {
        let row = |r: usize| {
            let place = first + r.min(count - 1);
            let row = self.chosen.map_or(place, |chosen| chosen[place]);
            &self.entries[row * self.width..(row + 1) * self.width]
        };
        std::array::from_fn(row)
    }
}

/// The entries `k..k + LANES` of a row, in double precision.
#[inline(always)]
fn widened<T: Real>(row: &[T], k: usize) -> [f64; LANES] {
    let part: &[T; LANES] = row[k..k + LANES].try_into().expect("a slice of LANES entries");
    std::array::from_fn(|l| part[l].to_f64())
}

struct Dot<'a, T> {
    rows: RowProducts<'a, T>,
    v: &'a [f64],
    out: &'a mut [f64],
}

impl<T: Real> Vectorized<f64> for Dot<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, _: S) {
        let whole = self.v.len() - self.v.len() % LANES;
        for (group, out) in self.out.chunks_mut(ROWS_PER_GROUP).enumerate() {
            let rows = self.rows.group(group * ROWS_PER_GROUP, out.len());
            let mut sums = [[0.0f64; LANES]; ROWS_PER_GROUP];
            for k in (0..whole).step_by(LANES) {
                let v: [f64; LANES] = self.v[k..k + LANES].try_into().expect("a slice of LANES entries");
                for (row, sums) in rows.iter().zip(&mut sums) {
                    let row = widened(row, k);
                    (0..LANES).for_each(|l| sums[l] = row[l].mul_add(v[l], sums[l]));
                }
            }
            for ((row, sums), out) in rows.iter().zip(&sums).zip(out) {
                let rest = row[whole..].iter().zip(&self.v[whole..]);
                *out = sums.iter().sum::<f64>() + rest.map(|(x, v)| x.to_f64() * v).sum::<f64>();
            }
        }
    }
}

struct Combine<'a, T> {
    rows: RowProducts<'a, T>,
    v: &'a [f64],
    out: &'a mut [f64],
    /// How many entries ahead the next needed entry is, for prefetching; 0 if unknown.
    ahead: usize,
}

impl<T: Real> Vectorized<f64> for Combine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, s: S) {
        let whole = self.out.len() - self.out.len() % LANES;
        for (group, v) in self.v.chunks(ROWS_PER_GROUP).enumerate() {
            let rows = self.rows.group(group * ROWS_PER_GROUP, v.len());
            // Rows that stand in for missing ones have weight 0.
            let v: [f64; ROWS_PER_GROUP] = std::array::from_fn(|r| v.get(r).copied().unwrap_or(0.0));
            for k in (0..whole).step_by(LANES) {
                let out: &mut [f64; LANES] =
                    (&mut self.out[k..k + LANES]).try_into().expect("a slice of LANES entries");
                let mut sums = *out;
                for (row, v) in rows.iter().zip(&v) {
                    if self.ahead > 0 {
                        let next = row.as_ptr().wrapping_add(k + self.ahead).cast::<f64>();
                        (0..LANES * size_of::<T>())
                            .step_by(LINE)
                            .for_each(|b| s.prefetch(next.wrapping_byte_add(b)));
                    }
                    let row = widened(row, k);
                    (0..LANES).for_each(|l| sums[l] = row[l].mul_add(*v, sums[l]));
                }
                *out = sums;
            }
            for (row, v) in rows.iter().zip(&v) {
                let rest = self.out[whole..].iter_mut().zip(&row[whole..]);
                rest.for_each(|(out, x)| *out += v * x.to_f64());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of small whole numbers are exact in any order.
    #[test]
    fn products_from_both_sides_for_any_shape() {
        for (rows, width) in [(1, 1), (3, 5), (4, 16), (5, 17), (9, 48), (2, 0), (0, 4)] {
            let entries: Vec<f32> = (0..rows * width).map(|k| (k * 7 % 11) as f32 - 5.0).collect();
            let (right, left): (Vec<f64>, Vec<f64>) =
                ((0..width).map(|k| (k % 5) as f64).collect(), (0..rows).map(|k| k as f64 - 2.0).collect());
            let products = RowProducts::new(&entries, width);
            let (mut dots, mut sums) = (vec![f64::NAN; rows], vec![1.0; width]);
            products.dot(&right, &mut dots);
            products.combine(&left, &mut sums);
            let entry = |r: usize, c: usize| f64::from(entries[r * width + c]);
            for r in 0..rows {
                assert_eq!(dots[r], (0..width).map(|c| entry(r, c) * right[c]).sum::<f64>());
            }
            for c in 0..width {
                assert_eq!(sums[c], 1.0 + (0..rows).map(|r| entry(r, c) * left[r]).sum::<f64>());
            }
        }
    }
    #[test]
    fn chosen_rows_match_the_matrix() {
        let (rows, width) = (700, 21);
        let entries: Vec<f64> = (0..rows * width).map(|k| (k * 7 % 11) as f64 - 5.0).collect();
        let matrix = Matrix::from_entries(rows, width, entries);
        let chosen: Vec<usize> = (0..rows).filter(|r| r % 3 != 1).rev().collect();
        let v: Vec<f64> = (0..width).map(|k| k as f64 - 4.0).collect();
        let mut all = vec![0.0; rows];
        row_dots(&matrix, &v, &mut all, &crate::watch::Unwatched).unwrap();
        let dots = chosen_row_dots(&matrix, &chosen, &v, &crate::watch::Unwatched).unwrap();
        let left: Vec<f64> = chosen.iter().map(|r| (r % 5) as f64).collect();
        let sums = chosen_rows_combined(&matrix, &chosen, &left, &crate::watch::Unwatched).unwrap();
        for (&r, dot) in chosen.iter().zip(dots) {
            let expected: f64 = matrix.row(r).iter().zip(&v).map(|(a, b)| a * b).sum();
            assert_eq!((dot, all[r]), (expected, expected));
        }
        for (c, sum) in sums.iter().enumerate() {
            assert_eq!(*sum, chosen.iter().zip(&left).map(|(&r, l)| l * matrix.row(r)[c]).sum::<f64>());
        }
    }
}
