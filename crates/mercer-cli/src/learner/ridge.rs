//! Ridge regression, on a kernel or on features.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::kernel::Kernel;
use mercer::learn::{Admission, Bias, Learner as _, Problem, Ridge, RidgeMethod, Shape};
use mercer::model;
use mercer::session::Session;
use serde_json::Value;

use super::{Learner, Learnt, Lift, admission};
use crate::args::{Fit, Solver};
use crate::failure::Failure;

/// Ridge regression with its settings.
pub struct RidgeLearner {
    ridge: Ridge,
    seed: u64,
}

impl RidgeLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Self {
        let method = match arguments.solver {
            Some(Solver::Cholesky) => RidgeMethod::Cholesky,
            Some(Solver::Mixed) => RidgeMethod::Mixed,
            Some(Solver::Primal) => RidgeMethod::Primal,
            Some(Solver::Cg) => RidgeMethod::Cg,
            _ => RidgeMethod::Auto,
        };
        let usual = Ridge::new(lift, 1.0);
        let (tol, max_iter) = (arguments.tol.unwrap_or(usual.tol), usual.max_iter);
        let lambda = if arguments.lambda.is_empty() { vec![1.0] } else { arguments.lambda.clone() };
        let ridge = usual
            .with_lambda(lambda)
            .with_bias(arguments.bias.unwrap_or_default())
            .with_admission(admission(arguments))
            .with_method(method)
            .with_tolerance(tol, max_iter);
        Self { ridge, seed: arguments.common.seed }
    }

    /// With settings that are known.
    pub fn of(kernel: Kernel, lambda: f64, bias: Bias, admission: Admission, seed: u64) -> Self {
        Self { ridge: Ridge::new(kernel, lambda).with_bias(bias).with_admission(admission), seed }
    }
}

impl Learner for RidgeLearner {
    fn method(&self) -> model::Method {
        self.ridge.method()
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        self.ridge.settings(&Session::default().with_seed(self.seed))
    }

    fn check(&self, rows: usize, columns: usize, session: &Session<'_>) -> Result<(), Failure> {
        Ok(self.ridge.check(Shape { rows, columns, targets: self.ridge.lambda.len() }, session)?)
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let problem = Problem::new(samples.view(), targets).weighted(weights);
        Ok(self.ridge.train(&problem, session)?.into())
    }
}
