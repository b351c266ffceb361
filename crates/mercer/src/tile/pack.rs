//! Samples packed for a program: features transposed in panels, and the statistics of single rows.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::data::with_samples;
use crate::data::{AnySamples, Storage};
use crate::kernel::lower::{Embedding, PointStatistic};
use crate::real::Real;

use super::group::Group;
use super::plan::{Features, Plan};
use super::program::{Node, Program};
use super::simd::Element;
use super::skip::{DENSEST, NonZeros};
use super::sparse::SparseRows;
use super::statistic::squared_norms;

/// One side of a kernel matrix, packed by a [`Plan`].
#[derive(Debug)]
pub(crate) struct Operand<T: Element> {
    nrows: usize,
    packs: Vec<Pack<T>>,
    /// Norms of the rows over each group whose point statistics are used.
    norms: Vec<Vec<f64>>,
    /// The identity of the rows: their set of samples and their indices.
    identity: Identity,
}

/// The identity of rows, distinct between sets of samples.
#[derive(Debug, Clone)]
struct Identity {
    /// 0 for the samples of a matrix's rows, 1 for those of its columns where they are another set.
    set: u8,
    /// The rows in their order; `None` for all of them.
    rows: Option<Vec<usize>>,
}

/// One set of features.
#[derive(Debug)]
pub(crate) enum Pack<T: Element> {
    /// Panels of rows, transposed.
    Dense(Panels<T>),
    /// Compressed rows.
    Sparse(SparseRows),
}

/// Rows in panels of [`Element::PANEL`]: within a panel, feature after feature, the panel's rows side by side. Rows
/// beyond the last are zeros.
#[derive(Debug, Clone)]
pub(crate) struct Panels<T: Element> {
    width: usize,
    entries: Vec<T>,
    /// |x|² of every row, padded like the rows, summed with the arithmetic of the tiles: equal rows are then
    /// at distance exactly 0.
    squared_norms: Vec<T>,
    /// The nonzero features, if most features of most rows are zero.
    non_zeros: Option<NonZeros<T>>,
    /// The same features row after row, created when rows are first selected: in panels a row is spread over as many
    /// cache lines as it has features.
    by_row: OnceLock<Vec<T>>,
}

impl<T: Element> Panels<T> {
    /// Features in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Panel `p`: `width` × `PANEL` entries.
    pub fn panel(&self, p: usize) -> &[T] {
        &self.entries[p * self.width * T::PANEL..(p + 1) * self.width * T::PANEL]
    }

    /// `count` panels from panel `p` on.
    pub fn panels(&self, p: usize, count: usize) -> &[T] {
        let panel = self.width * T::PANEL;
        &self.entries[p * panel..(p + count) * panel]
    }

    /// The nonzero features, if most features of most rows are zero.
    pub(super) fn non_zeros(&self) -> Option<&NonZeros<T>> {
        self.non_zeros.as_ref()
    }

    /// |x|² of every row.
    pub fn squared_norms(&self) -> &[T] {
        &self.squared_norms
    }

    /// Packs `nrows` rows that `write` writes.
    pub fn new(nrows: usize, width: usize, write: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let npanels = nrows.div_ceil(T::PANEL);
        let mut entries = vec![T::default(); npanels * width * T::PANEL];
        let mut norms = vec![T::default(); npanels * T::PANEL];
        entries.par_chunks_mut((width * T::PANEL).max(1)).enumerate().for_each_init(
            || vec![0.0; width],
            |row, (p, panel)| {
                for lane in 0..T::PANEL.min(nrows - p * T::PANEL) {
                    write(p * T::PANEL + lane, row);
                    for (k, value) in row.iter().enumerate() {
                        panel[k * T::PANEL + lane] = T::from_f64(*value);
                    }
                }
            },
        );
        norms
            .par_chunks_mut(T::PANEL)
            .enumerate()
            .for_each(|(p, norms)| squared_norms(&entries[p * width * T::PANEL..], width, norms));
        let zeros = entries.par_iter().filter(|entry| **entry == T::default()).count();
        let padding = (npanels * T::PANEL - nrows) * width;
        let mostly_zeros = (nrows * width) as f64 * DENSEST > (nrows * width + padding - zeros) as f64;
        let non_zeros = mostly_zeros.then(|| {
            let entry =
                |row: usize, k: usize| entries[(row / T::PANEL * width + k) * T::PANEL + row % T::PANEL];
            NonZeros::new(npanels * T::PANEL, width, entry)
        });
        Self { width, entries, squared_norms: norms, non_zeros, by_row: OnceLock::new() }
    }

    fn select(&self, rows: &[usize]) -> Self {
        let (panel, width) = (T::PANEL, self.width);
        // It is computed outside of the lock: a thread that waits for its part of the rows may take up work that also
        // needs them.
        let by_row = match self.by_row.get() {
            Some(known) => known,
            None => {
                let rows = self.rows();
                self.by_row.get_or_init(|| rows)
            }
        };
        let npanels = rows.len().div_ceil(panel);
        let mut entries = vec![T::default(); npanels * width * panel];
        let mut norms = vec![T::default(); npanels * panel];
        let fill = |p: usize, entries: &mut [T], norms: &mut [T]| {
            let rows = &rows[p * panel..rows.len().min((p + 1) * panel)];
            norms.iter_mut().zip(rows).for_each(|(norm, &row)| *norm = self.squared_norms[row]);
            // A few features at a time: what they write stays in the first-level cache until all rows are there.
            for (first, entries) in (0..width).step_by(AT_ONCE).zip(entries.chunks_mut(AT_ONCE * panel)) {
                for (lane, &row) in rows.iter().enumerate() {
                    let features = &by_row[row * width..(row + 1) * width][first..];
                    for (to, from) in entries.chunks_exact_mut(panel).zip(features) {
                        to[lane] = *from;
                    }
                }
            }
        };
        let stride = (width * panel).max(1);
        // A few panels are filled before another thread wakes up.
        if rows.len() * width < SELECTED_ALONE {
            let panels = entries.chunks_mut(stride).zip(norms.chunks_mut(panel));
            panels.enumerate().for_each(|(p, (entries, norms))| fill(p, entries, norms));
        } else {
            let panels = entries.par_chunks_mut(stride).zip(norms.par_chunks_mut(panel));
            panels.enumerate().for_each(|(p, (entries, norms))| fill(p, entries, norms));
        }
        let non_zeros = self.non_zeros.as_ref().map(|all| all.select(rows, npanels * panel));
        Self { width, entries, squared_norms: norms, non_zeros, by_row: OnceLock::new() }
    }

    fn rows(&self) -> Vec<T> {
        let (panel, width) = (T::PANEL, self.width);
        let mut rows = vec![T::default(); self.squared_norms.len() * width];
        rows.par_chunks_mut((panel * width).max(1)).enumerate().for_each(|(p, rows)| {
            let from = self.panel(p);
            for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
                row.iter_mut().zip(from[lane..].iter().step_by(panel)).for_each(|(to, from)| *to = *from);
            }
        });
        rows
    }
}

/// Features that are selected at once.
const AT_ONCE: usize = 32;

/// Entries up to which rows are selected by the calling thread alone.
const SELECTED_ALONE: usize = 1 << 17;

impl<T: Element> Operand<T> {
    /// Packs `samples`. O(nd).
    pub fn new(program: &Program, plan: &Plan, samples: &AnySamples<'_>) -> Self {
        let nrows = samples.nrows();
        let norms = (0..program.groups.len())
            .map(|g| {
                let used =
                    program.nodes.iter().any(|node| matches!(node, Node::Point(_, _, group) if *group == g));
                if used { row_norms(&program.groups[g], samples) } else { Vec::new() }
            })
            .collect();
        let packs = plan
            .features
            .iter()
            .map(|features| {
                let group = &program.groups[features.group];
                if plan.sparse {
                    Pack::Sparse(SparseRows::new(group, samples))
                } else {
                    Pack::Dense(dense(group, features, samples))
                }
            })
            .collect();
        Self { nrows, packs, norms, identity: Identity { set: 0, rows: None } }
    }

    /// The same rows as a separate set: none of them counts as the same row as one packed by [`new`](Self::new).
    pub fn apart(mut self) -> Self {
        self.identity.set = 1;
        self
    }

    /// Whether row `row` is the same row of the same samples as row `other_row` of `other`.
    pub fn is_row_of(&self, row: usize, other: &Self, other_row: usize) -> bool {
        let number = |of: &Self, row: usize| of.identity.rows.as_ref().map_or(row, |rows| rows[row]);
        self.identity.set == other.identity.set && number(self, row) == number(other, other_row)
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// One set of features.
    pub fn pack(&self, features: usize) -> &Pack<T> {
        &self.packs[features]
    }

    /// The number of features in a kernel value: its cost in multiply-adds.
    pub fn width(&self) -> usize {
        let width = |pack: &Pack<T>| match pack {
            Pack::Dense(panels) if panels.non_zeros.is_some() => panels.width / 4,
            Pack::Dense(panels) => panels.width,
            Pack::Sparse(rows) => rows.mean_length(),
        };
        self.packs.iter().map(width).sum()
    }

    /// A statistic of row `row` over `group`.
    pub fn point(&self, what: PointStatistic, group: usize, row: usize) -> f64 {
        let norm = self.norms[group][row];
        match what {
            PointStatistic::Norm => norm,
            PointStatistic::NonZero => f64::from(u8::from(norm != 0.0)),
        }
    }

    /// The chosen rows, in the order given.
    pub fn select(&self, rows: &[usize]) -> Self {
        let packs = self
            .packs
            .iter()
            .map(|pack| match pack {
                Pack::Dense(panels) => Pack::Dense(panels.select(rows)),
                Pack::Sparse(sparse) => Pack::Sparse(sparse.select(rows)),
            })
            .collect();
        let norms = self
            .norms
            .iter()
            .map(|norms| if norms.is_empty() { Vec::new() } else { rows.iter().map(|&r| norms[r]).collect() })
            .collect();
        let numbers = self.identity.rows.as_ref();
        let chosen = rows.iter().map(|&r| numbers.map_or(r, |numbers| numbers[r])).collect();
        let identity = Identity { set: self.identity.set, rows: Some(chosen) };
        Self { nrows: rows.len(), packs, norms, identity }
    }
}

/// |x| over the group's columns, for every row.
fn row_norms(group: &Group, samples: &AnySamples<'_>) -> Vec<f64> {
    (0..samples.nrows())
        .into_par_iter()
        .map_init(|| vec![0.0; samples.ncols()], |row, i| chosen_norm(group, samples, i, row))
        .collect()
}

fn chosen_norm(group: &Group, samples: &AnySamples<'_>, i: usize, row: &mut [f64]) -> f64 {
    samples.copy_row(i, row);
    norm(group.columns.iter().map(|&c| row[c]))
}

/// The Euclidean norm. Numbers whose squares are too large or too small are scaled first.
pub(super) fn norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let square: f64 = values.clone().map(|v| v * v).sum();
    if square.is_normal() {
        return square.sqrt();
    }
    let largest = values.clone().fold(0.0, |most: f64, v| most.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * values.map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}

fn dense<T: Element>(group: &Group, features: &Features, samples: &AnySamples<'_>) -> Panels<T> {
    let ncols = samples.ncols();
    let embed = |i: usize, out: &mut [f64]| {
        with_samples!(samples, s => match s.storage() {
            Storage::Dense(entries) => {
                let row = &entries[i * ncols..(i + 1) * ncols];
                embed(group, features, |c| row[c].to_f64(), out);
            }
            Storage::Sparse { .. } => {
                let mut row = vec![0.0; ncols];
                s.copy_row(i, &mut row);
                embed(group, features, |c| row[c], out);
            }
        });
    };
    Panels::new(samples.nrows(), group.width(), embed)
}

/// The features of the row whose column `c` holds `value(c)`.
#[inline]
fn embed(group: &Group, features: &Features, value: impl Fn(usize) -> f64, out: &mut [f64]) {
    let centre = |j: usize| features.centre.as_ref().map_or(0.0, |centre| centre[j]);
    let columns = group.columns.iter().enumerate();
    match group.embedding {
        // The usual case, several times faster than a call for each feature.
        Embedding::Plain => columns.zip(out).for_each(|((j, &c), out)| *out = value(c) - centre(j)),
        _ => {
            let norm = norm(group.columns.iter().map(|&c| value(c)));
            columns.for_each(|(j, &c)| group.features(j, value(c) - centre(j), norm, |k, v| out[k] = v));
        }
    }
}
