//! Sums of outer products of rows: XᵀX, a block of columns against a block of columns.
//!
//! With the columns in panels this is the product of [`statistic`](super::statistic), whose features are here the rows that are summed over.

use std::ops::Range;

use rayon::prelude::*;

use crate::real::Real;

use super::plan::Method;
use super::simd::{Element, Simd, Vectorized};
use super::statistic::{Block, Norms, ROWS, block};

/// The columns of some rows in panels of [`Element::PANEL`]: within a panel, row after row, the panel's columns side by
/// side. Columns beyond the last are zeros.
#[derive(Debug, Default)]
pub(crate) struct ColumnPanels<T> {
    rows: usize,
    entries: Vec<T>,
}

impl<T: Element> ColumnPanels<T> {
    /// Packs rows of `width` columns, each times its factor if factors are given.
    pub fn pack<R: Real>(&mut self, rows: &[R], width: usize, factors: Option<&[f64]>) {
        self.rows = rows.len() / width.max(1);
        let panel = (self.rows * T::PANEL).max(1);
        self.entries.resize(width.div_ceil(T::PANEL) * panel, T::default());
        self.entries.par_chunks_mut(panel).enumerate().for_each(|(p, panel)| {
            let columns = p * T::PANEL..width.min((p + 1) * T::PANEL);
            for (r, to) in panel.chunks_exact_mut(T::PANEL).enumerate() {
                let from = &rows[r * width..][columns.clone()];
                let (to, rest) = to.split_at_mut(from.len());
                match factors {
                    None => to.iter_mut().zip(from).for_each(|(to, v)| *to = T::from_f64(v.to_f64())),
                    Some(factors) => {
                        let factor = factors[r];
                        to.iter_mut().zip(from).for_each(|(to, v)| *to = T::from_f64(v.to_f64() * factor));
                    }
                }
                rest.fill(T::default());
            }
        });
    }

    /// out += Σᵣ xᵣzᵣᵀ over the columns `x` and `z` of all rows: row-major, products in the panels' own precision. Both must
    /// begin with a panel, and be the same columns or have none in common.
    pub fn add_products(&self, x: Range<usize>, z: Range<usize>, out: &mut [f64]) {
        assert!(x.start.is_multiple_of(T::PANEL) && z.start.is_multiple_of(T::PANEL));
        assert_eq!(out.len(), x.len() * z.len());
        T::vectorize(Products { panels: self, x, z, out });
    }

    fn panel(&self, p: usize) -> &[T] {
        let panel = self.rows * T::PANEL;
        &self.entries[p * panel..(p + 1) * panel]
    }
}

struct Products<'a, T> {
    panels: &'a ColumnPanels<T>,
    x: Range<usize>,
    z: Range<usize>,
    out: &'a mut [f64],
}

/// The entries of a block of rows against a panel, for the element with the longest panel.
const MOST: usize = ROWS * f32::PANEL;

impl<T: Element> Vectorized<T> for Products<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let Self { panels, x, z, out } = self;
        let symmetric = x == z;
        let width = z.len();
        let mut values = [T::default(); MOST];
        let zeros = [T::default(); f32::PANEL];
        for q in (z.start..z.end).step_by(T::PANEL) {
            let columns = q - z.start..z.end.min(q + T::PANEL) - z.start;
            // The upper triangle mirrors the lower one.
            let first = if symmetric { q } else { x.start };
            for i in (first..x.end).step_by(ROWS) {
                let block_of = Block {
                    x: panels.panel(i / T::PANEL),
                    lane: i % T::PANEL,
                    width: panels.rows,
                    z: panels.panel(q / T::PANEL),
                    panels: 1,
                    non_zeros: None,
                };
                block(s, Method::Dot, &block_of, Norms { x: &zeros, z: &zeros }, &mut values);
                let row = i - x.start;
                for (r, values) in (row..x.len().min(row + ROWS)).zip(values.chunks_exact(T::PANEL)) {
                    let to = &mut out[r * width..][columns.clone()];
                    to.iter_mut().zip(values).for_each(|(sum, v)| *sum += v.to_f64());
                    if symmetric && row >= columns.end {
                        let to = out[columns.start * width + r..].iter_mut().step_by(width);
                        to.zip(values).take(columns.len()).for_each(|(sum, v)| *sum += v.to_f64());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of small whole numbers are exact in any order.
    fn every_block_is_summed<T: Element>() {
        let entry = |k: usize| (k * 7 % 11) as f64 - 5.0;
        for (rows, width) in [(1, 1), (3, 40), (300, 71), (0, 5)] {
            let entries: Vec<T> = (0..rows * width).map(|k| T::from_f64(entry(k))).collect();
            let factors: Vec<f64> = (0..rows).map(|r| (r % 3) as f64).collect();
            for factors in [None, Some(&factors[..])] {
                let mut panels = ColumnPanels::<T>::default();
                panels.pack(&[T::from_f64(9.0); 2 * 80], 80, None);
                panels.pack(&entries, width, factors);
                let factor = |r: usize| factors.map_or(1.0, |f| f[r]);
                let parts = (0..width).step_by(32).map(|first| first..width.min(first + 32));
                let blocks: Vec<Range<usize>> = parts.chain(std::iter::once(0..width)).collect();
                for x in &blocks {
                    for z in blocks.iter().filter(|z| *z == x || z.end <= x.start || x.end <= z.start) {
                        let mut out = vec![1.0; x.len() * z.len()];
                        panels.add_products(x.clone(), z.clone(), &mut out);
                        for (place, found) in out.iter().enumerate() {
                            let (i, j) = (x.start + place / z.len(), z.start + place % z.len());
                            let product = |r: usize| {
                                factor(r) * factor(r) * entry(r * width + i) * entry(r * width + j)
                            };
                            assert_eq!(*found, 1.0 + (0..rows).map(product).sum::<f64>(), "{i} {j}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_block_is_summed_in_both_precisions() {
        every_block_is_summed::<f32>();
        every_block_is_summed::<f64>();
    }
}
