//! C-classification on features that approximate a kernel: the hinge by Newton's method on features held in memory, and with
//! its corner rounded off on features that are computed again for each pass.

use serde_json::json;

use crate::data::Matrix;
use crate::design::{Access, Approximation, Design, Labelled, Parts, RowLoss};
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::class_features::{ClassFeatures, sums};
use crate::learn::class_weight::ClassWeight;
use crate::learn::error::LearnError;
use crate::learn::fitted::{Fitted, Settings};
use crate::learn::learner::{Learner, Requires};
use crate::learn::problem::Problem;
use crate::learn::settings::builder;
use crate::linalg::{Intercept, LinearFit, NormalEquations, NormalEquationsError};
use crate::model::Method;
use crate::session::Session;
use crate::solve::{HingeNewton, LinearLossFit, Report, Status, minimise};
use crate::watch::Watch;

/// The gap that is aimed at, as a part of the one that is asked for: the last steps cost little and bring much.
const AIM: f64 = 0.1;

/// Rows whose outputs are computed at a time.
const ROWS: usize = 512;

/// C-classification on approximate features: its settings.
///
/// The model has one decision for two classes, else one per class against all others. For each of them some tens of Newton
/// steps, each nD and what the rows near the margin take ([`HingeNewton`]); O(D²) memory and, where they fit the budget, the nD
/// features.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApproxSvc {
    /// The kernel; `auto` in it is resolved from the samples.
    pub kernel: Kernel,
    /// Its approximation.
    pub approximation: Approximation,
    /// C > 0.
    pub c: f64,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// What each class counts, beside the weights of its rows.
    pub class_weight: ClassWeight,
    /// How far the objective may be above its minimum, as a part of it; more than 0.
    pub tol: f64,
    /// Steps at most for each decision.
    pub max_iter: usize,
    /// Whether a kernel on landmarks must be proven to be one.
    pub admission: Admission,
}

impl ApproxSvc {
    /// Creates a learner with this kernel, approximation and C, and an intercept; other settings take their defaults.
    #[must_use]
    pub fn new(kernel: Kernel, approximation: Approximation, c: f64) -> Self {
        Self {
            kernel,
            approximation,
            c,
            intercept: true,
            class_weight: ClassWeight::Uniform,
            tol: 1e-3,
            max_iter: 500,
            admission: Admission::Check,
        }
    }

    builder! {
        with_c(c: f64),
        with_approximation(approximation: Approximation),
        with_intercept(intercept: bool),
        with_class_weight(class_weight: ClassWeight),
        with_tol(tol: f64),
        with_max_iter(max_iter: usize),
        with_admission(admission: Admission),
    }
}

impl Learner for ApproxSvc {
    fn method(&self) -> Method {
        Method::Svc
    }

    fn requires(&self) -> Requires {
        Requires::Classes
    }

    fn settings(&self, _: &Session<'_>) -> Settings {
        let mut settings =
            Settings::from([("C".to_owned(), json!(self.c)), ("tol".to_owned(), json!(self.tol))]);
        match &self.class_weight {
            ClassWeight::Balanced => settings.insert("class_weight".to_owned(), json!("balanced")),
            ClassWeight::Each(weights) => settings.insert("class_weight".to_owned(), json!(weights)),
            ClassWeight::Uniform | ClassWeight::Named(_) => None,
        };
        settings
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        let kernel = self.kernel.resolve_auto(&session.scales(problem.sample()?.0))?;
        let features = ClassFeatures {
            kernel: &kernel,
            approximation: self.approximation,
            c: self.c,
            intercept: self.intercept,
            class_weight: &self.class_weight,
            tol: self.tol,
            max_iter: self.max_iter,
            admission: self.admission,
        };
        let answer = features.fit(problem, session, |design, labels| {
            if design.access() == Access::Held {
                return features.machines(design, labels, session);
            }
            let sums = sums(design, labels.weights, session)?;
            features.smoothed_machine(design, labels, &sums, session)
        })?;
        let class_weight = self.class_weight.resolved(problem.classes())?;
        Ok(Fitted::new(&self.clone().with_class_weight(class_weight), problem, session, answer))
    }
}

impl ClassFeatures<'_> {
    /// A machine for each output, from ridge regression on its sides where that costs no more than a step.
    fn machines(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
        let LinearFit { mut weights, mut intercepts } = self.sides_by_ridge(design, labels, session)?;
        let solver = "semismooth newton on features".to_owned();
        let mut report =
            Report { status: Status::Converged, solver, iterations: 0, residual: 0.0, warnings: Vec::new() };
        let mut objective = 0.0;
        session.begin("machines", m as u64);
        for k in 0..m {
            let positive: Vec<bool> = (0..n).map(|i| labels.positive(i, k)).collect();
            let machine = HingeNewton {
                rows: design,
                positive: &positive,
                bounds: labels.weights,
                intercept: self.constant(),
            };
            let start = (0..d).map(|j| weights.row(j)[k]).collect();
            let fit = machine.fit((start, intercepts[k]), AIM * self.tol, self.max_iter, session)?;
            fit.weights.iter().enumerate().for_each(|(j, w)| weights.row_mut(j)[k] = *w);
            intercepts[k] = fit.intercept;
            objective += fit.objective;
            report.iterations += fit.iterations;
            report.residual = report.residual.max(fit.gap);
            if fit.gap > self.tol {
                report.status = fit.status;
            }
            session.advance(1);
        }
        Ok(LinearLossFit { weights, intercepts, objective, report })
    }

    /// Ridge regression on ±1; zero where there are more features than rows or rounding is in the way.
    fn sides_by_ridge(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        session: &Session<'_>,
    ) -> Result<LinearFit, LearnError> {
        let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
        if d <= n {
            let sides = Matrix::from_entries(n, m, (0..n * m).map(|e| labels.sign(e / m, e % m)).collect());
            let mut sums = [NormalEquations::new(d, m)];
            let weights = Some(labels.weights);
            design.normal_equations(&sides, weights, &Parts::All, &mut sums, &session.part())?;
            match sums[0].ridge(1.0, self.constant(), session) {
                Err(NormalEquationsError::Indefinite { .. }) => {}
                other => return Ok(other?),
            }
        }
        Ok(LinearFit { weights: Matrix::zeros(d, m), intercepts: vec![0.0; m] })
    }

    /// The hinge rounded off over a width δ that is cut down until what this takes from the objective is small. The rounded
    /// objective is nowhere above the other, so its minimum is a lower bound of the minimum that is looked for, and what
    /// rounding takes is a bound on how far the answer is from the best.
    fn smoothed_machine(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        sums: &NormalEquations,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let mut best: Option<LinearLossFit> = None;
        let (mut iterations, mut share) = (0, 1.0);
        for width in [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] {
            // Only rows in the rounded part have curvature: about as many as the width before had, by their share.
            let loss = RowLoss::SmoothHinge { labels, width, share };
            let mut fit = minimise(design, &loss, sums, &self.settings(1e-4), best.as_ref(), session)?;
            iterations += fit.report.iterations;
            let (taken, rounded) = rounding(design, labels, width, &fit, session)?;
            let gap = if taken == 0.0 { 0.0 } else { taken / (fit.objective + taken) };
            share = (0.5 * rounded).clamp(0.01, 1.0);
            fit.report.iterations = iterations;
            fit.report.residual = gap;
            if gap <= self.tol {
                return Ok(fit);
            }
            best = Some(fit);
        }
        let mut best =
            best.ok_or(LearnError::Unsupported("a support vector machine takes a step at least"))?;
        best.report.status = Status::Stagnated;
        best.report.warnings.push(format!(
            "the objective is known to {:.1e} of itself, the tolerance is {:.1e}: features that fit the memory would allow more",
            best.report.residual, self.tol
        ));
        Ok(best)
    }

    fn constant(&self) -> Intercept {
        if self.intercept { Intercept::Unpenalised } else { Intercept::None }
    }
}

/// The amount that rounding subtracts from the loss in all, and the share of the rows in the rounded part.
fn rounding(
    design: &dyn Design,
    labels: Labelled<'_>,
    width: f64,
    fit: &LinearLossFit,
    session: &Session<'_>,
) -> Result<(f64, f64), LearnError> {
    let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
    let (mut taken, mut rounded) = (0.0, 0usize);
    design.blocks(ROWS, session, &mut |rows, phi| {
        for (i, phi) in rows.zip(phi.chunks_exact(d)) {
            let mut f = fit.intercepts.clone();
            for (k, v) in phi.iter().enumerate() {
                f.iter_mut().zip(fit.weights.row(k)).for_each(|(f, w)| *f += v * w);
            }
            for (k, f) in f.iter().enumerate() {
                let short = 1.0 - labels.sign(i, k) * f;
                let slope = (short / width).clamp(0.0, 1.0);
                taken += labels.weights[i] * (short.max(0.0) - slope * (short - 0.5 * width * slope));
                rounded += usize::from(short > 0.0 && short < width);
            }
        }
        Ok(())
    })?;
    Ok((taken, rounded as f64 / (n * m) as f64))
}
