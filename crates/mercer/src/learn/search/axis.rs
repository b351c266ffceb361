//! One hyper-parameter of a search: its name, and the values to search.

use std::str::FromStr;

use crate::gram::SampleScales;
use crate::kernel::{Kernel, ResolveError, SearchSpace, Tunable};

/// A hyper-parameter to search over.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What users call it, such as `sigma` or `lambda`.
    pub name: String,
    /// Its values.
    pub space: SearchSpace,
}

impl Axis {
    /// One for each `?` of a kernel, in the order of its text; a bare one ranges as the scales of the samples say.
    ///
    /// # Errors
    /// Where a `?` stands in the place of something that cannot be searched.
    pub(super) fn of_kernel(kernel: &Kernel, scales: &SampleScales<'_>) -> Result<Vec<Self>, ResolveError> {
        let axis = |t: &Tunable| Self { name: t.parameter.to_owned(), space: t.search_space(scales) };
        Ok(kernel.tunables()?.iter().map(axis).collect())
    }

    /// The values of a grid: all of a list; `points` of a range, both ends among them, in equal ratios.
    #[must_use]
    pub fn grid(&self, points: usize) -> Vec<f64> {
        match &self.space {
            SearchSpace::OneOf(values) => values.clone(),
            SearchSpace::Between(low, high) if points < 2 => vec![(low * high).sqrt()],
            SearchSpace::Between(low, high) => {
                let last = points - 1;
                let at = |k: usize| low * (high / low).powf(k as f64 / last as f64);
                (0..points).map(|k| if k == last { *high } else { at(k) }).collect()
            }
        }
    }

    /// The ratio of neighbours in [`grid`](Self::grid); none for a list.
    pub(super) fn ratio(&self, points: usize) -> Option<f64> {
        match self.space {
            SearchSpace::OneOf(_) => None,
            SearchSpace::Between(low, high) => Some((high / low).powf(1.0 / (points.max(2) - 1) as f64)),
        }
    }

    /// Whether a value is within the range, or in the list.
    pub(super) fn contains(&self, value: f64) -> bool {
        match &self.space {
            SearchSpace::OneOf(values) => values.contains(&value),
            SearchSpace::Between(low, high) => (*low..=*high).contains(&value),
        }
    }

    /// What to say of a best value at the end of a range: the true best may be outside.
    pub(super) fn edge_warning(&self, value: f64) -> Option<String> {
        let SearchSpace::Between(low, high) = self.space else { return None };
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

/// The values of λ to search: `?`, `?lo..hi`, `?{a,b,c}` or a number.
///
/// A bare `?` is 10⁻⁶ to 10³, on a log scale: for a kernel with k(x,x) near 1, from interpolation up to what drowns the
/// largest eigenvalue of a thousand rows.
///
/// ```
/// use mercer::select::LambdaSpace;
/// assert_eq!("?1e-3..10".parse(), Ok(LambdaSpace::between(1e-3, 10.0).unwrap()));
/// assert!("?10..1".parse::<LambdaSpace>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaSpace(SearchSpace);

/// Why a text or a range is no set of values of λ.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "lambda is `{0}`; it must be a number, 0 or more, or `?`, `?lo..hi` with 0 < lo < hi, or `?{{a,b,c}}`"
)]
pub struct InvalidLambda(pub String);

impl Default for LambdaSpace {
    fn default() -> Self {
        Self(SearchSpace::Between(1e-6, 1e3))
    }
}

impl LambdaSpace {
    /// Between `low` and `high`, on a log scale.
    ///
    /// # Errors
    /// Unless 0 < low < high < ∞.
    pub fn between(low: f64, high: f64) -> Result<Self, InvalidLambda> {
        between(low, high).map(Self).ok_or_else(|| InvalidLambda(format!("?{low}..{high}")))
    }

    /// One of `values`.
    ///
    /// # Errors
    /// Where there are none, or one is negative or not finite.
    pub fn one_of(values: Vec<f64>) -> Result<Self, InvalidLambda> {
        one_of(values, |v| v >= 0.0).map(Self).map_err(InvalidLambda)
    }

    pub(super) fn axis(&self) -> Axis {
        Axis { name: "lambda".into(), space: self.0.clone() }
    }
}

impl FromStr for LambdaSpace {
    type Err = InvalidLambda;

    fn from_str(text: &str) -> Result<Self, InvalidLambda> {
        let invalid = || InvalidLambda(text.trim().to_owned());
        match read_space(text, |v| v >= 0.0).ok_or_else(invalid)? {
            Some(space) => Ok(Self(space)),
            None => Ok(Self::default()),
        }
    }
}

/// The values of C to search: `?`, `?lo..hi`, `?{a,b,c}` or a number.
///
/// A bare `?` is 2⁻⁵ to 2¹⁰, on a log scale: the lower end of the range that Hsu, Chang and Lin recommend (2003), and up to
/// where machines on noisy data become slow to train and no better.
///
/// ```
/// use mercer::select::CostSpace;
/// assert_eq!("?1..100".parse(), Ok(CostSpace::between(1.0, 100.0).unwrap()));
/// assert!("?{0,1}".parse::<CostSpace>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CostSpace(SearchSpace);

/// Why a text or a range is no set of values of C.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("C is `{0}`; it must be a number above 0, or `?`, `?lo..hi` with 0 < lo < hi, or `?{{a,b,c}}`")]
pub struct InvalidCost(pub String);

impl Default for CostSpace {
    fn default() -> Self {
        Self(SearchSpace::Between(1.0 / 32.0, 1024.0))
    }
}

impl CostSpace {
    /// Between `low` and `high`, on a log scale.
    ///
    /// # Errors
    /// Unless 0 < low < high < ∞.
    pub fn between(low: f64, high: f64) -> Result<Self, InvalidCost> {
        between(low, high).map(Self).ok_or_else(|| InvalidCost(format!("?{low}..{high}")))
    }

    /// One of `values`.
    ///
    /// # Errors
    /// Where there are none, or one is not above 0 and finite.
    pub fn one_of(values: Vec<f64>) -> Result<Self, InvalidCost> {
        one_of(values, |v| v > 0.0).map(Self).map_err(InvalidCost)
    }

    pub(super) fn axis(&self) -> Axis {
        Axis { name: "C".into(), space: self.0.clone() }
    }
}

impl FromStr for CostSpace {
    type Err = InvalidCost;

    fn from_str(text: &str) -> Result<Self, InvalidCost> {
        let invalid = || InvalidCost(text.trim().to_owned());
        match read_space(text, |v| v > 0.0).ok_or_else(invalid)? {
            Some(space) => Ok(Self(space)),
            None => Ok(Self::default()),
        }
    }
}

fn between(low: f64, high: f64) -> Option<SearchSpace> {
    (0.0 < low && low < high && high.is_finite()).then_some(SearchSpace::Between(low, high))
}

/// A list of allowed values; what is wrong with it otherwise.
fn one_of(values: Vec<f64>, allowed: fn(f64) -> bool) -> Result<SearchSpace, String> {
    match values.iter().find(|v| !v.is_finite() || !allowed(**v)) {
        Some(bad) => Err(bad.to_string()),
        None if values.is_empty() => Err("?{}".into()),
        None => Ok(SearchSpace::OneOf(values)),
    }
}

/// What a text stands for: no space of its own where it is a bare `?`, and nothing where it is malformed.
fn read_space(text: &str, allowed: fn(f64) -> bool) -> Option<Option<SearchSpace>> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let Some(search) = text.trim().strip_prefix('?').map(str::trim) else {
        return one_of(vec![number(text)?], allowed).ok().map(Some);
    };
    if search.is_empty() {
        return Some(None);
    }
    if let Some(list) = search.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let values = list.split(',').map(number).collect::<Option<Vec<f64>>>()?;
        return one_of(values, allowed).ok().map(Some);
    }
    let (low, high) = search.split_once("..")?;
    between(number(low)?, number(high)?).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_both_ends_and_equal_ratios() {
        let axis = Axis { name: "sigma".into(), space: SearchSpace::Between(0.1, 10.0) };
        let grid = axis.grid(5);
        assert_eq!((grid[0], grid[4]), (0.1, 10.0));
        for pair in grid.windows(2) {
            assert!((pair[1] / pair[0] - axis.ratio(5).unwrap()).abs() < 1e-12);
        }
    }

    #[test]
    fn only_the_ends_of_a_range_warn() {
        let axis = Axis { name: "sigma".into(), space: SearchSpace::Between(0.1, 10.0) };
        assert!(axis.edge_warning(0.1).unwrap().contains("lower"));
        assert!(axis.edge_warning(10.0).unwrap().contains("upper"));
        assert_eq!(axis.edge_warning(1.0), None);
        let list = Axis { space: SearchSpace::OneOf(vec![0.1, 10.0]), ..axis };
        assert_eq!(list.edge_warning(0.1), None);
    }

    #[test]
    fn lambda_is_written_like_a_hyper_parameter() {
        assert_eq!("?".parse(), Ok(LambdaSpace::default()));
        assert_eq!(" ? 1e-4 .. 2 ".parse(), LambdaSpace::between(1e-4, 2.0));
        assert_eq!("?{0, 0.5,2}".parse(), LambdaSpace::one_of(vec![0.0, 0.5, 2.0]));
        assert_eq!("0.25".parse(), LambdaSpace::one_of(vec![0.25]));
        for bad in ["", "?{}", "?{1,}", "?0..1", "?2..1", "?1..inf", "?{-1}", "-1", "nan", "?x", "?1"] {
            assert!(bad.parse::<LambdaSpace>().is_err(), "{bad}");
        }
    }

    #[test]
    fn c_is_written_like_lambda_and_never_zero() {
        assert_eq!("?".parse(), Ok(CostSpace::default()));
        assert_eq!("?0.5..128".parse(), CostSpace::between(0.5, 128.0));
        assert_eq!("?{0.5,2}".parse(), CostSpace::one_of(vec![0.5, 2.0]));
        assert_eq!("10".parse(), CostSpace::one_of(vec![10.0]));
        for bad in ["", "0", "?{0,1}", "?{}", "?0..1", "?2..1", "-1", "inf", "?x"] {
            let error = bad.parse::<CostSpace>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
        }
    }
}
