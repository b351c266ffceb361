//! Linear classifiers on features that approximate a kernel, shared by logistic regression and the support vector
//! machine.

use std::slice;

use crate::data::Matrix;
use crate::design::{Approximation, Design, DesignError, Labelled, LabelledDesign, LabelledRows, Parts};
use crate::kernel::Kernel;
use crate::linalg::{Intercept, NormalEquations};
use crate::model::{Facts, Predictor};
use crate::session::Session;
use crate::solve::{LinearLossFit, LinearLossSettings};

use super::class_weight::{ClassWeight, Counted};
use super::codes::check_codes;
use super::cost;
use super::error::LearnError;
use super::fitted::Answer;
use super::kernel_check::KernelCheck;
use super::lift::Prepared;
use super::problem::{Inputs, Problem};
use super::ridge::empty_sums;

/// A linear classifier on approximate features: C·Σᵢ wᵢ·ℓ(yᵢ, f(xᵢ)) + ½‖v‖² over f(x) = ⟨v, φ(x)⟩ + b, the intercept not
/// penalised.
pub(super) struct ClassFeatures<'a> {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: &'a Kernel,
    /// The approximation of the kernel.
    pub approximation: Approximation,
    /// C > 0, which is 1/λ.
    pub c: f64,
    /// Whether there is an intercept.
    pub intercept: Intercept,
    /// The weight of each class, by which those of its rows are multiplied.
    pub class_weight: &'a ClassWeight,
    /// What balanced weights count.
    pub counted: Counted,
    /// The tolerance, more than 0.
    pub tol: f64,
    /// The most steps.
    pub max_iter: usize,
    /// Whether a kernel on landmarks must be proven positive semidefinite.
    pub kernel_check: KernelCheck,
}

impl ClassFeatures<'_> {
    /// Trains by `solve`, which receives the features and labels with C·wᵢ as weights.
    ///
    /// The features are stored if they fit the memory budget together with the sums over them; otherwise they are recomputed
    /// for each pass.
    ///
    /// # Errors
    /// If a setting is out of range, if the problem's classes or weights do not line up, if the kernel has no such
    /// features, if the sums do not fit the memory budget, or if the session is stopped.
    pub fn train(
        &self,
        problem: &Problem<'_>,
        session: &Session<'_>,
        solve: impl FnOnce(LabelledDesign<'_>) -> Result<LinearLossFit, LearnError>,
    ) -> Result<Answer, LearnError> {
        self.check()?;
        let (sample, (codes, classes)) = (problem.sample()?, problem.codes()?);
        let prepared = Prepared::new(self.kernel, self.approximation, self.kernel_check, sample, session)?;
        let columns = prepared.columns;
        // The check of the memory; the sums themselves are without targets.
        empty_sums(prepared.features.count(columns)?, 0, session)?;
        let class_weight = self.class_weight.resolved(problem.classes())?;
        let weights = class_weight.combine(codes, classes, problem.weights(), self.counted)?;
        check_codes(codes.len(), codes, classes, Some(&weights))?;
        let outputs = if classes == 2 { 1 } else { classes };
        let weights: Vec<f64> = weights.iter().map(|w| self.c * w).collect();
        let labels = Labelled { codes, outputs, weights: &weights };
        let sums_bytes = cost::sums_bytes(prepared.features.count(columns)?, 0);
        let left = session.with_memory(session.memory().saturating_sub(sums_bytes));
        let design: Box<dyn Design + '_> = match problem.inputs {
            Inputs::Stream(passes) => prepared.features.design_of_stream(passes, &left)?,
            _ => prepared.features.design(problem.samples()?, &left)?,
        };
        let fit = solve(LabelledDesign { design: &*design, labels })?;
        drop(design);
        Ok(self.answer(&prepared, fit))
    }

    /// Fits by `solve` to rows that need not be on this machine. Their weights are C times those of their classes and
    /// their own.
    ///
    /// # Errors
    /// If a setting is out of range or the rows do not have these features, and those of `solve`.
    pub fn train_on_sums(
        &self,
        prepared: &Prepared,
        rows: &dyn LabelledRows,
        solve: impl FnOnce() -> Result<LinearLossFit, LearnError>,
    ) -> Result<Answer, LearnError> {
        self.check()?;
        let (expected, found) = (prepared.features.count(prepared.columns)?, rows.features());
        if found != expected {
            return Err(DesignError::Columns { found, expected }.into());
        }
        Ok(self.answer(prepared, solve()?))
    }

    fn answer(&self, prepared: &Prepared, fit: LinearLossFit) -> Answer {
        let LinearLossFit { weights, intercepts, mut report, .. } = fit;
        let Prepared { features, columns, domain, warning } = prepared;
        report.warnings.extend(warning.clone());
        let predictor = Predictor::on_features(features.clone(), *columns, weights, intercepts, *domain);
        let facts = Facts::new().with("approx", self.approximation.to_string());
        Answer { facts, ..Answer::new(predictor, report) }
    }

    fn check(&self) -> Result<(), LearnError> {
        for (parameter, received, fine) in [
            ("C", self.c, self.c > 0.0 && self.c.is_finite()),
            ("tol", self.tol, self.tol > 0.0 && self.tol.is_finite()),
            ("max_iter", self.max_iter as f64, self.max_iter > 0),
        ] {
            if !fine {
                return Err(LearnError::parameter(parameter, received, "a finite number above 0"));
            }
        }
        Ok(())
    }

    /// The settings for minimising a smooth loss to this tolerance.
    pub fn settings(&self, tolerance: f64) -> LinearLossSettings {
        LinearLossSettings { lambda: 1.0, intercept: self.intercept, tolerance, max_iter: self.max_iter }
    }
}

/// The sums over the features of rows with these weights.
pub(super) fn sums(
    design: &dyn Design,
    weights: &[f64],
    session: &Session<'_>,
) -> Result<NormalEquations, LearnError> {
    let mut sums = NormalEquations::new(design.ncols(), 0);
    let none = Matrix::zeros(design.nrows(), 0);
    design.normal_equations(&none, Some(weights), &Parts::All, slice::from_mut(&mut sums), session)?;
    Ok(sums)
}
