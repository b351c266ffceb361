//! Access to hyper-parameters, for the families.

use super::check::enclose;
use super::{EvalError, Expr, Fault, Named, Q, Space, Value, Written, exact};
use crate::formula::Parameter;
use num_traits::Signed;

impl Named {
    /// Bounds of the kernel's values at all points where it is defined.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        self.family.range(&Written::of(self), &Space::EVERYWHERE)
    }

    /// Σⱼ ((xⱼ−zⱼ)/ℓⱼ)² with the lengths in a slot.
    pub(super) fn squared_distance(&self, slot: usize, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        let lengths = self.per_column(slot, x.len())?;
        Ok((0..x.len()).map(|j| ((x[j] - z[j]) / lengths[j]).powi(2)).sum::<f64>())
    }

    /// Σⱼ weight(hⱼ)·statistic on column j, with h the hyper-parameter in `slot`: one term if it is a single number.
    pub(super) fn weighted_sum(
        &self,
        slot: usize,
        weight: impl Fn(f64) -> f64,
        statistic: Expr,
    ) -> Option<Expr> {
        match &self.arguments[slot].value {
            Value::Number(value) => Some(statistic.scaled(weight(*value))),
            Value::PerColumn(values) => {
                let term = |(j, value): (usize, &f64)| statistic.clone().on_column(j).scaled(weight(*value));
                Some(Expr::Sum(values.iter().enumerate().map(term).collect()))
            }
            _ => None,
        }
    }

    /// The part of Σⱼ weight(hⱼ)·statistic that depends on the hyper-parameter of one column; the whole sum if the
    /// columns share it.
    pub(super) fn share(
        &self,
        slot: usize,
        column: Option<usize>,
        weight: impl Fn(f64) -> f64,
        statistic: Expr,
    ) -> Option<Expr> {
        match (&self.arguments[slot].value, column) {
            (Value::Number(value), None) => Some(statistic.scaled(weight(*value))),
            (Value::PerColumn(values), Some(j)) => {
                Some(statistic.on_column(j).scaled(weight(*values.get(j)?)))
            }
            _ => None,
        }
    }

    /// The same kernel with other numbers in a slot.
    pub(super) fn mapped(&self, slot: usize, map: impl Fn(f64) -> f64) -> Option<Self> {
        let mut mapped = self.clone();
        mapped.arguments[slot].value = match &self.arguments[slot].value {
            Value::Number(value) => Value::Number(map(*value)),
            Value::PerColumn(values) => Value::PerColumn(values.iter().map(|value| map(*value)).collect()),
            _ => return None,
        };
        Some(mapped)
    }

    /// Σⱼ ((xⱼ−zⱼ)/ℓⱼ)² as a formula.
    pub(super) fn squared_distance_formula(&self, slot: usize) -> Option<Expr> {
        self.weighted_sum(slot, |length| 1.0 / (length * length), Expr::Distance.power(2.0))
    }
}

/// Hyper-parameters as written.
impl Written {
    /// Whether every value that a hyper-parameter may take satisfies a condition; `auto` and `?` satisfy it for all
    /// allowed values.
    ///
    /// Of a range only the ends are checked: the condition must be such that it holds between two values if it holds at
    /// both.
    pub(super) fn every(&self, slot: usize, fits: impl Fn(&Q) -> bool) -> bool {
        match &self.parameters[slot].1 {
            Parameter::Number(value) => fits(value),
            Parameter::PerColumn(list) | Parameter::Over(list) => list.iter().all(fits),
            Parameter::Between(low, high) | Parameter::Irrational(low, high) => fits(low) && fits(high),
            Parameter::Auto | Parameter::Any => true,
            Parameter::Unknown => false,
        }
    }

    /// Whether every value that a hyper-parameter may take is a whole number from 0 to `most`; `None` means no upper
    /// limit.
    pub(super) fn every_natural(&self, slot: usize, most: Option<i64>) -> bool {
        let is_range = matches!(self.parameters[slot].1, Parameter::Between(..) | Parameter::Irrational(..));
        let fits = |v: &Q| v.is_integer() && !v.is_negative() && most.is_none_or(|m| *v <= exact::int(m));
        !is_range && self.every(slot, fits)
    }

    /// Whether every hyper-parameter is more than 0.
    pub(super) fn all_positive(&self) -> bool {
        (0..self.parameters.len()).all(|slot| self.every(slot, Signed::is_positive))
    }

    /// The single number in a slot.
    pub(super) fn exact(&self, slot: usize) -> Result<Q, Fault> {
        match &self.parameters[slot].1 {
            Parameter::Number(value) => Ok(value.clone()),
            _ => Err(Fault::Unknown),
        }
    }

    /// The number in a slot for each column.
    pub(super) fn exact_per_column(&self, slot: usize, columns: usize) -> Result<Vec<Q>, Fault> {
        match &self.parameters[slot].1 {
            Parameter::Number(value) => Ok(vec![value.clone(); columns]),
            Parameter::PerColumn(values) if values.len() == columns => Ok(values.clone()),
            _ => Err(Fault::Unknown),
        }
    }

    /// Σⱼ weight(vⱼ)·sum(xⱼ, zⱼ) with the numbers vⱼ in a slot; `sum` adds over coordinates.
    pub(super) fn exact_weighted(
        &self,
        slot: usize,
        weight: impl Fn(&Q) -> Q,
        sum: impl Fn(&[Q], &[Q]) -> Q,
        x: &[Q],
        z: &[Q],
    ) -> Result<Q, Fault> {
        if let Parameter::Number(value) = &self.parameters[slot].1 {
            return Ok(weight(value) * sum(x, z));
        }
        let values = self.exact_per_column(slot, x.len())?;
        let coordinates = x.chunks(1).zip(z.chunks(1)).zip(&values);
        Ok(coordinates.map(|((x, z), value)| weight(value) * sum(x, z)).sum())
    }

    /// Σⱼ ((xⱼ−zⱼ)/ℓⱼ)² with the lengths in a slot.
    pub(super) fn exact_squared_distance(&self, slot: usize, x: &[Q], z: &[Q]) -> Result<Q, Fault> {
        self.exact_weighted(slot, |length| (length * length).recip(), enclose::squared_distance, x, z)
    }

    /// The spelling used for a slot.
    pub(super) fn spelling(&self, slot: usize) -> usize {
        self.parameters[slot].0
    }
}
