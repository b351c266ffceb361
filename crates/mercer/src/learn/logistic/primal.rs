//! Logistic regression on approximate features, by L-BFGS.

use crate::design::{Approximation, LabelledRows, Loss};
use crate::kernel::Kernel;
use crate::learn::class_features::{ClassFeatures, sums};
use crate::learn::class_weight::Counted;
use crate::learn::error::LearnError;
use crate::learn::fitted::{Answer, Fitted};
use crate::learn::lift::Prepared;
use crate::learn::problem::{Origin, Problem, unnamed};
use crate::linalg::NormalEquations;
use crate::session::Session;
use crate::solve::minimise;

use super::Logistic;

/// The default limit on L-BFGS steps.
const MAX_STEPS: usize = 500;

impl Logistic {
    /// The fit on features that approximate a kernel whose hyper-parameters are all numbers.
    pub(super) fn on_features(
        &self,
        kernel: &Kernel,
        approximation: Approximation,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let features = self.class_features(kernel, approximation);
        features.train(problem, session, |rows| {
            let sums = sums(rows.design, rows.labels.weights, session)?;
            let settings = features.settings(self.tol);
            Ok(minimise(&rows, Loss::Logistic, &sums, &settings, None, session)?)
        })
    }

    /// The fit to rows of features that need not be on this machine: the result of
    /// [`train`](crate::learn::Learner::train) from sums computed elsewhere.
    ///
    /// The weights of `rows`, and those of `sums`, which are over the features alone, are C = 1/λ times the weights of the classes
    /// and of the rows.
    ///
    /// # Errors
    /// If the learner is not on an approximation, if a setting is out of range, if the sums do not fit the features, or
    /// if the session is stopped.
    pub fn train_on_sums(
        &self,
        prepared: &Prepared,
        rows: &dyn LabelledRows,
        sums: &NormalEquations,
        classes: usize,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let (kernel, approximation) = self.lift.approximation()?;
        let features = self.class_features(kernel, approximation);
        let answer = features.train_on_sums(prepared, rows, || {
            let settings = features.settings(self.tol);
            Ok(minimise(rows, Loss::Logistic, sums, &settings, None, session)?)
        })?;
        let count = (rows.nrows(), Origin::default());
        Ok(Fitted::of_rows(self, count, Some(unnamed(classes)), session, answer))
    }

    fn class_features<'a>(&'a self, kernel: &'a Kernel, approximation: Approximation) -> ClassFeatures<'a> {
        ClassFeatures {
            kernel,
            approximation,
            c: 1.0 / self.lambda,
            intercept: self.intercept,
            class_weight: &self.class_weight,
            counted: Counted::Weights,
            tol: self.tol,
            max_iter: self.max_iter.unwrap_or(MAX_STEPS),
            kernel_check: self.kernel_check,
        }
    }
}
