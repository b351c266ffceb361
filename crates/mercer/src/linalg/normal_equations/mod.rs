//! The normal equations of ridge regression on features, (ΦᵀWΦ + λI)β = ΦᵀWy, as sums over samples.
//!
//! Samples are added in chunks of any size and need not be kept; the sums of two parts of the data are merged by
//! addition. Several threads, processes or machines can therefore each take a part of the data, and cross-validation
//! gets the sums without a fold by subtracting those of the fold.
//!
//! Products are computed block by block in the precision of the features, and added up in double precision.

mod bytes;
mod parts;
mod ridge;
mod validation;

use std::ops::Range;

use rayon::prelude::*;

use crate::data::Matrix;
use crate::real::{Precision, Real};
use crate::tile::{ColumnPanels, Element};
use crate::watch::{Stopped, Watch};

pub use ridge::{Intercept, LinearFit, RidgeFactor, RidgePath};
pub use validation::{cross_validate, fold_errors};

/// Features in a block of ΦᵀΦ.
const BLOCK: usize = 256;

/// Samples whose products are summed in the features' own precision before they are added in double: the error of
/// single precision is that of a sum of this many terms.
const SLICE: usize = 512;

/// Why samples could not be added or the equations could not be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NormalEquationsError {
    /// A chunk does not have the shape that the sums are of.
    #[error("expected {expected} {what}, found {found}")]
    Shape {
        /// The quantity with a wrong length.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A feature, target or weight is not finite, or a weight is negative.
    #[error("the {what} of row {row} of the chunk is {value}, not {allowed}")]
    Value {
        /// What it is.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// There are no samples, or all of them have weight 0.
    #[error("there are no samples of positive weight")]
    Empty,
    /// λ is outside of its range.
    #[error("lambda is {received}; it must be a finite number, 0 or more")]
    Lambda {
        /// What was given.
        received: f64,
    },
    /// λ = 0 and the features are linearly dependent.
    #[error(
        "with λ = 0 the problem has no unique answer: the features have rank {rank} of {features}; \
         try λ = {suggestion:e}"
    )]
    RankDeficient {
        /// The numerical rank.
        rank: usize,
        /// The number of features.
        features: usize,
        /// A λ that makes the problem solvable.
        suggestion: f64,
    },
    /// The sums are not those of any features to working precision.
    #[error(
        "ΦᵀΦ + λI is not positive definite at λ = {lambda:e}: λ is below the rounding error of the sums; \
         use a larger one, or features in double precision"
    )]
    Indefinite {
        /// λ.
        lambda: f64,
    },
    /// The eigen-decomposition failed.
    #[error(transparent)]
    Eigen(#[from] super::EigenError),
    /// The watch asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Sums over the features of some samples.
#[derive(Debug, Clone, Copy)]
pub struct FeatureSums<'a> {
    /// Σwφ.
    pub features: &'a [f64],
    /// Σwφφᵀ, row-major; entries above the diagonal are not read.
    pub lower: &'a [f64],
    /// Σwφy: one row per feature.
    pub cross: &'a [f64],
}

/// The normal equations of samples with features φ, targets y and weights w (1 by default): Σw, Σwφ, Σwy, Σwφφᵀ, Σwφy and Σwy².
///
/// Addition is associative up to rounding. O(D²) memory for D features.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalEquations {
    features: usize,
    targets: usize,
    rows: u64,
    weight: f64,
    feature_sums: Vec<f64>,
    target_sums: Vec<f64>,
    target_squares: Vec<f64>,
    /// Blocks (i, j), j ≤ i, of Σwφφᵀ, row after row of blocks; each row-major.
    blocks: Vec<Vec<f64>>,
    /// Σwφy: one row per feature.
    cross: Matrix<f64>,
}

impl NormalEquations {
    /// Empty sums.
    #[must_use]
    pub fn new(features: usize, targets: usize) -> Self {
        let bands = features.div_ceil(BLOCK);
        let side = |b: usize| BLOCK.min(features - b * BLOCK);
        let blocks = (0..bands).flat_map(|i| (0..=i).map(move |j| vec![0.0; side(i) * side(j)])).collect();
        Self {
            features,
            targets,
            rows: 0,
            weight: 0.0,
            feature_sums: vec![0.0; features],
            target_sums: vec![0.0; targets],
            target_squares: vec![0.0; targets],
            blocks,
            cross: Matrix::zeros(features, targets),
        }
    }

    /// Bytes that the sums of this many features and targets take.
    #[must_use]
    pub fn bytes_needed(features: usize, targets: usize) -> u64 {
        let (d, t) = (features as u64, targets as u64);
        d.saturating_mul(d + BLOCK as u64).saturating_mul(4).saturating_add(8 * d * (t + 1))
    }

    /// Number of features.
    #[must_use]
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of targets.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Samples added so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Σw.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Adds a chunk of samples with features in single or double precision.
    ///
    /// nD²/2 multiply-adds for n samples. The sums have the same bits whatever the number of threads.
    ///
    /// # Errors
    /// If the chunk does not have the shape of the sums or holds a value that is not finite, or if `watch` asks to
    /// stop. The sums are then unspecified only in the last case.
    pub fn add<T: Real>(
        &mut self,
        features: &Matrix<T>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<(), NormalEquationsError> {
        self.check(features, targets, weights)?;
        match T::PRECISION {
            Precision::Single => self.add_as::<T, f32>(features, targets, weights, watch),
            Precision::Double => self.add_as::<T, f64>(features, targets, weights, watch),
        }
    }

    /// Adds a chunk of features in the precision `E`.
    fn add_as<T: Real, E: Element>(
        &mut self,
        features: &Matrix<T>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<(), NormalEquationsError> {
        let width = self.features;
        let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let mut panels = ColumnPanels::<E>::default();
        for first in (0..features.nrows()).step_by(SLICE) {
            watch.check()?;
            let rows = first..features.nrows().min(first + SLICE);
            let slice = &features.entries()[rows.start * width..rows.end * width];
            panels.pack(slice, width, roots.as_ref().map(|roots| &roots[rows.clone()]));
            self.add_products(&panels, watch)?;
            let weights = weights.map(|w| &w[rows.clone()]);
            let weight = |r: usize| weights.map_or(1.0, |w| w[r]);
            self.add_targets(slice, targets, rows.start, &weight);
            self.rows += rows.len() as u64;
        }
        Ok(())
    }

    /// Σwφφᵀ over one slice, whose rows already carry √w.
    fn add_products<E: Element>(
        &mut self,
        panels: &ColumnPanels<E>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let width = self.features;
        let bands = width.div_ceil(BLOCK);
        let pairs: Vec<(usize, usize)> = (0..bands).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let columns = |b: usize| b * BLOCK..width.min((b + 1) * BLOCK);
        self.blocks.par_iter_mut().zip(pairs).try_for_each(|(block, (i, j))| {
            watch.check()?;
            panels.add_products(columns(i), columns(j), block);
            Ok(())
        })
    }

    /// Adds the sums that are linear in the features, in double precision.
    fn add_targets<T: Real>(
        &mut self,
        slice: &[T],
        targets: &Matrix<f64>,
        first: usize,
        weight: &(dyn Fn(usize) -> f64 + Sync),
    ) {
        let (width, outputs) = (self.features, self.targets);
        let rows = slice.len() / width.max(1);
        let cross = self.cross.entries_mut().par_chunks_mut((BLOCK * outputs).max(1));
        let cross: Vec<&mut [f64]> = cross.collect();
        let sums: Vec<&mut [f64]> = self.feature_sums.chunks_mut(BLOCK).collect();
        // Without targets there is nothing to pair the sums with.
        let bands: Vec<(Option<&mut [f64]>, &mut [f64])> = if outputs == 0 {
            sums.into_iter().map(|sums| (None, sums)).collect()
        } else {
            cross.into_iter().map(Some).zip(sums).collect()
        };
        bands.into_par_iter().enumerate().for_each(|(b, (cross, sums))| {
            let columns = b * BLOCK..b * BLOCK + sums.len();
            // One output after the other, so that the inner loops run along features.
            let mut by_output = vec![0.0; outputs * sums.len()];
            for r in 0..rows {
                let (phi, w) = (&slice[r * width..][columns.clone()], weight(r));
                sums.iter_mut().zip(phi).for_each(|(s, v)| *s += w * v.to_f64());
                for (out, y) in by_output.chunks_exact_mut(sums.len()).zip(targets.row(first + r)) {
                    let wy = w * y;
                    out.iter_mut().zip(phi).for_each(|(s, v)| *s += wy * v.to_f64());
                }
            }
            for (k, cross) in cross.into_iter().flat_map(|c| c.chunks_exact_mut(outputs)).enumerate() {
                cross.iter_mut().enumerate().for_each(|(o, c)| *c += by_output[o * sums.len() + k]);
            }
        });
        self.add_labels(targets, first..first + rows, weight);
    }

    /// Adds the sums that depend only on targets and weights.
    fn add_labels(&mut self, targets: &Matrix<f64>, rows: Range<usize>, weight: &dyn Fn(usize) -> f64) {
        for (r, row) in rows.enumerate() {
            let w = weight(r);
            self.weight += w;
            for (o, y) in targets.row(row).iter().enumerate() {
                self.target_sums[o] += w * y;
                self.target_squares[o] += w * y * y;
            }
        }
    }

    /// Adds samples whose sums over features were computed elsewhere.
    ///
    /// # Errors
    /// If the sums are of other features or targets, or something is not a finite number; nothing is added then.
    pub fn add_sums(
        &mut self,
        sums: &FeatureSums<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
    ) -> Result<(), NormalEquationsError> {
        let (d, t, rows) = (self.features, self.targets, targets.nrows());
        for (what, found, expected) in [
            ("features", sums.features.len(), d),
            ("sums of products", sums.lower.len(), d * d),
            ("sums with targets", sums.cross.len(), d * t),
            ("targets", targets.ncols(), t),
            ("weights", weights.map_or(rows, <[f64]>::len), rows),
        ] {
            if found != expected {
                return Err(NormalEquationsError::Shape { what, found, expected });
            }
        }
        Self::check_labels(targets, weights)?;
        if let Some(row) = (0..d).find(|&k| !sums.lower[k * (d + 1)].is_finite()) {
            let (what, value) = ("feature", sums.lower[row * (d + 1)]);
            return Err(NormalEquationsError::Value { what, row, value, allowed: "a finite number" });
        }
        let bands = d.div_ceil(BLOCK);
        let pairs: Vec<(usize, usize)> = (0..bands).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        self.blocks.par_iter_mut().zip(pairs).for_each(|(block, (i, j))| {
            let width = BLOCK.min(d - j * BLOCK);
            for (r, row) in block.chunks_exact_mut(width).enumerate() {
                let from = (i * BLOCK + r) * d + j * BLOCK;
                // A block on the diagonal is whole.
                row.iter_mut().enumerate().for_each(|(c, sum)| {
                    *sum += if i == j && c > r {
                        sums.lower[(j * BLOCK + c) * d + i * BLOCK + r]
                    } else {
                        sums.lower[from + c]
                    };
                });
            }
        });
        self.feature_sums.iter_mut().zip(sums.features).for_each(|(sum, s)| *sum += s);
        self.cross.entries_mut().iter_mut().zip(sums.cross).for_each(|(sum, s)| *sum += s);
        self.add_labels(targets, 0..rows, &|r| weights.map_or(1.0, |w| w[r]));
        self.rows += rows as u64;
        Ok(())
    }

    fn check<T: Real>(
        &self,
        features: &Matrix<T>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
    ) -> Result<(), NormalEquationsError> {
        let rows = features.nrows();
        for (what, found, expected) in [
            ("features", features.ncols(), self.features),
            ("targets", targets.ncols(), self.targets),
            ("rows of targets", targets.nrows(), rows),
            ("weights", weights.map_or(rows, <[f64]>::len), rows),
        ] {
            if found != expected {
                return Err(NormalEquationsError::Shape { what, found, expected });
            }
        }
        let refuse =
            |what, row, value, allowed| Err(NormalEquationsError::Value { what, row, value, allowed });
        let bad = (0..rows).into_par_iter().find_map_first(|row| {
            // A loop without an early exit is vectorised.
            let bad = features.row(row).iter().fold(false, |bad, v| bad | !v.to_f64().is_finite());
            bad.then_some(row)
        });
        if let Some(row) = bad {
            let value = features.row(row).iter().map(|v| v.to_f64()).find(|v| !v.is_finite());
            return refuse("feature", row, value.unwrap_or(f64::NAN), "a finite number");
        }
        Self::check_labels(targets, weights)
    }

    /// Refuses targets and weights that are not finite, and negative weights.
    fn check_labels(targets: &Matrix<f64>, weights: Option<&[f64]>) -> Result<(), NormalEquationsError> {
        let refuse =
            |what, row, value, allowed| Err(NormalEquationsError::Value { what, row, value, allowed });
        for row in 0..targets.nrows() {
            if let Some(&y) = targets.row(row).iter().find(|y| !y.is_finite()) {
                return refuse("target", row, y, "a finite number");
            }
            if let Some(w) = weights.map(|w| w[row]).filter(|w| !w.is_finite() || *w < 0.0) {
                return refuse("weight", row, w, "a finite number, 0 or more");
            }
        }
        Ok(())
    }

    /// Adds the sums of `other`.
    ///
    /// # Errors
    /// If they are of different numbers of features or targets.
    pub fn merge(&mut self, other: &Self) -> Result<(), NormalEquationsError> {
        self.combine(other, 1.0)?;
        self.rows += other.rows;
        Ok(())
    }

    /// The sums without the samples of `other`, which must be among those of `self`.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn subtract(&mut self, other: &Self) -> Result<(), NormalEquationsError> {
        self.combine(other, -1.0)?;
        self.rows = self.rows.saturating_sub(other.rows);
        Ok(())
    }

    fn combine(&mut self, other: &Self, sign: f64) -> Result<(), NormalEquationsError> {
        for (what, found, expected) in
            [("features", other.features, self.features), ("targets", other.targets, self.targets)]
        {
            if found != expected {
                return Err(NormalEquationsError::Shape { what, found, expected });
            }
        }
        self.weight += sign * other.weight;
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += sign * f);
        add(&mut self.feature_sums, &other.feature_sums);
        add(&mut self.target_sums, &other.target_sums);
        add(&mut self.target_squares, &other.target_squares);
        add(self.cross.entries_mut(), other.cross.entries());
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(to, from)| add(to, from));
        Ok(())
    }

    /// The lower triangle of Σwφφᵀ, row-major; zeros above it.
    #[must_use]
    pub fn lower(&self) -> Vec<f64> {
        let d = self.features;
        let mut lower = super::zeroed(d * d);
        lower.par_chunks_mut((BLOCK * d).max(1)).enumerate().for_each(|(i, band)| {
            for (j, block) in self.blocks[i * (i + 1) / 2..][..=i].iter().enumerate() {
                let width = BLOCK.min(d - j * BLOCK);
                for (r, row) in block.chunks_exact(width).enumerate() {
                    let reach = width.min(i * BLOCK + r + 1 - j * BLOCK);
                    band[r * d + j * BLOCK..][..reach].copy_from_slice(&row[..reach]);
                }
            }
        });
        lower
    }

    /// Σwφφᵀ·v.
    fn gram_times(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.features];
        let bands = self.features.div_ceil(BLOCK);
        let pairs = (0..bands).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for ((i, j), block) in pairs.zip(&self.blocks) {
            let width = BLOCK.min(self.features - j * BLOCK);
            for (r, row) in block.chunks_exact(width).enumerate() {
                let (i, here) = (i * BLOCK + r, &v[j * BLOCK..][..width]);
                out[i] += row.iter().zip(here).map(|(a, b)| a * b).sum::<f64>();
                if i / BLOCK != j {
                    let vi = v[i];
                    out[j * BLOCK..][..width].iter_mut().zip(row).for_each(|(o, a)| *o += a * vi);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
