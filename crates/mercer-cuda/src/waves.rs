//! Sums over random features on a device.
//!
//! Features are computed in double precision, a block of rows at a time, and cuBLAS adds their products.

use std::ops::Range;

use mercer::data::{AnySamples, Matrix as Dense};
use mercer::gram::{GramError, WaveRows, WaveSums, WaveSumsError};
use mercer::linalg::{FeatureSums, NormalEquations, zeroed};
use mercer::real::Precision;
use mercer::watch::{Stopped, Watch};

use crate::blas::Op;
use crate::device::{Bytes, Device, Ended, Grid, arguments, check};
use crate::engine::CudaEngine;
use crate::rows::{Rows, address};

const WAVES: &str = include_str!("kernels/waves.cuh");

/// Features of a block of rows.
const BLOCK: usize = 1 << 27;

/// The most rows of a block: the limit of a launch.
const MOST_ROWS: usize = 1 << 19;

/// Bytes of samples on the device at a time.
const SAMPLES: usize = 1 << 30;

/// Rows of a block of threads, as in `waves.cuh`.
const ROWS: usize = 16;

/// Threads of a block, one for each frequency.
const THREADS: usize = 128;

impl WaveSums for CudaEngine {
    fn add(
        &self,
        rows: &WaveRows<'_>,
        into: &mut NormalEquations,
        watch: &dyn Watch,
    ) -> Result<(), WaveSumsError> {
        let sums = sums(self.device(), rows, watch).map_err(|ended| match ended {
            Ended::Stopped => GramError::Stopped(Stopped),
            Ended::Failed(error) => error.into(),
        })?;
        Ok(into.add_sums(&sums.view(), rows.targets, rows.weights)?)
    }
}

/// Sums on the host.
struct Sums {
    features: Vec<f64>,
    lower: Vec<f64>,
    cross: Vec<f64>,
}

impl Sums {
    fn view(&self) -> FeatureSums<'_> {
        FeatureSums { features: &self.features, lower: &self.lower, cross: &self.cross }
    }
}

/// Rows of features computed at a time, and rows of samples on the device at a time, a multiple of these: for this number of features
/// and these bytes of a sample.
fn heights(width: usize, sample: usize) -> (usize, usize) {
    let samples = (SAMPLES / sample.max(1)).max(1);
    let height = (BLOCK / width.max(1)).clamp(1, MOST_ROWS).min(samples);
    (height, samples / height * height)
}

/// The samples need not fit the memory of the device.
fn sums(device: &std::sync::Arc<Device>, rows: &WaveRows<'_>, watch: &dyn Watch) -> Result<Sums, Ended> {
    let (n, d, m) = (rows.samples.nrows(), rows.samples.ncols(), rows.frequencies.nrows());
    assert!(rows.frequencies.ncols() == d && rows.amplitudes.len() == m, "frequencies and amplitudes");
    assert!(rows.shifts.is_none_or(|shifts| shifts.len() == m), "one shift for each frequency");
    assert!(rows.targets.nrows() == n, "targets for each sample");
    assert!(rows.weights.is_none_or(|weights| weights.len() == n), "one weight for each sample");
    let (pairs, outputs) = (rows.shifts.is_none(), rows.targets.ncols() + 1);
    let width = if pairs { 2 * m } else { m };
    let roots: Option<Vec<f64>> = rows.weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
    let work = device.lock();
    let frequencies = device.upload(&in_turns(rows.frequencies))?;
    let shifts = rows.shifts.map(|shifts| device.upload(shifts)).transpose()?;
    let amplitudes = device.upload(rows.amplitudes)?;
    let single = matches!(rows.samples, AnySamples::F32(_));
    let (height, band) = heights(width, d * if single { 4 } else { 8 });
    let features = device.allocate(height.min(n) * width * 8)?;
    let (squares, cross) = (device.zeros(width * width * 8)?, device.zeros(width * outputs * 8)?);
    let sample = if single { "float" } else { "double" };
    let function = device.function(&format!("typedef {sample} sample;\n{WAVES}"), "waves", 0)?;
    let optional = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, |bytes| address(device, bytes));
    let frequencies_at = address(device, &frequencies);
    let (shifts_at, amplitudes_at) = (optional(&shifts), address(device, &amplitudes));
    let (columns, count, both, to) = (d as i64, m as i64, i32::from(pairs), address(device, &features));
    let blas = device.blas()?;
    drop(work);
    watch.begin("features", n as u64);
    for here in (0..n).step_by(band).map(|start| start..n.min(start + band)) {
        let samples = Rows::band(device, rows.samples, here.clone())?;
        let labels = weighted(rows.targets, roots.as_deref(), here.clone());
        let _work = device.lock();
        let labels = device.upload(&labels)?;
        let roots = roots.as_ref().map(|roots| device.upload(&roots[here.clone()])).transpose()?;
        let (from, roots_at, n) = (samples.at(), optional(&roots), here.len());
        for first in (0..n).step_by(height) {
            check(watch)?;
            let here = height.min(n - first);
            let (start, some) = (first as i64, here as i64);
            let arguments = arguments![
                from,
                start,
                some,
                columns,
                frequencies_at,
                shifts_at,
                amplitudes_at,
                count,
                both,
                roots_at,
                to
            ];
            let grid =
                Grid { blocks: (m.div_ceil(THREADS), here.div_ceil(ROWS)), threads: THREADS, shared: 0 };
            let of_block = (address(device, &labels) + (first * outputs * 8) as u64, outputs);
            // SAFETY: the arguments of `waves`, which writes `here` rows of `width` features; to the library these are `here` columns, and
            // the labels columns of `outputs` entries.
            unsafe {
                device.launch(&function, grid, &arguments)?;
                blas.add_square(Op::AsIs, (width, here), (to, width), (address(device, &squares), width))?;
                blas.multiply(
                    Precision::Double,
                    (Op::AsIs, Op::Transposed),
                    (width, outputs, here),
                    (1.0, (to, width), of_block),
                    (1.0, (address(device, &cross), width)),
                )?;
            }
            device.wait()?;
            watch.advance(here as u64);
        }
    }
    let _work = device.lock();
    let mut lower = zeroed(width * width);
    device.download(&squares, &mut lower)?;
    // One column for each output.
    let mut by_output = vec![0.0; width * outputs];
    device.download(&cross, &mut by_output)?;
    let targets = outputs - 1;
    let cross = (0..width * targets).map(|k| by_output[k % targets * width + k / targets]).collect();
    Ok(Sums { features: by_output[targets * width..].to_vec(), lower, cross })
}

/// Frequencies in turns, one a column.
fn in_turns(frequencies: &Dense<f64>) -> Vec<f64> {
    let (m, d) = (frequencies.nrows(), frequencies.ncols());
    (0..d * m).map(|k| frequencies.row(k % m)[k / m] / std::f64::consts::TAU).collect()
}

/// Rows [√w·y √w].
fn weighted(targets: &Dense<f64>, roots: Option<&[f64]>, rows: Range<usize>) -> Vec<f64> {
    let mut labels = Vec::with_capacity(rows.len() * (targets.ncols() + 1));
    for i in rows {
        let root = roots.map_or(1.0, |roots| roots[i]);
        labels.extend(targets.row(i).iter().map(|y| root * y));
        labels.push(root);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_any_size_are_added_in_bands() {
        for width in [1, 64, 4_096, 1 << 20] {
            for sample in [0, 8, 800, 80_000, 3 << 30] {
                let (height, band) = heights(width, sample);
                assert!(height >= 1 && band >= height && band % height == 0, "{width} {sample}");
                assert!(height <= MOST_ROWS && (height == 1 || height * width <= BLOCK), "{width} {sample}");
                assert!(band == 1 || band * sample <= SAMPLES, "{width} {sample}");
            }
        }
        // Rows of a band are whole blocks, so that blocks are those of all samples in one band.
        assert_eq!(heights(4_096, 800), (32_768, (1 << 30) / 800 / 32_768 * 32_768));
    }

    #[test]
    fn labels_are_those_of_the_rows() {
        let targets = Dense::from_entries(3, 1, vec![1.0, 2.0, 3.0]);
        assert_eq!(weighted(&targets, Some(&[1.0, 2.0, 0.5]), 1..3), [4.0, 2.0, 1.5, 0.5]);
        assert_eq!(weighted(&targets, None, 0..1), [1.0, 1.0]);
    }
}
