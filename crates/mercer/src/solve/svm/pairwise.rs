//! Sequential minimal optimisation on a stored matrix: two variables at a time, chosen to second order.
//!
//! Moving β_i up and β_j down by the same amount keeps their sum. Along that line the objective is quadratic, with slope −b for
//! b = (f_j + low_j) − (f_i + up_i) and curvature a = K_ii + K_jj − 2K_ij, until one of the two comes to an end of its box or to the
//! kink of |β|. Fan, Chen and Lin (2005): i has the least f + up, j the largest b²/a.

use std::ops::Range;

use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::problem::BoxQp;
use super::scan::{Advance, CURVATURE_FLOOR, Extremes, GROUP, Second};

/// A few variables of a problem with the part of the kernel matrix that belongs to them.
///
/// Variables have slots. Each group of variables fills whole [`GROUP`]s of slots; what is left over can neither grow nor shrink.
pub(super) struct Pairwise<T> {
    /// The variable of each slot; [`NOBODY`] where there is none.
    pub slots: Vec<usize>,
    groups: Vec<Range<usize>>,
    /// The matrix, row after row of as many entries as there are slots.
    pub kernel: Vec<T>,
    diagonal: Vec<f64>,
    /// Kβ, over all variables of the problem and not only these.
    pub f: Vec<f64>,
    up: Vec<f64>,
    low: Vec<f64>,
    pub beta: Vec<f64>,
}

/// A slot without a variable.
pub(super) const NOBODY: usize = usize::MAX;

/// How far a run came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub steps: usize,
    pub violation: f64,
}

impl<T: Element> Pairwise<T> {
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            groups: Vec::new(),
            kernel: Vec::new(),
            diagonal: Vec::new(),
            f: Vec::new(),
            up: Vec::new(),
            low: Vec::new(),
            beta: Vec::new(),
        }
    }

    /// Takes in `variables`, ascending, with room for their matrix, which is left for the caller to fill.
    pub fn seat(&mut self, qp: &BoxQp, variables: &[usize]) {
        self.slots.clear();
        self.groups.clear();
        for group in qp.groups() {
            let start = self.slots.len();
            self.slots.extend(variables.iter().copied().filter(|v| group.contains(v)));
            self.slots.resize(self.slots.len().next_multiple_of(GROUP), NOBODY);
            if self.slots.len() > start {
                self.groups.push(start..self.slots.len());
            }
        }
        let n = self.slots.len();
        self.kernel.clear();
        self.kernel.resize(n * n, T::default());
        for numbers in [&mut self.diagonal, &mut self.f, &mut self.beta] {
            numbers.clear();
            numbers.resize(n, 0.0);
        }
        self.up = vec![f64::INFINITY; n];
        self.low = vec![f64::NEG_INFINITY; n];
    }

    /// Reads the diagonal off the matrix.
    pub fn read_diagonal(&mut self) {
        let n = self.slots.len();
        for s in 0..n {
            self.diagonal[s] = self.kernel[s * n + s].to_f64();
        }
    }

    /// Sets the state of the variables: β and f by variable.
    pub fn place(&mut self, qp: &BoxQp, beta: &[f64], f: impl Fn(usize) -> f64) {
        for (s, &v) in self.slots.iter().enumerate() {
            if v != NOBODY {
                self.beta[s] = beta[v];
                self.f[s] = f(v);
                (self.up[s], self.low[s]) = qp.slopes(v, beta[v]);
            }
        }
    }

    fn row(&self, s: usize) -> &[T] {
        let n = self.slots.len();
        &self.kernel[s * n..(s + 1) * n]
    }

    /// Takes steps until the violation is at most `tolerance`, `most` steps were taken, or no step changes anything.
    pub fn run(
        &mut self,
        qp: &BoxQp,
        tolerance: f64,
        most: usize,
        watch: &dyn Watch,
    ) -> Result<Progress, Stopped> {
        let (mut i, mut j, mut step) = (0, 0, 0.0);
        let mut steps = 0;
        loop {
            let mut worst: Option<(usize, usize, f64, Extremes)> = None;
            let mut violation = f64::NEG_INFINITY;
            let n = self.slots.len();
            for group in &self.groups {
                let (a, b) = (i * n, j * n);
                let extremes = T::vectorize(Advance {
                    f: &mut self.f[group.clone()],
                    step,
                    a: &self.kernel[a..][group.clone()],
                    b: &self.kernel[b..][group.clone()],
                    up: &self.up[group.clone()],
                    low: &self.low[group.clone()],
                });
                violation = violation.max(extremes.violation());
                if extremes.violation() > tolerance && steps < most {
                    let first = group.start + extremes.at;
                    let (second, gain) = T::vectorize(Second {
                        f: &self.f[group.clone()],
                        low: &self.low[group.clone()],
                        diagonal: &self.diagonal[group.clone()],
                        row: &self.row(first)[group.clone()],
                        own: self.diagonal[first],
                        least: extremes.least,
                    });
                    if second != usize::MAX && worst.as_ref().is_none_or(|w| gain > w.2) {
                        worst = Some((first, group.start + second, gain, extremes));
                    }
                }
            }
            let Some((first, second, _, extremes)) = worst else {
                return Ok(Progress { steps, violation });
            };
            (i, j) = (first, second);
            step = self.exchange(qp, i, j, extremes.least);
            if step == 0.0 {
                return Ok(Progress { steps, violation });
            }
            steps += 1;
            if steps % 4096 == 0 {
                watch.check()?;
            }
        }
    }

    /// Moves β_i up and β_j down to the minimum between them, or as far as they may. Returns by how much.
    fn exchange(&mut self, qp: &BoxQp, i: usize, j: usize, least: f64) -> f64 {
        let (vi, vj) = (self.slots[i], self.slots[j]);
        let slope = self.f[j] + self.low[j] - least;
        let curvature = self.diagonal[i] + self.diagonal[j] - 2.0 * self.row(i)[j].to_f64();
        let wanted = slope / curvature.max(CURVATURE_FLOOR);
        let (ceiling, ground) = (qp.ceiling(vi, self.beta[i]), qp.ground(vj, self.beta[j]));
        let (above, below) = (ceiling - self.beta[i], self.beta[j] - ground);
        let step = wanted.min(above).min(below);
        // Ends are met exactly: what rounding leaves there would look like room.
        self.beta[i] = if step >= above { ceiling } else { self.beta[i] + step };
        self.beta[j] = if step >= below { ground } else { self.beta[j] - step };
        (self.up[i], self.low[i]) = qp.slopes(vi, self.beta[i]);
        (self.up[j], self.low[j]) = qp.slopes(vj, self.beta[j]);
        step
    }
}
