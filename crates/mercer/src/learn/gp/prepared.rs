//! A problem prepared for the likelihood: samples, normalised targets and unknowns.

use crate::data::{AnySamples, Matrix};
use crate::kernel::Kernel;
use crate::model::Expansion;
use crate::session::Session;

use super::super::error::LearnError;
use super::super::kernel_check::CheckedKernel;
use super::super::knn::check_features;
use super::super::problem::Problem;
use super::super::targets;
use super::optimum::Optimum;
use super::rows::TargetMoments;
use super::unknowns::{self, Unknown};
use super::{Gp, has_noise};

/// A problem prepared for the likelihood.
pub(super) struct Prepared {
    pub samples: AnySamples<'static>,
    /// The kernel with its unknowns, every `auto` a number.
    pub kernel: Kernel,
    pub targets: Matrix<f64>,
    pub means: Vec<f64>,
    pub scales: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub noise: Option<f64>,
    pub unknowns: Vec<Unknown>,
    pub is_constant: bool,
    pub checked: CheckedKernel,
    /// The names of the columns, if known.
    pub columns: Vec<String>,
}

impl Prepared {
    /// Whether hyper-parameters are learnt.
    pub(super) fn is_learnt(&self, gp: &Gp) -> bool {
        gp.learn && !self.is_constant && !self.unknowns.is_empty()
    }

    /// The verdict on the kernel that was learnt.
    pub(super) fn settled(&self, kernel: &Kernel) -> CheckedKernel {
        self.checked.clone().settled(kernel, &self.samples)
    }

    /// Warnings about the kernel, the targets and the learnt values.
    pub(super) fn warnings(&self, gp: &Gp, learnt: &Optimum, checked: &CheckedKernel) -> Vec<String> {
        let mut warnings: Vec<String> = checked.warning.iter().cloned().collect();
        if self.is_constant && gp.learn {
            warnings.push(
                "the targets are the same in every row: nothing is learnt, and the model predicts them everywhere"
                    .to_owned(),
            );
        }
        warnings.extend(learnt.warnings(&self.unknowns, &self.columns));
        warnings
    }

    /// The mean of the posterior from its coefficients for normalised targets, and the scales of the outputs.
    pub(super) fn mean(self, kernel: Kernel, mut coefficients: Matrix<f64>) -> (Expansion, Vec<f64>) {
        let Self { samples, means, scales, checked, .. } = self;
        for i in 0..coefficients.nrows() {
            coefficients.row_mut(i).iter_mut().zip(&scales).for_each(|(a, scale)| *a *= scale);
        }
        let mean = Expansion {
            kernel,
            domain: checked.domain,
            centres: samples,
            shift: None,
            coefficients,
            intercepts: means,
        };
        (mean, scales)
    }
}

impl Gp {
    /// Prepares the rows of positive weight: samples, normalised targets and unknowns. `moments` are those of the
    /// targets where the rows are a sample of more.
    pub(super) fn prepare(
        &self,
        problem: &Problem<'_>,
        moments: Option<&TargetMoments>,
        session: &Session<'_>,
    ) -> Result<Prepared, LearnError> {
        let numbers = problem.numbers()?;
        let all = problem.samples()?;
        check_features(all)?;
        let rows = problem.counted();
        let (samples, numbers) = (all.select(&rows), numbers.select(&rows));
        for found in moments.iter().flat_map(|moments| [moments.means.len(), moments.squares.len()]) {
            if found != numbers.ncols() {
                return Err(LearnError::Length { what: "moments of targets", rows: numbers.ncols(), found });
            }
        }
        let weights = problem.weights().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        self.kernel.check_columns(samples.ncols())?;
        let kernel = self.kernel.resolve_auto(&session.scales(&samples))?;
        let (targets, means, scales) = normalised(&numbers, self.normalise, moments);
        let variance = mean_square(&targets);
        let is_constant = variance == 0.0;
        let variance = if is_constant { 1.0 } else { variance };
        let mut unknowns = unknowns::of_kernel(&kernel, &session.scales(&samples), variance)?;
        let noise = match self.noise {
            Some(noise) if !(noise.is_finite() && noise >= 0.0) => {
                let (parameter, received) = ("noise", noise.to_string());
                return Err(LearnError::Parameter {
                    parameter,
                    received,
                    allowed: "a finite number, 0 or more",
                });
            }
            Some(noise) => Some(noise),
            None if has_noise(kernel.expr()) => Some(0.0),
            None => {
                unknowns.push(unknowns::of_noise(variance));
                None
            }
        };
        unknowns::begin_at(&mut unknowns, self.initial.as_deref())?;
        let start: Vec<f64> = unknowns.iter().map(|unknown| unknown.start.exp()).collect();
        let of_kernel = kernel.tunables()?.len();
        // Rejects unknowns without a derivative before any work.
        kernel.gradient(&start[..of_kernel], samples.ncols())?;
        let checked = self.kernel_check.decide(&kernel, &samples)?;
        Ok(Prepared {
            samples,
            kernel,
            targets,
            means,
            scales,
            weights,
            noise,
            unknowns,
            is_constant,
            checked,
            columns: problem.column_names(),
        })
    }
}

/// The targets less their means and divided by their standard deviations, the means, and the deviations; 0 and 1 if
/// targets are not normalised.
fn normalised(
    targets: &Matrix<f64>,
    normalise: bool,
    moments: Option<&TargetMoments>,
) -> (Matrix<f64>, Vec<f64>, Vec<f64>) {
    let outputs = targets.ncols();
    if !normalise {
        return (targets.clone(), vec![0.0; outputs], vec![1.0; outputs]);
    }
    let means = moments.map_or_else(|| targets::means(targets), |moments| moments.means.clone());
    let mut centred = targets::less(targets, &means);
    let scales: Vec<f64> = (0..outputs)
        .map(|o| {
            let (squares, rows) = match moments {
                Some(moments) => (moments.squares[o], moments.rows as f64),
                None => {
                    ((0..centred.nrows()).map(|i| centred.row(i)[o].powi(2)).sum(), centred.nrows() as f64)
                }
            };
            let deviation = (squares / rows).sqrt();
            // Rounding of the mean leaves a remainder of a few units in the last place.
            let rounding = 8.0 * f64::EPSILON * means[o].abs();
            if deviation > rounding && deviation.is_finite() { deviation } else { 0.0 }
        })
        .collect();
    for i in 0..centred.nrows() {
        for (y, scale) in centred.row_mut(i).iter_mut().zip(&scales) {
            *y = if *scale > 0.0 { *y / scale } else { 0.0 };
        }
    }
    let scales = scales.into_iter().map(|scale| if scale > 0.0 { scale } else { 1.0 }).collect();
    (centred, means, scales)
}

fn mean_square(targets: &Matrix<f64>) -> f64 {
    let entries = targets.entries();
    entries.iter().map(|y| y * y).sum::<f64>() / entries.len().max(1) as f64
}
