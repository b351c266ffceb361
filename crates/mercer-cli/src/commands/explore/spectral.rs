//! The spectral density of the kernel, and random frequencies drawn from it.

use mercer::data::Dataset;
use mercer::design::RandomSpec;
use mercer::kernel::Spectrum;
use mercer::session::Session;
use serde::Serialize;

use super::gram::resolved;
use super::picture::short;
use super::prepared::Prepared;
use super::state::State;
use crate::failure::Failure;

/// Places along the density.
const PLACES: usize = 301;

/// The most frequencies drawn.
const MOST_FREQUENCIES: usize = 500;

/// A density and draws from it.
#[derive(Debug, Serialize)]
pub struct SpectralPicture {
    /// Places, and the density of the frequencies' first coordinate there.
    places: Vec<f32>,
    density: Vec<f32>,
    /// The probability of the frequency 0.
    at_zero: f64,
    /// Frequencies, one list for each column.
    frequencies: Vec<Vec<f32>>,
    /// D: two features for each frequency.
    features: usize,
}

/// The density of a state's kernel.
pub fn spectrum(
    state: &State,
    file: Option<&Dataset>,
    session: &Session<'_>,
) -> Result<SpectralPicture, Failure> {
    let prepared = Prepared::new(state, file)?;
    let (kernel, samples) = resolved(&prepared, state, session)?;
    let spectrum = Spectrum::of(&kernel, samples.ncols()).map_err(Failure::usage)?;
    let features = 2 * (state.whole("features", 100, 2, 2 * MOST_FREQUENCIES)? / 2);
    let drawn = RandomSpec::new(kernel, features, session.seed()).draw(samples.ncols())?;
    let frequencies = drawn.frequencies();
    let column =
        |c: usize| -> Vec<f64> { (0..frequencies.nrows()).map(|row| frequencies.row(row)[c]).collect() };
    // The range covers most of the frequencies: with heavy tails the middle would otherwise be too small to see.
    let mut sizes: Vec<f64> = column(0).iter().map(|w| w.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let usual = sizes[(sizes.len() - 1) * 9 / 10];
    let width = 1.6 * if usual > 0.0 { usual } else { 1.0 };
    let places: Vec<f64> =
        (0..PLACES).map(|i| width * (2.0 * i as f64 / (PLACES - 1) as f64 - 1.0)).collect();
    let marginal = spectrum.marginal(0, &places);
    Ok(SpectralPicture {
        density: short(&marginal.density),
        places: short(&places),
        at_zero: marginal.at_zero,
        frequencies: (0..samples.ncols()).map(|c| short(&column(c))).collect(),
        features,
    })
}
