//! Axes map numbers to fractions of a length.

use super::ticks::{self, Ticks};

/// One axis of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The name of the quantity.
    pub label: String,
    /// Its lower end.
    pub lo: f64,
    /// Its upper end, above `lo`.
    pub hi: f64,
    /// The scale.
    pub spacing: Spacing,
    /// The labels of its ticks.
    pub marking: Marking,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Linear.
    Linear,
    /// Logarithmic; the axis has only positive numbers.
    Log,
}

/// The labels of an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Marking {
    /// Round numbers.
    Numbers,
    /// Round numbers without labels, for a panel above another one with the same axis.
    Silent,
    /// Texts at given positions; if they do not fit, some are left out evenly.
    Named(Vec<(f64, String)>),
}

impl Axis {
    /// A linear axis from `lo` to `hi`; if they are equal, around them.
    pub fn linear(label: impl Into<String>, lo: f64, hi: f64) -> Self {
        let (lo, hi) = apart(lo, hi);
        Self { label: label.into(), lo, hi, spacing: Spacing::Linear, marking: Marking::Numbers }
    }

    /// A linear axis around values, with a margin that is a fraction of their range.
    pub fn around(label: impl Into<String>, values: impl IntoIterator<Item = f64>, margin: f64) -> Self {
        let (lo, hi) = extent(values);
        let (lo, hi) = apart(lo, hi);
        let room = margin * (hi - lo);
        Self::linear(label, lo - room, hi + room)
    }

    /// A logarithmic axis around positive values, with a margin in the logarithm as for [`around`](Self::around).
    pub fn log_around(label: impl Into<String>, values: impl IntoIterator<Item = f64>, margin: f64) -> Self {
        let (lo, hi) = extent(values);
        let (mut from, mut to) = (lo.log10(), hi.log10());
        if to - from < 1e-6 {
            (from, to) = (from - 0.5, to + 0.5);
        }
        let room = margin * (to - from);
        let (lo, hi) = (10f64.powf(from - room).max(1e-305), 10f64.powf(to + room));
        Self { label: label.into(), lo, hi, spacing: Spacing::Log, marking: Marking::Numbers }
    }

    /// The axis with other labels.
    pub fn marked(mut self, marking: Marking) -> Self {
        self.marking = marking;
        self
    }

    /// The position of a value: 0 at the lower end, 1 at the upper.
    pub fn fraction(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => (value - self.lo) / (self.hi - self.lo),
            Spacing::Log => {
                let value = value.max(f64::MIN_POSITIVE);
                (value / self.lo).log10() / (self.hi / self.lo).log10()
            }
        }
    }

    /// The ticks, about `most` of them with a label.
    pub fn ticks(&self, most: usize) -> Ticks {
        let most = most.max(1);
        match &self.marking {
            Marking::Named(names) => {
                let stride = names.len().div_ceil(most).max(1);
                let labelled = names.iter().step_by(stride).cloned().collect();
                Ticks { labelled, ..Ticks::default() }
            }
            Marking::Numbers => self.numbers(most),
            Marking::Silent => {
                let mut ticks = self.numbers(most);
                ticks.labelled.iter_mut().for_each(|(_, label)| label.clear());
                Ticks { note: None, ..ticks }
            }
        }
    }

    fn numbers(&self, most: usize) -> Ticks {
        match self.spacing {
            Spacing::Linear => ticks::linear(self.lo, self.hi, most),
            Spacing::Log => ticks::log(self.lo, self.hi, most),
        }
    }
}

/// The least and the greatest; (0, 0) if there are none.
pub fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let wider = |(lo, hi): (f64, f64), value: f64| (lo.min(value), hi.max(value));
    let (lo, hi) = values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider);
    if lo <= hi { (lo, hi) } else { (0.0, 0.0) }
}

/// An interval that is wide enough for arithmetic: a single value gets a margin.
fn apart(lo: f64, hi: f64) -> (f64, f64) {
    let largest = lo.abs().max(hi.abs());
    if hi - lo > 1e-12 * largest && hi - lo > 1e-280 {
        return (lo, hi);
    }
    let room = if largest < 1e-280 { 1.0 } else { 0.1 * largest };
    (lo - room, hi + room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_zero_and_one() {
        for axis in [Axis::linear("x", -2.0, 6.0), Axis::log_around("x", [0.01, 100.0], 0.0)] {
            assert!(axis.fraction(axis.lo).abs() < 1e-12 && (axis.fraction(axis.hi) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_middle_is_the_mean_of_its_ends() {
        assert!((Axis::linear("x", -2.0, 6.0).fraction(2.0) - 0.5).abs() < 1e-12);
        assert!((Axis::log_around("x", [0.01, 100.0], 0.0).fraction(1.0) - 0.5).abs() < 1e-12, "geometric");
    }

    #[test]
    fn equal_values_get_room() {
        for value in [0.0, 5.0, -5.0, 1e-300, 1e300, 1e17] {
            let axis = Axis::around("x", [value, value], 0.05);
            assert!(axis.lo < value && value < axis.hi, "{value}: {} {}", axis.lo, axis.hi);
            assert!(axis.fraction(value) > 0.3 && axis.fraction(value) < 0.7);
            assert!(!axis.ticks(6).labelled.is_empty(), "{value}");
        }
    }

    #[test]
    fn names_that_do_not_fit_are_left_out_evenly() {
        let names = (0..10).map(|i| (f64::from(i), i.to_string())).collect();
        let axis = Axis::linear("", 0.0, 9.0).marked(Marking::Named(names));
        let kept: Vec<f64> = axis.ticks(4).labelled.into_iter().map(|(place, _)| place).collect();
        assert_eq!(kept, [0.0, 3.0, 6.0, 9.0]);
    }
}
