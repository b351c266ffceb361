//! Finite differences: a negative coefficient aₙ of a power series in ⟨x,z⟩ shows on n+1 equispaced points of a line.
//!
//! With x_i = i·h and w_i = (−1)^i·C(n,i) every power below n is annihilated and wᵀKw = aₙ·(n!)²·h²ⁿ + O(h²ⁿ⁺²).

use std::iter;

use super::confirm;
use super::{Hints, Search};
use crate::check::Domain;
use crate::check::exact::{self, Q};
use crate::check::verdict::Refutation;

/// A term such as −|x−z|^2.001, whose second difference is negative where the points are close enough, is tried at these negative
/// powers of 10.
const CLOSE: [u32; 6] = [6, 10, 15, 20, 30, 40];

impl Search<'_> {
    pub(super) fn finite_differences(&mut self, least_dim: usize, hints: &Hints) -> Option<Refutation> {
        if self.domain == Domain::Sphere {
            return None;
        }
        let dim = match self.dim {
            super::Dim::Any => least_dim.max(1),
            super::Dim::Exactly(d) => d,
        };
        for &order in hints.negative_coefficients.iter().take(4) {
            self.evidence.tried.push(format!("differences of order {order}"));
            let along_axis = |distance| {
                let others = iter::repeat_n(exact::int(0), dim - 1);
                iter::once(distance).chain(others).collect::<Vec<Q>>()
            };
            if let Some(found) = (0..10).find_map(|exponent| self.difference(order, exponent, along_axis)) {
                return Some(found);
            }
        }
        self.evidence.tried.push("second differences at small distances".into());
        CLOSE.into_iter().find_map(|exponent| self.difference(2, exponent, |distance| vec![distance; dim]))
    }

    /// The difference of an order between points at multiples of 10^−exponent.
    fn difference(&self, order: usize, exponent: u32, point: impl Fn(Q) -> Vec<Q>) -> Option<Refutation> {
        if self.late() {
            return None;
        }
        let step = Q::new(1.into(), num_bigint::BigInt::from(10).pow(exponent));
        let points: Vec<Vec<Q>> =
            (0..=order).map(|i| point(&step * exact::int(i64::try_from(i).unwrap_or(0)))).collect();
        let weights: Vec<Q> = (0..=order)
            .map(|i| {
                let size = exact::binomial(order as u64, i as u64);
                if i % 2 == 0 { size } else { -size }
            })
            .collect();
        if !points.iter().all(|p| confirm::in_domain(p, self.dim, self.domain)) {
            return None;
        }
        let (value, _) = confirm::negative_form(self.formula, &points, &weights, self.limit)?;
        let matrix = self.matrix(&points);
        Some(Refutation::Points { points, weights, value, matrix, filled: None })
    }
}
