//! Slots that stay at their bounds are left out of the passes over the gradient until the others are optimal (Joachims 1999).
//!
//! The slots left out are moved behind the others, together with their entries of kernel rows, so that passes are still
//! over whole vectors. Rows stay complete: the changes of f by later steps are applied without computing kernel values
//! again.

use std::ops::Range;

use crate::gram::Combine;
use crate::tile::Element;

use super::pairwise::Pairwise;
use super::scan::GROUP;

/// The slots left out, and the permutation of all slots.
#[derive(Debug, Default)]
pub(super) struct Shrunk {
    /// The variables in the order in which they were assigned to slots.
    pub seats: Vec<usize>,
    /// The original slot of the variable in each slot.
    pub seat_of: Vec<usize>,
    /// Whether anything has moved.
    pub moved: bool,
    /// The end of the active slots of each group.
    ends: Vec<usize>,
    /// β when f was last up to date in every slot; empty if it is.
    then: Vec<f64>,
}

impl Shrunk {
    pub fn new(slots: &[usize], groups: &[Range<usize>]) -> Self {
        Self {
            seats: slots.to_vec(),
            seat_of: (0..slots.len()).collect(),
            moved: false,
            ends: groups.iter().map(|group| group.end).collect(),
            then: Vec::new(),
        }
    }
}

/// Steps per slot, and the fewest, between searches for slots to leave out: moving all rows costs about as much as a
/// few steps.
const STEPS_PER_SLOT: usize = 3;
const LEAST_STEPS: usize = 4_000;

impl<T: Element> Pairwise<T> {
    /// The active slots of a group.
    pub(super) fn looked_at(&self, group: usize) -> Range<usize> {
        self.groups[group].start..self.shrunk.ends[group]
    }

    /// Steps until the next search.
    pub(super) fn patience(&self) -> usize {
        let looked_at: usize = (0..self.groups.len()).map(|g| self.looked_at(g).len()).sum();
        (STEPS_PER_SLOT * looked_at).max(LEAST_STEPS)
    }

    /// Leaves out the slots that are inside of the ends (min f + up, max f + low) of their group on both sides, if they
    /// are a large part of it; returns whether any slot has moved.
    pub(super) fn shrink(&mut self, ends: &[(f64, f64)]) -> bool {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        let mut new_ends = self.shrunk.ends.clone();
        for g in 0..self.groups.len() {
            let (range, (least, most)) = (self.looked_at(g), ends[g]);
            let is_idle = |&k: &usize| self.f[k] + self.up[k] > most && self.f[k] + self.low[k] < least;
            let (idle, kept): (Vec<usize>, Vec<usize>) = range.clone().partition(is_idle);
            if 4 * idle.len() >= range.len() {
                new_ends[g] = range.start + kept.len().next_multiple_of(GROUP);
                order[range].copy_from_slice(&[kept, idle].concat());
            }
        }
        if new_ends == self.shrunk.ends {
            return false;
        }
        self.catch_up();
        self.reorder(&order);
        self.shrunk.moved = true;
        self.shrunk.ends = new_ends;
        self.shrunk.then.clone_from(&self.beta);
        true
    }

    /// Makes all slots active again; returns whether any were left out.
    pub(super) fn grow(&mut self) -> bool {
        let was_shrunk = !self.shrunk.then.is_empty();
        self.catch_up();
        self.shrunk.then.clear();
        self.shrunk.ends = self.groups.iter().map(|group| group.end).collect();
        was_shrunk
    }

    /// Updates f in the slots that are left out.
    fn catch_up(&mut self) {
        let n = self.slots.len();
        let changed: Vec<usize> =
            (0..self.shrunk.then.len()).filter(|&k| self.beta[k] != self.shrunk.then[k]).collect();
        let factors: Vec<f64> = changed.iter().map(|&k| self.beta[k] - self.shrunk.then[k]).collect();
        for (group, &end) in self.groups.iter().zip(&self.shrunk.ends) {
            let out = end..group.end;
            let rows: Vec<&[T]> =
                changed.iter().map(|&k| &self.kernel[self.row_of[k] * n..][out.clone()]).collect();
            T::vectorize(Combine { out: &mut self.f[out], rows: &rows, factors: &factors });
        }
    }

    /// Moves the content of slot `order[k]` to slot k.
    fn reorder(&mut self, order: &[usize]) {
        for numbers in [&mut self.diagonal, &mut self.f, &mut self.beta, &mut self.up, &mut self.low] {
            *numbers = order.iter().map(|&k| numbers[k]).collect();
        }
        for numbers in [&mut self.slots, &mut self.row_of, &mut self.shrunk.seat_of] {
            *numbers = order.iter().map(|&k| numbers[k]).collect();
        }
        let n = self.slots.len();
        let mut old = vec![T::default(); n];
        for row in self.kernel.chunks_exact_mut(n) {
            old.copy_from_slice(row);
            row.iter_mut().zip(order).for_each(|(value, &k)| *value = old[k]);
        }
    }
}
