//! Frequencies drawn from a spectral measure.

use rand::{Rng, RngExt};

use crate::data::Matrix;
use crate::design::error::DesignError;
use crate::kernel::Spectrum;
use crate::kernel::spectrum::{Component, Law, Shape};

use super::Sampling;
use super::allocate::allocate;
use super::halton::halton;
use super::orthogonal::directions;
use super::quantile::{cauchy, gamma_log, normal};

/// The largest frequency: its phases have no fraction, and products with samples stay finite.
const LARGEST: f64 = 1e100;

/// Frequencies and the part of κ(0) that each represents.
pub(super) struct Drawn {
    /// One frequency a row.
    pub frequencies: Matrix<f64>,
    /// Sums to κ(0).
    pub shares: Vec<f64>,
    /// Whether the first frequency is that of a constant.
    pub constant: bool,
}

/// `count` frequencies.
///
/// # Errors
/// If the mixture has more components than that.
pub(super) fn frequencies(
    spectrum: &Spectrum,
    count: usize,
    sampling: Sampling,
    rng: &mut impl Rng,
) -> Result<Drawn, DesignError> {
    let components = merged_constants(spectrum.components());
    let counts = allocate(&components, count)?;
    let mut frequencies = Matrix::zeros(count, spectrum.columns());
    let mut shares = vec![0.0; count];
    let mut first = 0;
    for (component, &count) in components.iter().zip(&counts) {
        let rows = first..first + count;
        first += count;
        // A constant stays at frequency 0; a second draw of it has weight 0.
        let used = if component.laws.is_empty() { 1 } else { count };
        shares[rows.clone()][..used].fill(component.weight / used as f64);
        if component.laws.is_empty() {
            continue;
        }
        draw(component, spectrum.columns(), count, sampling, rng, |i, omega| {
            for (to, value) in frequencies.row_mut(rows.start + i).iter_mut().zip(omega) {
                *to = value.clamp(-LARGEST, LARGEST);
            }
        });
    }
    Ok(Drawn { frequencies, shares, constant: components[0].laws.is_empty() })
}

/// The components, with all constants merged into one.
fn merged_constants(components: &[Component]) -> Vec<Component> {
    let (constants, mut merged): (Vec<&Component>, Vec<&Component>) =
        components.iter().partition(|component| component.laws.is_empty());
    let weight: f64 = constants.iter().map(|component| component.weight).sum();
    let constant = Component { weight, laws: Vec::new() };
    if !constants.is_empty() {
        merged.insert(0, &constant);
    }
    merged.into_iter().cloned().collect()
}

/// A uniform number inside of (0, 1).
pub(super) fn uniform(rng: &mut impl Rng) -> f64 {
    ((rng.random::<u64>() >> 11) as f64 + 0.5) * 2f64.powi(-53)
}

fn draw(
    component: &Component,
    columns: usize,
    count: usize,
    sampling: Sampling,
    rng: &mut impl Rng,
    mut put: impl FnMut(usize, &[f64]),
) {
    let uniforms: usize = component.laws.iter().map(|law| law.shape.uniforms(law.columns.len())).sum();
    let isotropic = component.isotropic().filter(|_| sampling == Sampling::Orthogonal);
    let quasi = (sampling == Sampling::QuasiMonteCarlo).then(|| halton(count, uniforms, rng));
    let mut omega = vec![0.0; columns];
    let mut point = vec![0.0; uniforms];
    let mut block = Matrix::zeros(0, 0);
    for i in 0..count {
        match &quasi {
            Some(points) => point.copy_from_slice(points.row(i)),
            None => point.iter_mut().for_each(|u| *u = uniform(rng)),
        }
        omega.fill(0.0);
        let mut rest = point.as_slice();
        for law in &component.laws {
            let (own, after) = rest.split_at(law.shape.uniforms(law.columns.len()));
            add_draw(law, own, &mut omega);
            rest = after;
        }
        if let Some((columns, scales)) = isotropic {
            let dimensions = columns.len();
            if i.is_multiple_of(dimensions) {
                block = directions(dimensions, dimensions.min(count - i), rng);
            }
            // The length of an independent draw has the right law and is independent of its direction.
            let radius = norm(columns.iter().zip(scales).map(|(&c, s)| omega[c] / s));
            for ((&c, s), q) in columns.iter().zip(scales).zip(block.row(i % dimensions)) {
                omega[c] = radius * s * q;
            }
        }
        put(i, &omega);
    }
}

/// √Σv², without overflow.
fn norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(0.0, |m: f64, v| m.max(v.abs())).min(LARGEST);
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.map(|v| (v.clamp(-LARGEST, LARGEST) / largest).powi(2)).sum::<f64>().sqrt()
}

/// Adds a draw from `law`, computed from uniform numbers, to a frequency.
fn add_draw(law: &Law, uniforms: &[f64], omega: &mut [f64]) {
    // ln of the factor that mixes normal vectors.
    let mixing = |shape: f64, u: f64| gamma_log(shape, u) - shape.ln();
    let last = uniforms[uniforms.len().saturating_sub(1)];
    let factor = match law.shape {
        Shape::Normal | Shape::Cauchy => 1.0,
        Shape::Student { nu } => (-0.5 * mixing(nu, last)).exp().min(LARGEST),
        Shape::GammaMixture { alpha } => (0.5 * mixing(alpha, last)).exp(),
    };
    let quantile = if law.shape == Shape::Cauchy { cauchy } else { normal };
    for ((&column, scale), u) in law.columns.iter().zip(&law.scales).zip(uniforms) {
        omega[column] += factor * scale * quantile(*u);
    }
}
