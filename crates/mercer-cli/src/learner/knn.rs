//! k nearest neighbours.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::gram::Metric;
use mercer::learn::Knn;
use mercer::model;
use mercer::session::Session;
use serde_json::{Value, json};

use super::{Learner, Learnt};
use crate::args::{Fit, Weighting};
use crate::failure::Failure;

/// k nearest neighbours with its settings.
pub struct KnnLearner {
    knn: Knn,
    classify: bool,
}

impl KnnLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit) -> Self {
        let weights = match arguments.weights.unwrap_or(Weighting::Uniform) {
            Weighting::Uniform => model::Weights::Uniform,
            Weighting::Distance => model::Weights::Distance,
        };
        let metric = arguments.metric.unwrap_or(Metric::Euclidean);
        Self { knn: Knn { k: arguments.k.unwrap_or(5), weights, metric }, classify: arguments.classify }
    }
}

impl KnnLearner {
    /// With settings that are known.
    pub fn of(k: usize, weights: model::Weights, metric: Metric) -> Self {
        Self { knn: Knn { k, weights, metric }, classify: false }
    }
}

impl Learner for KnnLearner {
    fn method(&self) -> model::Method {
        model::Method::Knn
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([("k".to_owned(), json!(self.knn.k))])
    }

    fn classifies(&self, text: bool) -> bool {
        text || self.classify
    }

    fn check(&self, _: usize, _: usize, _: &Session<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        _: Option<&[f64]>,
        _: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let neighbours = self.knn.fit(samples, targets)?;
        Ok(Learnt { predictor: neighbours.into(), calibration: None, report: None, facts: BTreeMap::new() })
    }
}
