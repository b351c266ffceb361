//! Sequential minimal optimisation on a stored matrix: two variables at a time, chosen to second order.
//!
//! Moving β_i up and β_j down by the same amount keeps their sum. Along that line the objective is quadratic, with slope −b for
//! b = (f_j + low_j) − (f_i + up_i) and curvature a = K_ii + K_jj − 2K_ij, until one of the two reaches a bound or the
//! kink of |β|. Fan, Chen and Lin (2005): i has the least f + up, j the largest b²/a.

use std::ops::Range;

use crate::real::Precision;
use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::newton::Turns;
use super::problem::BoxQp;
use super::scan::{Advance, CURVATURE_FLOOR, Extremes, GROUP, Second};
use super::shrink::Shrunk;
use super::working_set::first;

/// A few variables of a problem with the part of the kernel matrix that belongs to them.
///
/// Variables have slots. Each group of variables fills whole [`GROUP`]s of slots; padding slots can neither grow nor
/// shrink.
pub(super) struct Pairwise<T> {
    /// The variable of each slot; [`VACANT`] where there is none.
    pub slots: Vec<usize>,
    pub(super) groups: Vec<Range<usize>>,
    /// Whether slots that stay at their bounds are left out for a while.
    pub shrinking: bool,
    pub(super) shrunk: Shrunk,
    /// Rows of the matrix, each of as many entries as there are slots.
    pub kernel: Vec<T>,
    /// The row of each slot; [`VACANT`] if it is not available yet.
    pub(super) row_of: Vec<usize>,
    pub diagonal: Vec<f64>,
    /// Kβ with β over all variables of the problem, not only these.
    pub f: Vec<f64>,
    pub(super) up: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub beta: Vec<f64>,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    /// Steps.
    pub steps: usize,
    /// Whether it ended because kernel values are inconsistent at the scale of the violation: rounding of K_ii + K_jj −
    /// 2K_ij may make steps miss the minimum, and they could cycle.
    pub coarse: bool,
}

/// β_i was moved up and β_j down by `size`.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    i: usize,
    j: usize,
    size: f64,
    /// The slope that the step reduces to zero; 0 if a bound limited it.
    slope: f64,
}

/// Two slots to change, and the predicted gain.
struct Pair {
    first: usize,
    second: usize,
    gain: f64,
    extremes: Extremes,
    group: usize,
}

/// Steps that may miss their minimum by half of their length before a matrix counts as coarse.
const MISSES: usize = 32;

/// A slot without a variable.
pub(super) const VACANT: usize = usize::MAX;

/// Writes the kernel rows of some variables, row after row, each over all slots as they were seated.
pub(super) type Fetch<'a, T> = dyn FnMut(&[usize], &mut [T]) + 'a;

/// The source of matrix rows during a run.
pub(super) struct Source<'a, T> {
    /// Rows that are fetched together.
    pub batch: usize,
    /// How they are fetched.
    pub fetch: &'a mut Fetch<'a, T>,
}

impl<T: Element> Pairwise<T> {
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            groups: Vec::new(),
            shrinking: false,
            shrunk: Shrunk::default(),
            kernel: Vec::new(),
            row_of: Vec::new(),
            diagonal: Vec::new(),
            f: Vec::new(),
            up: Vec::new(),
            low: Vec::new(),
            beta: Vec::new(),
        }
    }

    /// Assigns `variables`, ascending, to slots, without any row of their matrix.
    pub fn seat(&mut self, qp: &BoxQp, variables: &[usize]) {
        self.slots.clear();
        self.groups.clear();
        for group in qp.groups() {
            let start = self.slots.len();
            self.slots.extend(variables.iter().copied().filter(|v| group.contains(v)));
            self.slots.resize(self.slots.len().next_multiple_of(GROUP), VACANT);
            if self.slots.len() > start {
                self.groups.push(start..self.slots.len());
            }
        }
        let n = self.slots.len();
        self.shrunk = Shrunk::new(&self.slots, &self.groups);
        self.kernel.clear();
        self.row_of = vec![VACANT; n];
        for numbers in [&mut self.diagonal, &mut self.f, &mut self.beta] {
            numbers.clear();
            numbers.resize(n, 0.0);
        }
        self.up = vec![f64::INFINITY; n];
        self.low = vec![f64::NEG_INFINITY; n];
    }

    /// Allocates the whole matrix, which the caller fills.
    pub fn make_room(&mut self) {
        let n = self.slots.len();
        self.kernel.resize(n * n, T::default());
        self.row_of = (0..n).collect();
    }

    /// Copies the diagonal from the whole matrix.
    pub fn read_diagonal(&mut self) {
        let n = self.slots.len();
        for s in 0..n {
            self.diagonal[s] = self.kernel[s * n + s].to_f64();
        }
    }

    /// Sets the state of the variables: β and f by variable.
    pub fn place(&mut self, qp: &BoxQp, beta: &[f64], f: impl Fn(usize) -> f64) {
        for (s, &v) in self.slots.iter().enumerate() {
            if v != VACANT {
                self.beta[s] = beta[v];
                self.f[s] = f(v);
                (self.up[s], self.low[s]) = qp.slopes(v, beta[v]);
            }
        }
    }

    /// The variable of each slot in the order in which they were seated.
    pub fn seats(&self) -> &[usize] {
        &self.shrunk.seats
    }

    fn row(&self, s: usize) -> &[T] {
        let (n, row) = (self.slots.len(), self.row_of[s]);
        &self.kernel[row * n..(row + 1) * n]
    }

    /// Fetches the row of slot `s` if it is missing, together with those of the slots that violate the conditions most:
    /// they are likely to be next, and several rows together cost little more than one.
    fn ensure(&mut self, s: usize, ends: Extremes, group: &Range<usize>, source: &mut Source<'_, T>) {
        if self.row_of[s] != VACANT {
            return;
        }
        let mut wanted = vec![s];
        if source.batch > 1 {
            wanted.extend(self.likely(s, ends, group, (source.batch - 1) / 2));
        }
        let (n, have) = (self.slots.len(), self.kernel.len());
        for (k, &slot) in wanted.iter().enumerate() {
            self.row_of[slot] = have / n + k;
        }
        self.kernel.resize(have + wanted.len() * n, T::default());
        let variables: Vec<usize> = wanted.iter().map(|&slot| self.slots[slot]).collect();
        (source.fetch)(&variables, &mut self.kernel[have..]);
        if self.shrunk.moved {
            let mut seated = vec![T::default(); n];
            for row in self.kernel[have..].chunks_exact_mut(n) {
                seated.copy_from_slice(row);
                row.iter_mut().zip(&self.shrunk.seat_of).for_each(|(value, &seat)| *value = seated[seat]);
            }
        }
    }

    /// The slots other than `s` without a row that violate the conditions most, `half` from either end, ascending.
    fn likely(&self, s: usize, ends: Extremes, group: &Range<usize>, half: usize) -> Vec<usize> {
        let missing = |k: &usize| self.row_of[*k] == VACANT && *k != s;
        let (mut grow, mut shrink) = (Vec::new(), Vec::new());
        for k in group.clone().filter(missing) {
            let (up, low) = (self.f[k] + self.up[k], self.f[k] + self.low[k]);
            if up < ends.most {
                grow.push((up, k));
            }
            if low > ends.least {
                shrink.push((-low, k));
            }
        }
        let mut found = first(grow, half);
        found.extend(first(shrink, half));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Takes steps until the violation is at most `tolerance`, `most` steps were taken, or no step changes anything, and in
    /// single precision until the matrix proves too coarse.
    pub fn run(
        &mut self,
        qp: &BoxQp,
        tolerance: f64,
        most: usize,
        source: &mut Source<'_, T>,
        watch: &dyn Watch,
    ) -> Result<Taken, Stopped> {
        let mut taken = Taken { steps: 0, coarse: false };
        loop {
            let more = self.descend(qp, tolerance, most - taken.steps, source, watch);
            // In all cases f is up to date in every slot afterwards.
            let was_shrunk = self.grow();
            let more = more?;
            taken = Taken { steps: taken.steps + more.steps, coarse: more.coarse };
            if !was_shrunk || more.coarse || taken.steps >= most || more.steps == 0 {
                return Ok(taken);
            }
        }
    }

    /// As [`run`](Self::run), without idle slots.
    fn descend(
        &mut self,
        qp: &BoxQp,
        tolerance: f64,
        most: usize,
        source: &mut Source<'_, T>,
        watch: &dyn Watch,
    ) -> Result<Taken, Stopped> {
        let mut taken = Taken { steps: 0, coarse: false };
        let mut last = Step::default();
        let (mut misses, mut next_shrink, mut turns) = (0, self.patience(), Turns::new());
        loop {
            let tolerance = if taken.steps < most { tolerance } else { f64::INFINITY };
            let (ends, pair) = self.best_pair(last, tolerance, source);
            let Some(pair) = pair else { return Ok(taken) };
            if T::PRECISION == Precision::Single && last.slope > 0.0 {
                let left = self.f[last.j] + self.low[last.j] - (self.f[last.i] + self.up[last.i]);
                misses += usize::from(left.abs() > 0.5 * last.slope);
                if misses > MISSES {
                    return Ok(Taken { coarse: true, ..taken });
                }
            }
            if self.shrinking && taken.steps >= next_shrink {
                next_shrink = taken.steps + self.patience();
                if self.shrink(&ends) {
                    // Slots have moved, so the pair must be chosen again.
                    last = Step::default();
                    continue;
                }
            }
            if turns.due() {
                let steps = self.newton(qp, &mut turns);
                if steps > 0 {
                    taken.steps += steps;
                    watch.check()?;
                    last = Step::default();
                    continue;
                }
            }
            self.ensure(pair.second, pair.extremes, &self.looked_at(pair.group), source);
            let gain;
            (last, gain) = self.exchange(qp, pair.first, pair.second, pair.extremes.least);
            if last.size == 0.0 {
                return Ok(taken);
            }
            turns.took(gain);
            taken.steps += 1;
            if taken.steps.is_multiple_of(4096) {
                watch.check()?;
            }
        }
    }

    /// Updates f for the last step and finds the pair with the largest predicted gain among the groups whose violation
    /// is above `tolerance`; also returns the ends of every group.
    fn best_pair(
        &mut self,
        last: Step,
        tolerance: f64,
        source: &mut Source<'_, T>,
    ) -> ([(f64, f64); 2], Option<Pair>) {
        let mut best: Option<Pair> = None;
        let mut ends = [(f64::INFINITY, f64::NEG_INFINITY); 2];
        for g in 0..self.groups.len() {
            let group = self.looked_at(g);
            let extremes = self.advance(last, &group);
            ends[g] = (extremes.least, extremes.most);
            if extremes.violation() > tolerance {
                let first = group.start + extremes.at;
                self.ensure(first, extremes, &group, source);
                let (second, gain) = T::vectorize(Second {
                    f: &self.f[group.clone()],
                    low: &self.low[group.clone()],
                    diagonal: &self.diagonal[group.clone()],
                    row: &self.row(first)[group.clone()],
                    own: self.diagonal[first],
                    least: extremes.least,
                });
                if second != usize::MAX && best.as_ref().is_none_or(|best| gain > best.gain) {
                    best = Some(Pair { first, second: group.start + second, gain, extremes, group: g });
                }
            }
        }
        (ends, best)
    }

    /// Adds the change of f by the last step within a group; returns the extremes.
    fn advance(&mut self, last: Step, group: &Range<usize>) -> Extremes {
        let (n, nothing): (_, &[T]) = (self.slots.len(), &[]);
        let row = |slot: usize| &self.kernel[self.row_of[slot] * n..][group.clone()];
        let (a, b) = if last.size == 0.0 { (nothing, nothing) } else { (row(last.i), row(last.j)) };
        let (up, low) = (&self.up[group.clone()], &self.low[group.clone()]);
        T::vectorize(Advance { f: &mut self.f[group.clone()], step: last.size, a, b, up, low })
    }

    /// Moves β_i up and β_j down to the minimum between them, or as far as their bounds allow. Returns the step and the
    /// decrease of the objective.
    fn exchange(&mut self, qp: &BoxQp, i: usize, j: usize, least: f64) -> (Step, f64) {
        let (vi, vj) = (self.slots[i], self.slots[j]);
        let slope = self.f[j] + self.low[j] - least;
        let curvature = self.diagonal[i] + self.diagonal[j] - 2.0 * self.row(i)[j].to_f64();
        let wanted = slope / curvature.max(CURVATURE_FLOOR);
        let (ceiling, ground) = (qp.ceiling(vi, self.beta[i]), qp.ground(vj, self.beta[j]));
        let (above, below) = (ceiling - self.beta[i], self.beta[j] - ground);
        let step = wanted.min(above).min(below);
        // Bounds are met exactly: otherwise a rounding error would look like room to move.
        self.beta[i] = if step >= above { ceiling } else { self.beta[i] + step };
        self.beta[j] = if step >= below { ground } else { self.beta[j] - step };
        (self.up[i], self.low[i]) = qp.slopes(vi, self.beta[i]);
        (self.up[j], self.low[j]) = qp.slopes(vj, self.beta[j]);
        let gain = step * (slope - 0.5 * step * curvature);
        let slope = if step < above.min(below) { slope } else { 0.0 };
        (Step { i, j, size: step, slope }, gain)
    }
}
