//! The Nadaraya–Watson smoother.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::kernel::Kernel;
use mercer::learn::Smoother;
use mercer::model;
use mercer::session::Session;
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, resolved};
use crate::args::Fit;
use crate::failure::Failure;

/// The smoother with its settings.
pub struct SmootherLearner {
    kernel: Kernel,
    seed: u64,
}

impl SmootherLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Result<Self, Failure> {
        let Lift::Kernel(kernel) = lift else {
            return Err(Failure::usage("the smoother weights rows by a kernel, not by features"));
        };
        Ok(Self { kernel, seed: arguments.common.seed })
    }

    /// With settings that are known.
    pub fn of(kernel: Kernel, seed: u64) -> Self {
        Self { kernel, seed }
    }
}

impl Learner for SmootherLearner {
    fn method(&self) -> model::Method {
        model::Method::Smoother
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([("seed".to_owned(), json!(self.seed))])
    }

    fn classifies(&self, text: bool) -> bool {
        text
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
        let kernel = resolved(&self.kernel, samples, session)?;
        let neighbours = Smoother { kernel }.fit(samples, targets, session)?;
        Ok(Learnt { predictor: neighbours.into(), calibration: None, report: None, facts: BTreeMap::new() })
    }
}
