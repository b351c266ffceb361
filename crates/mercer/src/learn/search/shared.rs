//! The hyper-parameter whose values share one factorisation or one neighbour search.

use crate::kernel::SearchSpace;
use crate::learn::error::LearnError;

use super::axis::Axis;

/// The hyper-parameter of a learner whose values are scored together at each kernel.
///
/// Its values are written as a number, `?`, `?lo..hi` or `?{a,b,c}`:
///
/// ```
/// use mercer::kernel::SearchSpace;
/// use mercer::learn::search::Shared;
/// assert_eq!(Shared::Lambda.read("?1e-3..10"), Ok(SearchSpace::Between(1e-3, 10.0)));
/// assert!(Shared::Cost.read("?{0,1}").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// λ ≥ 0. A bare `?` is 10⁻⁶ to 10³: for a kernel with k(x,x) near 1, from interpolation up to a penalty above the largest
    /// eigenvalue of a thousand rows.
    Lambda,
    /// C > 0. A bare `?` is 2⁻⁵ to 2¹⁰: the lower end of the range that Hsu, Chang and Lin recommend (2003), and an
    /// upper end beyond which machines on noisy data become slow to train without improving; for a regression 2⁻⁵ to 2⁷, in units
    /// of the targets' standard deviation.
    Cost,
    /// k, a whole number from 1 to the number of other rows. A bare `?` is 1 to 50.
    Neighbours,
    /// ν, above 0 and at most 1. A bare `?` is 0.01 to 0.8.
    Nu,
    /// ε ≥ 0. A bare `?` is 0.001 to 1, in units of the targets' standard deviation.
    Epsilon,
    /// None: each kernel has one score.
    None,
}

/// A text that does not describe a set of values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is `{text}`; it must be {allowed}, or `?`, `?lo..hi` with 0 < lo < hi, or `?{{a,b,c}}`")]
pub struct InvalidSpace {
    /// The hyper-parameter.
    pub name: &'static str,
    /// The text given.
    pub text: String,
    /// The numbers that are allowed.
    pub allowed: &'static str,
}

impl Shared {
    /// Its name in tables and on the command line; empty for none.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lambda => "lambda",
            Self::Cost => "C",
            Self::Neighbours => "k",
            Self::Nu => "nu",
            Self::Epsilon => "epsilon",
            Self::None => "",
        }
    }

    /// Parses a set of values.
    ///
    /// # Errors
    /// If the text is malformed or has a value outside of the range.
    pub fn read(self, text: &str) -> Result<SearchSpace, InvalidSpace> {
        let invalid =
            || InvalidSpace { name: self.name(), text: text.trim().to_owned(), allowed: self.allowed() };
        self.parse(text).ok_or_else(invalid)
    }

    fn parse(self, text: &str) -> Option<SearchSpace> {
        let number = |part: &str| part.trim().parse::<f64>().ok();
        let Some(search) = text.trim().strip_prefix('?').map(str::trim) else {
            return self.one_of(vec![number(text)?]);
        };
        if search.is_empty() {
            return Some(self.space());
        }
        if let Some(list) = search.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return self.one_of(list.split(',').map(number).collect::<Option<Vec<f64>>>()?);
        }
        let (low, high) = search.split_once("..")?;
        let (low, high) = (number(low)?, number(high)?);
        let ordered = low < high || (self == Self::Neighbours && low == high);
        (0.0 < low && ordered && self.allows(low) && self.allows(high))
            .then_some(SearchSpace::Between(low, high))
    }

    fn one_of(self, values: Vec<f64>) -> Option<SearchSpace> {
        let allowed = !values.is_empty() && values.iter().all(|&value| self.allows(value));
        allowed.then_some(SearchSpace::OneOf(values))
    }

    /// The values of a bare `?`.
    fn space(self) -> SearchSpace {
        match self {
            Self::Lambda => SearchSpace::Between(1e-6, 1e3),
            Self::Cost => SearchSpace::Between(1.0 / 32.0, 1024.0),
            Self::Neighbours => SearchSpace::Between(1.0, 50.0),
            Self::Nu => SearchSpace::Between(0.01, 0.8),
            Self::Epsilon => SearchSpace::Between(1e-3, 1.0),
            Self::None => SearchSpace::OneOf(vec![1.0]),
        }
    }

    fn allows(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Lambda | Self::Epsilon => value >= 0.0,
                Self::Cost => value > 0.0,
                Self::Neighbours => value >= 1.0 && value.fract() == 0.0,
                Self::Nu => value > 0.0 && value <= 1.0,
                Self::None => true,
            }
    }

    fn allowed(self) -> &'static str {
        match self {
            Self::Lambda | Self::Epsilon => "a number, 0 or more",
            Self::Cost => "a number above 0",
            Self::Neighbours => "a whole number above 0",
            Self::Nu => "a number above 0 and at most 1",
            Self::None => "a number",
        }
    }

    /// Whether a value is a stronger penalty than another, which gives a smoother model.
    pub(crate) fn is_stronger(self, value: f64, than: f64) -> bool {
        match self {
            Self::Cost => value < than,
            Self::Lambda | Self::Neighbours | Self::Nu | Self::Epsilon => value > than,
            Self::None => false,
        }
    }

    /// The values of a bare `?`, for targets with this standard deviation.
    pub(crate) fn usual(self, deviation: f64) -> SearchSpace {
        match (self, self.space()) {
            (Self::Epsilon, SearchSpace::Between(low, high)) if deviation > 0.0 => {
                SearchSpace::Between(low * deviation, high * deviation)
            }
            (_, space) => space,
        }
    }

    /// Rejects values outside of the range.
    ///
    /// # Errors
    /// [`LearnError::Parameter`] with the first such value.
    pub(crate) fn check(self, values: &[f64]) -> Result<(), LearnError> {
        match values.iter().find(|&&value| !self.allows(value)) {
            None => Ok(()),
            Some(value) => Err(LearnError::parameter(self.name(), value, self.allowed())),
        }
    }

    /// The axis of a search among this number of rows, over `space` or the values of a bare `?`.
    ///
    /// # Errors
    /// If a value is outside of the range, or there are fewer other rows than the fewest neighbours.
    pub(crate) fn axis(self, space: Option<&SearchSpace>, rows: usize) -> Result<Axis, LearnError> {
        let others = rows.saturating_sub(1);
        let space = match space.cloned().unwrap_or_else(|| self.space()) {
            SearchSpace::Between(low, high) if low > high => {
                return Err(LearnError::parameter(
                    self.name(),
                    format!("?{low}..{high}"),
                    "a range whose end is not below its start",
                ));
            }
            SearchSpace::Between(low, high) => {
                self.check(&[low, high])?;
                let most = if self == Self::Neighbours { others as f64 } else { high };
                SearchSpace::Between(low, high.min(most).max(low))
            }
            SearchSpace::OneOf(values) => {
                self.check(&values)?;
                SearchSpace::OneOf(values)
            }
        };
        let whole = (self == Self::Neighbours).then_some(others);
        let axis = Axis { whole, ..Axis::new(self.name(), space) };
        match axis.grid(2).into_iter().find(|&value| self == Self::Neighbours && value > others as f64) {
            Some(k) => Err(LearnError::TooManyNeighbours { k: k as usize, rows: others }),
            None => Ok(axis),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_like_those_of_a_kernel() {
        let between = |low, high| Ok(SearchSpace::Between(low, high));
        let one_of = |values: &[f64]| Ok(SearchSpace::OneOf(values.to_vec()));
        for (shared, text, space) in [
            (Shared::Lambda, "?", between(1e-6, 1e3)),
            (Shared::Lambda, " ? 1e-4 .. 2 ", between(1e-4, 2.0)),
            (Shared::Lambda, "?{0, 0.5,2}", one_of(&[0.0, 0.5, 2.0])),
            (Shared::Lambda, "0.25", one_of(&[0.25])),
            (Shared::Cost, "?", between(1.0 / 32.0, 1024.0)),
            (Shared::Cost, "?0.5..128", between(0.5, 128.0)),
            (Shared::Cost, "10", one_of(&[10.0])),
            (Shared::Neighbours, "?", between(1.0, 50.0)),
            (Shared::Neighbours, "?2..9", between(2.0, 9.0)),
            (Shared::Neighbours, "7", one_of(&[7.0])),
            (Shared::Nu, "?", between(0.01, 0.8)),
            (Shared::Nu, "?{0.1,1}", one_of(&[0.1, 1.0])),
        ] {
            assert_eq!(shared.read(text), space, "{text}");
        }
    }

    #[test]
    fn malformed_texts_and_values_out_of_range_are_named() {
        let bad = ["", "?{}", "?{1,}", "?0..1", "?2..1", "?1..inf", "?{-1}", "-1", "nan", "?x", "?1"];
        for (shared, more) in [
            (Shared::Lambda, &[][..]),
            (Shared::Cost, &["0", "?{0,1}"]),
            (Shared::Neighbours, &["0", "1.5", "?0..3", "?1.5..3"]),
            (Shared::Nu, &["0", "1.5", "?0.1..2"]),
        ] {
            for text in bad.iter().chain(more) {
                let error = shared.read(text).unwrap_err().to_string();
                assert!(error.starts_with(shared.name()) && error.contains(&format!("`{text}`")), "{error}");
            }
        }
    }

    #[test]
    fn there_are_no_more_neighbours_than_other_rows() {
        let axis = |low, high| Shared::Neighbours.axis(Some(&SearchSpace::Between(low, high)), 60);
        assert_eq!(axis(1.0, 200.0).unwrap().grid(3).len(), 59);
        assert_eq!(axis(70.0, 80.0), Err(LearnError::TooManyNeighbours { k: 70, rows: 59 }));
        assert!(axis(0.0, 3.0).is_err() && axis(5.0, 4.0).is_err());
    }
}
