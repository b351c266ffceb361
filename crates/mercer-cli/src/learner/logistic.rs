//! Kernel logistic regression.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::features::Approximation;
use mercer::kernel::Kernel;
use mercer::learn::{Admission, ApproxClassifier, ClassWeight, Classifier, Logistic};
use mercer::model::{self, Link};
use mercer::select::plan::suggested_features;
use mercer::solve::LogisticSolver;
use mercer::watch::Watch;
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, resolved};
use crate::approx::Approx;
use crate::args::{Balance, Fit, Solver};
use crate::failure::Failure;

/// Logistic regression with its settings.
pub struct LogisticLearner {
    kernel: Kernel,
    lambda: f64,
    solver: LogisticSolver,
    class_weight: ClassWeight,
    tol: f64,
    max_iter: usize,
    admission: Admission,
    memory: Option<u64>,
    seed: u64,
    approx: Option<Approx>,
}

impl LogisticLearner {
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
        Ok(Self {
            kernel,
            lambda,
            solver,
            class_weight: match arguments.class_weight {
                Some(Balance::Balanced) => ClassWeight::Balanced,
                _ => ClassWeight::Uniform,
            },
            tol: arguments.tol.unwrap_or(1e-6),
            max_iter: arguments.epochs.unwrap_or(if solver == LogisticSolver::Newton { 100 } else { 1_000 }),
            admission: admission(arguments),
            memory: arguments.memory,
            seed,
            approx: arguments.approx.filter(|approx| approx.is_asked()),
        })
    }
}

impl LogisticLearner {
    /// The approximation asked for; `auto` is one of landmarks, which suit every kernel, where there are many rows.
    fn approximation(&self, rows: usize) -> Option<Approximation> {
        match self.approx? {
            Approx::As(approximation) => Some(approximation),
            Approx::Auto if rows > LARGE => Some(Approximation::nystrom(suggested_features(rows as u64))),
            Approx::Auto | Approx::Exact => None,
        }
    }
}

/// Rows from which `--approx auto` approximates.
const LARGE: usize = 10_000;

impl Learner for LogisticLearner {
    fn method(&self) -> model::Method {
        model::Method::Logistic
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("lambda".to_owned(), json!([self.lambda])),
            ("seed".to_owned(), json!(self.seed)),
            ("tol".to_owned(), json!(self.tol)),
        ])
    }

    fn classifies(&self, _: bool) -> bool {
        true
    }

    fn link(&self) -> Link {
        Link::Logits
    }

    fn check(&self, _: usize, _: usize) -> Result<(), Failure> {
        Ok(())
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Learnt, Failure> {
        let kernel = resolved(&self.kernel, samples, self.seed)?;
        if let Some(approximation) = self.approximation(samples.nrows()) {
            let machine = ApproxClassifier {
                class_weight: self.class_weight.clone(),
                tol: self.tol,
                max_iter: self.max_iter,
                admission: self.admission,
                memory: self.memory,
                seed: self.seed,
                ..ApproxClassifier::new(Classifier::Logistic, kernel, approximation, 1.0 / self.lambda)
            };
            let (predictor, report) =
                machine.fit(samples, &codes_of(targets), targets.ncols(), None, watch)?;
            let facts = BTreeMap::from([("approx".to_owned(), json!(approximation.to_string()))]);
            return Ok(Learnt { predictor, report: Some(report), facts });
        }
        let logistic = Logistic {
            lambda: self.lambda,
            solver: self.solver,
            class_weight: self.class_weight.clone(),
            tol: self.tol,
            max_iter: self.max_iter,
            admission: self.admission,
            memory: self.memory,
            ..Logistic::new(kernel, 1.0)
        };
        let (expansion, report) = logistic.fit(samples, &codes_of(targets), targets.ncols(), None, watch)?;
        Ok(Learnt { predictor: expansion.into(), report: Some(report), facts: BTreeMap::new() })
    }
}
