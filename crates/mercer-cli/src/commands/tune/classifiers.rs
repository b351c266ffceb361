//! The search for logistic regression and the perceptron.

use mercer::data::{AnySamples, Matrix};
use mercer::learn::{Admission, Logistic, Perceptron};
use mercer::select::{ClassCriterion, Classifier, Judge, TuneClassifier, TunedClassifier};
use mercer::session::Session;

use super::measure::Measure;
use super::{Found, Searcher};
use crate::args::{self, Method};
use crate::failure::Failure;
use crate::learner::{Library, codes_of};

/// What λa + p − y comes down to in a trial: far below what changes a score.
const TRIAL_TOL: f64 = 1e-4;

impl Searcher<'_> {
    pub(super) fn search_classifier(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<Found, Failure> {
        let seed = self.arguments.common.seed;
        let admission = if self.arguments.assume_psd { Admission::Assume } else { Admission::Check };
        let kernel = self.kernel.clone();
        let classifier = match self.arguments.method {
            Method::Perceptron => Classifier::Perceptron(Perceptron::new(kernel).admission(admission)),
            _ => {
                let logistic = Logistic::new(kernel).tol(TRIAL_TOL).admission(admission);
                Classifier::Logistic(logistic)
            }
        };
        let tune = TuneClassifier {
            classifier,
            lambda: self.lambda.clone(),
            judge: match Measure::of(self.arguments, true) {
                Measure::LogLoss => Judge::LogLoss,
                _ => Judge::Accuracy,
            },
            criterion: match self.criterion {
                args::Criterion::Holdout => ClassCriterion::HoldOut(self.arguments.holdout()),
                args::Criterion::Folds => ClassCriterion::Folds(self.arguments.folds()),
                args::Criterion::Loo | args::Criterion::Gcv => {
                    return Err(Failure::usage(
                        "--criterion loo and gcv are for methods whose left-out errors come from one fit; \
                         a classifier is judged by folds or holdout",
                    ));
                }
            },
            strategy: self.strategy(),
        };
        let codes = codes_of(targets);
        let TunedClassifier { kernel, lambda, score, trials, warnings } =
            self.with_checkpoint(|resume, on_trials| {
                Ok(tune.run(samples, &codes, None, resume, on_trials, session)?)
            })?;
        let learner = match tune.classifier {
            Classifier::Perceptron(perceptron) => Library::boxed(perceptron.lift(kernel.into()), seed),
            Classifier::Logistic(logistic) => {
                let learner = Logistic::new(kernel).lambda(lambda).admission(logistic.admission);
                Library::boxed(learner, seed)
            }
        };
        Ok(Found { learner, score, trials, warnings })
    }
}
