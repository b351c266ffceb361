//! Products with a tall factor in single precision, its numbers and sums in double.

use crate::tile::{Element, Simd, Vectorized};

/// Rows that are read together.
const TOGETHER: usize = 4;

/// sums += rowsᵀ · numbers, for rows of k entries; `numbers` has `outputs` of them for each row, `sums` is one output after
/// the other.
pub(super) fn add_transposed(rows: &[f32], k: usize, numbers: &[f64], outputs: usize, sums: &mut [f64]) {
    assert!(k > 0 && rows.len() * outputs == numbers.len() * k && sums.len() == outputs * k);
    f32::vectorize(Transposed { rows, k, numbers, outputs, sums });
}

/// out = rows · columns, for rows of k entries; `columns` is one output after the other, `out` has `outputs` numbers for
/// each row.
pub(super) fn times(rows: &[f32], k: usize, columns: &[f64], outputs: usize, out: &mut [f64]) {
    assert!(k > 0 && rows.len() * outputs == out.len() * k && columns.len() == outputs * k);
    f32::vectorize(Times { rows, k, columns, outputs, out });
}

struct Transposed<'a> {
    rows: &'a [f32],
    k: usize,
    numbers: &'a [f64],
    outputs: usize,
    sums: &'a mut [f64],
}

impl Vectorized<f32> for Transposed<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f32>>(self, s: S) {
        let Self { rows, k, numbers, outputs, sums } = self;
        let groups = rows.chunks(TOGETHER * k).zip(numbers.chunks(TOGETHER * outputs));
        for (rows, numbers) in groups {
            for (o, sums) in sums.chunks_exact_mut(k).enumerate() {
                if rows.len() == TOGETHER * k {
                    add_rows::<S, TOGETHER>(s, rows, std::array::from_fn(|r| numbers[r * outputs + o]), sums);
                } else {
                    for (row, numbers) in rows.chunks_exact(k).zip(numbers.chunks_exact(outputs)) {
                        add_rows::<S, 1>(s, row, [numbers[o]], sums);
                    }
                }
            }
        }
    }
}

/// sums += Σ numbers[r]·(row r).
#[inline(always)]
fn add_rows<S: Simd<T = f32>, const R: usize>(s: S, rows: &[f32], numbers: [f64; R], sums: &mut [f64]) {
    let (k, wide, half) = (sums.len(), s.wide(), S::LANES / 2);
    assert!(rows.len() == R * k);
    let whole = k - k % S::LANES;
    let splats = numbers.map(|v| wide.splat(v));
    for j in (0..whole).step_by(S::LANES) {
        // SAFETY: a vector from j on is in each of the rows and in the sums, by the assertion.
        unsafe {
            let to = sums.as_mut_ptr().add(j);
            let (mut first, mut second) = (wide.load(to), wide.load(to.add(half)));
            for (r, v) in splats.iter().enumerate() {
                let [a, b] = s.load_wide(rows.as_ptr().add(r * k + j));
                (first, second) = (wide.mul_add(a, *v, first), wide.mul_add(b, *v, second));
            }
            wide.store(to, first);
            wide.store(to.add(half), second);
        }
    }
    for j in whole..k {
        (0..R).for_each(|r| sums[j] += numbers[r] * f64::from(rows[r * k + j]));
    }
}

struct Times<'a> {
    rows: &'a [f32],
    k: usize,
    columns: &'a [f64],
    outputs: usize,
    out: &'a mut [f64],
}

impl Vectorized<f32> for Times<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f32>>(self, s: S) {
        let Self { rows, k, columns, outputs, out } = self;
        let groups = rows.chunks(TOGETHER * k).zip(out.chunks_mut(TOGETHER * outputs));
        for (rows, out) in groups {
            for (o, column) in columns.chunks_exact(k).enumerate() {
                if rows.len() == TOGETHER * k {
                    let dots = dots::<S, TOGETHER>(s, rows, column);
                    (0..TOGETHER).for_each(|r| out[r * outputs + o] = dots[r]);
                } else {
                    for (row, out) in rows.chunks_exact(k).zip(out.chunks_exact_mut(outputs)) {
                        [out[o]] = dots::<S, 1>(s, row, column);
                    }
                }
            }
        }
    }
}

/// The inner product of each row with `column`.
#[inline(always)]
fn dots<S: Simd<T = f32>, const R: usize>(s: S, rows: &[f32], column: &[f64]) -> [f64; R] {
    let (k, wide, half) = (column.len(), s.wide(), S::LANES / 2);
    assert!(rows.len() == R * k);
    let whole = k - k % S::LANES;
    let mut sums = [[wide.splat(0.0); 2]; R];
    for j in (0..whole).step_by(S::LANES) {
        // SAFETY: a vector from j on is in each of the rows and in the column, by the assertion.
        unsafe {
            let from = column.as_ptr().add(j);
            let (first, second) = (wide.load(from), wide.load(from.add(half)));
            for (r, sums) in sums.iter_mut().enumerate() {
                let [a, b] = s.load_wide(rows.as_ptr().add(r * k + j));
                *sums = [wide.mul_add(a, first, sums[0]), wide.mul_add(b, second, sums[1])];
            }
        }
    }
    std::array::from_fn(|r| {
        let mut lanes = [0.0; 8];
        // SAFETY: no vector of f64 has more than 8 lanes.
        unsafe { wide.store(lanes.as_mut_ptr(), wide.add(sums[r][0], sums[r][1])) };
        let rest = (whole..k).map(|j| f64::from(rows[r * k + j]) * column[j]);
        lanes.iter().sum::<f64>() + rest.sum::<f64>()
    })
}
