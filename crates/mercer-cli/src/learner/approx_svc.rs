//! Support vector classification on features that approximate a kernel.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{self, ClassWeight, Problem};
use mercer::model;
use mercer::session::Session;
use mercer::solve::svm::SvmSettings;
use serde_json::Value;

use super::classifiers::class_weight;
use super::{Learner, Learnt, Library, Lift, admission, is_precomputed};
use crate::approx::Approx;
use crate::args::{Fit, Multiclass};
use crate::failure::Failure;

/// Support vectors on features, and on the kernel for when no approximation is needed.
pub struct ApproxSvcLearner {
    lift: learn::Lift,
    c: f64,
    class_weight: ClassWeight,
    tol: f64,
    admission: learn::Admission,
    classes: Option<Classes>,
    exact: Box<dyn Learner>,
}

impl ApproxSvcLearner {
    /// As the command line asks for it; `exact` is the same without the approximation.
    pub fn new(
        arguments: &Fit,
        approx: Approx,
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
            lift: match approx {
                Approx::As(approximation) => (kernel, approximation).into(),
                Approx::Auto => learn::Lift::Auto(kernel),
                Approx::Exact => kernel.into(),
            },
            c: arguments.c.unwrap_or(1.0),
            class_weight: class_weight(arguments),
            tol: arguments.tol.unwrap_or(1e-3),
            admission: admission(arguments),
            classes: None,
            exact,
        })
    }
}

impl Learner for ApproxSvcLearner {
    fn method(&self) -> model::Method {
        self.exact.method()
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        self.exact.settings()
    }

    fn classifies(&self, _: bool) -> bool {
        true
    }

    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        self.classes = Some(classes.clone());
        self.exact.name_classes(classes)
    }

    fn check(&self, rows: usize, columns: usize, session: &Session<'_>) -> Result<(), Failure> {
        match self.lift {
            learn::Lift::Kernel(_) => self.exact.check(rows, columns, session),
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
        let problem = Problem::new(samples, targets);
        let learn::Lift::Approximate { kernel, approx } = self.lift.resolved(&problem, session)?.0 else {
            return self.exact.fit(samples, targets, weights, session);
        };
        let solver = SvmSettings { tol: self.tol, ..SvmSettings::default() };
        let svc = Svm::new((kernel, approx), Machine::Svc { c: self.c })
            .class_weight(self.class_weight.clone())
            .solver(solver)
            .admission(self.admission);
        let mut learner = Library::boxed(svc, session.seed());
        if let Some(classes) = &self.classes {
            learner.name_classes(classes)?;
        }
        learner.fit(samples, targets, weights, session)
    }
}
