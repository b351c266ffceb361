//! The estimate of the inverse Hessian in limited-memory BFGS (Liu and Nocedal 1989).

use std::collections::VecDeque;

use crate::linalg::vectors::{dot, norm};

/// The most recent steps with the changes of the gradient that they caused.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Memory {
    pairs: VecDeque<Pair>,
    limit: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1/⟨step, change⟩.
    inverse: f64,
}

impl Pair {
    /// `None` if the curvature along the step is not positive to working precision.
    fn of(step: Vec<f64>, change: Vec<f64>) -> Option<Self> {
        let product = dot(&step, &change);
        let positive = product > f64::EPSILON * norm(&step) * norm(&change);
        positive.then(|| Self { step, change, inverse: 1.0 / product })
    }
}

impl Memory {
    /// Keeps at most `limit` steps.
    pub fn new(limit: usize) -> Self {
        Self { pairs: VecDeque::new(), limit }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Adds a step, unless the curvature along it is not positive.
    pub fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        self.pairs.extend(Pair::of(step, change));
        if self.pairs.len() > self.limit {
            self.pairs.pop_front();
        }
    }

    /// The estimate for an objective with `factor` > 0 times the curvature.
    pub fn times(mut self, factor: f64) -> Self {
        for pair in &mut self.pairs {
            pair.change.iter_mut().for_each(|change| *change *= factor);
            pair.inverse /= factor;
        }
        self
    }

    /// The same steps with only the entries where `free` holds: an estimate of the curvature in that subspace.
    pub fn restricted(&self, free: &[bool]) -> Self {
        let kept = |v: &[f64]| v.iter().zip(free).map(|(v, free)| if *free { *v } else { 0.0 }).collect();
        let pairs = self.pairs.iter().filter_map(|pair| Pair::of(kept(&pair.step), kept(&pair.change)));
        Self { pairs: pairs.collect(), limit: self.limit }
    }

    /// ⟨s, y⟩/⟨y, y⟩ of the latest step s and change y: the usual scale of the initial estimate.
    pub fn scale(&self) -> Option<f64> {
        self.pairs.back().map(|pair| 1.0 / (pair.inverse * dot(&pair.change, &pair.change)))
    }

    /// q ← Hq, where `initial` applies the initial estimate: Nocedal and Wright (2006), algorithm 7.4.
    pub fn apply<E>(
        &self,
        q: &mut [f64],
        initial: impl FnOnce(&mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = pair.inverse * dot(&pair.step, q);
            add(q, -share, &pair.change);
            shares.push(share);
        }
        initial(q)?;
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let back = pair.inverse * dot(&pair.change, q);
            add(q, share - back, &pair.step);
        }
        Ok(())
    }
}

/// `to` += factor·`by`.
fn add(to: &mut [f64], factor: f64, by: &[f64]) {
    to.iter_mut().zip(by).for_each(|(to, by)| *to += factor * by);
}
