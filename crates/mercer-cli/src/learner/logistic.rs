//! Kernel logistic regression.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::learn::{ClassWeight, Logistic};
use mercer::model;
use mercer::session::Session;
use mercer::solve::LogisticSolver;
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, resolved, weights_by_name};
use crate::args::{Balance, Fit, Solver};
use crate::failure::Failure;

/// Logistic regression with its settings; `auto` in its kernel not yet resolved.
pub struct LogisticLearner {
    logistic: Logistic,
    /// Weights of classes whose codes are not known yet.
    by_name: Vec<(String, f64)>,
    seed: u64,
}

impl LogisticLearner {
    /// With settings that are known.
    pub fn of(logistic: Logistic, seed: u64) -> Self {
        Self { logistic, by_name: Vec::new(), seed }
    }

    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Result<Self, Failure> {
        let Lift::Kernel(kernel) = lift else {
            return Err(Failure::usage("logistic regression works on a kernel").hint(
                "write the features as a kernel: poly(degree=3) has the same predictions as the features of that name",
            ));
        };
        let lambda = match (arguments.c, arguments.lambda.as_slice()) {
            (Some(c), []) if c > 0.0 && c.is_finite() => 1.0 / c,
            (Some(c), []) => {
                return Err(Failure::usage(format!("C is {c}; it must be a finite number above 0")));
            }
            (None, []) => 1.0,
            (None, [lambda]) => *lambda,
            (Some(_), _) => return Err(Failure::usage("--C is 1 over --lambda; give one of them")),
            (None, _) => return Err(Failure::usage("a classifier has one --lambda")),
        };
        let seed = arguments.common.seed;
        let solver = match arguments.solver {
            Some(Solver::Gd) => LogisticSolver::Gd { step: None },
            Some(Solver::Sgd) => LogisticSolver::Sgd { step: None, seed },
            _ => LogisticSolver::Newton,
        };
        let logistic = Logistic {
            solver,
            class_weight: match arguments.class_weight {
                Some(Balance::Balanced) => ClassWeight::Balanced,
                _ => ClassWeight::Uniform,
            },
            tol: arguments.tol.unwrap_or(1e-6),
            max_iter: arguments.epochs.unwrap_or(if solver == LogisticSolver::Newton { 100 } else { 1_000 }),
            admission: admission(arguments),
            ..Logistic::new(kernel, lambda)
        };
        let by_name = match &arguments.class_weight {
            Some(Balance::Each(weights)) => weights.clone(),
            _ => Vec::new(),
        };
        Ok(Self { logistic, by_name, seed })
    }
}

impl Learner for LogisticLearner {
    fn method(&self) -> model::Method {
        model::Method::Logistic
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("lambda".to_owned(), json!([self.logistic.lambda])),
            ("seed".to_owned(), json!(self.seed)),
            ("tol".to_owned(), json!(self.logistic.tol)),
        ])
    }

    fn classifies(&self, _: bool) -> bool {
        true
    }

    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        if !self.by_name.is_empty() {
            self.logistic.class_weight = ClassWeight::Each(weights_by_name(&self.by_name, classes)?);
        }
        Ok(())
    }

    fn check(&self, _: usize, _: usize, _: &Session<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let kernel = resolved(&self.logistic.kernel, samples, session)?;
        let logistic = Logistic { kernel, ..self.logistic.clone() };
        let (expansion, report) =
            logistic.fit(samples, &codes_of(targets), targets.ncols(), weights, session)?;
        let predictor = expansion.into();
        Ok(Learnt { predictor, calibration: None, report: Some(report), facts: BTreeMap::new() })
    }
}
