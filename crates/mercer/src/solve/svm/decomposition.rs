//! The working-set method: solves for a few hundred variables in cache, then applies their kernel rows to all.
//!
//! Each round takes the variables that violate the optimality conditions most, solves the problem over them by
//! [`Pairwise`] steps on their own small matrix, and adds the kernel rows of those that changed to f = Kβ. Variables at
//! their bounds that have satisfied the conditions for several rounds are frozen: rows and sums exclude them until all
//! others are optimal, and then only the changes since they were frozen are applied.

use crate::gram::{
    BoxProblem, EXPENSIVE_VALUE, Ends, Gram, KeepRows, Policy, RowSums, Segment, TileMut, Value,
};
use crate::real::Precision;
use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::pairwise::{Pairwise, Source, Taken, VACANT};
use super::problem::BoxQp;
use super::working_set::WorkingSet;

/// Problems of at most this many variables are solved two variables at a time.
const PAIRS: usize = 4096;

/// The same if kernel values are expensive and all rows may be cached: pairs need the fewest rows.
const PAIRS_OF_EXPENSIVE_ROWS: usize = 16_384;

/// Kernel rows computed together in that case.
const BATCH: usize = 16;

/// Variables in a working set. The matrix of a smaller set would fit the second-level cache, but more rounds, each with
/// the kernel rows of the changed variables, cost more than slower steps.
const SET: usize = 1024;

/// Steps that one round may take, per member of its working set.
const STEPS_PER_MEMBER: usize = 100;

/// The fraction of the violation that a round leaves within its working set.
const EAGERNESS: f64 = 0.2;

/// Steps per variable, and the fewest, that a problem solved two variables at a time may take in single precision: one
/// that needs more is dominated by rounding errors.
const PATIENT_STEPS: usize = 100;
const PATIENT_LEAST: usize = 50_000;

/// Steps per variable, and the fewest, that an engine's own solver may take: if it needs more, Newton steps may help.
const ENGINE_STEPS: u64 = 50;
const ENGINE_LEAST: u64 = 1_000_000;

/// Rounds without progress after which kernel rows in single precision count as too coarse.
const FUTILE: u64 = 50;

/// Rounds between searches for variables to freeze.
const FREEZE_EVERY: u64 = 2;

/// Consecutive searches that must find a variable idle before it is frozen.
const PATIENCE: u8 = 2;

/// The position of a frozen variable.
const AWAY: u32 = u32::MAX;

/// Limits of one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub tolerance: f64,
    pub steps: u64,
    pub cache: u64,
    pub shrinking: bool,
}

/// The work of a run so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub steps: u64,
    pub rounds: u64,
    pub evaluations: u64,
}

impl Spent {
    pub fn add(&mut self, more: Self) {
        self.steps += more.steps;
        self.rounds += more.rounds;
        self.evaluations += more.evaluations;
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Converged,
    OutOfSteps,
    /// A round changed nothing although the conditions are violated, due to rounding.
    Stalled,
    /// Kernel values in single precision are too coarse for further progress.
    Coarse,
}

/// Frozen variables.
struct Frozen {
    variables: Vec<usize>,
    /// Kβ of these variables when they were frozen.
    f: Vec<f64>,
    /// β of all variables at that time.
    beta: Vec<f64>,
}

/// The state of a solution with kernel rows in `T`.
pub(super) struct Decomposition<'a, T: Element> {
    qp: &'a BoxQp,
    gram: &'a dyn Gram,
    limits: Limits,
    pub beta: Vec<f64>,
    pub spent: Spent,
    /// The active variables, ascending; the next four fields belong to them.
    active: Vec<usize>,
    f: Vec<f64>,
    up: Vec<f64>,
    low: Vec<f64>,
    idle: Vec<u8>,
    /// Where each variable is in `active`.
    position: Vec<u32>,
    frozen: Vec<Frozen>,
    /// Sums of kernel rows over the active variables; created on first use.
    rows: Option<Box<dyn RowSums + 'a>>,
    inner: Pairwise<T>,
    /// The most variables that are solved two at a time.
    pairs: usize,
    /// Whether the inner problem is the whole one.
    seated_all: bool,
    set: WorkingSet,
}

impl<'a, T: Element + Value> Decomposition<'a, T> {
    /// Starts from `beta` with `f` = Kβ.
    pub fn new(qp: &'a BoxQp, gram: &'a dyn Gram, limits: Limits, beta: Vec<f64>, f: Vec<f64>) -> Self {
        let mut state = Self {
            qp,
            gram,
            limits,
            beta,
            spent: Spent::default(),
            active: Vec::new(),
            f,
            up: Vec::new(),
            low: Vec::new(),
            idle: Vec::new(),
            position: vec![0; qp.len()],
            frozen: Vec::new(),
            rows: None,
            inner: Pairwise::new(),
            pairs: {
                let bytes = (PAIRS_OF_EXPENSIVE_ROWS * PAIRS_OF_EXPENSIVE_ROWS * size_of::<T>()) as u64;
                let expensive = gram.cost() >= EXPENSIVE_VALUE && bytes <= limits.cache;
                if expensive { PAIRS_OF_EXPENSIVE_ROWS } else { PAIRS }
            },
            seated_all: false,
            set: WorkingSet::new(SET),
        };
        state.set_active((0..qp.len()).collect());
        state
    }

    /// Kβ for every variable. Nothing may be frozen.
    pub fn f(&self) -> &[f64] {
        &self.f
    }

    /// Replaces Kβ by a more accurate one, for every variable.
    pub fn set_f(&mut self, f: &[f64]) {
        self.f.copy_from_slice(f);
    }

    /// Continues with `qp`, which differs only in its bounds, from `factor` times the present β. Kernel rows stay
    /// cached.
    pub fn go_on_with(&mut self, qp: &'a BoxQp, factor: f64, limits: Limits) {
        for (v, beta) in self.beta.iter_mut().enumerate() {
            let (lower, upper) = (qp.lower[v], qp.upper[v]);
            let moved = (*beta * factor).clamp(lower, upper);
            // A variable at an end of its box stays there exactly, despite rounding.
            let at = |end: f64| (moved - end).abs() <= 4.0 * f64::EPSILON * end.abs();
            *beta = if at(upper) {
                upper
            } else if at(lower) {
                lower
            } else {
                moved
            };
        }
        self.f.iter_mut().for_each(|f| *f *= factor);
        self.qp = qp;
        (self.limits, self.spent) = (limits, Spent::default());
        self.set_active((0..qp.len()).collect());
    }

    /// Makes these variables active; `f` is already set.
    fn set_active(&mut self, active: Vec<usize>) {
        for (k, &v) in active.iter().enumerate() {
            self.position[v] = k as u32;
        }
        (self.up, self.low) = active.iter().map(|&v| self.qp.slopes(v, self.beta[v])).unzip();
        self.idle = vec![0; active.len()];
        self.active = active;
    }

    /// Solves to the tolerance. Nothing is frozen afterwards.
    pub fn run(&mut self, watch: &dyn Watch) -> Result<End, Stopped> {
        let tolerance = self.limits.tolerance;
        self.descend_by_engine(watch)?;
        let mut ends = self.ends();
        let (mut least, mut since) = (f64::INFINITY, 0);
        loop {
            watch.check()?;
            let violation = violation(&ends);
            if violation < 0.9 * least {
                (least, since) = (violation, self.spent.rounds);
            } else if T::PRECISION == Precision::Single && self.spent.rounds > since + FUTILE {
                self.thaw_all(watch)?;
                return Ok(End::Coarse);
            }
            if violation <= tolerance {
                if self.frozen.is_empty() {
                    return Ok(End::Converged);
                }
                ends = self.thaw(watch)?;
                continue;
            }
            if self.spent.steps >= self.limits.steps {
                self.thaw_all(watch)?;
                return Ok(End::OutOfSteps);
            }
            self.spent.rounds += 1;
            if self.limits.shrinking && self.spent.rounds.is_multiple_of(FREEZE_EVERY) {
                self.freeze(&ends);
            }
            let taken = if self.active.len() <= self.pairs {
                let taken = self.run_pairs(tolerance, watch)?;
                ends = self.ends();
                taken
            } else {
                let inner = (EAGERNESS * violation).max(0.5 * tolerance);
                let (taken, terms) = self.run_set(&ends, inner, watch)?;
                ends = self.apply(&terms, watch)?;
                taken
            };
            if taken.coarse || taken.steps == 0 {
                self.thaw_all(watch)?;
                return Ok(if taken.coarse { End::Coarse } else { End::Stalled });
            }
        }
    }

    /// Lets the engine solve as much of the problem as it can, if it has its own solver.
    fn descend_by_engine(&mut self, watch: &dyn Watch) -> Result<(), Stopped> {
        let (qp, limits) = (self.qp, self.limits);
        let patient = (ENGINE_STEPS * qp.len() as u64).max(ENGINE_LEAST);
        let problem = BoxProblem {
            rows: &qp.rows,
            linear: &qp.linear,
            kink: qp.kink,
            lower: &qp.lower,
            upper: &qp.upper,
            first: qp.first,
            tolerance: limits.tolerance,
            steps: patient.min(limits.steps.saturating_sub(self.spent.steps)),
            cache: limits.cache,
        };
        if let Some(done) = self.gram.descend(&problem, &mut self.beta, &mut self.f, watch)? {
            self.spent.add(Spent { steps: done.steps, rounds: done.rounds, evaluations: done.evaluations });
            self.set_active((0..qp.len()).collect());
        }
        Ok(())
    }

    /// Chooses a working set and solves it; returns the number of steps and the kernel rows whose weights changed.
    fn run_set(
        &mut self,
        ends: &[(f64, f64)],
        tolerance: f64,
        watch: &dyn Watch,
    ) -> Result<(Taken, Vec<(usize, f64)>), Stopped> {
        let groups = self.active_groups();
        let gradient = Ends { groups: &groups, up: &self.up, low: &self.low };
        let set = self.set.choose(gradient, ends, &self.f, &self.active, &self.position);
        self.inner.seat(self.qp, &set);
        self.seated_all = false;
        self.fill_inner();
        let mut source = Source { batch: 0, fetch: &mut |_, _| unreachable!("every row is there") };
        let most = STEPS_PER_MEMBER * set.len();
        let taken = self.solve_inner(tolerance, most, &mut source, watch)?;
        Ok((taken, self.take_changes()))
    }

    /// Solves for two variables at a time among all active ones; kernel rows are computed on demand and all cached.
    fn run_pairs(&mut self, tolerance: f64, watch: &dyn Watch) -> Result<Taken, Stopped> {
        let everything = self.active.len() == self.qp.len();
        if !(everything && self.seated_all) {
            self.inner.seat(self.qp, &self.active);
            let diagonal = self.gram.diagonal();
            for (d, &v) in self.inner.diagonal.iter_mut().zip(&self.inner.slots) {
                *d = if v == VACANT { 0.0 } else { diagonal[self.qp.rows[v]] };
            }
            self.seated_all = everything;
        }
        let mut rows = self.take_rows();
        let (qp, before) = (self.qp, rows.evaluations());
        let (stride, columns) = (self.inner.slots.len(), segments(self.inner.seats()));
        let mut fetch = |variables: &[usize], out: &mut [T]| {
            let wanted: Vec<usize> = variables.iter().map(|&v| qp.rows[v]).collect();
            rows.rows(&wanted, TileMut { values: T::erase_mut(out), stride, rows: &[], columns: &columns });
        };
        // Rows that are already stored are read on demand.
        let batch = if self.gram.cost() == 0 { 1 } else { BATCH };
        let mut source = Source { batch, fetch: &mut fetch };
        let most = match T::PRECISION {
            Precision::Single => (PATIENT_STEPS * self.active.len()).max(PATIENT_LEAST),
            Precision::Double => usize::MAX,
        };
        self.inner.shrinking = self.limits.shrinking;
        let taken = self.solve_inner(tolerance, most, &mut source, watch)?;
        self.inner.shrinking = false;
        self.spent.evaluations += rows.evaluations() - before;
        self.rows = Some(rows);
        for (s, &v) in self.inner.slots.iter().enumerate().filter(|(_, v)| **v != VACANT) {
            let at = self.position[v] as usize;
            self.beta[v] = self.inner.beta[s];
            self.f[at] = self.inner.f[s];
            (self.up[at], self.low[at]) = self.qp.slopes(v, self.beta[v]);
        }
        Ok(Taken { coarse: taken.coarse || taken.steps >= most, ..taken })
    }

    /// Computes the matrix of the seated variables.
    fn fill_inner(&mut self) {
        let slots = &self.inner.slots;
        let rows: Vec<usize> = slots.iter().filter(|v| **v != VACANT).map(|&v| self.qp.rows[v]).collect();
        let (stride, places) = (slots.len(), segments(slots));
        self.inner.make_room();
        let values = T::erase_mut(&mut self.inner.kernel);
        self.gram.block(&rows, &rows, TileMut { values, stride, rows: &places, columns: &places });
        self.spent.evaluations += (rows.len() * rows.len()) as u64;
        self.inner.read_diagonal();
    }

    fn solve_inner(
        &mut self,
        tolerance: f64,
        most: usize,
        source: &mut Source<'_, T>,
        watch: &dyn Watch,
    ) -> Result<Taken, Stopped> {
        let (f, position) = (&self.f, &self.position);
        self.inner.place(self.qp, &self.beta, |v| f[position[v] as usize]);
        let left = usize::try_from(self.limits.steps - self.spent.steps).unwrap_or(usize::MAX);
        let taken = self.inner.run(self.qp, tolerance, most.min(left), source, watch)?;
        self.spent.steps += taken.steps as u64;
        Ok(taken)
    }

    /// Applies the inner solution; returns the kernel rows whose weights changed, and the changes.
    fn take_changes(&mut self) -> Vec<(usize, f64)> {
        let mut terms = Vec::new();
        for (s, &v) in self.inner.slots.iter().enumerate() {
            if v == VACANT || self.inner.beta[s] == self.beta[v] {
                continue;
            }
            terms.push((self.qp.rows[v], self.inner.beta[s] - self.beta[v]));
            self.beta[v] = self.inner.beta[s];
            let at = self.position[v] as usize;
            (self.up[at], self.low[at]) = self.qp.slopes(v, self.beta[v]);
        }
        merged(terms)
    }

    /// Adds kernel rows to f; returns the new ends of each group.
    fn apply(&mut self, terms: &[(usize, f64)], watch: &dyn Watch) -> Result<Vec<(f64, f64)>, Stopped> {
        let groups = self.active_groups();
        let mut rows = self.take_rows();
        let before = rows.evaluations();
        let ends = Ends { groups: &groups, up: &self.up, low: &self.low };
        let ends = rows.add(terms, &mut self.f, Some(ends), watch)?;
        self.spent.evaluations += rows.evaluations() - before;
        self.rows = Some(rows);
        Ok(ends)
    }

    /// The sums of kernel rows over the active variables. The caller puts them back.
    fn take_rows(&mut self) -> Box<dyn RowSums + 'a> {
        self.rows.take().unwrap_or_else(|| self.row_sums(&self.columns(), self.limits.cache))
    }

    fn row_sums(&self, columns: &[usize], bytes: u64) -> Box<dyn RowSums + 'a> {
        let keep = KeepRows { bytes, precision: T::PRECISION, policy: Policy::SecondUse };
        self.gram.row_sums(columns, keep)
    }

    fn columns(&self) -> Vec<usize> {
        self.active.iter().map(|&v| self.qp.rows[v]).collect()
    }

    /// The ranges of `active` that share an equality constraint.
    fn active_groups(&self) -> Vec<std::ops::Range<usize>> {
        let cut = |v: usize| self.active.partition_point(|&a| a < v);
        self.qp.groups().map(|g| cut(g.start)..cut(g.end)).collect()
    }

    /// The ends of the gradient of the active variables in each group.
    fn ends(&self) -> Vec<(f64, f64)> {
        Ends { groups: &self.active_groups(), up: &self.up, low: &self.low }.extremes(0, &self.f)
    }

    /// Freezes the variables that were idle for long enough, if they are a large part of all.
    fn freeze(&mut self, ends: &[(f64, f64)]) {
        for (group, &(least, most)) in self.active_groups().into_iter().zip(ends) {
            for k in group {
                let idle = self.f[k] + self.up[k] > most && self.f[k] + self.low[k] < least;
                self.idle[k] = if idle { self.idle[k].saturating_add(1) } else { 0 };
            }
        }
        let count = self.idle.iter().filter(|&&idle| idle >= PATIENCE).count();
        if 4 * count >= self.active.len() {
            self.set_aside();
        }
    }

    /// Freezes the variables that were idle for long enough.
    fn set_aside(&mut self) {
        let (kept, gone): (Vec<usize>, Vec<usize>) =
            (0..self.active.len()).partition(|&k| self.idle[k] < PATIENCE);
        self.frozen.push(Frozen {
            variables: gone.iter().map(|&k| self.active[k]).collect(),
            f: gone.iter().map(|&k| self.f[k]).collect(),
            beta: self.beta.clone(),
        });
        gone.iter().for_each(|&k| self.position[self.active[k]] = AWAY);
        self.f = kept.iter().map(|&k| self.f[k]).collect();
        self.set_active(kept.iter().map(|&k| self.active[k]).collect());
        self.set.keep(|v| self.position[v] != AWAY);
        if let Some(rows) = &mut self.rows {
            rows.narrow(&kept);
        }
    }

    /// Updates f for all variables, and reactivates those that violate the conditions or may do so.
    fn thaw(&mut self, watch: &dyn Watch) -> Result<Vec<(f64, f64)>, Stopped> {
        self.thaw_all(watch)?;
        let ends = self.ends();
        if violation(&ends) > self.limits.tolerance {
            self.idle.fill(PATIENCE - 1);
            self.freeze(&ends);
        }
        Ok(ends)
    }

    /// Makes all variables active, without cached kernel rows.
    fn thaw_all(&mut self, watch: &dyn Watch) -> Result<(), Stopped> {
        let mut all = vec![0.0; self.qp.len()];
        self.active.iter().zip(&self.f).for_each(|(&v, f)| all[v] = *f);
        for Frozen { variables, mut f, beta } in std::mem::take(&mut self.frozen) {
            let changes = (0..self.qp.len()).filter(|&v| self.beta[v] != beta[v]);
            let terms = merged(changes.map(|v| (self.qp.rows[v], self.beta[v] - beta[v])).collect());
            let cols: Vec<usize> = variables.iter().map(|&v| self.qp.rows[v]).collect();
            let mut rows = self.row_sums(&cols, 0);
            rows.add(&terms, &mut f, None, watch)?;
            self.spent.evaluations += rows.evaluations();
            variables.iter().zip(f).for_each(|(&v, f)| all[v] = f);
        }
        self.f = all;
        self.set_active((0..self.qp.len()).collect());
        self.rows = None;
        Ok(())
    }
}

/// The runs of occupied slots, and the positions of their variables' columns in a row of all slots.
fn segments(slots: &[usize]) -> Vec<Segment> {
    let (mut segments, mut from, mut at) = (Vec::new(), 0, 0);
    for run in slots.chunk_by(|a, b| (*a == VACANT) == (*b == VACANT)) {
        if run[0] != VACANT {
            segments.push(Segment { from: from..from + run.len(), at });
            from += run.len();
        }
        at += run.len();
    }
    segments
}

/// The largest violation of any group.
pub(super) fn violation(ends: &[(f64, f64)]) -> f64 {
    ends.iter().map(|(least, most)| most - least).fold(f64::NEG_INFINITY, f64::max)
}

/// One term per row, rows ascending, zeros left out.
fn merged(mut terms: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    terms.sort_by_key(|(row, _)| *row);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    terms.retain(|(_, factor)| *factor != 0.0);
    terms
}
