//! Hyper-parameters as the families read them.

use super::check::enclose;
use super::{EvalError, Expr, Fault, Named, Q, Space, Value, exact};
use crate::expr::Columns;

impl Named {
    /// Whether every value that a hyper-parameter may take fits; `auto` and `?` take what is allowed in any case.
    ///
    /// Of a range only the ends are looked at: the condition must hold between two values where it holds at both.
    pub(super) fn every(&self, slot: usize, fits: impl Fn(f64) -> bool) -> bool {
        match &self.arguments[slot].value {
            Value::Number(value) => fits(*value),
            Value::PerColumn(list) | Value::TuneOver(list) => list.iter().all(|value| fits(*value)),
            Value::TuneBetween(low, high) => fits(*low) && fits(*high),
            Value::Auto | Value::Tune => true,
        }
    }

    /// Whether every value that a hyper-parameter may take is one of some whole numbers.
    pub(super) fn every_whole(&self, slot: usize, fits: impl Fn(f64) -> bool) -> bool {
        let is_range = matches!(self.arguments[slot].value, Value::TuneBetween(..));
        !is_range && self.every(slot, |value| value.fract() == 0.0 && fits(value))
    }

    /// Whether every hyper-parameter is more than 0.
    pub(super) fn all_positive(&self) -> bool {
        (0..self.arguments.len()).all(|slot| self.every(slot, |value| value > 0.0))
    }

    /// Bounds of the kernel's values at all points where it is defined.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        self.family.range(self, &Space::EVERYWHERE)
    }

    /// The single number in a slot as the decimal that was written.
    pub(super) fn exact(&self, slot: usize) -> Result<Q, Fault> {
        self.number(slot).ok().and_then(exact::from_decimal).ok_or(Fault::Unknown)
    }

    /// The number in a slot for each column as the decimal that was written.
    pub(super) fn exact_per_column(&self, slot: usize, columns: usize) -> Result<Vec<Q>, Fault> {
        let values = self.per_column(slot, columns).map_err(|_| Fault::Unknown)?;
        values.into_iter().map(|value| exact::from_decimal(value).ok_or(Fault::Unknown)).collect()
    }

    /// Σⱼ ((xⱼ−zⱼ)/ℓⱼ)² with the lengths in a slot.
    pub(super) fn squared_distance(&self, slot: usize, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let lengths = self.per_column(slot, x.len())?;
        Ok((0..x.len()).map(|j| ((x[j] - z[j]) / lengths[j]).powi(2)).sum::<f64>())
    }

    /// The same, exactly.
    pub(super) fn exact_squared_distance(&self, slot: usize, x: &[Q], z: &[Q]) -> Result<Q, Fault> {
        let lengths = self.exact_per_column(slot, x.len())?;
        Ok(enclose::weighted(x, z, |j, a, b| (a - b) * (a - b) / (&lengths[j] * &lengths[j])))
    }

    /// Σⱼ weight(hⱼ)·statistic on column j, with h the hyper-parameter in `slot`: one term where it is a single number.
    pub(super) fn weighted_sum(
        &self,
        slot: usize,
        weight: impl Fn(f64) -> f64,
        statistic: Expr,
    ) -> Option<Expr> {
        match &self.arguments[slot].value {
            Value::Number(value) => Some(statistic.scaled(weight(*value))),
            Value::PerColumn(values) => {
                let term = |(j, value): (usize, &f64)| {
                    let column = Columns::from_ranges(std::iter::once(j..j + 1).collect());
                    Expr::Columns(Box::new(statistic.clone()), column).scaled(weight(*value))
                };
                Some(Expr::Sum(values.iter().enumerate().map(term).collect()))
            }
            _ => None,
        }
    }

    /// Σⱼ ((xⱼ−zⱼ)/ℓⱼ)² as a formula.
    pub(super) fn squared_distance_formula(&self, slot: usize) -> Option<Expr> {
        self.weighted_sum(slot, |length| 1.0 / (length * length), Expr::Distance.power(2.0))
    }
}
