//! Waves: a·cos(⟨ω,x⟩ + b) and a·sin(⟨ω,x⟩ + b) for every row x and every frequency ω.
//!
//! Phases are counted in turns. They are summed in double precision for output in either precision, so that removing
//! whole turns leaves an accurate fraction even for large ⟨ω,x⟩, as for heavy-tailed spectra; the sines of the fraction
//! are computed in the output's precision. A block of rows stays in cache from the product to the sines.

use std::f64::consts::TAU;
use std::ops::Range;

use crate::data::with_samples;
use crate::data::{AnySamples, Matrix, Storage};
use crate::real::Real;

use super::math::cos_sin_of_turn;
use super::pack::Panels;
use super::plan::Method;
use super::simd::{Element, Simd, Vectorized};
use super::statistic::{Block, Norms, ROWS, block};

/// Bytes of packed frequencies that a block of rows goes over at a time: half of a second-level cache of 512 KiB.
const TILE_BYTES: usize = 256 << 10;

/// Waves processed at a time: those of [`ROWS`] rows stay in the first-level cache.
const STRIP: usize = 128;

/// From this value on a double has no fraction: the phase is set to 0.
const NO_FRACTION: f64 = 4_503_599_627_370_496.0;

/// Frequencies packed for multiplication, with a shift and an amplitude each.
#[derive(Debug, Clone)]
pub(crate) struct Waves {
    columns: usize,
    count: usize,
    /// ω/2π, padded with zeros.
    panels: Panels<f64>,
    /// b/2π, padded.
    shifts: Vec<f64>,
    /// a, padded.
    amplitudes: Vec<f64>,
    /// Whether the sine is needed in addition to the cosine.
    sines: bool,
}

/// Working memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct WaveScratch<T> {
    rows: Vec<f64>,
    phases: Vec<f64>,
    amplitudes: Vec<T>,
    turns: Vec<T>,
    cos: Vec<T>,
    sin: Vec<T>,
    zeros: Vec<f64>,
    stored: Vec<(usize, f64)>,
}

impl Waves {
    /// Packs frequencies (one a row, in radians), shifts in turns (`None` for zeros) and amplitudes.
    ///
    /// # Panics
    /// If there is not a shift and an amplitude for every frequency.
    pub fn new(frequencies: &Matrix<f64>, shifts: Option<&[f64]>, amplitudes: &[f64], sines: bool) -> Self {
        let (count, columns) = (frequencies.nrows(), frequencies.ncols());
        assert!(amplitudes.len() == count && shifts.is_none_or(|s| s.len() == count));
        let panels = Panels::new(count, columns, |f, out| {
            out.iter_mut().zip(frequencies.row(f)).for_each(|(o, w)| *o = w / TAU);
        });
        let padded = |values: &[f64]| {
            let mut padded = values.to_vec();
            padded.resize(count.next_multiple_of(f64::PANEL), 0.0);
            padded
        };
        let shifts = padded(shifts.unwrap_or(&vec![0.0; count]));
        Self { columns, count, panels, shifts, amplitudes: padded(amplitudes), sines }
    }

    /// Columns of the samples.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Output columns: one per frequency, two where sines are wanted: all cosines, then all sines.
    pub fn width(&self) -> usize {
        self.count * if self.sines { 2 } else { 1 }
    }

    /// Writes the waves of some rows of `samples`, row after row.
    ///
    /// O(d) multiply-adds and one pair of sines for every row and frequency.
    pub fn fill<T: Element>(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        scratch: &mut WaveScratch<T>,
        out: &mut [T],
    ) {
        let width = self.width();
        assert!(samples.ncols() == self.columns && out.len() == rows.len() * width);
        let tile = (TILE_BYTES / (8 * self.columns.max(1))).next_multiple_of(f64::PANEL).max(8 * f64::PANEL);
        let padded = self.count.next_multiple_of(f64::PANEL);
        for first in (0..padded).step_by(tile) {
            let waves = first..padded.min(first + tile);
            for (start, out) in rows.clone().step_by(ROWS).zip(out.chunks_mut(ROWS * width)) {
                let rows = start..start + out.len() / width;
                self.pack(samples, rows.clone(), &mut scratch.rows);
                for first in waves.clone().step_by(STRIP) {
                    let strip = first..waves.end.min(first + STRIP);
                    self.phases(samples, rows.clone(), strip.clone(), scratch);
                    self.sines(strip, scratch, out);
                }
            }
        }
    }

    /// Interleaves at most [`ROWS`] dense rows.
    fn pack(&self, samples: &AnySamples<'_>, rows: Range<usize>, packed: &mut Vec<f64>) {
        packed.clear();
        packed.resize(self.columns * f64::PANEL, 0.0);
        with_samples!(samples, s => if let Storage::Dense(entries) = s.storage() {
            for (lane, row) in rows.enumerate() {
                let row = &entries[row * self.columns..(row + 1) * self.columns];
                for (to, value) in packed[lane..].iter_mut().step_by(f64::PANEL).zip(row) {
                    *to = value.to_f64();
                }
            }
        });
    }

    /// Phases of at most [`ROWS`] rows (packed if dense) with some frequencies, without whole turns, into
    /// `scratch.phases`.
    fn phases<T: Element>(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        waves: Range<usize>,
        scratch: &mut WaveScratch<T>,
    ) {
        let panels = self.panels.panels(waves.start / f64::PANEL, waves.len() / f64::PANEL);
        let shifts = &self.shifts[waves.clone()];
        let WaveScratch { rows: packed, phases, zeros, stored, .. } = scratch;
        phases.resize(ROWS * waves.len(), 0.0);
        with_samples!(samples, s => match s.storage() {
            Storage::Dense(_) => {
                zeros.resize(waves.len().max(ROWS), 0.0);
                f64::vectorize(DensePhases { rows: packed, width: self.columns, panels, shifts, zeros, phases });
            }
            Storage::Sparse { .. } => {
                for (row, phases) in rows.zip(phases.chunks_exact_mut(waves.len())) {
                    stored.clear();
                    stored.extend(s.stored_row(row));
                    f64::vectorize(SparsePhases { stored, width: self.columns, panels, shifts, phases });
                }
            }
        });
    }

    /// Writes the waves of `scratch.phases` to the rows of `out`.
    fn sines<T: Element>(&self, waves: Range<usize>, scratch: &mut WaveScratch<T>, out: &mut [T]) {
        let WaveScratch { phases, turns, cos, sin, amplitudes, .. } = scratch;
        for strip in [&mut *turns, &mut *cos, &mut *sin] {
            strip.resize(phases.len(), T::default());
        }
        amplitudes.clear();
        amplitudes.extend(self.amplitudes[waves.clone()].iter().map(|a| T::from_f64(*a)));
        T::vectorize(Sines { phases, amplitudes, turns, cos, sin });
        let (width, here) = (self.width(), waves.start..waves.end.min(self.count));
        let length = waves.len();
        for (r, out) in out.chunks_exact_mut(width).enumerate() {
            out[here.clone()].copy_from_slice(&cos[r * length..][..here.len()]);
            if self.sines {
                out[self.count..][here.clone()].copy_from_slice(&sin[r * length..][..here.len()]);
            }
        }
    }
}

/// A phase without whole turns.
#[inline(always)]
fn fraction<S: Simd<T = f64>>(s: S, turns: S::V) -> S::V {
    let rest = s.sub(turns, s.round(turns));
    s.select(s.lt(s.abs(turns), s.splat(NO_FRACTION)), rest, s.splat(0.0))
}

struct DensePhases<'a> {
    rows: &'a [f64],
    width: usize,
    panels: &'a [f64],
    shifts: &'a [f64],
    zeros: &'a [f64],
    phases: &'a mut [f64],
}

impl Vectorized<f64> for DensePhases<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, s: S) {
        let count = self.shifts.len();
        let panels = count / f64::PANEL;
        let work =
            Block { x: self.rows, non_zeros: None, lane: 0, width: self.width, z: self.panels, panels };
        block(s, Method::Dot, &work, Norms { x: self.zeros, z: self.zeros }, self.phases);
        for row in self.phases.chunks_exact_mut(count) {
            take_off_turns(s, self.shifts, row);
        }
    }
}

struct SparsePhases<'a> {
    stored: &'a [(usize, f64)],
    width: usize,
    panels: &'a [f64],
    shifts: &'a [f64],
    phases: &'a mut [f64],
}

impl Vectorized<f64> for SparsePhases<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, s: S) {
        let panel = self.width * f64::PANEL;
        for (p, out) in self.phases.chunks_exact_mut(f64::PANEL).enumerate() {
            let frequencies = &self.panels[p * panel..(p + 1) * panel];
            for lane in (0..f64::PANEL).step_by(S::LANES) {
                let mut sum = s.splat(0.0);
                for &(column, value) in self.stored {
                    let at = &frequencies[column * f64::PANEL..(column + 1) * f64::PANEL];
                    // SAFETY: `at` has `PANEL` entries, a multiple of every vector.
                    sum = s.mul_add(s.splat(value), unsafe { s.load(at.as_ptr().add(lane)) }, sum);
                }
                // SAFETY: `out` has `PANEL` entries.
                unsafe { s.store(out.as_mut_ptr().add(lane), sum) };
            }
        }
        take_off_turns(s, self.shifts, self.phases);
    }
}

/// `phases` plus `shifts`, less whole turns; both of the same length, a multiple of the panel.
#[inline(always)]
fn take_off_turns<S: Simd<T = f64>>(s: S, shifts: &[f64], phases: &mut [f64]) {
    assert!(shifts.len() == phases.len() && phases.len().is_multiple_of(S::LANES));
    for k in (0..phases.len()).step_by(S::LANES) {
        // SAFETY: whole vectors are within both by the assertion.
        unsafe {
            let turns = s.add(s.load(phases.as_ptr().add(k)), s.load(shifts.as_ptr().add(k)));
            s.store(phases.as_mut_ptr().add(k), fraction(s, turns));
        }
    }
}

struct Sines<'a, T> {
    phases: &'a [f64],
    amplitudes: &'a [T],
    turns: &'a mut [T],
    cos: &'a mut [T],
    sin: &'a mut [T],
}

impl<T: Element> Vectorized<T> for Sines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let (len, count) = (self.phases.len(), self.amplitudes.len());
        assert!(count > 0 && count.is_multiple_of(S::LANES) && len.is_multiple_of(count));
        assert!(self.turns.len() == len && self.cos.len() == len && self.sin.len() == len);
        for (turn, phase) in self.turns.iter_mut().zip(self.phases) {
            *turn = T::from_f64(*phase);
        }
        for row in (0..len).step_by(count) {
            for k in (0..count).step_by(S::LANES) {
                // SAFETY: whole vectors are within the amplitudes and each strip by the assertions.
                unsafe {
                    let amplitude = s.load(self.amplitudes.as_ptr().add(k));
                    let (cos, sin) = cos_sin_of_turn(s, s.load(self.turns.as_ptr().add(row + k)));
                    s.store(self.cos.as_mut_ptr().add(row + k), s.mul(amplitude, cos));
                    s.store(self.sin.as_mut_ptr().add(row + k), s.mul(amplitude, sin));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;
    use crate::tile::simd::{each_instruction_set, run_at};

    struct Turns<'a, T>(&'a [T], &'a mut [T], &'a mut [T]);

    impl<T: Element> Vectorized<T> for Turns<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd<T = T>>(self, s: S) {
            for k in (0..self.0.len()).step_by(S::LANES) {
                // SAFETY: the test's slices are of one length, a multiple of every vector.
                unsafe {
                    let (cos, sin) = cos_sin_of_turn(s, s.load(self.0.as_ptr().add(k)));
                    s.store(self.1.as_mut_ptr().add(k), cos);
                    s.store(self.2.as_mut_ptr().add(k), sin);
                }
            }
        }
    }

    #[test]
    fn sines_of_turns_are_accurate_on_every_instruction_set() {
        let turns: Vec<f64> = (0..4096).map(|i| f64::from(i) / 4095.0 - 0.5).collect();
        each_instruction_set(|set| {
            let (mut cos, mut sin) = (vec![0.0; 4096], vec![0.0; 4096]);
            run_at(set, Turns(&turns, &mut cos, &mut sin));
            let single: Vec<f32> = turns.iter().map(|t| *t as f32).collect();
            let (mut cos32, mut sin32) = (vec![0.0f32; 4096], vec![0.0f32; 4096]);
            run_at(set, Turns(&single, &mut cos32, &mut sin32));
            for i in 0..4096 {
                let (s, c) = (TAU * turns[i]).sin_cos();
                assert!((cos[i] - c).abs() < 1e-15 && (sin[i] - s).abs() < 1e-15, "{}", turns[i]);
                let (s, c) = (TAU * f64::from(single[i])).sin_cos();
                let error = (f64::from(cos32[i]) - c).abs().max((f64::from(sin32[i]) - s).abs());
                assert!(error < 4e-7, "{}: {error:e}", turns[i]);
            }
        });
    }

    #[test]
    fn waves_are_the_sines_of_the_phases() {
        let (n, d, count) = (21, 5, 37);
        let entry = |i: usize| ((i * 2_654_435_761) % 1009) as f64 / 200.0 - 2.5;
        let x: Vec<f64> = (0..n * d).map(entry).collect();
        // One frequency is so high that its phase has no correct digits in single precision.
        let frequencies = Matrix::from_entries(
            count,
            d,
            (0..count * d).map(|i| entry(i + 7) * if i / d == 3 { 1e8 } else { 1.0 }).collect(),
        );
        let shifts: Vec<f64> = (0..count).map(|f| f as f64 / 40.0).collect();
        let amplitudes: Vec<f64> = (0..count).map(|f| 1.0 + f as f64).collect();
        let waves = Waves::new(&frequencies, Some(&shifts), &amplitudes, true);
        let dense = AnySamples::F64(Samples::dense(n, d, x.clone()).unwrap());
        let indptr: Vec<usize> = (0..=n).map(|i| i * d).collect();
        let indices: Vec<u32> = (0..n * d).map(|i| (i % d) as u32).collect();
        let sparse = AnySamples::F64(Samples::sparse(d, indptr, indices, x.clone()).unwrap());
        for samples in [dense, sparse] {
            let (mut double, mut single) = (vec![0.0; n * 2 * count], vec![0.0f32; n * 2 * count]);
            waves.fill(&samples, 0..n, &mut WaveScratch::default(), &mut double);
            waves.fill(&samples, 0..n, &mut WaveScratch::default(), &mut single);
            for i in 0..n {
                for f in 0..count {
                    let dot: f64 = (0..d).map(|k| x[i * d + k] * frequencies.row(f)[k]).sum();
                    let (s, c) = (dot + TAU * shifts[f]).sin_cos();
                    // The phase itself is known to d roundings of its size.
                    let allowed = amplitudes[f] * (1e-14 + 8.0 * f64::EPSILON * dot.abs().max(10.0));
                    for (place, expected) in [(f, c), (count + f, s)] {
                        let at = i * 2 * count + place;
                        assert!((double[at] - amplitudes[f] * expected).abs() < allowed);
                        let error = (f64::from(single[at]) - amplitudes[f] * expected).abs();
                        assert!(error < allowed + 5e-7 * amplitudes[f], "{error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn phases_beyond_all_fractions_are_finite() {
        let frequencies = Matrix::from_entries(1, 1, vec![1e100]);
        let waves = Waves::new(&frequencies, None, &[1.0], true);
        let samples = AnySamples::F64(Samples::dense(2, 1, vec![1e300, -1.0]).unwrap());
        let mut out = [0.0_f64; 4];
        waves.fill(&samples, 0..2, &mut WaveScratch::default(), &mut out);
        assert!(out.iter().all(|v| v.abs() <= 1.0), "{out:?}");
    }
}
