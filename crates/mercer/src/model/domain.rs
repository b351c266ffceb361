//! Samples inside and outside of the domain a kernel is proven on.

use crate::data::AnySamples;
use crate::kernel::check::Domain;

/// The first row outside of `domain`, if any, and what is wrong with it.
#[must_use]
pub fn first_outside(domain: Domain, samples: &AnySamples<'_>) -> Option<(usize, String)> {
    if domain == Domain::All {
        return None;
    }
    let mut row = vec![0.0; samples.ncols()];
    (0..samples.nrows()).find_map(|i| {
        samples.copy_row(i, &mut row);
        let wrong = match domain {
            Domain::All => None,
            Domain::Orthant => row
                .iter()
                .position(|x| *x < 0.0)
                .map(|column| format!("column {column} is {}, below 0", row[column])),
            Domain::Ball(radius) => {
                (norm(&row) > radius).then(|| format!("its norm is {}, above {radius}", norm(&row)))
            }
            Domain::Sphere => {
                ((norm(&row) - 1.0).abs() > 1e-6).then(|| format!("its norm is {}, not 1", norm(&row)))
            }
        };
        wrong.map(|wrong| (i, wrong))
    })
}

/// ‖x‖. The ball that training defines and the check of later samples use the same sum, so a training sample is inside.
pub(crate) fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}
