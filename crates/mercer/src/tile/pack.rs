//! Samples packed for a program: features transposed in panels, and the statistics of single rows.

use rayon::prelude::*;

use crate::data::{AnySamples, Storage};
use crate::real::Real;
use crate::with_samples;

use super::group::Group;
use super::plan::{Features, Plan};
use super::program::{Node, PointStatistic, Program};
use super::simd::Element;
use super::sparse::SparseRows;
use super::statistic::squared_norms;

/// One side of a kernel matrix, packed by a [`Plan`].
#[derive(Debug)]
pub(crate) struct Operand<T: Element> {
    nrows: usize,
    packs: Vec<Pack<T>>,
    /// Norms of the rows over each group whose point statistics are used.
    norms: Vec<Vec<f64>>,
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
        Self { width, entries, squared_norms: norms }
    }

    fn select(&self, rows: &[usize]) -> Self {
        Self::new(rows.len(), self.width, |i, out| {
            let panel = self.panel(rows[i] / T::PANEL);
            for (k, o) in out.iter_mut().enumerate() {
                *o = panel[k * T::PANEL + rows[i] % T::PANEL].to_f64();
            }
        })
    }
}

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
        Self { nrows, packs, norms }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// One set of features.
    pub fn pack(&self, features: usize) -> &Pack<T> {
        &self.packs[features]
    }

    /// A statistic of row `row` over `group`.
    pub fn point(&self, what: PointStatistic, group: usize, row: usize) -> f64 {
        let norm = self.norms[group][row];
        match what {
            PointStatistic::Norm => norm,
            PointStatistic::NonZero => f64::from(u8::from(norm != 0.0)),
        }
    }

    /// Some of the rows, in the order given.
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
        Self { nrows: rows.len(), packs, norms }
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
    group.columns.iter().map(|&c| row[c] * row[c]).sum::<f64>().sqrt()
}

fn dense<T: Element>(group: &Group, features: &Features, samples: &AnySamples<'_>) -> Panels<T> {
    let centre = |j: usize| features.centre.as_ref().map_or(0.0, |c| c[j]);
    let ncols = samples.ncols();
    Panels::new(samples.nrows(), group.width(), |i, out| {
        let mut embed = |value: &dyn Fn(usize) -> f64| {
            let norm = group.columns.iter().map(|&c| value(c) * value(c)).sum::<f64>().sqrt();
            for (j, &c) in group.columns.iter().enumerate() {
                group.features(j, value(c) - centre(j), norm, |k, v| out[k] = v);
            }
        };
        with_samples!(samples, s => match s.storage() {
            Storage::Dense(entries) => {
                let row = &entries[i * ncols..(i + 1) * ncols];
                embed(&|c| row[c].to_f64());
            }
            Storage::Sparse { .. } => {
                let mut row = vec![0.0; ncols];
                s.copy_row(i, &mut row);
                embed(&|c| row[c]);
            }
        });
    })
}
