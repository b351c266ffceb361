//! Ridge regression on explicit features.
//!
//! Minimises Σᵢ wᵢ(yᵢ − ⟨v, φ(xᵢ)⟩ − b)² + λ‖v‖²: the primal of ridge regression on the kernel ⟨φ(x), φ(z)⟩, with the same
//! predictions.
//!
//! ```text
//! bias none      b = 0
//! bias centred   b is not penalised: with φ̄ and ȳ the weighted means, v fits y − ȳ on φ − φ̄, and b = ȳ − ⟨v, φ̄⟩
//! bias column    X and y are centred, a feature 1 is added, and its weight is penalised like the rest
//! ```

use std::ops::Range;

use rayon::prelude::*;

use crate::data::{AnySamples, Matrix};
use crate::design::{Design, DesignError, FeatureMap, Transform, fill_in_slices};
use crate::gram::ValuesMut;
use crate::model::Linear;
use crate::real::Precision;
use crate::session::Session;
use crate::solve::{Group, is_wide, normal_equations_bytes, scale_rows, solve_least_squares, wide_bytes};
use crate::watch::Watch;

use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::problem::Problem;
use super::super::targets::centred;
use super::dual::column_means;
use super::{Intercept, Ridge, roots, targets_by_lambda};

impl Ridge {
    /// The fit on the features of a map, with every column by its place.
    ///
    /// O(nD² + D³/3) time, O(D² + block·D) memory for D features: all nD features are never in memory at once, unless D
    /// > n, where the dual takes O(n²D) time and O(nD) memory.
    pub(super) fn primal(
        &self,
        map: &FeatureMap,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (samples, targets, weights) = (problem.samples()?, problem.numbers()?, problem.weights());
        let (rows, columns, budget) = (samples.nrows(), samples.ncols(), session.memory());
        let transform = map.over(columns, budget)?;
        let groups: Vec<Group> = targets_by_lambda(&self.lambda, targets.ncols())
            .into_iter()
            .map(|(lambda, targets)| Group { lambda, targets })
            .collect();
        let count = transform.count() as u64 + 1;
        let mut needed = normal_equations_bytes(rows, count, groups.len());
        if is_wide(rows, count, &groups) {
            needed = needed.min(wide_bytes(rows, count));
        }
        if needed > budget {
            return Err(transform.too_large("the equations of the fit".into(), needed, budget).into());
        }
        let shift = match self.intercept {
            Intercept::Column => Some(column_means(samples, weights)?),
            Intercept::None | Intercept::Centred => None,
        };
        let roots = roots(weights);
        let mut design = LeastSquaresRows::new(transform.shifted(shift.clone()), samples, roots.as_deref());
        match self.intercept {
            Intercept::None => {}
            Intercept::Centred => design.centre(weights, session)?,
            Intercept::Column => design.append_one = true,
        }
        let (mut y, means) = match self.intercept {
            Intercept::None => (targets.clone(), vec![0.0; targets.ncols()]),
            Intercept::Centred | Intercept::Column => centred(targets, weights),
        };
        if let Some(roots) = &roots {
            scale_rows(&mut y, roots);
        }
        let (solution, report) = solve_least_squares(&design, &y, &groups, budget, session)?;
        let (weights, intercepts) = design.model(&solution, means);
        Ok(Answer::new(Linear { map: map.clone().into(), columns, shift, weights, intercepts }, report))
    }
}

/// √wᵢ(φ(xᵢ) − φ̄), or √wᵢ[φ(xᵢ) 1]: the rows of the least-squares problem.
struct LeastSquaresRows<'a> {
    transform: Transform,
    samples: &'a AnySamples<'a>,
    roots: Option<&'a [f64]>,
    /// φ̄.
    means: Option<Vec<f64>>,
    /// Constant features, ascending, which centring turns into zeros: the intercept replaces them, and their weight is
    /// 0.
    left_out: Vec<usize>,
    append_one: bool,
}

impl<'a> LeastSquaresRows<'a> {
    fn new(transform: Transform, samples: &'a AnySamples<'a>, roots: Option<&'a [f64]>) -> Self {
        Self { transform, samples, roots, means: None, left_out: Vec::new(), append_one: false }
    }

    /// Centres the features at their weighted means.
    ///
    /// Means are computed from differences to one row, so that the mean of a constant column is exact.
    fn centre(&mut self, weights: Option<&[f64]>, session: &Session<'_>) -> Result<(), LearnError> {
        /// Blocks whose sums are in memory at once.
        const BLOCKS: usize = 64;
        let (n, count) = (self.samples.nrows(), self.transform.count());
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        let pivot = (0..n).find(|&i| weight(i) > 0.0).unwrap_or(0);
        let mut first = vec![0.0; count];
        self.transform.fill(self.samples, pivot..pivot + 1, &mut first)?;
        let height = ((1 << 16) / count.max(1)).clamp(1, 1_024);
        let starts: Vec<usize> = (0..n).step_by(height).collect();
        let mut sums = vec![0.0; count];
        session.begin("means of the features", n as u64);
        for starts in starts.chunks(BLOCKS) {
            let partial = starts.par_iter().map(|&start| {
                session.check()?;
                let height = height.min(n - start);
                let mut phi = vec![0.0; height * count];
                self.transform.fill(self.samples, start..start + height, &mut phi)?;
                let mut sums = vec![0.0; count];
                for (i, row) in phi.chunks_exact(count).enumerate() {
                    let w = weight(start + i);
                    let differences = row.iter().zip(&first).map(|(v, f)| w * (v - f));
                    sums.iter_mut().zip(differences).for_each(|(sum, d)| *sum += d);
                }
                session.advance(height as u64);
                Ok::<_, LearnError>(sums)
            });
            for partial in partial.collect::<Vec<_>>() {
                sums.iter_mut().zip(partial?).for_each(|(sum, p)| *sum += p);
            }
        }
        let means = first.iter().zip(sums).map(|(first, sum)| first + sum / total).collect();
        self.left_out = self.transform.constants();
        self.means = Some(means);
        Ok(())
    }

    /// The weights of all features and the intercepts, from the solution and the means of the targets.
    fn model(&self, solution: &Matrix<f64>, mut intercepts: Vec<f64>) -> (Matrix<f64>, Vec<f64>) {
        let (count, outputs) = (self.transform.count(), intercepts.len());
        let mut weights = Matrix::zeros(count, outputs);
        let kept = (0..count).filter(|feature| self.left_out.binary_search(feature).is_err());
        for (place, feature) in kept.enumerate() {
            weights.row_mut(feature).copy_from_slice(solution.row(place));
        }
        if let Some(means) = &self.means {
            for (feature, mean) in means.iter().enumerate() {
                intercepts.iter_mut().zip(weights.row(feature)).for_each(|(b, w)| *b -= w * mean);
            }
        }
        if self.append_one {
            intercepts.iter_mut().zip(solution.row(count)).for_each(|(b, w)| *b += w);
        }
        (weights, intercepts)
    }
}

impl Design for LeastSquaresRows<'_> {
    fn nrows(&self) -> usize {
        self.samples.nrows()
    }

    fn ncols(&self) -> usize {
        self.transform.count() - self.left_out.len() + usize::from(self.append_one)
    }

    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn fill(&self, rows: Range<usize>, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        match out {
            ValuesMut::F64(out) => {
                fill_in_slices(rows, self.ncols(), out, watch, |rows, out| self.fill_slice(rows, out))
            }
            ValuesMut::F32(out) => {
                let mut wide = vec![0.0; out.len()];
                self.fill(rows, (&mut wide).into(), watch)?;
                out.iter_mut().zip(wide).for_each(|(out, wide)| *out = wide as f32);
                Ok(())
            }
        }
    }
}

impl LeastSquaresRows<'_> {
    fn fill_slice(&self, rows: Range<usize>, out: &mut [f64]) -> Result<(), DesignError> {
        let (count, width) = (self.transform.count(), self.ncols());
        if width == count {
            self.transform.fill(self.samples, rows.clone(), out)?;
            if let Some(means) = &self.means {
                for row in out.chunks_exact_mut(width) {
                    row.iter_mut().zip(means).for_each(|(v, mean)| *v -= mean);
                }
            }
        } else {
            let mut all = vec![0.0; rows.len() * count];
            self.transform.fill(self.samples, rows.clone(), &mut all)?;
            for (all, out) in all.chunks_exact(count).zip(out.chunks_exact_mut(width)) {
                self.compress(all, out);
            }
        }
        if let Some(roots) = self.roots {
            for (root, row) in roots[rows].iter().zip(out.chunks_exact_mut(width)) {
                row.iter_mut().for_each(|v| *v *= root);
            }
        }
        Ok(())
    }

    /// One row of features, centred, without those left out or with a 1 at its end.
    fn compress(&self, all: &[f64], out: &mut [f64]) {
        if self.append_one {
            out[..all.len()].copy_from_slice(all);
            out[all.len()] = 1.0;
            return;
        }
        let mut left_out = self.left_out.iter().copied().peekable();
        let mut place = 0;
        for (feature, value) in all.iter().enumerate() {
            if left_out.next_if_eq(&feature).is_none() {
                out[place] = value - self.means.as_ref().map_or(0.0, |means| means[feature]);
                place += 1;
            }
        }
    }
}
