//! Classifiers on features that stand in for a kernel: logistic regression and the support vector machine.

use std::ops::Range;

use crate::data::{AnySamples, Matrix};
use crate::features::{ApproximateFeatures, Approximation, KernelFeatures, add_samples};
use crate::kernel::Kernel;
use crate::linalg::NormalEquations;
use crate::model::Predictor;
use crate::session::Session;
use crate::solve::{FeatureBlocks, LinearLossFit, LinearLossSettings, Report, RowLoss, minimise, row_loss};
use crate::watch::Unwatched;

use super::admission::Admission;
use super::approx_ridge::{ApproxRidge, Prepared};
use super::codes::check_codes;
use super::error::LearnError;
use super::logistic::ClassWeight;
use super::ridge::Bias;

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
    /// What stands in for it.
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
    /// With this loss, kernel, approximation and C, an intercept and everything else by itself.
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
    /// and what the rows near the margin take ([`HeldHinge`](crate::solve::HeldHinge)). O(D²) memory and, where they fit the budget,
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
        let blocks = self.blocks(&prepared.features, samples, session)?;
        let fit = match (self.loss, &blocks.held) {
            (ClassLoss::Logistic, _) => {
                let sums = self.sums(&blocks, &weights, session)?;
                let loss = LogisticLoss { labels, bound: if outputs == 1 { 0.25 } else { 0.5 } };
                minimise(&blocks, &loss, &sums, &self.settings(self.tol), None, session)?
            }
            (ClassLoss::Hinge, Some(Held::Single(phi))) => self.held_machines(phi, labels, session)?,
            (ClassLoss::Hinge, Some(Held::Double(phi))) => self.held_machines(phi, labels, session)?,
            (ClassLoss::Hinge, None) => {
                let sums = self.sums(&blocks, &weights, session)?;
                self.rounded_machine(&blocks, labels, &sums, session)?
            }
        };
        let LinearLossFit { weights, intercepts, mut report, .. } = fit;
        report.warnings.extend(prepared.warning);
        Ok((Predictor::on_features(prepared.features, weights, intercepts, prepared.domain), report))
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
        let ridge = ApproxRidge {
            bias: if self.intercept { Bias::Centred } else { Bias::None },
            admission: self.admission,
            ..ApproxRidge::new(self.kernel.clone(), self.approximation, 1.0)
        };
        let prepared = ridge.prepare(samples, session)?;
        // The check of the memory; the sums themselves are without targets.
        ridge.sums(&prepared, 0, session)?;
        Ok(prepared)
    }

    /// Every step passes over all features: they are computed once where they fit the memory budget beside the sums, else anew for
    /// each step.
    fn blocks<'a>(
        &self,
        features: &'a ApproximateFeatures,
        samples: &'a AnySamples<'a>,
        session: &Session<'_>,
    ) -> Result<Blocks<'a>, LearnError> {
        let (rows, columns) = (samples.nrows() as u64, features.features());
        let budget = session.memory();
        let left = budget.saturating_sub(ApproxRidge::bytes_needed(columns, 0));
        let fits = |size: u64| rows.saturating_mul(columns as u64).saturating_mul(size) <= left;
        let held = match samples {
            AnySamples::F64(_) if fits(8) => Some(Held::Double(features.transform_f64(samples, session)?)),
            AnySamples::F32(_) if fits(4) => Some(Held::Single(features.transform_f32(samples, session)?)),
            _ => None,
        };
        Ok(Blocks { features, samples, held })
    }

    /// The sums over the features of rows with these weights.
    fn sums(
        &self,
        blocks: &Blocks<'_>,
        weights: &[f64],
        session: &Session<'_>,
    ) -> Result<NormalEquations, LearnError> {
        let mut sums = NormalEquations::new(blocks.ncols(), 0);
        let none = Matrix::zeros(blocks.nrows(), 0);
        match &blocks.held {
            Some(Held::Single(phi)) => sums.add(phi, &none, Some(weights), session)?,
            Some(Held::Double(phi)) => sums.add(phi, &none, Some(weights), session)?,
            None => add_samples(&mut sums, blocks.features, blocks.samples, &none, Some(weights), session)?,
        }
        Ok(sums)
    }

    pub(super) fn settings(&self, tolerance: f64) -> LinearLossSettings {
        LinearLossSettings { lambda: 1.0, intercept: self.intercept, tolerance, max_iter: self.max_iter }
    }
}

/// The features, where they fit the memory, and else what they are computed from.
pub(super) struct Blocks<'a> {
    features: &'a ApproximateFeatures,
    samples: &'a AnySamples<'a>,
    held: Option<Held>,
}

/// The features of all samples, in the precision of the samples.
enum Held {
    Single(Matrix<f32>),
    Double(Matrix<f64>),
}

impl FeatureBlocks for Blocks<'_> {
    type Error = LearnError;

    fn nrows(&self) -> usize {
        self.samples.nrows()
    }

    fn ncols(&self) -> usize {
        self.features.features()
    }

    fn fill(&self, rows: Range<usize>, out: &mut [f64]) -> Result<(), LearnError> {
        let width = self.ncols();
        let widen = |out: &mut [f64], narrow: &[f32]| {
            out.iter_mut().zip(narrow).for_each(|(wide, narrow)| *wide = f64::from(*narrow));
        };
        let entries = rows.start * width..rows.end * width;
        match &self.held {
            Some(Held::Double(phi)) => {
                out.copy_from_slice(&phi.entries()[entries]);
                return Ok(());
            }
            Some(Held::Single(phi)) => {
                widen(out, &phi.entries()[entries]);
                return Ok(());
            }
            None => {}
        }
        match self.samples {
            AnySamples::F64(_) => self.features.fill_f64(self.samples, rows, out, &Unwatched)?,
            AnySamples::F32(_) => {
                let mut narrow = vec![0f32; out.len()];
                self.features.fill_f32(self.samples, rows, &mut narrow, &Unwatched)?;
                widen(out, &narrow);
            }
        }
        Ok(())
    }
}

/// Rows with their classes.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub codes: &'a [usize],
    pub outputs: usize,
    /// C times the weight of each row.
    pub weights: &'a [f64],
}

impl Labelled<'_> {
    /// Whether row i is on the positive side of this output: the one output of two classes is that of class 1, else each is its
    /// class's against all others.
    pub fn positive(&self, i: usize, output: usize) -> bool {
        self.codes[i] == if self.outputs == 1 { 1 } else { output }
    }
}

struct LogisticLoss<'a> {
    labels: Labelled<'a>,
    bound: f64,
}

impl RowLoss for LogisticLoss<'_> {
    fn outputs(&self) -> usize {
        self.labels.outputs
    }

    fn curvature(&self) -> f64 {
        self.bound
    }

    fn row(&self, i: usize, f: &[f64], g: &mut [f64]) -> f64 {
        row_loss(f, self.labels.codes[i], self.labels.weights[i], g)
    }

    /// The mean of w·p(1 − p) over the outputs, which is |g|(1 − |g|/w); twice that for several, whose curvatures differ.
    fn curvature_at(&self, i: usize, g: &[f64]) -> Option<f64> {
        let w = self.labels.weights[i];
        let bent: f64 = g.iter().filter(|g| **g != 0.0).map(|g| g.abs() * (1.0 - g.abs() / w)).sum();
        Some(bent * if g.len() == 1 { 1.0 } else { 2.0 / g.len() as f64 })
    }
}
