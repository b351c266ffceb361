//! C-classification on features that approximate a kernel: the hinge loss by Newton's method on features in memory, and
//! a smoothed hinge loss on features that are recomputed for each pass.

use crate::data::Matrix;
use crate::design::{
    Access, Approximation, Design, Labelled, LabelledDesign, LabelledRows, Loss, Parts, Rounding,
};
use crate::kernel::Kernel;
use crate::learn::class_features::{ClassFeatures, sums};
use crate::learn::class_weight::Counted;
use crate::learn::error::LearnError;
use crate::learn::fitted::{Answer, Fitted};
use crate::learn::lift::Prepared;
use crate::learn::problem::{Origin, Problem, unnamed};
use crate::linalg::{Intercept, LinearFit, NormalEquations, NormalEquationsError};
use crate::session::Session;
use crate::solve::{HingeNewton, LinearLossFit, Report, Status, minimise};
use crate::watch::Watch;

use super::{Machine, Svm};

/// The target of the gap, relative to the tolerance: the last steps cost little and reduce it much.
const AIM: f64 = 0.1;

/// The default limit on steps for each decision.
const MAX_STEPS: u64 = 500;

impl Svm {
    /// C-classification on features that approximate a kernel whose hyper-parameters are all numbers.
    pub(super) fn on_features(
        &self,
        kernel: &Kernel,
        approximation: Approximation,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let features = self.class_features(kernel, approximation)?;
        features.train(problem, session, |rows| {
            let LabelledDesign { design, labels } = rows;
            if design.access() == Access::Held {
                return features.machines(design, labels, session);
            }
            let sums = sums(design, labels.weights, session)?;
            features.smoothed_machine(&rows, &sums, session)
        })
    }

    /// C-classification on rows of features that need not be on this machine: the result for a stream, from sums
    /// computed elsewhere.
    ///
    /// The weights of `rows`, and those of `sums`, which are over the features alone, are C times the weights of the classes and of
    /// the rows.
    ///
    /// # Errors
    /// If this is not C-classification without probabilities on an approximation, if a setting is out of range, if the
    /// sums do not fit the features, or if the session is stopped.
    pub fn train_on_sums(
        &self,
        prepared: &Prepared,
        rows: &dyn LabelledRows,
        sums: &NormalEquations,
        classes: usize,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let (kernel, approximation) = self.lift.approximation()?;
        let features = self.class_features(kernel, approximation)?;
        let answer =
            features.train_on_sums(prepared, rows, || features.smoothed_machine(rows, sums, session))?;
        let count = (rows.nrows(), Origin::default());
        Ok(Fitted::of_rows(self, count, Some(unnamed(classes)), session, answer))
    }

    fn class_features<'a>(
        &'a self,
        kernel: &'a Kernel,
        approximation: Approximation,
    ) -> Result<ClassFeatures<'a>, LearnError> {
        let (Machine::Svc { c }, false) = (self.machine, self.probability) else {
            return Err(LearnError::Unsupported(
                "approximate features are for C-classification without probabilities",
            ));
        };
        Ok(ClassFeatures {
            kernel,
            approximation,
            c,
            intercept: Intercept::Centred,
            class_weight: &self.class_weight,
            counted: Counted::Rows,
            tol: self.solver.tol,
            max_iter: self.solver.max_iter.unwrap_or(MAX_STEPS) as usize,
            kernel_check: self.kernel_check,
        })
    }
}

impl ClassFeatures<'_> {
    /// A machine for each output, started from ridge regression on ±1 if that costs no more than a step.
    fn machines(
        &self,
        design: &dyn Design,
        labels: Labelled<'_>,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let (n, d, m) = (design.nrows(), design.ncols(), labels.outputs);
        let LinearFit { mut weights, mut intercepts } = self.sides_by_ridge(design, labels, session)?;
        let mut report = Report::new(Status::Converged, "semismooth newton on features", 0, 0.0);
        let mut objective = 0.0;
        session.begin("machines", m as u64);
        for k in 0..m {
            let positive: Vec<bool> = (0..n).map(|i| labels.positive(i, k)).collect();
            let machine = HingeNewton {
                rows: design,
                positive: &positive,
                bounds: labels.weights,
                intercept: self.intercept,
            };
            let start = (0..d).map(|j| weights.row(j)[k]).collect();
            let fit = machine.solve((start, intercepts[k]), AIM * self.tol, self.max_iter, session)?;
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

    /// Ridge regression on ±1; zero if there are more features than rows or the system is singular to rounding.
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
            match sums[0].ridge(1.0, self.intercept, session) {
                Err(NormalEquationsError::Indefinite { .. }) => {}
                other => return Ok(other?),
            }
        }
        Ok(LinearFit { weights: Matrix::zeros(d, m), intercepts: vec![0.0; m] })
    }

    /// Minimises the hinge loss smoothed over a width δ, which is reduced until its effect on the objective is small.
    /// The smoothed objective is nowhere above the original, so its minimum is a lower bound of the original minimum,
    /// and the difference of the two at the solution bounds the distance from the optimum.
    fn smoothed_machine(
        &self,
        rows: &dyn LabelledRows,
        sums: &NormalEquations,
        session: &Session<'_>,
    ) -> Result<LinearLossFit, LearnError> {
        let mut best: Option<LinearLossFit> = None;
        let (mut iterations, mut share) = (0, 1.0);
        let outputs = rows.nrows() as f64 * rows.outputs() as f64;
        for width in [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] {
            // Only rows in the smoothed part have curvature; their share is estimated from the previous width.
            let loss = Loss::SmoothHinge { width, share };
            let mut fit = minimise(rows, loss, sums, &self.settings(1e-4), best.as_ref(), session)?;
            iterations += fit.report.iterations;
            let Rounding { taken, rounded } = rows.rounding(width, &fit.weights, &fit.intercepts, session)?;
            let gap = if taken == 0.0 { 0.0 } else { taken / (fit.objective + taken) };
            share = (0.5 * rounded as f64 / outputs).clamp(0.01, 1.0);
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
        best.report.reasons.push(format!(
            "the objective is known to {:.1e} of itself, the tolerance is {:.1e}: features that fit the memory would allow more",
            best.report.residual, self.tol
        ));
        Ok(best)
    }
}
