//! Ridge regression, on a kernel or on features.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mercer::data::{AnySamples, Matrix};
use mercer::kernel::Kernel;
use mercer::learn::{Admission, Bias, Form, IterativeRidge, Ridge, RidgeFeatures};
use mercer::model::{self, Linear, Predictor};
use mercer::session::Session;
use mercer::solve::{CgState, ConjugateGradient, Factor, Report};
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, resolved};
use crate::args::{Fit, Solver};
use crate::checkpoint::{Checkpoint, Content, fingerprint};
use crate::failure::Failure;

/// Ridge regression with its settings.
pub struct RidgeLearner {
    lift: Lift,
    lambda: Vec<f64>,
    bias: Bias,
    admission: Admission,
    solver: Solver,
    seed: u64,
    tol: f64,
    checkpoint: Option<PathBuf>,
}

impl RidgeLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Self {
        let lambda = if arguments.lambda.is_empty() { vec![1.0] } else { arguments.lambda.clone() };
        Self {
            lift,
            lambda,
            bias: arguments.bias.unwrap_or(Bias::Centred),
            admission: admission(arguments),
            solver: arguments.solver.unwrap_or(Solver::Auto),
            seed: arguments.common.seed,
            tol: arguments.tol.unwrap_or(1e-3),
            checkpoint: arguments.checkpoint.clone(),
        }
    }

    /// With settings that are known.
    pub fn of(kernel: Kernel, lambda: f64, bias: Bias, admission: Admission, seed: u64) -> Self {
        let (lift, lambda) = (Lift::Kernel(kernel), vec![lambda]);
        let (solver, tol, checkpoint) = (Solver::Auto, 1e-3, None);
        Self { lift, lambda, bias, admission, solver, seed, tol, checkpoint }
    }

    fn on_kernel(&self, kernel: Kernel) -> Ridge {
        Ridge {
            lambda: self.lambda.clone(),
            bias: self.bias,
            admission: self.admission,
            factor: match self.solver {
                Solver::Cholesky => Factor::Double,
                Solver::Mixed => Factor::Mixed,
                _ => Factor::Auto,
            },
            form: match self.solver {
                Solver::Primal => Form::Primal,
                Solver::Cholesky | Solver::Mixed => Form::Dual,
                _ => Form::Auto,
            },
            ..Ridge::new(kernel, 1.0)
        }
    }
}

impl RidgeLearner {
    /// Conjugate gradients, from where a checkpoint left off.
    fn iterative(
        &self,
        kernel: Kernel,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<(Predictor, Report), Failure> {
        let [lambda] = self.lambda[..] else {
            return Err(Failure::usage("--solver cg has one --lambda for all targets"));
        };
        let ridge = IterativeRidge {
            bias: self.bias,
            admission: self.admission,
            solver: ConjugateGradient { tolerance: self.tol, ..ConjugateGradient::default() },
            ..IterativeRidge::new(kernel, lambda)
        };
        let mut checkpoint = self.checkpoint.as_deref().map(Checkpoint::open).transpose()?;
        let mut content = Content::default();
        content.add_samples(samples);
        content.add(targets.entries());
        let shape = (samples.nrows(), samples.ncols(), content.finish());
        let work = fingerprint(format!("{ridge:?} {shape:?}").as_bytes());
        let state = checkpoint.as_ref().and_then(|checkpoint| checkpoint.state(work));
        let state = state.map(CgState::from_bytes).transpose();
        let state = state.map_err(|error| Failure::usage(format!("the checkpoint: {error}")))?;
        let mut unwritten = None;
        let (expansion, mut report) = ridge.resume(samples, targets, None, state, session, &mut |state| {
            if let Some(checkpoint) = checkpoint.as_mut().filter(|checkpoint| checkpoint.is_due()) {
                unwritten = checkpoint.keep(work, state.to_bytes()).err().or(unwritten.take());
            }
        })?;
        // The work is done all the same.
        report
            .warnings
            .extend(unwritten.map(|failure| format!("there is no checkpoint: {}", failure.message())));
        Ok((expansion.into(), report))
    }
}

impl Learner for RidgeLearner {
    fn method(&self) -> model::Method {
        model::Method::Ridge
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("bias".to_owned(), json!(self.bias)),
            ("lambda".to_owned(), json!(self.lambda)),
            ("seed".to_owned(), json!(self.seed)),
        ])
    }

    fn check(&self, rows: usize, columns: usize, session: &Session<'_>) -> Result<(), Failure> {
        match &self.lift {
            Lift::Kernel(kernel) => {
                let ridge = self.on_kernel(kernel.clone());
                let primal = kernel.is_resolved() && ridge.primal(rows, columns, session).is_some();
                match self.solver {
                    Solver::Cg => Ok(()),
                    _ if primal => Ok(()),
                    Solver::Primal => Err(Failure::usage(format!(
                        "{kernel} has no finite list of features, so it cannot be solved in them"
                    ))
                    .hint("use --solver auto")),
                    _ => Ok(Ridge::check_memory(rows, session)?),
                }
            }
            Lift::Features(_) if matches!(self.solver, Solver::Cholesky | Solver::Mixed | Solver::Cg) => {
                Err(Failure::usage("--features is solved in the features; --solver is auto or primal"))
            }
            Lift::Features(_) => Ok(()),
        }
    }

    fn checkpoint(&self) -> Option<Checkpoint> {
        self.checkpoint.as_deref().and_then(|path| Checkpoint::open(path).ok())
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let (predictor, report) = match &self.lift {
            Lift::Kernel(kernel) => {
                let kernel = resolved(kernel, samples, session)?;
                if self.solver == Solver::Cg {
                    let (predictor, report) = self.iterative(kernel, samples, targets, session)?;
                    let facts = BTreeMap::from([("iterations".to_owned(), json!(report.iterations))]);
                    return Ok(Learnt { predictor, calibration: None, report: Some(report), facts });
                }
                let ridge = self.on_kernel(kernel);
                match ridge.primal(samples.nrows(), samples.ncols(), session) {
                    Some(primal) => linear(primal.fit(samples, targets, weights, session)?),
                    None => {
                        let (expansion, report) = ridge.fit(samples, targets, weights, session)?;
                        (expansion.into(), report)
                    }
                }
            }
            Lift::Features(map) => {
                let ridge = RidgeFeatures { map: map.clone(), lambda: self.lambda.clone(), bias: self.bias };
                linear(ridge.fit(samples, targets, weights, session)?)
            }
        };
        Ok(Learnt { predictor, calibration: None, report: Some(report), facts: BTreeMap::new() })
    }
}

fn linear((linear, report): (Linear, Report)) -> (Predictor, Report) {
    (linear.into(), report)
}
