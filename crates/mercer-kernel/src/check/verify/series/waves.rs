//! Products of exponentials, sines and cosines as sums.

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};

use super::term::Kind;
use crate::check::exact::{Q, int};
use crate::check::form::Fun;

/// A sum of e^(λu)·cos μu and e^(λu)·sin μu: (λ, μ, odd) with its weight.
#[derive(Debug, Clone)]
pub(super) struct Waves(BTreeMap<(Q, Q, bool), Q>);

impl Waves {
    pub(super) fn one() -> Self {
        Self(BTreeMap::from([((Q::zero(), Q::zero(), false), Q::one())]))
    }

    fn push(&mut self, decay: Q, rate: Q, odd: bool, weight: Q) {
        let (rate, weight) =
            if rate.is_negative() { (-rate, if odd { -weight } else { weight }) } else { (rate, weight) };
        if odd && rate.is_zero() {
            return;
        }
        *self.0.entry((decay, rate, odd)).or_insert_with(Q::zero) += weight;
    }

    pub(super) fn times_exponential(&self, by: &Q) -> Self {
        let mut product = Self(BTreeMap::new());
        for ((decay, rate, odd), w) in &self.0 {
            product.push(decay + by, rate.clone(), *odd, w.clone());
        }
        product
    }

    pub(super) fn times(&self, fun: Fun, by: &Q) -> Self {
        let mut product = Self(BTreeMap::new());
        for ((decay, rate, odd), w) in &self.0 {
            let half = w / int(2);
            let (sum, difference) = (rate + by, rate - by);
            match (fun, *odd) {
                (Fun::Cosh | Fun::Sinh, _) => {
                    product.push(decay + by, rate.clone(), *odd, half.clone());
                    product.push(decay - by, rate.clone(), *odd, if fun == Fun::Cosh { half } else { -half });
                }
                (Fun::Cos, _) => {
                    product.push(decay.clone(), sum, *odd, half.clone());
                    product.push(decay.clone(), difference, *odd, half);
                }
                (_, false) => {
                    product.push(decay.clone(), sum, true, half.clone());
                    product.push(decay.clone(), difference, true, -half);
                }
                (_, true) => {
                    product.push(decay.clone(), difference, false, half.clone());
                    product.push(decay.clone(), sum, false, -half);
                }
            }
        }
        product
    }

    pub(super) fn into_kinds(self) -> Vec<(Q, Option<Kind>)> {
        self.0
            .into_iter()
            .filter(|(_, w)| !w.is_zero())
            .map(|((decay, rate, odd), w)| {
                let kind = match (decay.is_zero(), rate.is_zero()) {
                    (true, true) => None,
                    (false, true) => Some(Kind::Exponential(decay)),
                    (true, false) => Some(Kind::Wave { rate, odd }),
                    (false, false) => {
                        // A rational above √(λ² + μ²): a few Newton steps from above stay above.
                        let square = &decay * &decay + &rate * &rate;
                        let mut size = decay.abs() + rate.abs();
                        for _ in 0..3 {
                            size = (&size + &square / &size) / int(2);
                        }
                        Some(Kind::Spiral { decay, rate, odd, size })
                    }
                };
                (w, kind)
            })
            .collect()
    }
}
