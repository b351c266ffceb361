//! Newton steps on the free variables, for problems on which steps of two converge slowly.
//!
//! If the kernel matrix of the free variables is ill-conditioned, as for linear kernels, steps of two approach the
//! minimum over their face of the box slowly, while a linear system gives it at once. With one variable p of each group
//! eliminated by its equality constraint, the others move along d with (H + δI)d = −r, H_kl = K_kl − K_kp − K_pl +
//! K_pp, r_k = g_k − g_p, up to the first bound, at which that variable stays while the others continue. The line
//! search is exact, so δ can slow down convergence but not prevent it.

use crate::gram::Combine;
use crate::real::Precision;
use crate::tile::{Element, Simd, Vectorized};

use super::pairwise::{Pairwise, VACANT};
use super::problem::BoxQp;

/// The most free variables of a system.
const LARGEST: usize = 512;

/// The most consecutive steps that end at a bound.
const IN_A_ROW: usize = 12;

/// The largest ratio of the work of Newton steps to that of the preceding steps of two, while they reduce the objective
/// as efficiently.
const SHARE: f64 = 0.25;

/// The factor by which that ratio is smaller before their efficiency is known; most problems end before that.
const RESERVE: f64 = 8.0;

/// The largest factor by which that ratio is reduced.
const MOST_RESERVE: f64 = 32.0;

/// Decides when to try a Newton step, from the costs, in entries visited, and gains of steps of two and Newton steps.
#[derive(Debug)]
pub(super) struct Turns {
    /// Steps of two since the last Newton step.
    pairs: usize,
    /// Their reduction of the objective.
    gain: f64,
    /// The number of steps at the next check.
    look: usize,
    reserve: f64,
}

impl Turns {
    pub fn new() -> Self {
        Self { pairs: 0, gain: 0.0, look: 0, reserve: RESERVE }
    }

    /// Records a step of two.
    pub fn took(&mut self, gain: f64) {
        self.pairs += 1;
        self.gain += gain;
    }

    /// Whether it may be time for a Newton step.
    pub fn due(&self) -> bool {
        self.pairs >= self.look
    }
}

/// The result of a Newton step.
struct Moved {
    gain: f64,
    /// Whether a bound limited the step.
    blocked: bool,
}

impl<T: Element> Pairwise<T> {
    /// Takes Newton steps if they are due; returns their number.
    pub(super) fn newton(&mut self, qp: &BoxQp, turns: &mut Turns) -> usize {
        let slots: usize = (0..self.groups.len()).map(|g| self.looked_at(g).len()).sum();
        let pair = (3 * slots + 400) as f64;
        let cost = |free: usize| (free * free * free / 6 + free * (free + slots)) as f64;
        let after = |cost: f64, reserve: f64| (reserve * cost / (SHARE * pair)) as usize;
        let free = self.free(qp).iter().map(Vec::len).sum();
        let wait = after(cost(free), turns.reserve).max(slots);
        if free > LARGEST || turns.pairs < wait {
            turns.look = wait.max(turns.pairs + slots);
            return 0;
        }
        let (mut steps, mut gain, mut work) = (0, 0.0, 0.0);
        while steps < IN_A_ROW {
            let free = self.free(qp);
            work += cost(free.iter().map(Vec::len).sum());
            let Some(moved) = self.newton_step(qp, &free) else { break };
            steps += 1;
            gain += moved.gain;
            if !moved.blocked {
                break;
            }
        }
        // Worthwhile if the same work in steps of two would have gained less.
        let worth = gain / work > turns.gain / (turns.pairs as f64 * pair);
        let reserve = if worth { 0.25 * turns.reserve } else { 4.0 * turns.reserve };
        let reserve = reserve.clamp(1.0, MOST_RESERVE);
        *turns = Turns { pairs: 0, gain: 0.0, look: after(work, reserve).max(slots), reserve };
        steps
    }

    /// The free slots of each group whose rows are available.
    fn free(&self, qp: &BoxQp) -> Vec<Vec<usize>> {
        let is_free = |&k: &usize| {
            let v = self.slots[k];
            v != VACANT && self.row_of[k] != VACANT && qp.is_free(v, self.beta[k])
        };
        (0..self.groups.len()).map(|g| self.looked_at(g).filter(is_free).collect()).collect()
    }

    /// Moves the free slots towards the minimum over them; `None` if they have reached it to rounding.
    fn newton_step(&mut self, qp: &BoxQp, free: &[Vec<usize>]) -> Option<Moved> {
        let (slots, moves) = self.direction(free)?;
        let slope: f64 = slots.iter().zip(&moves).map(|(&k, d)| d * (self.f[k] + self.up[k])).sum();
        // Kd, for the active slots.
        let n = self.slots.len();
        let mut change = vec![0.0; n];
        for g in 0..self.groups.len() {
            let range = self.looked_at(g);
            let rows: Vec<&[T]> =
                slots.iter().map(|&k| &self.kernel[self.row_of[k] * n..][range.clone()]).collect();
            T::vectorize(Combine { out: &mut change[range], rows: &rows, factors: &moves });
        }
        let curvature: f64 = slots.iter().zip(&moves).map(|(&k, d)| d * change[k]).sum();
        let end = |k: usize, d: f64| {
            let (v, beta) = (self.slots[k], self.beta[k]);
            if d > 0.0 { qp.ceiling(v, beta) } else { qp.ground(v, beta) }
        };
        let room = |(&k, &d): (&usize, &f64)| match d {
            0.0 => f64::INFINITY,
            _ => (end(k, d) - self.beta[k]) / d,
        };
        let rooms: Vec<f64> = slots.iter().zip(&moves).map(room).collect();
        let farthest = rooms.iter().copied().fold(f64::INFINITY, f64::min);
        let best = if curvature > 0.0 { -slope / curvature } else { f64::INFINITY };
        let step = best.min(farthest);
        if !(slope < 0.0 && step > 0.0 && step.is_finite()) {
            return None;
        }
        // Bounds are met exactly, as in steps of two.
        let moved = |((&k, &d), &room): ((&usize, &f64), &f64)| {
            let (to, end) = (self.beta[k] + step * d, end(k, d));
            let past = room <= step || (d > 0.0 && to >= end) || (d < 0.0 && to <= end);
            if past { end } else { to }
        };
        let moved: Vec<f64> = slots.iter().zip(&moves).zip(&rooms).map(moved).collect();
        for (&k, beta) in slots.iter().zip(moved) {
            self.beta[k] = beta;
            (self.up[k], self.low[k]) = qp.slopes(self.slots[k], beta);
        }
        self.f.iter_mut().zip(&change).for_each(|(f, change)| *f += step * change);
        let gain = -step * (slope + 0.5 * step * curvature);
        Some(Moved { gain, blocked: farthest <= best })
    }

    /// The slots of a Newton step and their direction; `None` if no group has two free slots.
    fn direction(&self, free: &[Vec<usize>]) -> Option<(Vec<usize>, Vec<f64>)> {
        // The eliminated slot of each group comes last; each other slot is stored with the index of its eliminated one.
        let (mut slots, mut given_up) = (Vec::new(), Vec::new());
        for group in free.iter().filter(|group| group.len() > 1) {
            let (&last, others) = group.split_last()?;
            slots.extend(others.iter().map(|&k| (k, given_up.len())));
            given_up.push(last);
        }
        let m = slots.len();
        if m == 0 {
            return None;
        }
        let n = self.slots.len();
        let value = |a: usize, b: usize| self.kernel[self.row_of[a] * n + b].to_f64();
        let slope = |k: usize| self.f[k] + self.up[k];
        let mut matrix = vec![0.0; m * m];
        let mut right = Vec::with_capacity(m);
        for (a, &(k, of)) in slots.iter().enumerate() {
            let p = given_up[of];
            right.push(slope(p) - slope(k));
            for (b, &(l, to)) in slots.iter().enumerate().skip(a) {
                let q = given_up[to];
                matrix[a * m + b] = value(k, l) - value(p, l) - (value(k, q) - value(p, q));
            }
        }
        let largest = (0..m).map(|a| matrix[a * m + a]).fold(0.0, f64::max);
        let damping = match T::PRECISION {
            Precision::Single => 1e-6,
            Precision::Double => 1e-10,
        };
        (0..m).for_each(|a| matrix[a * m + a] += damping * largest);
        if !f64::vectorize(Solve { matrix: &mut matrix, numbers: &mut right }) {
            return None;
        }
        let mut moves = right;
        let mut lost = vec![0.0; given_up.len()];
        slots.iter().zip(&moves).for_each(|((_, of), d)| lost[*of] -= d);
        moves.extend(lost);
        let slots = slots.into_iter().map(|(k, _)| k).chain(given_up).collect();
        Some((slots, moves))
    }
}

/// Solves a positive definite system in place, by its Cholesky factor; false where the matrix is not positive definite.
struct Solve<'a> {
    /// The upper triangle, row after row.
    matrix: &'a mut [f64],
    numbers: &'a mut [f64],
}

impl Vectorized<f64> for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, _: S) -> bool {
        let m = self.numbers.len();
        // A = UᵀDU with ones on the diagonal of U: row k of DU overwrites row k of A.
        for k in 0..m {
            let (above, below) = self.matrix.split_at_mut((k + 1) * m);
            let row = &above[k * m..];
            let pivot = row[k];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            let number = self.numbers[k];
            for (i, to) in (k + 1..m).zip(below.chunks_exact_mut(m)) {
                let factor = row[i] / pivot;
                self.numbers[i] -= factor * number;
                to[i..].iter_mut().zip(&row[i..]).for_each(|(to, from)| *to -= factor * from);
            }
        }
        for k in (0..m).rev() {
            let row = &self.matrix[k * m..(k + 1) * m];
            let sum: f64 = row[k + 1..].iter().zip(&self.numbers[k + 1..]).map(|(u, x)| u * x).sum();
            self.numbers[k] = (self.numbers[k] - sum) / row[k];
        }
        self.numbers.iter().all(|x| x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        // A = BᵀB + I for B with entries of no pattern.
        let m = 23;
        let entry = |i: usize, j: usize| ((i * 37 + j * 101 + 7) % 29) as f64 / 29.0 - 0.5;
        let a = |i: usize, j: usize| {
            (0..m).map(|k| entry(k, i) * entry(k, j)).sum::<f64>() + f64::from(u8::from(i == j))
        };
        let x: Vec<f64> = (0..m).map(|i| (i as f64 * 0.7).sin()).collect();
        let mut numbers: Vec<f64> = (0..m).map(|i| (0..m).map(|j| a(i, j) * x[j]).sum()).collect();
        let mut matrix: Vec<f64> = (0..m * m).map(|k| a(k / m, k % m)).collect();
        assert!(f64::vectorize(Solve { matrix: &mut matrix, numbers: &mut numbers }));
        numbers.iter().zip(&x).for_each(|(found, x)| assert!((found - x).abs() < 1e-12));
        let mut indefinite = vec![1.0, 2.0, 2.0, 1.0];
        assert!(!f64::vectorize(Solve { matrix: &mut indefinite, numbers: &mut [1.0, 1.0] }));
    }
}
