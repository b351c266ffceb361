//! A kernel matrix stored with 16 bits per entry, for solvers that multiply by it many times and correct their answer.

mod product;
mod rounding;

use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::operator::LinearOperator;
use crate::linalg::zeroed;
use crate::watch::{Stopped, Watch};

use super::columns::{COLUMNS_PER_VISIT, ColumnSource};
use super::tiled::{GROUPS, bands_of};
use product::{LANES, Sums, multiply};
use rounding::{STEPS, Scale, round};

/// Rows and columns of a tile, the unit in which kernel values are visited.
const TILE: usize = COLUMNS_PER_VISIT;

/// Entries of a tile.
const ENTRIES: usize = TILE * TILE;

/// Number of adjacent tiles whose products are added in single precision.
const TILES_PER_SUM: usize = 8;

/// Right-hand sides that share a pass; the sums of more would not fit the caches.
const OUTPUTS_PER_PASS: usize = 8;

/// A symmetric matrix with 16 bits per entry: n² bytes, and products limited by memory bandwidth.
///
/// The matrix is cut into tiles of 256 × 256, of which those on and below the diagonal are kept. In each of them
///
/// ```text
/// k = middle + step·code,    code = −32,765 … 32,765,    step = (greatest − least)/65,530,
/// ```
///
/// which is finer than a floating-point format of 16 bits except for values far below the range of their tile, and
/// twice as fine as codes around 0 if all values have one sign. Codes use stochastic rounding, so that the errors E are
/// independent, have mean 0 and a standard deviation of √(1/6) steps on average. Hence |Ev| is about √(n/6)·step·|v|
/// ([`rounding`](Self::rounding)): with values from 0 to 1 and n = 100,000 that is 0.002·|v|, and the norm of E is
/// twice that.
///
/// A product reads every code once, for its row and its column and for up to eight right-hand sides. Numbers are summed
/// in `f32` along at most 2,048 columns or 256 rows, and beyond that in `f64`, in an order that depends only on the
/// shape of the matrix.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::gram) struct CompactGram {
    n: usize,
    /// The codes of tile (i, j), j ≤ i, are the (i(i+1)/2 + j)-th, row after row. Tiles at the edge are padded.
    codes: Vec<i16>,
    scales: Vec<Scale>,
}

/// Tiles in the bands before `band`.
fn tiles_before(band: usize) -> usize {
    band * (band + 1) / 2
}

impl CompactGram {
    /// Bytes that a matrix of order n takes: n², and up to 256·n at its edges.
    pub fn bytes(n: usize) -> u64 {
        let bands = n.div_ceil(TILE) as u64;
        bands * (bands + 1) / 2 * (2 * ENTRIES + size_of::<Scale>()) as u64
    }

    /// Stores `gram`. O(n²d) time, about that of one product; [`bytes`](Self::bytes) of memory.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn store(gram: &dyn ColumnSource<f32>, watch: &dyn Watch) -> Result<Self, Stopped> {
        let n = gram.order();
        let bands = n.div_ceil(TILE);
        let mut codes: Vec<i16> = zeroed(tiles_before(bands) * ENTRIES);
        let mut scales = vec![Scale::default(); tiles_before(bands)];
        let columns = gram.columns(&(0..n).collect::<Vec<_>>());
        watch.begin("kernel matrix", tiles_before(bands) as u64);
        // The longest bands first, so that the last ones to be done are short.
        let (mut codes_left, mut scales_left) = (&mut codes[..], &mut scales[..]);
        let mut work = Vec::with_capacity(bands);
        for band in 0..bands {
            let (here, rest) = codes_left.split_at_mut((band + 1) * ENTRIES);
            let (scales_here, scales_rest) = scales_left.split_at_mut(band + 1);
            work.push((band, here, scales_here));
            (codes_left, scales_left) = (rest, scales_rest);
        }
        work.reverse();
        work.into_par_iter().with_max_len(1).try_for_each_init(
            || vec![0.0; ENTRIES],
            |values, (band, codes, scales)| {
                let rows: Vec<usize> = (band * TILE..n.min((band + 1) * TILE)).collect();
                let crossing = columns.cross(&rows);
                for (j, (codes, scale)) in codes.chunks_exact_mut(ENTRIES).zip(scales).enumerate() {
                    watch.check()?;
                    let cols = j * TILE..n.min((j + 1) * TILE);
                    let width = cols.len();
                    crossing.visit(cols, &mut |block| {
                        for (r, row) in block.rows.clone().enumerate() {
                            let row = &mut values[row * TILE..(row + 1) * TILE];
                            row[..width].copy_from_slice(&block.values[r * block.stride..][..width]);
                        }
                    });
                    fill_up(values, rows.len(), width);
                    *scale = round(values, [band * TILE, j * TILE], codes);
                    if j == band {
                        mirror(codes);
                    }
                    watch.advance(1);
                }
                Ok(())
            },
        )?;
        drop(columns);
        Ok(Self { n, codes, scales })
    }

    /// The value of [`rounding`](Self::rounding) for a matrix of order n whose tiles have values this far apart.
    pub fn rounding_over(n: usize, range: f64) -> f64 {
        (n as f64 / 6.0).sqrt() * range / STEPS
    }

    /// An estimate of |Ev|/|v| for the errors E of the entries: √n times their root mean square.
    pub fn rounding(&self) -> f64 {
        let mut squares = 0.0;
        for (band, scales) in self.bands() {
            for (j, scale) in scales.iter().enumerate() {
                squares += scale.step * scale.step * if j < band { 2.0 } else { 1.0 };
            }
        }
        let bands = self.n.div_ceil(TILE).max(1) as f64;
        (self.n as f64 * squares / (6.0 * bands * bands)).sqrt()
    }

    /// Each band of rows with the scales of its tiles.
    fn bands(&self) -> impl Iterator<Item = (usize, &[Scale])> {
        (0..self.n.div_ceil(TILE))
            .map(|band| (band, &self.scales[tiles_before(band)..tiles_before(band + 1)]))
    }

    /// The products of the bands of one group.
    fn product_of(&self, group: usize, rhs: &Narrow, watch: &dyn Watch) -> Result<Vec<f64>, Stopped> {
        let (bands, outputs) = (self.n.div_ceil(TILE), rhs.outputs);
        let mut sums = vec![0.0; outputs * rhs.len];
        let mut working = Working::new(outputs);
        for band in bands_of(group, bands) {
            watch.check()?;
            self.band_product(band, rhs, &mut working, &mut sums);
        }
        Ok(sums)
    }

    /// Adds the products of the tiles of a band, those below the diagonal in both directions.
    fn band_product(&self, band: usize, rhs: &Narrow, working: &mut Working, sums: &mut [f64]) {
        let outputs = rhs.outputs;
        let of_rows: Vec<&[f32]> = (0..outputs).map(|o| rhs.band(o, band)).collect();
        working.rows.fill(0.0);
        let tiles = tiles_before(band)..tiles_before(band + 1);
        for (j, tile) in tiles.enumerate() {
            let Scale { middle, step } = self.scales[tile];
            let codes = &self.codes[tile * ENTRIES..(tile + 1) * ENTRIES];
            for (o, scaled) in working.scaled.chunks_exact_mut(TILE).enumerate() {
                let narrow = (step / rhs.unit) as f32;
                scaled.iter_mut().zip(rhs.band(o, j)).for_each(|(s, x)| *s = narrow * x);
            }
            working.cols.fill(0.0);
            let partial = Sums { rows: &mut working.lanes, cols: &mut working.cols };
            multiply(codes, &of_rows, &working.scaled, partial);
            for o in 0..outputs {
                // The contribution of the middle is the same for every row.
                working.constant[o] += middle * rhs.total(o, j);
                if j < band {
                    let constant = middle * rhs.total(o, band);
                    let out = &mut sums[o * rhs.len + j * TILE..][..TILE];
                    for (out, codes) in out.iter_mut().zip(&working.cols[o * TILE..]) {
                        *out += step * f64::from(*codes) + constant;
                    }
                }
            }
            if (j + 1) % TILES_PER_SUM == 0 || j == band {
                working.widen();
            }
        }
        for o in 0..outputs {
            let out = &mut sums[o * rhs.len + band * TILE..][..TILE];
            for (out, row) in out.iter_mut().zip(&working.rows[o * TILE..]) {
                *out += rhs.unit * row + working.constant[o];
            }
            working.constant[o] = 0.0;
        }
    }
}

/// Padding beyond the last row or column repeats a value of the tile, so that it does not widen the range.
fn fill_up(values: &mut [f32], rows: usize, cols: usize) {
    let value = values[0];
    values.chunks_exact_mut(TILE).take(rows).for_each(|row| row[cols..].fill(value));
    values[rows * TILE..].fill(value);
}

/// Makes a tile on the diagonal symmetric.
fn mirror(codes: &mut [i16]) {
    for r in 0..TILE {
        for c in r + 1..TILE {
            codes[r * TILE + c] = codes[c * TILE + r];
        }
    }
}

/// Right-hand sides in single precision, one after the other, each divided by its largest entry.
struct Narrow {
    outputs: usize,
    /// Entries of each, a multiple of the tile.
    len: usize,
    entries: Vec<f32>,
    /// The sum over each band, output after output.
    totals: Vec<f64>,
    largest: Vec<f64>,
    /// The divisor of steps before they are rounded to single precision.
    unit: f64,
}

impl Narrow {
    fn new(rhs: &Matrix<f64>, outputs: std::ops::Range<usize>, unit: f64) -> Self {
        let len = rhs.nrows().next_multiple_of(TILE);
        let (mut entries, mut largest) = (vec![0.0; len * outputs.len()], Vec::new());
        for (entries, o) in entries.chunks_exact_mut(len.max(1)).zip(outputs.clone()) {
            let column = || (0..rhs.nrows()).map(|i| rhs.row(i)[o]);
            let size = column().map(f64::abs).fold(0.0, f64::max);
            let size = if size > 0.0 { size } else { 1.0 };
            entries.iter_mut().zip(column()).for_each(|(e, v)| *e = (v / size) as f32);
            largest.push(size);
        }
        let totals =
            entries.chunks_exact(TILE).map(|band| band.iter().map(|v| f64::from(*v)).sum()).collect();
        Self { outputs: outputs.len(), len, entries, totals, largest, unit }
    }

    fn band(&self, o: usize, band: usize) -> &[f32] {
        &self.entries[o * self.len + band * TILE..][..TILE]
    }

    fn total(&self, o: usize, band: usize) -> f64 {
        self.totals[o * self.len / TILE + band]
    }
}

/// Working memory of one group, for each right-hand side one after the other.
struct Working {
    /// Partial sums of each row, lane by lane, over a few tiles.
    lanes: Vec<f32>,
    /// Sums of each row.
    rows: Vec<f64>,
    /// Sums of each column of one tile.
    cols: Vec<f32>,
    /// The numbers of the columns of one tile, times its step.
    scaled: Vec<f32>,
    /// The contribution common to every row of the band.
    constant: Vec<f64>,
}

impl Working {
    fn new(outputs: usize) -> Self {
        let [lanes, cols, scaled] = [LANES, 1, 1].map(|each| vec![0.0; outputs * TILE * each]);
        Self { lanes, rows: vec![0.0; outputs * TILE], cols, scaled, constant: vec![0.0; outputs] }
    }

    /// Moves the partial sums to the sums of the rows.
    fn widen(&mut self) {
        for (row, lanes) in self.rows.iter_mut().zip(self.lanes.chunks_exact_mut(LANES)) {
            *row += lanes.iter().map(|v| f64::from(*v)).sum::<f64>();
            lanes.fill(0.0);
        }
    }
}

impl LinearOperator for CompactGram {
    fn nrows(&self) -> usize {
        self.n
    }

    fn ncols(&self) -> usize {
        self.n
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        assert!(rhs.nrows() == self.n && out.nrows() == self.n && out.ncols() == rhs.ncols());
        let groups = GROUPS.min(self.n.div_ceil(TILE));
        let unit = self.scales.iter().map(|scale| scale.step).fold(0.0, f64::max);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        for first in (0..rhs.ncols()).step_by(OUTPUTS_PER_PASS) {
            let last = rhs.ncols().min(first + OUTPUTS_PER_PASS);
            let narrow = Narrow::new(rhs, first..last, unit);
            let partial = (0..groups)
                .into_par_iter()
                .with_max_len(1)
                .map(|group| self.product_of(group, &narrow, watch))
                .collect::<Result<Vec<_>, Stopped>>()?;
            let width = rhs.ncols();
            out.entries_mut().par_chunks_mut(width * TILE).enumerate().for_each(|(band, rows)| {
                for (r, row) in rows.chunks_exact_mut(width).enumerate() {
                    for (o, out) in row[first..last].iter_mut().enumerate() {
                        let place = o * narrow.len + band * TILE + r;
                        *out = narrow.largest[o] * partial.iter().map(|sums| sums[place]).sum::<f64>();
                    }
                }
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
