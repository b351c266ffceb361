//! The choice of the working set of a round.

use std::cmp::Ordering;

use crate::gram::Ends;

/// The working set of the last round, from which the next one is chosen.
pub(super) struct WorkingSet {
    size: usize,
    /// The last set, newest first.
    last: Vec<usize>,
    taken: Vec<bool>,
}

impl WorkingSet {
    pub fn new(size: usize) -> Self {
        Self { size, last: Vec::new(), taken: Vec::new() }
    }

    /// Forgets the variables for which `still` is false.
    pub fn keep(&mut self, still: impl Fn(usize) -> bool) {
        self.last.retain(|&v| still(v));
    }

    /// The next set, ascending: half of it those that violate the conditions most, as many that may grow as may shrink,
    /// and the other half from the last set, its newest members first.
    pub fn choose(
        &mut self,
        Ends { groups, up, low }: Ends<'_>,
        ends: &[(f64, f64)],
        f: &[f64],
        active: &[usize],
        position: &[u32],
    ) -> Vec<usize> {
        self.taken.clear();
        self.taken.resize(active.len(), false);
        let fresh = if self.last.is_empty() { self.size } else { self.size / 2 };
        let each = fresh / (2 * groups.len());
        let mut chosen: Vec<usize> = Vec::with_capacity(self.size);
        for (group, &(least, most)) in groups.iter().zip(ends) {
            let grow = group.clone().map(|k| (f[k] + up[k], k)).filter(|(g, _)| *g < most);
            self.take(first(grow.collect(), each), active, &mut chosen);
            let shrink = group.clone().map(|k| (-(f[k] + low[k]), k)).filter(|(g, _)| -*g > least);
            let already = |k: &usize| !self.taken[*k];
            let shrink = shrink.filter(|(_, k)| already(k)).collect();
            self.take(first(shrink, each), active, &mut chosen);
        }
        for &v in &self.last {
            if chosen.len() >= self.size {
                break;
            }
            let k = position[v] as usize;
            if !self.taken[k] {
                self.taken[k] = true;
                chosen.push(v);
            }
        }
        self.last.clone_from(&chosen);
        chosen.sort_unstable();
        chosen
    }

    fn take(&mut self, places: Vec<usize>, active: &[usize], chosen: &mut Vec<usize>) {
        for k in places {
            self.taken[k] = true;
            chosen.push(active[k]);
        }
    }
}

/// The indices of the `count` least values, equal values by their index, ascending.
pub(super) fn first(mut candidates: Vec<(f64, usize)>, count: usize) -> Vec<usize> {
    let order = |a: &(f64, usize), b: &(f64, usize)| -> Ordering { a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)) };
    if count == 0 {
        return Vec::new();
    }
    if candidates.len() > count {
        candidates.select_nth_unstable_by(count - 1, order);
        candidates.truncate(count);
    }
    candidates.sort_unstable_by(order);
    candidates.into_iter().map(|(_, k)| k).collect()
}
