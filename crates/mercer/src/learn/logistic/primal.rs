//! Logistic regression on approximate features, by L-BFGS.

use crate::design::{Approximation, RowLoss};
use crate::kernel::Kernel;
use crate::learn::class_features::{ClassFeatures, sums};
use crate::learn::error::LearnError;
use crate::learn::fitted::Answer;
use crate::learn::problem::Problem;
use crate::session::Session;
use crate::solve::minimise;

use super::Logistic;

/// Steps of L-BFGS at most, unless the settings say otherwise.
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
        let features = ClassFeatures {
            kernel,
            approximation,
            c: 1.0 / self.lambda,
            intercept: self.intercept,
            class_weight: &self.class_weight,
            tol: self.tol,
            max_iter: self.max_iter.unwrap_or(MAX_STEPS),
            admission: self.admission,
        };
        features.fit(problem, session, |design, labels| {
            let sums = sums(design, labels.weights, session)?;
            let settings = features.settings(self.tol);
            Ok(minimise(design, &RowLoss::Logistic(labels), &sums, &settings, None, session)?)
        })
    }
}
