//! The hyper-parameters that a Gaussian process learns: their starts, bounds and priors, in logarithms.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::data::Number;
use crate::gram::SampleScales;
use crate::kernel::family::constant::CONSTANT;
use crate::kernel::family::noise::NOISE;
use crate::kernel::{Kernel, Prior, SearchSpace, Tunable, Value as Written};

use super::super::error::LearnError;

/// The factor by which the range of a bare `?` is wider at both ends than in a search: an irrelevant column has a very
/// large width.
const WIDER: f64 = 100.0;

/// The bounds of the noise variance, relative to the variance of the targets.
const NOISE_RANGE: (f64, f64) = (1e-8, 1e2);

/// The start of the noise variance, relative to the variance of the targets.
const NOISE_START: f64 = 1e-2;

/// One hyper-parameter, as its logarithm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unknown {
    /// Its named kernel, or `noise`.
    pub family: &'static str,
    /// Its name.
    pub parameter: &'static str,
    /// The columns of the data that it belongs to; `None` for all of them.
    pub columns: Option<Vec<usize>>,
    /// The start of the first minimisation.
    pub start: f64,
    /// The range of the random starts.
    pub draw: (f64, f64),
    /// The least and the largest value.
    pub bounds: (f64, f64),
    /// The prior.
    pub prior: Option<Prior>,
}

impl Unknown {
    /// Whether a value is at a bound, up to a thousandth of the range.
    pub fn bound_at(&self, value: f64) -> Option<&'static str> {
        let room = 1e-3 * (self.bounds.1 - self.bounds.0);
        if value <= self.bounds.0 + room {
            Some("lower")
        } else if value >= self.bounds.1 - room {
            Some("upper")
        } else {
            None
        }
    }

    /// A random start.
    pub fn drawn(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let (low, high) = (self.draw.0.max(self.bounds.0), self.draw.1.min(self.bounds.1));
        if low < high { random.random_range(low..high) } else { self.start }
    }
}

/// The unknowns of a kernel in the order of its text. `variance` is that of the targets: factors and noise are in its units.
pub(super) fn of_kernel(
    kernel: &Kernel,
    scales: &SampleScales<'_>,
    variance: f64,
) -> Result<Vec<Unknown>, LearnError> {
    let tunables = kernel.tunables()?;
    let of = |tunable: &Tunable| {
        let listed = tunables.iter().filter(|t| t.path == tunable.path && t.slot == tunable.slot).count();
        // Rows at the median distance in each of d columns are √d times as far apart in all.
        let spread = if tunable.column.is_some() { (listed as f64).sqrt() } else { 1.0 };
        let spread = if tunable.parameter == "gamma" { 1.0 / listed as f64 } else { spread };
        let is_variance = tunable.family == CONSTANT || tunable.family == NOISE;
        let unit = if is_variance { variance } else { spread };
        let (low, high) = match tunable.search_space(scales) {
            SearchSpace::Between(low, high) => (low, high),
            SearchSpace::OneOf(values) => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                (least, values.iter().copied().fold(0.0, f64::max))
            }
        };
        let (draw, bounds) = match tunable.value {
            Written::TuneOver(_) => {
                return Err(LearnError::Unsupported(
                    "a Gaussian process learns numbers on a range: write ? or ?lo..hi, not ?{…}, which a search can try",
                ));
            }
            Written::TuneBetween(low, high) => ((low, high), (low, high)),
            _ => ((low * unit, high * unit), (low * unit / WIDER, high * unit * WIDER)),
        };
        let log = |(low, high): (f64, f64)| (low.ln(), high.ln());
        let middle = 0.5 * (low * unit).ln() + 0.5 * (high * unit).ln();
        let bounds = log(bounds);
        Ok(Unknown {
            family: tunable.family.name(),
            parameter: tunable.parameter,
            columns: tunable.columns.clone(),
            start: middle.clamp(bounds.0, bounds.1),
            draw: log(draw),
            bounds,
            prior: tunable.prior,
        })
    };
    tunables.iter().map(of).collect()
}

/// The variance of the noise, where it is learnt.
pub(super) fn of_noise(variance: f64) -> Unknown {
    let log = |(low, high): (f64, f64)| ((low * variance).ln(), (high * variance).ln());
    Unknown {
        family: "noise",
        parameter: "variance",
        columns: None,
        start: (NOISE_START * variance).ln(),
        draw: log((1e-4, 1.0)),
        bounds: log(NOISE_RANGE),
        prior: None,
    }
}

/// Starts at given values, where there are any.
pub(super) fn begin_at(unknowns: &mut [Unknown], initial: Option<&[f64]>) -> Result<(), LearnError> {
    let Some(initial) = initial else { return Ok(()) };
    if initial.len() != unknowns.len() {
        let (rows, found) = (unknowns.len(), initial.len());
        return Err(LearnError::Length { what: "initial values", rows, found });
    }
    for (unknown, &at) in unknowns.iter_mut().zip(initial) {
        unknown.start = at.clamp(unknown.bounds.0, unknown.bounds.1);
    }
    Ok(())
}

/// A warning for each hyper-parameter that is at a bound; `columns` are the names of the columns, if known.
pub(super) fn bound_warnings(unknowns: &[Unknown], theta: &[f64], columns: &[String]) -> Vec<String> {
    let learnt = table(unknowns, theta);
    let names = Learnt::names(&learnt, columns);
    let warning = |(Learnt { value, at_bound, .. }, name): (&Learnt, String)| {
        let end = at_bound.as_deref()?;
        Some(format!("{name} is at its {end} bound, {:.6e}; a wider range, ?lo..hi, may fit better", value.0))
    };
    learnt.iter().zip(names).filter_map(warning).collect()
}

/// A hyper-parameter that a Gaussian process learnt; a list of them is the fact `parameters` of its fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Learnt {
    /// The named kernel that it belongs to, or `noise`.
    pub kernel: String,
    /// Its name.
    pub parameter: String,
    /// The columns of the data that it belongs to; `None` for all of them.
    pub columns: Option<Vec<usize>>,
    /// Its value.
    pub value: Number,
    /// `lower` or `upper` if the value is at this bound of its range.
    pub at_bound: Option<String>,
}

impl Learnt {
    /// The name of each in a list, such as `rbf sigma [age]`. Those that would share a name are numbered: `const value_1`. `columns`
    /// are the names of the data's columns; a column without one is called by its number.
    #[must_use]
    pub fn names(all: &[Self], columns: &[String]) -> Vec<String> {
        let of = |own: &Self| (own.kernel.clone(), own.parameter.clone(), own.columns.clone());
        let same = |others: &[Self], own: &Self| others.iter().filter(|other| of(other) == of(own)).count();
        let column = |&column: &usize| columns.get(column).cloned().unwrap_or_else(|| column.to_string());
        let name = |(place, own): (usize, &Self)| {
            let Self { kernel, parameter, .. } = own;
            let number = match same(all, own) {
                1 => String::new(),
                _ => format!("_{}", same(&all[..place], own) + 1),
            };
            let subset = match own.columns.as_deref() {
                None | Some([]) => String::new(),
                Some(some) => format!(" [{}]", some.iter().map(column).collect::<Vec<_>>().join(", ")),
            };
            format!("{kernel} {parameter}{number}{subset}")
        };
        all.iter().enumerate().map(name).collect()
    }
}

/// The hyper-parameters with their values.
pub(super) fn table(unknowns: &[Unknown], theta: &[f64]) -> Vec<Learnt> {
    let row = |(unknown, &value): (&Unknown, &f64)| Learnt {
        kernel: unknown.family.to_owned(),
        parameter: unknown.parameter.to_owned(),
        columns: unknown.columns.clone(),
        value: Number(value.exp()),
        at_bound: unknown.bound_at(value).map(str::to_owned),
    };
    unknowns.iter().zip(theta).map(row).collect()
}

/// The sum of the logarithms of the prior densities, added to `value`, and its derivatives, added to `gradient`.
pub(super) fn add_priors(unknowns: &[Unknown], theta: &[f64], value: &mut f64, gradient: &mut [f64]) {
    for (p, (unknown, &at)) in unknowns.iter().zip(theta).enumerate() {
        if let Some(prior) = unknown.prior {
            let (density, slope) = prior.log_density(at);
            *value += density;
            if let Some(derivative) = gradient.get_mut(p) {
                *derivative += slope;
            }
        }
    }
}
