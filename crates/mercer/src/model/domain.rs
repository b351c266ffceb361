//! Samples inside and outside of the domain a kernel is proven on.

use crate::data::AnySamples;
use crate::kernel::check::Domain;

use super::error::ModelError;

/// Refuses samples with another number of columns, and samples outside of the domain that the kernel is proven on.
pub(super) fn check_samples(
    samples: &AnySamples<'_>,
    expected: usize,
    domain: Option<Domain>,
) -> Result<(), ModelError> {
    let found = samples.ncols();
    if found != expected {
        return Err(ModelError::Columns { found, expected });
    }
    match domain.and_then(|domain| first_outside(domain, samples)) {
        Some((row, reason)) => Err(ModelError::OutsideDomain { row, reason }),
        None => Ok(()),
    }
}

/// The first row outside of `domain`, if any, and what is wrong with it.
#[must_use]
pub fn first_outside(domain: Domain, samples: &AnySamples<'_>) -> Option<(usize, String)> {
    let wrong = |row: usize| match domain {
        Domain::All => None,
        Domain::Orthant => {
            first_negative(samples, row).map(|(column, value)| format!("column {column} is {value}, below 0"))
        }
        Domain::Ball(radius) => {
            let norm = norm(samples, row);
            (norm > radius).then(|| format!("its norm is {norm}, above {radius}"))
        }
        Domain::Sphere => {
            let norm = norm(samples, row);
            ((norm - 1.0).abs() > 1e-6).then(|| format!("its norm is {norm}, not 1"))
        }
    };
    if domain == Domain::All {
        return None;
    }
    (0..samples.nrows()).find_map(|row| wrong(row).map(|reason| (row, reason)))
}

/// The first entry of a row that is below 0.
pub(crate) fn first_negative(samples: &AnySamples<'_>, row: usize) -> Option<(usize, f64)> {
    let mut found = None;
    samples.visit_row(row, |column, value| {
        if value < 0.0 && found.is_none() {
            found = Some((column, value));
        }
    });
    found
}

/// ‖x‖ of a row. The ball that training defines and the check of later samples use this same sum, so a training sample is
/// inside.
pub(crate) fn norm(samples: &AnySamples<'_>, row: usize) -> f64 {
    let mut squared = 0.0;
    samples.visit_row(row, |_, value| squared += value * value);
    squared.sqrt()
}
