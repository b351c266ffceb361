//! Pairwise statistics of sparse rows.
//!
//! Every statistic here is a sum over features of s(xⱼ, zⱼ) with s(0, 0) = 0, so
//! Σ s(xⱼ, zⱼ) = Σ s(xⱼ, 0) + Σ s(0, zⱼ) + Σ over common features of [s(xⱼ, zⱼ) − s(xⱼ, 0) − s(0, zⱼ)].
//! The first two sums belong to single rows. For the third the columns of the tile are indexed by feature once, and
//! each row walks only over the features it has: the work is the number of common features. Sums are `f64` whatever
//! the storage.

use std::ops::Range;

use crate::data::with_samples;
use crate::data::{AnySamples, Storage};
use crate::real::Real;

use super::group::Group;
use super::pack::norm;
use super::plan::Method;

/// Compressed rows of features.
#[derive(Debug)]
pub(crate) struct SparseRows {
    width: usize,
    starts: Vec<usize>,
    features: Vec<u32>,
    values: Vec<f64>,
}

impl SparseRows {
    /// The features of `group`, ascending in each row.
    pub fn new(group: &Group, samples: &AnySamples<'_>) -> Self {
        let mut position = vec![u32::MAX; samples.ncols()];
        for (j, &c) in group.columns.iter().enumerate() {
            position[c] = j as u32;
        }
        let mut rows =
            Self { width: group.width(), starts: vec![0], features: Vec::new(), values: Vec::new() };
        let mut chosen: Vec<(u32, f64)> = Vec::new();
        for i in 0..samples.nrows() {
            chosen.clear();
            let mut choose = |column: usize, value: f64| {
                if position[column] != u32::MAX && value != 0.0 {
                    chosen.push((position[column], value));
                }
            };
            with_samples!(samples, s => match s.storage() {
                Storage::Dense(entries) => {
                    let row = &entries[i * s.ncols()..(i + 1) * s.ncols()];
                    row.iter().enumerate().for_each(|(c, v)| choose(c, v.to_f64()));
                }
                Storage::Sparse { indptr, indices, values } => {
                    for k in indptr[i]..indptr[i + 1] {
                        choose(indices[k] as usize, values[k].to_f64());
                    }
                }
            });
            chosen.sort_unstable_by_key(|(j, _)| *j);
            let norm = norm(chosen.iter().map(|(_, v)| *v));
            for &(j, value) in &chosen {
                group.features(j as usize, value, norm, |k, v| {
                    rows.features.push(k as u32);
                    rows.values.push(v);
                });
            }
            rows.starts.push(rows.features.len());
        }
        rows
    }

    /// Some of the rows, in the order given.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut chosen =
            Self { width: self.width, starts: vec![0], features: Vec::new(), values: Vec::new() };
        for &row in rows {
            let stored = self.starts[row]..self.starts[row + 1];
            chosen.features.extend_from_slice(&self.features[stored.clone()]);
            chosen.values.extend_from_slice(&self.values[stored]);
            chosen.starts.push(chosen.features.len());
        }
        chosen
    }

    /// Stored features in a row, on average.
    pub fn mean_length(&self) -> usize {
        self.features.len() / (self.starts.len() - 1).max(1)
    }

    /// Features of a row, zeros included.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The features of row `i` that are not zero, ascending.
    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let stored = self.starts[i]..self.starts[i + 1];
        self.features[stored.clone()].iter().map(|&k| k as usize).zip(self.values[stored].iter().copied())
    }

    /// Σ s(xⱼ, 0) of a row.
    fn alone(&self, method: Method, i: usize) -> f64 {
        let values = &self.values[self.starts[i]..self.starts[i + 1]];
        match method {
            Method::Dot => 0.0,
            Method::DistanceByDots | Method::DistanceByDifferences => values.iter().map(|v| v * v).sum(),
            Method::Distance1 => values.iter().map(|v| v.abs()).sum(),
            Method::ChiSquared => values.iter().sum(),
            Method::Coordinate => unreachable!("folded by its own program"),
        }
    }
}

/// The columns of a tile, listed by feature.
#[derive(Debug, Default)]
pub(crate) struct FeatureIndex {
    /// Per feature of the group: the end of its list. Zero for features that no column has.
    ends: Vec<u32>,
    counts: Vec<u32>,
    present: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    alone: Vec<f64>,
}

impl FeatureIndex {
    /// Lists `cols` of `z` by feature. O(their stored entries).
    pub fn build(&mut self, method: Method, z: &SparseRows, cols: Range<usize>) {
        for &k in &self.present {
            self.counts[k as usize] = 0;
        }
        self.present.clear();
        self.counts.resize(z.width.max(self.counts.len()), 0);
        self.ends.resize(z.width.max(self.ends.len()), 0);
        for j in cols.clone() {
            for (k, _) in z.row(j) {
                if self.counts[k] == 0 {
                    self.present.push(k as u32);
                }
                self.counts[k] += 1;
            }
        }
        let mut start = 0;
        for &k in &self.present {
            self.ends[k as usize] = start;
            start += self.counts[k as usize];
        }
        self.columns.resize(start as usize, 0);
        self.values.resize(start as usize, 0.0);
        self.alone.clear();
        for (column, j) in cols.enumerate() {
            for (k, value) in z.row(j) {
                let place = self.ends[k] as usize;
                self.columns[place] = column as u32;
                self.values[place] = value;
                self.ends[k] += 1;
            }
            self.alone.push(z.alone(method, j));
        }
    }

    /// The statistic of row `i` of `x` with every column of the index, into `out`.
    pub fn row(&self, method: Method, x: &SparseRows, i: usize, out: &mut [f64]) {
        match method {
            Method::Dot => self.sum_common(x, i, out, |a, b| a * b),
            // Σx² + Σz² − 2Σxz.
            Method::DistanceByDots | Method::DistanceByDifferences => {
                self.sum_common(x, i, out, |a, b| a * b)
            }
            // |x−z| − |x| − |z| is −2 min(|x|, |z|) where the signs agree and 0 where they do not.
            Method::Distance1 => self.sum_common(x, i, out, |a, b| {
                if (a < 0.0) == (b < 0.0) { -2.0 * a.abs().min(b.abs()) } else { 0.0 }
            }),
            // (x−z)²/(x+z) − x − z = −4xz/(x+z), exactly −2x for equal values.
            Method::ChiSquared => {
                self.sum_common(x, i, out, |a, b| if a == b { -2.0 * a } else { -4.0 * (a * b) / (a + b) })
            }
            Method::Coordinate => unreachable!("folded by its own program"),
        }
        if method == Method::Dot {
            return;
        }
        let x_alone = x.alone(method, i);
        let distance = matches!(method, Method::DistanceByDots | Method::DistanceByDifferences);
        for (o, z_alone) in out.iter_mut().zip(&self.alone) {
            let common = if distance { -2.0 * *o } else { *o };
            let sum = (x_alone + z_alone) + common;
            // Rounding may make a distance slightly negative; χ² sums of negative data may truly be negative.
            *o = if method == Method::ChiSquared || sum.is_nan() { sum } else { sum.max(0.0) };
        }
    }

    #[inline(always)]
    fn sum_common(&self, x: &SparseRows, i: usize, out: &mut [f64], term: impl Fn(f64, f64) -> f64) {
        out.fill(0.0);
        for (k, a) in x.row(i) {
            let (end, count) = (self.ends[k] as usize, self.counts[k] as usize);
            if count == 0 {
                continue;
            }
            let list = end - count..end;
            for (&column, &b) in self.columns[list.clone()].iter().zip(&self.values[list]) {
                out[column as usize] += term(a, b);
            }
        }
    }
}
