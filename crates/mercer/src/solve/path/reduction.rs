//! K = Q B Qᵀ with B block tridiagonal and Q a product of Householder reflections.
//!
//! For each block column, from the left, with A the matrix below and to the right of it:
//!
//! ```text
//! the panel below the diagonal block = H R          R goes to B, H = I − V T⁻¹ Vᵀ to Q
//! A ← HᵀAH = A − YVᵀ − VYᵀ                          X = A V T⁻¹,  Y = X − ½ V T⁻ᵀVᵀX
//! ```
//!
//! The update of one panel and the product A·V of the next are done tile by tile while a tile is in cache, so that each
//! entry is read from memory once per panel. 4n³/3 flops, all but O(n²b) in matrix products; the reduction to a
//! tridiagonal matrix has as many, but half of them in products with one vector, limited by memory bandwidth.
//!
//! Only the tiles on and below the diagonal are updated. The size of tiles depends only on n and every sum has a fixed
//! order: the bits do not depend on the number of threads.

use faer::{Mat, MatMut, MatRef};

use crate::linalg::products;
use rayon::prelude::*;

use crate::watch::{Stopped, Watch};

use super::banded::Banded;
use super::panel::{Reflections, factor_panel};

/// Columns of a panel: wide enough for matrix products near full speed, and narrow because the cost of solving with B +
/// λI grows with it. Of 16, 24, 32 and 48, 16 was the fastest for 20 values of λ at n = 2,000.
pub(super) const WIDTH: usize = 16;

/// Panels whose reflections are applied together when Q is formed.
const GROUP: usize = 8;

/// Rows of Qᵀ, or of the matrix that Q is applied to, per task.
const SLICE: usize = 64;

/// The band matrix and the reflections, whose vectors stand below the band in the buffer that held K.
#[derive(Debug)]
pub(super) struct Reduction {
    pub band: Banded,
    order: usize,
    buffer: Vec<f64>,
    /// Panels that have reflections: panel p acts on the rows from (p + 1)·WIDTH on.
    panels: usize,
}

/// A pending update of A: A ← A − left·rightᵀ on the rows and columns from `first` on.
struct Pending {
    first: usize,
    /// [Y V]
    left: Mat<f64>,
    /// [V Y]
    right: Mat<f64>,
}

impl Pending {
    /// The rows of `left` and `right` that belong to rows of the matrix.
    fn rows(&self, rows: &std::ops::Range<usize>) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        let start = rows.start - self.first;
        (self.left.subrows(start, rows.len()), self.right.subrows(start, rows.len()))
    }
}

/// Reduces the symmetric matrix in `matrix`, row-major.
pub(super) fn reduce(order: usize, mut matrix: Vec<f64>, watch: &dyn Watch) -> Result<Reduction, Stopped> {
    watch.begin("band reduction", cost(order));
    let mut band = Banded::default();
    let mut pending: Option<Pending> = None;
    let mut panels = 0;
    let mut scratch = Vec::new();
    for start in (0..order).step_by(WIDTH) {
        watch.check()?;
        let end = order.min(start + WIDTH);
        let mut panel = block_column(&matrix, order, start, end, pending.as_ref());
        band.diagonal.push(symmetric(panel.subrows(0, end - start)));
        if end == order {
            break;
        }
        let mut below = panel.subrows_mut(end - start, order - end).to_owned();
        // The block below the last panel is a block of B without changes.
        if order - end <= WIDTH {
            band.below.push(below);
            continue;
        }
        let reflections = factor_panel(&mut below);
        let mut corner = Mat::zeros(WIDTH, WIDTH);
        for j in 0..WIDTH {
            for i in 0..=j {
                corner[(i, j)] = below[(i, j)];
            }
        }
        band.below.push(corner);
        store_vectors(&mut matrix, order, start, end, &reflections.v);
        panels += 1;
        let x = update_and_multiply(
            &mut matrix,
            order,
            end,
            pending.as_ref(),
            &reflections,
            &mut scratch,
            watch,
        )?;
        pending = Some(next_update(end, &reflections, x));
        watch.advance(cost(order - start) - cost(order - end));
    }
    Ok(Reduction { band, order, buffer: matrix, panels })
}

/// Columns `start..end` of the rows from `start` on, after the pending update.
fn block_column(
    matrix: &[f64],
    order: usize,
    start: usize,
    end: usize,
    pending: Option<&Pending>,
) -> Mat<f64> {
    let mut panel = Mat::zeros(order - start, end - start);
    let view = MatRef::from_row_major_slice(matrix, order, order);
    panel.copy_from(view.submatrix(start, start, order - start, end - start));
    if let Some(pending) = pending {
        let (left, _) = pending.rows(&(start..order));
        let (_, right) = pending.rows(&(start..end));
        products::add(panel.as_mut(), -1.0, left, right.transpose());
    }
    panel
}

/// The symmetric matrix with this lower triangle.
fn symmetric(lower: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(lower.nrows(), lower.nrows(), |i, j| lower[(i.max(j), i.min(j))])
}

fn store_vectors(matrix: &mut [f64], order: usize, start: usize, end: usize, v: &Mat<f64>) {
    let view = MatMut::from_row_major_slice_mut(matrix, order, order);
    view.submatrix_mut(end, start, order - end, end - start).copy_from(v);
}

/// Rows and columns of a tile, for at most some 24 rows of tiles: the partial sums of A·V take n·WIDTH numbers for
/// each.
fn tile_size(order: usize) -> usize {
    (order / 24).next_power_of_two().max(128)
}

/// The parts of `from..order` on a grid of tiles that starts at the first row of the matrix.
fn tiles(from: usize, order: usize, size: usize) -> Vec<std::ops::Range<usize>> {
    let cuts = (from / size + 1..).map(|k| k * size).take_while(|&cut| cut < order);
    let ends = cuts.chain([order]);
    let mut start = from;
    ends.map(|end| std::mem::replace(&mut start, end)..end).collect()
}

/// Applies the pending update to the rows and columns from `from` on, and multiplies them by V.
fn update_and_multiply(
    matrix: &mut [f64],
    order: usize,
    from: usize,
    pending: Option<&Pending>,
    reflections: &Reflections,
    scratch: &mut Vec<f64>,
    watch: &dyn Watch,
) -> Result<Mat<f64>, Stopped> {
    let (height, width) = (order - from, reflections.v.ncols());
    let tiles = tiles(from, order, tile_size(order));
    scratch.resize(tiles.len() * height * width, 0.0);
    let mut rest = &mut matrix[from * order..];
    let mut tasks = Vec::with_capacity(tiles.len());
    for (rows, partial) in tiles.iter().zip(scratch.chunks_exact_mut(height * width)) {
        let (slab, after) = rest.split_at_mut(rows.len() * order);
        rest = after;
        tasks.push((rows, slab, partial));
    }
    // The last rows of tiles are the longest, so they are begun first.
    tasks.into_par_iter().rev().with_max_len(1).try_for_each(|(rows, slab, partial)| {
        watch.check()?;
        let mut slab = MatMut::from_row_major_slice_mut(slab, rows.len(), order);
        let v_rows = reflections.v.subrows(rows.start - from, rows.len());
        let (above, own) = partial[..(rows.end - from) * width].split_at_mut((rows.start - from) * width);
        let mut own = MatMut::from_column_major_slice_mut(own, rows.len(), width);
        let mut mirrored = MatMut::from_column_major_slice_mut(above, rows.start - from, width);
        let mut first = true;
        for cols in tiles.iter().take_while(|cols| cols.start <= rows.start) {
            let mut tile = slab.as_mut().subcols_mut(cols.start, cols.len());
            if let Some(pending) = pending {
                let (left, _) = pending.rows(rows);
                let (_, right) = pending.rows(cols);
                products::add(tile.as_mut(), -1.0, left, right.transpose());
            }
            let v_cols = reflections.v.subrows(cols.start - from, cols.len());
            let sum = if std::mem::take(&mut first) { products::assign } else { products::add };
            sum(own.as_mut(), 1.0, tile.as_ref(), v_cols);
            if cols.start < rows.start {
                let out = mirrored.as_mut().subrows_mut(cols.start - from, cols.len());
                products::assign(out, 1.0, tile.transpose(), v_rows);
            }
        }
        Ok(())
    })?;
    Ok(sum_of_parts(scratch, &tiles, from, width))
}

/// A·V from the partial sums of each row of tiles: its own rows, and the mirrored ones above.
fn sum_of_parts(scratch: &[f64], tiles: &[std::ops::Range<usize>], from: usize, width: usize) -> Mat<f64> {
    let height = tiles.last().map_or(0, |rows| rows.end - from);
    let mut x = Mat::zeros(height, width);
    for (rows, partial) in tiles.iter().zip(scratch.chunks_exact(height * width)) {
        let (above, own) = partial[..(rows.end - from) * width].split_at((rows.start - from) * width);
        let own = MatRef::from_column_major_slice(own, rows.len(), width);
        let mirrored = MatRef::from_column_major_slice(above, rows.start - from, width);
        x.subrows_mut(rows.start - from, rows.len()).copy_from(own);
        let mut head = x.subrows_mut(0, rows.start - from);
        head += mirrored;
    }
    x
}

/// The update for HᵀAH, from X = A·V.
fn next_update(first: usize, reflections: &Reflections, mut x: Mat<f64>) -> Pending {
    let v = &reflections.v;
    let (height, width) = (v.nrows(), v.ncols());
    reflections.divide_by_factor(x.as_mut());
    let mut s = Mat::zeros(width, width);
    products::assign(s.as_mut(), 1.0, v.transpose(), x.as_ref());
    reflections.solve_transposed(s.as_mut());
    products::add(x.as_mut(), -0.5, v.as_ref(), s.as_ref());
    let mut left = Mat::zeros(height, 2 * width);
    let mut right = Mat::zeros(height, 2 * width);
    left.subcols_mut(0, width).copy_from(&x);
    left.subcols_mut(width, width).copy_from(v);
    right.subcols_mut(0, width).copy_from(v);
    right.subcols_mut(width, width).copy_from(&x);
    Pending { first, left, right }
}

impl Reduction {
    /// The reflections of panels `first..last` as one block, and the first row that it changes.
    fn reflections(&self, first: usize, last: usize) -> (usize, Reflections) {
        let top = (first + 1) * WIDTH;
        let view = MatRef::from_row_major_slice(&self.buffer, self.order, self.order);
        let mut v = Mat::zeros(self.order - top, (last - first) * WIDTH);
        for p in first..last {
            let (row, col) = ((p + 1) * WIDTH, (p - first) * WIDTH);
            v.submatrix_mut(row - top, col, self.order - row, WIDTH).copy_from(view.submatrix(
                row,
                p * WIDTH,
                self.order - row,
                WIDTH,
            ));
        }
        (top, Reflections::new(v))
    }

    fn groups(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + '_ {
        (0..self.panels.div_ceil(GROUP)).map(|g| (g * GROUP, self.panels.min((g + 1) * GROUP)))
    }

    /// Xᵀ ← XᵀQ: every column x of X becomes Qᵀx. `rows` is Xᵀ, with as many columns as the matrix.
    pub fn multiply(&self, rows: MatMut<'_, f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.transform(rows, self.groups(), Reflections::apply_right, watch)
    }

    /// Xᵀ ← XᵀQᵀ: every column x of X becomes Qx.
    pub fn multiply_transposed(&self, rows: MatMut<'_, f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.transform(rows, self.groups().rev(), Reflections::apply_right_transposed, watch)
    }

    fn transform(
        &self,
        mut rows: MatMut<'_, f64>,
        groups: impl Iterator<Item = (usize, usize)>,
        apply: impl Fn(&Reflections, MatMut<'_, f64>) + Sync,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        for (first, last) in groups {
            let (top, reflections) = self.reflections(first, last);
            let active = rows.as_mut().subcols_mut(top, self.order - top);
            active.par_row_chunks_mut(SLICE).try_for_each(|chunk| {
                watch.check()?;
                apply(&reflections, chunk);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The band matrix and Qᵀ, row-major in the buffer that held the reflections. 4n³/3 flops.
    pub fn into_rows(mut self, watch: &dyn Watch) -> Result<(Banded, Vec<f64>), Stopped> {
        let n = self.order;
        watch.begin("orthogonal factor", cost(n));
        // Qᵀ = …H₂ᵀH₁ᵀ is built from its last rows and columns: reflections to the left of a group are still needed.
        let mut known = n;
        for (first, last) in self.groups().collect::<Vec<_>>().into_iter().rev() {
            let (top, reflections) = self.reflections(first, last);
            extend_identity(&mut self.buffer, n, top, known);
            self.buffer[top * n..].par_chunks_mut(SLICE * n).try_for_each(|chunk| {
                watch.check()?;
                let chunk = MatMut::from_row_major_slice_mut(chunk, chunk.len() / n, n);
                reflections.apply_right_transposed(chunk.subcols_mut(top, n - top));
                Ok(())
            })?;
            watch.advance(cost(n - top) - cost(n - known));
            known = top;
        }
        extend_identity(&mut self.buffer, n, 0, known);
        Ok((self.band, self.buffer))
    }
}

/// Makes the rows and columns from `from` to `known` those of the identity.
fn extend_identity(buffer: &mut [f64], n: usize, from: usize, known: usize) {
    buffer[from * n..].par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
        let clear = if from + i < known { from..n } else { from..known };
        row[clear].fill(0.0);
        if from + i < known {
            row[from + i] = 1.0;
        }
    });
}

/// Multiply-adds of the reduction of a matrix, in the unit of the progress report.
fn cost(order: usize) -> u64 {
    let n = order as u64;
    (n * n / 3 * n) >> 12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool;
    use crate::watch::Unwatched;

    fn symmetric_matrix(n: usize) -> Vec<f64> {
        (0..n * n)
            .map(|k| {
                let (i, j) = ((k / n).max(k % n), (k / n).min(k % n));
                ((i * 7919 + j * 104_729 + i * j) % 1000) as f64 / 500.0 - 1.0
            })
            .collect()
    }

    fn dense(band: &Banded) -> Mat<f64> {
        let n = band.order();
        let mut out = Mat::zeros(n, n);
        let mut start = 0;
        for (k, block) in band.diagonal.iter().enumerate() {
            let w = block.nrows();
            out.submatrix_mut(start, start, w, w).copy_from(block);
            if let Some(below) = band.below.get(k) {
                out.submatrix_mut(start + w, start, below.nrows(), w).copy_from(below);
                out.submatrix_mut(start, start + w, w, below.nrows()).copy_from(below.transpose());
            }
            start += w;
        }
        out
    }

    #[test]
    fn the_factors_give_the_matrix_back() {
        for n in [1, 5, WIDTH, WIDTH + 1, 2 * WIDTH, 2 * WIDTH + 1, 150, 300] {
            let a = symmetric_matrix(n);
            let (band, rows) = reduce(n, a.clone(), &Unwatched).unwrap().into_rows(&Unwatched).unwrap();
            let (qt, b) = (MatRef::from_row_major_slice(&rows, n, n), dense(&band));
            let back = qt.transpose() * &b * qt;
            let unit = qt * qt.transpose();
            let a = MatRef::from_row_major_slice(&a, n, n);
            for i in 0..n {
                for j in 0..n {
                    let one = if i == j { 1.0 } else { 0.0 };
                    assert!((back[(i, j)] - a[(i, j)]).abs() < 1e-13 * n as f64, "order {n} at {i}, {j}");
                    assert!((unit[(i, j)] - one).abs() < 1e-14 * n as f64, "order {n} at {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn reflections_are_the_orthogonal_factor() {
        let n = 200;
        let reduction = reduce(n, symmetric_matrix(n), &Unwatched).unwrap();
        let mut found: Vec<f64> = (0..3 * n).map(|k| (k as f64).sin()).collect();
        let original = found.clone();
        reduction.multiply(MatMut::from_row_major_slice_mut(&mut found, 3, n), &Unwatched).unwrap();
        let mut back = found.clone();
        reduction.multiply_transposed(MatMut::from_row_major_slice_mut(&mut back, 3, n), &Unwatched).unwrap();
        assert!(back.iter().zip(&original).all(|(b, o)| (b - o).abs() < 1e-12));
        let (_, rows) = reduction.into_rows(&Unwatched).unwrap();
        let qt = MatRef::from_row_major_slice(&rows, n, n);
        let expected = MatRef::from_row_major_slice(&original, 3, n) * qt.transpose();
        assert!((0..3 * n).all(|k| (found[k] - expected[(k / n, k % n)]).abs() < 1e-12));
    }

    #[test]
    fn a_matrix_of_rank_zero_is_not_an_error() {
        for value in [0.0, 1.0] {
            let n = 100;
            let (band, rows) =
                reduce(n, vec![value; n * n], &Unwatched).unwrap().into_rows(&Unwatched).unwrap();
            let qt = MatRef::from_row_major_slice(&rows, n, n);
            let back = qt.transpose() * dense(&band) * qt;
            assert!((0..n * n).all(|k| (back[(k / n, k % n)] - value).abs() < 1e-12));
        }
    }

    #[test]
    fn has_the_same_bits_for_every_number_of_threads() {
        let n = 500;
        let rows = |threads| {
            pool::with(Some(threads), || {
                let reduction = reduce(n, symmetric_matrix(n), &Unwatched).unwrap();
                reduction.into_rows(&Unwatched).unwrap().1
            })
        };
        let one = rows(1);
        assert!(one == rows(2) && one == rows(3));
    }
}
