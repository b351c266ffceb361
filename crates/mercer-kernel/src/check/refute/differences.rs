//! Finite differences: a negative coefficient aₙ of a power series in ⟨x,z⟩ shows on n+1 equispaced points of a line.
//!
//! With x_i = i·h and w_i = (−1)^i·C(n,i) every power below n is annihilated and wᵀKw = aₙ·(n!)²·h²ⁿ + O(h²ⁿ⁺²).

use super::confirm;
use super::{Hints, Search};
use crate::check::Domain;
use crate::check::exact::{self, Q};
use crate::check::verdict::Refutation;

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
            for exponent in 0..10 {
                let step = Q::new(1.into(), num_bigint::BigInt::from(10).pow(exponent));
                let points: Vec<Vec<Q>> = (0..=order)
                    .map(|i| {
                        let mut point = vec![exact::int(0); dim];
                        point[0] = &step * exact::int(i64::try_from(i).unwrap_or(0));
                        point
                    })
                    .collect();
                let weights: Vec<Q> = (0..=order)
                    .map(|i| {
                        let size = exact::binomial(order as u64, i as u64);
                        if i % 2 == 0 { size } else { -size }
                    })
                    .collect();
                if !points.iter().all(|p| confirm::in_domain(p, self.dim, self.domain)) {
                    continue;
                }
                if let Some((value, _)) = confirm::negative_form(self.formula, &points, &weights, self.limit)
                {
                    let matrix = self.matrix(&points);
                    return Some(Refutation::Points { points, weights, value, matrix, filled: None });
                }
                if self.late() {
                    return None;
                }
            }
        }
        None
    }
}
