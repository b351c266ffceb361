//! The quality of features that approximate a kernel, and the effect of more of them.

use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Number};
use crate::design::{KernelError, kernel_error};
use crate::linalg::NormalEquations;
use crate::model::Facts;
use crate::session::Session;

use super::super::error::LearnError;
use super::super::lift::Prepared;
use super::Ridge;
use super::incremental::Solution;

/// Pairs of samples for measuring the error of the kernel.
const PAIRS: usize = 2_000;

/// The quality of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// ⟨φ(x),φ(z)⟩ against k(x,z) on pairs of samples.
    pub kernel: KernelError,
    /// An estimate of tr G(G + λI)⁻¹: the effective dimension of the fit.
    pub effective_dimension: f64,
    /// The effect of more features, for each target; empty if there is only one feature.
    pub sizes: Vec<Sizes>,
}

/// The mean squared error of one target by the number of features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// With half of the features.
    pub half: f64,
    /// With all of them.
    pub all: f64,
    /// With twice as many, assuming that the error is a constant plus a term proportional to 1/D: all − (half − all)/2,
    /// at least 0.
    pub doubled: f64,
}

impl Sizes {
    fn of(half: f64, all: f64) -> Self {
        Self { half, all, doubled: (all - (half - all) / 2.0).max(0.0) }
    }
}

impl Quality {
    /// The facts stored in a model; `targets` are the names.
    #[must_use]
    pub fn facts(&self, targets: &[String]) -> Facts {
        let of_target = |(sizes, target): (&Sizes, &String)| TargetSizes {
            target: target.clone(),
            rmse_half: Number(sizes.half.sqrt()),
            rmse: Number(sizes.all.sqrt()),
            rmse_doubled_about: Number(sizes.doubled.sqrt()),
        };
        let sizes: Vec<TargetSizes> = self.sizes.iter().zip(targets).map(of_target).collect();
        Facts::new()
            .with("kernel_error", Number(self.kernel.relative))
            .with("effective_dimension", Number(self.effective_dimension))
            .with("sizes", sizes)
    }
}

/// The root mean squared errors of one target by the number of features; a list of them is the fact `sizes` of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TargetSizes {
    /// The target.
    pub target: String,
    /// With half of the features.
    pub rmse_half: Number,
    /// With all of them.
    pub rmse: Number,
    /// With twice as many: an extrapolation.
    pub rmse_doubled_about: Number,
}

/// Sums, their solution, and the sums over samples held out of them, where there are any.
#[derive(Debug, Clone, Copy)]
pub struct SolvedSums<'a> {
    /// The sums.
    pub sums: &'a NormalEquations,
    /// Their solution.
    pub solution: &'a Solution,
    /// Sums over other samples, for validation.
    pub held_out: Option<&'a NormalEquations>,
}

/// The errors over all rows of a fit, for quality estimates from sums over a sample.
pub(super) struct AllRows {
    /// Σw of the sample divided by Σw of all rows.
    pub share: f64,
    /// The mean squared error of each target over all rows.
    pub errors: Vec<f64>,
}

impl Ridge {
    /// The quality of the features: the error of their kernel on pairs among `samples`, the effective dimension, and
    /// the error with half of them or twice as many, on held-out samples if there are sums over those.
    ///
    /// The error with half of the features is measured, with (D/2)³/3 multiply-adds; that with twice as many is extrapolated.
    ///
    /// # Errors
    /// As [`solve`](Self::solve) and [`kernel_error`].
    pub fn quality(
        &self,
        prepared: &Prepared,
        summed: SolvedSums<'_>,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Quality, LearnError> {
        let kernel = self.kernel_error(prepared, samples, session)?;
        let halves = self.halves(prepared, summed, session)?;
        let sizes = halves.map_or_else(Vec::new, |halves| halves.sizes);
        Ok(Quality { kernel, effective_dimension: summed.solution.effective_dimension, sizes })
    }

    /// The [`quality`](Self::quality) of a fit to all rows, from sums over a sample of them.
    ///
    /// The effective dimension is that of the sample with λ per row unchanged. The errors with half of the features and with twice
    /// as many are the error over all rows times the ratio of the errors on the sample, corrected for the optimism of fitting few rows.
    pub(super) fn quality_by_sample(
        &self,
        prepared: &Prepared,
        (sums, solution): (&NormalEquations, &Solution),
        AllRows { share, errors }: &AllRows,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Quality, LearnError> {
        let summed = SolvedSums { sums, solution, held_out: None };
        let of_sample = Self { lambda: self.lambda.iter().map(|l| l * share).collect(), ..self.clone() };
        let kernel = self.kernel_error(prepared, samples, session)?;
        let rows = sums.rows() as f64;
        // A fit with d degrees of freedom lowers the error on its own s rows by the fraction d/s.
        let left = |dimension: f64| (1.0 - dimension * share / rows) / (1.0 - dimension / rows);
        let effective_dimension = solution.effective_dimension;
        let of_all = |halves: Halves| {
            let of_target = |(sizes, &all): (&Sizes, &f64)| {
                let ratio = sizes.half * left(halves.dimension) / (sizes.all * left(effective_dimension));
                Sizes::of(if ratio.is_finite() { all * ratio } else { all }, all)
            };
            halves.sizes.iter().zip(errors).map(of_target).collect()
        };
        let sizes = of_sample.halves(prepared, summed, session)?.map_or_else(Vec::new, of_all);
        Ok(Quality { kernel, effective_dimension, sizes })
    }

    pub(super) fn kernel_error(
        &self,
        prepared: &Prepared,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<KernelError, LearnError> {
        let features = prepared.features.ready(samples.ncols(), None, session)?;
        Ok(kernel_error(&features, self.approximation()?.0, samples, PAIRS, session)?)
    }

    /// The errors with half of the features and with all; none if there is only one feature.
    fn halves(
        &self,
        prepared: &Prepared,
        SolvedSums { sums, solution, held_out }: SolvedSums<'_>,
        session: &Session<'_>,
    ) -> Result<Option<Halves>, LearnError> {
        let Some((kept, c)) = prepared.features.half() else { return Ok(None) };
        // Half of the features times √c: in terms of the features themselves, λ/c.
        let scaled = Self { lambda: self.lambda.iter().map(|l| l / c).collect(), ..self.clone() };
        let half = scaled.solve(&sums.of_features(&kept), session)?;
        let judge = held_out.unwrap_or(sums);
        let errors = judge.of_features(&kept).squared_errors(&half.fit)?.into_iter();
        let all = judge.squared_errors(&solution.fit)?.into_iter();
        let weight = judge.weight();
        let sizes = errors.zip(all).map(|(half, all)| Sizes::of(half / weight, all / weight)).collect();
        Ok(Some(Halves { sizes, dimension: half.effective_dimension }))
    }
}

/// The results with half of the features.
struct Halves {
    sizes: Vec<Sizes>,
    /// Their effective dimension.
    dimension: f64,
}
