//! Random Fourier features of a shift-invariant kernel.
//!
//! With frequencies ω₁ … ω_m drawn from the kernel's own spectral density ([`Spectrum`]),
//!
//! ```text
//! pairs     φ(x) = √(κ(0)/m)·(cos⟨ω₁,x⟩, …, cos⟨ω_m,x⟩, sin⟨ω₁,x⟩, …, sin⟨ω_m,x⟩)     D = 2m
//! shifted   φ(x) = √(2κ(0)/m)·(cos(⟨ω₁,x⟩ + b₁), …),  b uniform                         D = m
//! ```
//!
//! are features whose inner products have the kernel as their mean and an error that falls as 1/√D (Rahimi and Recht
//! 2007); pairs have the smaller error at equal D (Sutherland and Schneider 2015). Mixtures are stratified: each
//! component of a sum has its own frequencies, in proportion to its weight, and a constant has exactly one.

mod allocate;
mod draw;
mod halton;
mod orthogonal;
mod quantile;

use std::f64::consts::TAU;
use std::ops::Range;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix, with_samples};
use crate::gram::{ValuesMut, WaveRows, WaveSums, WaveSumsError, with_values};
use crate::kernel::{Kernel, Spectrum};
use crate::linalg::NormalEquations;
use crate::memory;
use crate::tile::{Element, WaveScratch, Waves};
use crate::watch::Watch;

use super::error::{DesignError, check_columns, check_memory};
pub(crate) use quantile::normal as normal_quantile;

/// How frequencies are drawn from a spectral density.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Orthogonal directions in blocks of as many as there are columns, with independent radii of the right law (Yu and
    /// others 2016), for every component whose density is isotropic; independent draws for the others, for which
    /// orthogonal directions would be wrong.
    #[default]
    Orthogonal,
    /// Independent draws.
    Plain,
    /// A randomised Halton sequence in place of independent uniform numbers (Avron and others 2016).
    QuasiMonteCarlo,
}

/// The features of one frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A cosine and a sine.
    #[default]
    Pairs,
    /// A cosine with a random shift, as in scikit-learn's `RBFSampler`.
    Shifted,
}

/// The settings that random features are drawn from: equal settings give equal features.
///
/// ```
/// use mercer::data::{AnySamples, Samples};
/// use mercer::design::RandomSpec;
/// use mercer::watch::Unwatched;
/// let features = RandomSpec::new("matern(nu=2.5)".parse()?, 64, 0).draw(2)?;
/// let samples = AnySamples::F64(Samples::dense(1, 2, vec![0.3, -1.0])?);
/// let mut phi = vec![0.0; 64];
/// features.fill(&samples, 0..1, (&mut phi).into(), &Unwatched)?;
/// assert!((phi.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RandomSpec {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// D, the number of features; even for pairs.
    pub features: usize,
    /// How frequencies are drawn.
    #[serde(default)]
    pub sampling: Sampling,
    /// The features of one frequency.
    #[serde(default)]
    pub form: Form,
    /// The seed.
    pub seed: u64,
}

impl RandomSpec {
    /// Orthogonal cosine and sine pairs.
    #[must_use]
    pub fn new(kernel: Kernel, features: usize, seed: u64) -> Self {
        Self { kernel, features, sampling: Sampling::default(), form: Form::default(), seed }
    }

    /// Draws the frequencies for samples with this many columns.
    ///
    /// O(Dd) time and memory, O(Dd²) with orthogonal directions.
    ///
    /// # Errors
    /// If the kernel has no known spectral density, if D is 0, odd for pairs, or less than the kernel's sum has
    /// components, or if the frequencies do not fit the memory.
    pub fn draw(&self, columns: usize) -> Result<RandomFeatures, DesignError> {
        let per_frequency = match self.form {
            Form::Pairs => 2,
            Form::Shifted => 1,
        };
        if self.features == 0 || !self.features.is_multiple_of(per_frequency) {
            let allowed = if per_frequency == 2 {
                "a positive even number: a cosine and a sine for every frequency"
            } else {
                "1 or more"
            };
            return Err(DesignError::parameter("the number of features", self.features, allowed));
        }
        let spectrum = Spectrum::of(&self.kernel, columns)?;
        let count = self.features / per_frequency;
        check_memory("the matrix of frequencies", count, columns, 16, memory::default_budget())?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let drawn = draw::frequencies(&spectrum, count, self.sampling, &mut rng)?;
        let mut shifts = (self.form == Form::Shifted)
            .then(|| (0..count).map(|_| draw::uniform(&mut rng)).collect::<Vec<f64>>());
        let mut amplitudes: Vec<f64> =
            drawn.shares.iter().map(|share| (share * 2.0 / per_frequency as f64).sqrt()).collect();
        // The cosine of a constant alone, without a shift, is exact.
        if let Some(shifts) = shifts.as_mut().filter(|_| drawn.constant) {
            (shifts[0], amplitudes[0]) = (0.0, drawn.shares[0].sqrt());
        }
        RandomFeatures::from_matrices(drawn.frequencies, shifts, amplitudes)
    }
}

/// Random features together with the settings they were drawn from.
///
/// Only the frequencies determine the features: a model predicts the same, even if another version draws other
/// frequencies from the same seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fourier {
    /// The settings they were drawn from.
    pub spec: RandomSpec,
    /// The features.
    pub features: RandomFeatures,
}

/// Random features with their frequencies.
#[derive(Debug, Clone)]
pub struct RandomFeatures {
    frequencies: Matrix<f64>,
    shifts: Option<Vec<f64>>,
    amplitudes: Vec<f64>,
    /// The median of |ωⱼ| over the frequencies, for each column j.
    typical: Vec<f64>,
    waves: Waves,
}

/// Rows that one task transforms.
const BAND: usize = 64;

impl RandomFeatures {
    /// Features of given frequencies, one a row: the cosines aⱼ·cos⟨ωⱼ,x⟩ and then the sines, or, where there are shifts
    /// (in turns), the shifted cosines aⱼ·cos(⟨ωⱼ,x⟩ + 2πbⱼ) alone.
    ///
    /// # Errors
    /// If there is not a finite amplitude and shift for each frequency, or an entry is not finite.
    pub fn from_matrices(
        frequencies: Matrix<f64>,
        shifts: Option<Vec<f64>>,
        amplitudes: Vec<f64>,
    ) -> Result<Self, DesignError> {
        let count = frequencies.nrows();
        if count == 0 {
            return Err(DesignError::parameter("the number of frequencies", 0, "1 or more"));
        }
        for (what, values) in [("shifts", shifts.as_deref()), ("amplitudes", Some(amplitudes.as_slice()))] {
            if let Some(values) = values.filter(|values| values.len() != count) {
                let allowed = format!("{count}, one for each frequency");
                return Err(DesignError::parameter(
                    if what == "shifts" { "the number of shifts" } else { "the number of amplitudes" },
                    values.len(),
                    allowed,
                ));
            }
        }
        let numbers = frequencies.entries().iter().chain(shifts.iter().flatten()).chain(&amplitudes);
        if let Some(bad) = numbers.into_iter().find(|v| !v.is_finite()) {
            return Err(DesignError::parameter(
                "an entry of the frequencies, shifts or amplitudes",
                bad,
                "finite",
            ));
        }
        let waves = Waves::new(&frequencies, shifts.as_deref(), &amplitudes, shifts.is_none());
        let typical = (0..frequencies.ncols()).map(|column| median(&frequencies, column)).collect();
        Ok(Self { frequencies, shifts, amplitudes, typical, waves })
    }

    /// ω, one a row.
    #[must_use]
    pub fn frequencies(&self) -> &Matrix<f64> {
        &self.frequencies
    }

    /// b in turns; `None` for pairs.
    #[must_use]
    pub fn shifts(&self) -> Option<&[f64]> {
        self.shifts.as_deref()
    }

    /// The factor of each frequency's cosine.
    #[must_use]
    pub fn amplitudes(&self) -> &[f64] {
        &self.amplitudes
    }

    /// Columns of the samples.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.waves.columns()
    }

    /// D, the number of features.
    #[must_use]
    pub fn count(&self) -> usize {
        self.waves.width()
    }

    /// Writes the features of some rows of `samples` to `out`, row after row, computed in the precision of `out`.
    ///
    /// # Errors
    /// If the samples have another number of columns or are too far from the origin for a phase to be known, or if
    /// `watch` asks to stop.
    ///
    /// # Panics
    /// If `out` does not have an entry for each row and feature.
    pub fn fill(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: ValuesMut<'_>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        check_columns(samples, self.columns())?;
        assert_eq!(out.len(), rows.len() * self.count(), "the features of each row");
        with_values!(ValuesMut, out, out => self.fill_as(samples, rows, out, watch))
    }

    /// Adds rows, their targets and their weights to sums over their features, on an engine. Nothing is added where there are no rows.
    ///
    /// # Errors
    /// As [`fill`](Self::fill), and as [`WaveSums::add`].
    pub fn add_sums(
        &self,
        samples: &AnySamples<'_>,
        (targets, weights): (&Matrix<f64>, Option<&[f64]>),
        engine: &dyn WaveSums,
        into: &mut NormalEquations,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let n = samples.nrows();
        for (what, found) in [
            ("the number of rows of targets", Some(targets.nrows())),
            ("the number of weights", weights.map(<[f64]>::len)),
        ] {
            if let Some(found) = found.filter(|found| *found != n) {
                return Err(DesignError::parameter(what, found, format!("{n}, one for each sample")));
            }
        }
        if n == 0 {
            return Ok(());
        }
        (0..n).into_par_iter().try_for_each(|row| self.check_phases(samples, row))?;
        let Self { frequencies, amplitudes, .. } = self;
        let shifts = self.shifts();
        let rows = WaveRows { samples, frequencies, shifts, amplitudes, targets, weights };
        engine.add(&rows, into, watch).map_err(|error| match error {
            WaveSumsError::Engine(error) => error.into(),
            WaveSumsError::Sums(error) => error.into(),
        })
    }

    fn fill_as<T: Element>(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [T],
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        let bands = out.par_chunks_mut(BAND * self.count()).enumerate();
        bands.try_for_each_init(WaveScratch::default, |scratch, (band, out)| {
            watch.check()?;
            let start = rows.start + band * BAND;
            let rows = start..rows.end.min(start + BAND);
            rows.clone().try_for_each(|row| self.check_phases(samples, row))?;
            self.waves.fill(samples, rows, scratch, out);
            Ok(())
        })
    }

    /// Rejects a row at which a typical phase has no fractional digits: its cosines would be meaningless.
    fn check_phases(&self, samples: &AnySamples<'_>, row: usize) -> Result<(), DesignError> {
        let parts = |(column, value): (usize, f64)| (column, value, value.abs() * self.typical[column]);
        let larger = |a: (usize, f64, f64), b: (usize, f64, f64)| if b.2 > a.2 { b } else { a };
        let nothing = (0, 0.0, 0.0);
        let (column, value, phase) =
            with_samples!(samples, s => s.stored_row(row).map(parts).fold(nothing, larger));
        if phase < TAU * 4_503_599_627_370_496.0 {
            return Ok(());
        }
        Err(DesignError::Phase { row, column, value, length: self.typical[column].recip() })
    }
}

/// The median of the absolute values of a column.
fn median(matrix: &Matrix<f64>, column: usize) -> f64 {
    let mut sizes: Vec<f64> = (0..matrix.nrows()).map(|row| matrix.row(row)[column].abs()).collect();
    let middle = sizes.len() / 2;
    *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
}

impl PartialEq for RandomFeatures {
    fn eq(&self, other: &Self) -> bool {
        self.frequencies == other.frequencies
            && self.shifts == other.shifts
            && self.amplitudes == other.amplitudes
    }
}
