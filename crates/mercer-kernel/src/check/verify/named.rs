//! The table of named kernels: for which hyper-parameters each is positive semidefinite.

use crate::check::Domain;
use crate::check::form::{Opaque, Space};
use crate::named::{Family, Value};

/// Accepts a named kernel whose hyper-parameters all lie where it is a kernel, whatever data will make of `auto`.
pub fn allowed(kernel: &Opaque, space: &Space) -> Result<(), String> {
    let named = &kernel.named;
    let every = |slot: usize, fits: &dyn Fn(f64) -> bool| match &named.arguments[slot].value {
        Value::Number(v) => fits(*v),
        Value::PerColumn(list) => list.iter().all(|v| fits(*v)),
        Value::TuneOver(list) => list.iter().all(|v| fits(*v)),
        // Only conditions that hold between their end points are asked of ranges.
        Value::TuneBetween(lo, hi) => fits(*lo) && fits(*hi),
        Value::Auto | Value::Tune => true,
    };
    let is_range = |slot: usize| matches!(named.arguments[slot].value, Value::TuneBetween(..));
    let positive = |v: f64| v > 0.0;
    let fits = match named.family {
        Family::Linear | Family::Cosine => true,
        Family::Polynomial => {
            let whole = |v: f64| v >= 0.0 && v.fract() == 0.0;
            !is_range(0) && every(0, &whole) && every(1, &|v| v >= 0.0) && every(2, &|v| v >= 0.0)
        }
        Family::Gaussian | Family::Laplacian => every(0, &positive),
        Family::Matern | Family::RationalQuadratic | Family::Periodic => {
            every(0, &positive) && every(1, &positive)
        }
        Family::ChiSquared => space.domain == Domain::Orthant && every(0, &positive),
        Family::ArcCosine => !is_range(0) && every(0, &|v| v == 0.0 || v == 1.0 || v == 2.0),
        Family::Sigmoid => false,
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{} is not a kernel for every such parameter here", named.family.name()))
    }
}
