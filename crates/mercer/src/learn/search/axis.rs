//! One hyper-parameter of a search: its name, and the values to search.

use crate::gram::SampleScales;
use crate::kernel::{Kernel, ResolveError, SearchSpace, Tunable, Value};

/// A hyper-parameter to search over.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its name for users, such as `sigma` or `lambda`.
    pub name: String,
    /// Its values.
    pub space: SearchSpace,
    /// For whole numbers, all of which are tried in a range, the largest value that the data allow.
    pub whole: Option<usize>,
}

impl Axis {
    /// Creates an axis of real numbers.
    #[must_use]
    pub fn new(name: impl Into<String>, space: SearchSpace) -> Self {
        Self { name: name.into(), space, whole: None }
    }

    /// One for each `?` of a kernel, in the order of its text; the range of a bare one follows from the scales of the samples.
    /// Those that share a name are numbered: `sigma_1`, `sigma_2`.
    ///
    /// # Errors
    /// If a `?` replaces something that cannot be searched, or has a prior.
    pub fn of_kernel(kernel: &Kernel, scales: &SampleScales<'_>) -> Result<Vec<Self>, ResolveError> {
        let tunables = kernel.tunables()?;
        let axis = |(place, t): (usize, &Tunable)| {
            let (family, parameter) = (t.family.name(), t.parameter);
            if t.prior.is_some() {
                return Err(ResolveError::Prior { family, parameter });
            }
            if matches!(t.value, Value::EachColumn(_)) {
                return Err(ResolveError::EachColumn { family, parameter });
            }
            let same =
                |others: &[Tunable]| others.iter().filter(|other| other.parameter == parameter).count();
            let number = same(&tunables[..place]) + 1;
            let name =
                if same(&tunables) > 1 { format!("{parameter}_{number}") } else { parameter.to_owned() };
            Ok(Self::new(name, t.search_space(scales)))
        };
        tunables.iter().enumerate().map(axis).collect()
    }

    /// The kernel with every `auto` resolved from the samples and every `?` replaced by the middle of its range or
    /// list.
    ///
    /// # Errors
    /// As [`of_kernel`](Self::of_kernel).
    pub fn middle_of(kernel: &Kernel, scales: &SampleScales<'_>) -> Result<Kernel, ResolveError> {
        let kernel = kernel.resolve_auto(scales)?;
        let middle = |axis: &Self| {
            let values = axis.grid(1);
            values[values.len() / 2]
        };
        let values: Vec<f64> = Self::of_kernel(&kernel, scales)?.iter().map(middle).collect();
        kernel.with_values(&values)
    }

    /// The values of a grid: all of a list and all whole numbers of a range; `points` of a range of real numbers, both ends
    /// among them, in equal ratios.
    #[must_use]
    pub fn grid(&self, points: usize) -> Vec<f64> {
        match &self.space {
            SearchSpace::OneOf(values) => values.clone(),
            SearchSpace::Between(low, high) if self.whole.is_some() => {
                (*low as usize..=*high as usize).map(|value| value as f64).collect()
            }
            SearchSpace::Between(low, high) if points < 2 => vec![(low * high).sqrt()],
            SearchSpace::Between(low, high) => {
                let last = points - 1;
                let at = |k: usize| low * (high / low).powf(k as f64 / last as f64);
                (0..points).map(|k| if k == last { *high } else { at(k) }).collect()
            }
        }
    }

    /// The ratio of neighbours in [`grid`](Self::grid); `None` if it has all values.
    pub(super) fn ratio(&self, points: usize) -> Option<f64> {
        match self.space {
            SearchSpace::OneOf(_) => None,
            SearchSpace::Between(..) if self.whole.is_some() => None,
            SearchSpace::Between(low, high) => Some((high / low).powf(1.0 / (points.max(2) - 1) as f64)),
        }
    }

    /// The values on both sides of one: a fraction `step` of a step of [`grid`](Self::grid) away, or its neighbours in
    /// a list.
    pub(super) fn beside(&self, value: f64, step: f64, points: usize) -> Vec<f64> {
        let moved: Vec<f64> = match (self.ratio(points), &self.space) {
            (Some(ratio), _) => vec![value * ratio.powf(-step), value * ratio.powf(step)],
            (None, _) if step < 1.0 => Vec::new(),
            (None, SearchSpace::OneOf(values)) => {
                let place = values.iter().position(|known| *known == value).unwrap_or(0);
                let near = [place.checked_sub(1), Some(place + 1)];
                near.into_iter().flatten().filter_map(|place| values.get(place).copied()).collect()
            }
            (None, SearchSpace::Between(..)) => vec![value - 1.0, value + 1.0],
        };
        moved.into_iter().filter(|&value| self.contains(value)).collect()
    }

    /// Whether a value is within the range, or in the list.
    pub(super) fn contains(&self, value: f64) -> bool {
        match &self.space {
            SearchSpace::OneOf(values) => values.contains(&value),
            SearchSpace::Between(low, high) => (*low..=*high).contains(&value),
        }
    }

    /// The warning for a best value at the end of a range: a better one may be outside.
    pub(super) fn edge_warning(&self, value: f64) -> Option<String> {
        let SearchSpace::Between(low, high) = self.space else { return None };
        if let Some(most) = self.whole.map(|most| most as f64) {
            let wider = value == high && low < high && high < most;
            return wider.then(|| {
                format!(
                    "the best {}, {value}, is at the upper end of what was searched; a wider range, ?{low}..{}, may hold a \
                     better one",
                    self.name,
                    (4.0 * high).min(most)
                )
            });
        }
        // Within a hundredth of the range, on its log scale.
        let place = (value / low).ln() / (high / low).ln();
        let end = if place < 0.01 {
            "lower"
        } else if place > 0.99 {
            "upper"
        } else {
            return None;
        };
        let name = &self.name;
        Some(format!(
            "the best {name}, {value:.6e}, is at the {end} end of what was searched, {low:.6e} to {high:.6e}; \
             a wider range, ?lo..hi, may hold a better one"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_both_ends_and_equal_ratios() {
        let axis = Axis::new("sigma", SearchSpace::Between(0.1, 10.0));
        let grid = axis.grid(5);
        assert_eq!((grid[0], grid[4]), (0.1, 10.0));
        for pair in grid.windows(2) {
            assert!((pair[1] / pair[0] - axis.ratio(5).unwrap()).abs() < 1e-12);
        }
    }

    #[test]
    fn only_the_ends_of_a_range_warn() {
        let axis = Axis::new("sigma", SearchSpace::Between(0.1, 10.0));
        assert!(axis.edge_warning(0.1).unwrap().contains("lower"));
        assert!(axis.edge_warning(10.0).unwrap().contains("upper"));
        assert_eq!(axis.edge_warning(1.0), None);
        let list = Axis { space: SearchSpace::OneOf(vec![0.1, 10.0]), ..axis };
        assert_eq!(list.edge_warning(0.1), None);
    }
}
