//! Logistic regression and support vectors on features that stand in for a kernel.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::design::Approximation;
use mercer::kernel::Kernel;
use mercer::learn::{ApproxClassifier, ClassLoss, ClassWeight, choose_approximation};
use mercer::model;

use mercer::session::Session;
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, is_precomputed, resolved, weights_by_name};
use crate::approx::Approx;
use crate::args::{Balance, Fit, Multiclass};
use crate::failure::Failure;

/// Rows that `--approx auto` tries both kinds of features on, at most.
const TRIED: usize = 10_000;

/// A classifier on features, and the one on the kernel for when no approximation is needed.
pub struct ApproxClassesLearner {
    approx: Approx,
    loss: ClassLoss,
    kernel: Kernel,
    c: f64,
    class_weight: ClassWeight,
    by_name: Vec<(String, f64)>,
    tol: Option<f64>,
    max_iter: Option<usize>,
    admission: mercer::learn::Admission,
    seed: u64,
    exact: Box<dyn Learner>,
}

impl ApproxClassesLearner {
    /// As the command line asks for it; `exact` is what it asks for but for the approximation.
    pub fn new(
        arguments: &Fit,
        approx: Approx,
        loss: ClassLoss,
        lift: Lift,
        exact: Box<dyn Learner>,
    ) -> Result<Self, Failure> {
        let Lift::Kernel(kernel) = lift else {
            return Err(Failure::usage(
                "--approx stands in for a kernel, but --features are features already",
            ));
        };
        if is_precomputed(arguments) {
            return Err(Failure::usage(
                "--approx stands in for a kernel, but the data are kernel values already",
            ));
        }
        if arguments.multiclass == Some(Multiclass::OneVsOne) {
            return Err(Failure::usage(
                "--multiclass one-vs-one is for support vectors on the kernel itself",
            )
            .hint("with --approx there is one machine for each class against the rest"));
        }
        if arguments.probability {
            return Err(Failure::usage(
                "--probability is for support vectors on the kernel itself, not for --approx",
            )
            .hint("logistic regression has probabilities with --approx, too"));
        }
        Ok(Self {
            approx,
            loss,
            kernel,
            c: arguments.c.or(arguments.lambda.first().map(|lambda| 1.0 / lambda)).unwrap_or(1.0),
            class_weight: match &arguments.class_weight {
                Some(Balance::Balanced) => ClassWeight::Balanced,
                _ => ClassWeight::Uniform,
            },
            by_name: match &arguments.class_weight {
                Some(Balance::Each(weights)) => weights.clone(),
                _ => Vec::new(),
            },
            tol: arguments.tol,
            max_iter: arguments.epochs,
            admission: admission(arguments),
            seed: arguments.common.seed,
            exact,
        })
    }

    /// The approximation of a kernel for these samples; none where `auto` finds that they need none.
    fn approximation(
        &self,
        kernel: &Kernel,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Option<Approximation>, Failure> {
        match self.approx {
            Approx::As(approximation) => Ok(Some(approximation)),
            Approx::Exact => Ok(None),
            Approx::Auto => {
                let rows = samples.nrows();
                let some: Vec<usize> = (0..rows).step_by(rows / TRIED + 1).collect();
                let some = samples.select(&some);
                let chosen = choose_approximation(kernel, &some, rows as u64, session)?;
                Ok(chosen.map(|(approximation, _)| approximation))
            }
        }
    }
}

impl Learner for ApproxClassesLearner {
    fn method(&self) -> model::Method {
        self.exact.method()
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        self.exact.settings()
    }

    fn classifies(&self, text: bool) -> bool {
        self.exact.classifies(text)
    }

    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        if !self.by_name.is_empty() {
            self.class_weight = ClassWeight::Each(weights_by_name(&self.by_name, classes)?);
        }
        self.exact.name_classes(classes)
    }

    fn check(&self, rows: usize, columns: usize, session: &Session<'_>) -> Result<(), Failure> {
        match self.approx {
            Approx::Exact => self.exact.check(rows, columns, session),
            _ => Ok(()),
        }
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let kernel = resolved(&self.kernel, samples, session)?;
        let Some(approximation) = self.approximation(&kernel, samples, session)? else {
            return self.exact.fit(samples, targets, weights, session);
        };
        let usual = ApproxClassifier::new(self.loss, kernel, approximation, self.c);
        let machine = ApproxClassifier {
            class_weight: self.class_weight.clone(),
            tol: self.tol.unwrap_or(usual.tol),
            max_iter: self.max_iter.unwrap_or(usual.max_iter),
            admission: self.admission,
            ..usual
        };
        let (predictor, report) =
            machine.fit(samples, &codes_of(targets), targets.ncols(), weights, session)?;
        let facts = BTreeMap::from([("approx".to_owned(), json!(approximation.to_string()))]);
        Ok(Learnt { predictor, calibration: None, report: Some(report), facts })
    }
}
