//! Least mean squares, on a kernel or on features.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::design::Held;
use mercer::gram::Values;
use mercer::learn::{Admission, Bias, Lms, LmsFeatures, LmsReport, LmsWeights};
use mercer::model::{self, Linear, Predictor};
use mercer::session::Session;
use mercer::solve::descent::{Mode, Step};
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, resolved};
use crate::args::{Fit, Solver};
use crate::failure::Failure;

/// Least mean squares with its settings.
pub struct LmsLearner {
    lift: Lift,
    step: Step,
    epochs: usize,
    tol: f64,
    mode: Mode,
    bias: Bias,
    admission: Admission,
    seed: u64,
}

impl LmsLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Self {
        let seed = arguments.common.seed;
        Self {
            lift,
            step: arguments.step.unwrap_or(Step::Auto),
            epochs: arguments.epochs.unwrap_or(200),
            tol: arguments.tol.unwrap_or(1e-6),
            mode: match arguments.solver {
                Some(Solver::Sgd) => Mode::Stochastic { seed },
                _ => Mode::Batch,
            },
            bias: arguments.bias.unwrap_or(Bias::Centred),
            admission: admission(arguments),
            seed,
        }
    }
}

impl Learner for LmsLearner {
    fn method(&self) -> model::Method {
        model::Method::Lms
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("bias".to_owned(), json!(self.bias)),
            ("epochs".to_owned(), json!(self.epochs)),
            ("seed".to_owned(), json!(self.seed)),
            ("solver".to_owned(), json!(if self.mode == Mode::Batch { "batch" } else { "sgd" })),
            ("tol".to_owned(), json!(self.tol)),
        ])
    }

    fn check(&self, _: usize, _: usize, _: &Session<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        _: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let (predictor, found): (Predictor, LmsReport) = match &self.lift {
            Lift::Kernel(kernel) => {
                let lms = Lms {
                    kernel: resolved(kernel, samples, session)?,
                    step: self.step,
                    epochs: self.epochs,
                    tol: self.tol,
                    mode: self.mode,
                    bias: self.bias,
                    admission: self.admission,
                };
                let (expansion, report) = lms.fit(samples, targets, session)?;
                (expansion.into(), report)
            }
            Lift::Features(map) => {
                let lms = LmsFeatures {
                    step: self.step,
                    epochs: self.epochs,
                    tol: self.tol,
                    mode: self.mode,
                    bias: self.bias,
                };
                let features = Held::from(Values::F64(map.transform(samples, session)?));
                let LmsWeights { weights, intercepts, report } = lms.fit(&features, targets, session)?;
                let (map, columns) = (map.clone(), samples.ncols());
                (Linear { map: map.into(), columns, shift: None, weights, intercepts }.into(), report)
            }
        };
        let LmsReport { report, step, gram, curve } = found;
        let facts = BTreeMap::from([
            ("step".to_owned(), json!(step)),
            ("epochs_run".to_owned(), json!(report.iterations)),
            ("gram".to_owned(), json!(gram)),
            ("curve".to_owned(), json!(curve)),
        ]);
        Ok(Learnt { predictor, calibration: None, report: Some(report), facts })
    }
}
