//! The products of a tile's codes with vectors on its rows and on its columns, in one pass.

use crate::tile::{Element, Simd, Vectorized};

use super::TILE;

/// Room for a row's sums: one number for each lane of the widest vector.
pub(super) const LANES: usize = 16;

/// The sums of codes of one tile, or of a few with the same rows, for several right-hand sides one after the other.
pub(super) struct Sums<'a> {
    /// Of codes times the numbers of their columns: [`LANES`] partial sums for each row.
    pub rows: &'a mut [f32],
    /// Of codes times the numbers of their rows, for each column.
    pub cols: &'a mut [f32],
}

/// Adds the products of a tile's codes with `of_rows` and `of_cols`, numbers of each right-hand side for its rows and columns.
pub(super) fn multiply(codes: &[i16], of_rows: &[&[f32]], of_cols: &[f32], sums: Sums<'_>) {
    let outputs = of_rows.len();
    assert!(codes.len() == TILE * TILE && of_rows.iter().all(|x| x.len() == TILE));
    assert!(of_cols.len() == outputs * TILE && sums.cols.len() == outputs * TILE);
    assert!(sums.rows.len() == outputs * TILE * LANES);
    let (mut rows, mut cols, mut x, mut z) = (sums.rows, sums.cols, of_rows, of_cols);
    while !x.is_empty() {
        // The tile is in the second-level cache after the first pair.
        let taken = x.len().min(2);
        let (rows_now, rows_left) = rows.split_at_mut(taken * TILE * LANES);
        let (cols_now, cols_left) = cols.split_at_mut(taken * TILE);
        let (z_now, z_left) = z.split_at(taken * TILE);
        match *x {
            [a, b, ..] => f32::vectorize(Pass { codes, x: [a, b], z: z_now, rows: rows_now, cols: cols_now }),
            [a] => f32::vectorize(Pass { codes, x: [a], z: z_now, rows: rows_now, cols: cols_now }),
            [] => (),
        }
        (rows, cols, x, z) = (rows_left, cols_left, &x[taken..], z_left);
    }
}

/// One pass over a tile for O right-hand sides.
struct Pass<'a, const O: usize> {
    codes: &'a [i16],
    x: [&'a [f32]; O],
    z: &'a [f32],
    rows: &'a mut [f32],
    cols: &'a mut [f32],
}

impl<const O: usize> Vectorized<f32> for Pass<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f32>>(self, s: S) {
        // As many rows at a time as fit the registers with their sums and numbers.
        match S::REGISTER_ROWS / O {
            8.. => self.blocks::<S, 8>(s),
            4..8 => self.blocks::<S, 4>(s),
            2..4 => self.blocks::<S, 2>(s),
            _ => self.blocks::<S, 1>(s),
        }
    }
}

impl<const O: usize> Pass<'_, O> {
    #[inline(always)]
    fn blocks<S: Simd<T = f32>, const R: usize>(self, s: S) {
        let Self { codes, x, z, rows, cols } = self;
        assert!(codes.len() == TILE * TILE && x.iter().all(|x| x.len() == TILE) && z.len() == O * TILE);
        assert!(rows.len() == O * TILE * LANES && cols.len() == O * TILE && S::LANES <= LANES);
        let (codes, z, rows, cols) = (codes.as_ptr(), z.as_ptr(), rows.as_mut_ptr(), cols.as_mut_ptr());
        for first in (0..TILE).step_by(R) {
            // SAFETY: by the assertions, with every row below TILE, every column a vector before it, every output below O.
            unsafe {
                let place = |o: usize, r: usize| rows.add((o * TILE + first + r) * LANES);
                let mut sums = [[s.splat(0.0); R]; O];
                let mut numbers = [[s.splat(0.0); R]; O];
                for o in 0..O {
                    for r in 0..R {
                        sums[o][r] = s.load(place(o, r));
                        numbers[o][r] = s.splat(x[o][first + r]);
                    }
                }
                for c in (0..TILE).step_by(S::LANES) {
                    let mut down = [s.splat(0.0); O];
                    let mut across = [s.splat(0.0); O];
                    for o in 0..O {
                        down[o] = s.load(cols.add(o * TILE + c));
                        across[o] = s.load(z.add(o * TILE + c));
                    }
                    for r in 0..R {
                        let codes = s.load_short(codes.add((first + r) * TILE + c));
                        for o in 0..O {
                            sums[o][r] = s.mul_add(codes, across[o], sums[o][r]);
                            down[o] = s.mul_add(codes, numbers[o][r], down[o]);
                        }
                    }
                    for o in 0..O {
                        s.store(cols.add(o * TILE + c), down[o]);
                    }
                }
                for o in 0..O {
                    for r in 0..R {
                        s.store(place(o, r), sums[o][r]);
                    }
                }
            }
        }
    }
}
