//! Classifiers on features that approximate a kernel: logistic regression and the support vector machine.

use std::slice;

use crate::data::{AnySamples, Matrix};
use crate::design::{Access, Approximation, Design, Labelled, Parts, RowLoss};
use crate::kernel::Kernel;
use crate::linalg::NormalEquations;
use crate::model::Predictor;
use crate::session::Session;
use crate::solve::{LinearLossFit, LinearLossSettings, Report, minimise};

use super::admission::Admission;
use super::codes::check_codes;
use super::cost;
use super::error::LearnError;
use super::lift::Prepared;
use super::logistic::ClassWeight;
use super::ridge::empty_sums;

/// The loss of a classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassLoss {
    /// Logistic regression: one logit for two classes, else one per class (multinomial).
    Logistic,
    /// The support vector machine with hinge loss: one decision for two classes, else one per class against all others.
    Hinge,
}

/// A classifier on approximate features: its hyper-parameters.
///
/// Minimises C·Σᵢ wᵢ·ℓ(yᵢ, f(xᵢ)) + ½‖v‖² over f(x) = ⟨v, φ(x)⟩ + b, the intercept not penalised.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproxClassifier {
    /// The loss.
    pub loss: ClassLoss,
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// The approximation of the kernel.
    pub approximation: Approximation,
    /// C > 0, which is 1/λ.
    pub c: f64,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// What each class counts, beside the weights of its rows.
    pub class_weight: ClassWeight,
    /// Logistic: what the gradient has to come down to, as a part of the first; svm: how far the objective may be above its
    /// minimum, as a part of it. More than 0.
    pub tol: f64,
    /// Steps at most.
    pub max_iter: usize,
    /// Whether a kernel on landmarks must be proven to be one.
    pub admission: Admission,
}

impl ApproxClassifier {
    /// Creates a classifier with this loss, kernel, approximation and C, and an intercept; other settings take their defaults.
    #[must_use]
    pub fn new(loss: ClassLoss, kernel: Kernel, approximation: Approximation, c: f64) -> Self {
        let tol = match loss {
            ClassLoss::Logistic => 1e-6,
            ClassLoss::Hinge => 1e-3,
        };
        Self {
            loss,
            kernel,
            approximation,
            c,
            intercept: true,
            class_weight: ClassWeight::Uniform,
            tol,
            max_iter: 500,
            admission: Admission::Check,
        }
    }

    /// Fits samples of `classes` classes, numbered by `codes` from 0.
    ///
    /// Logistic: nD²/2 multiply-adds once and nD for each output and step. Hinge: for each output some tens of Newton steps, each nD
    /// and what the rows near the margin take ([`HingeNewton`](crate::solve::HingeNewton)). O(D²) memory and, where they fit the budget,
    /// the nD features; where they do not, they are computed again for each step, and the corner of the hinge is rounded off.
    ///
    /// # Errors
    /// Where the codes or weights do not line up or are out of range, where the kernel has no such features, where the
    /// sums do not fit the memory budget, and where the session is stopped.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(Predictor, Report), LearnError> {
        let prepared = self.prepare(samples, codes, classes, weights, session)?;
        let weights = self.class_weight.combine(codes, classes, weights)?;
        check_codes(samples.nrows(), codes, classes, Some(&weights))?;
        let outputs = if classes == 2 { 1 } else { classes };
        let weights: Vec<f64> = weights.iter().map(|w| self.c * w).collect();
        let labels = Labelled { codes, outputs, weights: &weights };
        let columns = samples.ncols();
        // Every step passes over all features: they are held where they fit the memory budget beside the sums.
        let sums_bytes = cost::sums_bytes(prepared.features.count(columns)?, 0);
        let left = session.with_memory(session.memory().saturating_sub(sums_bytes));
        let design = prepared.features.design(samples, &left)?;
        let fit = match self.loss {
            ClassLoss::Logistic => {
                let sums = sums(&*design, &weights, session)?;
                let loss = RowLoss::Logistic(labels);
                minimise(&*design, &loss, &sums, &self.settings(self.tol), None, session)?
            }
            ClassLoss::Hinge if design.access() == Access::Held => {
                self.machines(&*design, labels, session)?
            }
            ClassLoss::Hinge => {
                let sums = sums(&*design, &weights, session)?;
                self.smoothed_machine(&*design, labels, &sums, session)?
            }
        };
        drop(design);
        let LinearLossFit { weights, intercepts, mut report, .. } = fit;
        report.warnings.extend(prepared.warning);
        let predictor =
            Predictor::on_features(prepared.features, columns, weights, intercepts, prepared.domain);
        Ok((predictor, report))
    }

    fn prepare(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Prepared, LearnError> {
        for (parameter, received, fine) in [
            ("C", self.c, self.c > 0.0 && self.c.is_finite()),
            ("tol", self.tol, self.tol > 0.0 && self.tol.is_finite()),
            ("max_iter", self.max_iter as f64, self.max_iter > 0),
        ] {
            if !fine {
                let received = received.to_string();
                return Err(LearnError::Parameter {
                    parameter,
                    received,
                    allowed: "a finite number above 0",
                });
            }
        }
        check_codes(samples.nrows(), codes, classes, weights)?;
        let prepared = Prepared::new(&self.kernel, self.approximation, self.admission, samples, session)?;
        // The check of the memory; the sums themselves are without targets.
        empty_sums(prepared.features.count(samples.ncols())?, 0, session)?;
        Ok(prepared)
    }

    pub(super) fn settings(&self, tolerance: f64) -> LinearLossSettings {
        LinearLossSettings { lambda: 1.0, intercept: self.intercept, tolerance, max_iter: self.max_iter }
    }
}

/// The sums over the features of rows with these weights.
fn sums(design: &dyn Design, weights: &[f64], session: &Session<'_>) -> Result<NormalEquations, LearnError> {
    let mut sums = NormalEquations::new(design.ncols(), 0);
    let none = Matrix::zeros(design.nrows(), 0);
    design.normal_equations(&none, Some(weights), &Parts::All, slice::from_mut(&mut sums), session)?;
    Ok(sums)
}
