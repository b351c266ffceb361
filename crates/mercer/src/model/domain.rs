//! Checks samples against the domain on which a kernel is proven.

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

/// The first row outside of `domain`, if any, and the reason.
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
        Domain::Box(low, high) => first_beyond(samples, row, low, high)
            .map(|(column, value)| format!("column {column} is {value}, not between {low} and {high}")),
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

/// The first entry of a row that does not lie between `low` and `high`. Entries that a sparse row leaves out are 0.
fn first_beyond(samples: &AnySamples<'_>, row: usize, low: f64, high: f64) -> Option<(usize, f64)> {
    let (mut found, mut visited) = (None, 0);
    samples.visit_row(row, |column, value| {
        visited += 1;
        if !(low..=high).contains(&value) && found.is_none() {
            found = Some((column, value));
        }
    });
    let has_zeros = visited < samples.ncols();
    found.or_else(|| (has_zeros && !(low..=high).contains(&0.0)).then_some((0, 0.0)))
}

/// ‖x‖ of a row. The ball that training defines and the check of later samples use this same sum, so a training sample is
/// inside.
pub(crate) fn norm(samples: &AnySamples<'_>, row: usize) -> f64 {
    let mut squared = 0.0;
    samples.visit_row(row, |_, value| squared += value * value);
    squared.sqrt()
}
