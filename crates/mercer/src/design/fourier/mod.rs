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

use std::ops::Range;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix};
use crate::kernel::{Kernel, Spectrum};
use crate::tile::{Element, WaveScratch, Waves};
use crate::watch::Watch;

use super::approximation::{ApproximationError, KernelFeatures, by_bands, check_columns, check_memory};

/// How frequencies are drawn from a spectral density.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Orthogonal directions in blocks of as many as there are columns, with independent radii of the right law (Yu and
    /// others 2016), for every component whose density is isotropic; independent draws for the others, where orthogonal
    /// directions would be wrong.
    #[default]
    Orthogonal,
    /// Independent draws.
    Plain,
    /// A randomised Halton sequence in place of independent uniform numbers (Avron and others 2016).
    QuasiMonteCarlo,
}

/// What a frequency becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A cosine and a sine.
    #[default]
    Pairs,
    /// A cosine with a random shift, as in scikit-learn's `RBFSampler`.
    Shifted,
}

/// All that random features are made from: the same one gives the same features.
///
/// ```
/// use mercer::data::{AnySamples, Samples};
/// use mercer::features::{KernelFeatures, RandomSpec};
/// use mercer::watch::Unwatched;
/// let features = RandomSpec::new("matern(nu=2.5)".parse()?, 64, 0).draw(2)?;
/// let samples = AnySamples::F64(Samples::dense(1, 2, vec![0.3, -1.0])?);
/// let phi = features.transform_f64(&samples, &Unwatched)?;
/// assert!((phi.row(0).iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12);
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
    /// What a frequency becomes.
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
    /// Where the kernel has no known spectral density, where D is 0, odd for pairs, or less than the kernel's sum has
    /// components, and where the frequencies do not fit the memory.
    pub fn draw(&self, columns: usize) -> Result<RandomFeatures, ApproximationError> {
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
            return Err(ApproximationError::parameter("the number of features", self.features, allowed));
        }
        let spectrum = Spectrum::of(&self.kernel, columns)?;
        let count = self.features / per_frequency;
        check_memory("the matrix of frequencies", count, columns, 16)?;
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

/// Random features with their frequencies.
#[derive(Debug, Clone)]
pub struct RandomFeatures {
    frequencies: Matrix<f64>,
    shifts: Option<Vec<f64>>,
    amplitudes: Vec<f64>,
    waves: Waves,
}

/// Rows that one task transforms.
const BAND: usize = 64;

impl RandomFeatures {
    /// Features of given frequencies, one a row: the cosines aⱼ·cos⟨ωⱼ,x⟩ and then the sines, or, where there are shifts
    /// (in turns), the shifted cosines aⱼ·cos(⟨ωⱼ,x⟩ + 2πbⱼ) alone.
    ///
    /// # Errors
    /// Where there is not a finite amplitude and shift for each frequency, or an entry is not finite.
    pub fn from_matrices(
        frequencies: Matrix<f64>,
        shifts: Option<Vec<f64>>,
        amplitudes: Vec<f64>,
    ) -> Result<Self, ApproximationError> {
        let count = frequencies.nrows();
        if count == 0 {
            return Err(ApproximationError::parameter("the number of frequencies", 0, "1 or more"));
        }
        for (what, values) in [("shifts", shifts.as_deref()), ("amplitudes", Some(amplitudes.as_slice()))] {
            if let Some(values) = values.filter(|values| values.len() != count) {
                let allowed = format!("{count}, one for each frequency");
                return Err(ApproximationError::parameter(
                    if what == "shifts" { "the number of shifts" } else { "the number of amplitudes" },
                    values.len(),
                    allowed,
                ));
            }
        }
        let numbers = frequencies.entries().iter().chain(shifts.iter().flatten()).chain(&amplitudes);
        if let Some(bad) = numbers.into_iter().find(|v| !v.is_finite()) {
            return Err(ApproximationError::parameter(
                "an entry of the frequencies, shifts or amplitudes",
                bad,
                "finite",
            ));
        }
        let waves = Waves::new(&frequencies, shifts.as_deref(), &amplitudes, shifts.is_none());
        Ok(Self { frequencies, shifts, amplitudes, waves })
    }

    /// ω, one a row.
    #[must_use]
    pub fn frequencies(&self) -> &Matrix<f64> {
        &self.frequencies
    }

    /// b in turns; none for pairs.
    #[must_use]
    pub fn shifts(&self) -> Option<&[f64]> {
        self.shifts.as_deref()
    }

    /// The factor of each frequency's cosine.
    #[must_use]
    pub fn amplitudes(&self) -> &[f64] {
        &self.amplitudes
    }

    fn fill<T: Element>(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [T],
        watch: &dyn Watch,
    ) -> Result<(), ApproximationError> {
        check_columns(samples, self.columns())?;
        assert_eq!(out.len(), rows.len() * self.features(), "the features of each row");
        by_bands(rows, out, BAND, WaveScratch::default, watch, |scratch, rows, out| {
            self.waves.fill(samples, rows, scratch, out);
            Ok(())
        })
    }
}

impl PartialEq for RandomFeatures {
    fn eq(&self, other: &Self) -> bool {
        self.frequencies == other.frequencies
            && self.shifts == other.shifts
            && self.amplitudes == other.amplitudes
    }
}

impl KernelFeatures for RandomFeatures {
    fn columns(&self) -> usize {
        self.waves.columns()
    }

    fn features(&self) -> usize {
        self.waves.width()
    }

    fn fill_f32(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [f32],
        watch: &dyn Watch,
    ) -> Result<(), ApproximationError> {
        self.fill(samples, rows, out, watch)
    }

    fn fill_f64(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), ApproximationError> {
        self.fill(samples, rows, out, watch)
    }
}
