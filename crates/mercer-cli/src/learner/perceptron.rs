//! The perceptron, on a kernel or on features.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::kernel::Kernel;
use mercer::learn::{Admission, FeatureWeights, Perceptron, PerceptronReport, Rule, Standing};
use mercer::model::{self, Linear, Link, Predictor};
use mercer::solve::Report;
use mercer::watch::Watch;
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, resolved};
use crate::args::{Fit, Multiclass};
use crate::failure::Failure;

/// A perceptron with its settings.
pub struct PerceptronLearner {
    lift: Lift,
    passes: usize,
    standing: Standing,
    rule: Rule,
    admission: Admission,
    memory: Option<u64>,
    seed: u64,
}

impl PerceptronLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Self {
        Self {
            lift,
            passes: arguments.epochs.unwrap_or(100),
            standing: if arguments.last { Standing::Last } else { Standing::Averaged },
            rule: match arguments.multiclass {
                Some(Multiclass::OneVsRest) => Rule::OneVsRest,
                _ => Rule::Direct,
            },
            admission: admission(arguments),
            memory: arguments.memory,
            seed: arguments.common.seed,
        }
    }

    fn perceptron(&self, kernel: Kernel) -> Perceptron {
        Perceptron {
            kernel,
            passes: self.passes,
            shuffle: Some(self.seed),
            standing: self.standing,
            rule: self.rule,
            admission: self.admission,
            memory: self.memory,
        }
    }
}

impl Learner for PerceptronLearner {
    fn method(&self) -> model::Method {
        model::Method::Perceptron
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("averaged".to_owned(), json!(self.standing == Standing::Averaged)),
            ("epochs".to_owned(), json!(self.passes)),
            ("seed".to_owned(), json!(self.seed)),
        ])
    }

    fn classifies(&self, _: bool) -> bool {
        true
    }

    fn link(&self) -> Link {
        Link::Decisions
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
        let (codes, classes) = (codes_of(targets), targets.ncols());
        let (predictor, found): (Predictor, PerceptronReport) = match &self.lift {
            Lift::Kernel(kernel) => {
                let perceptron = self.perceptron(resolved(kernel, samples, self.seed)?);
                let (expansion, report) = perceptron.fit(samples, &codes, classes, watch)?;
                (expansion.into(), report)
            }
            Lift::Features(map) => {
                let features = map.transform(samples, self.memory, watch)?;
                let FeatureWeights { weights, report } =
                    self.perceptron(Kernel::linear()).fit_features(&features, &codes, classes, watch)?;
                let intercepts = vec![0.0; weights.ncols()];
                let (map, columns) = (map.clone(), samples.ncols());
                (Linear { map, columns, shift: None, weights, intercepts }.into(), report)
            }
        };
        let facts = BTreeMap::from([
            ("passes".to_owned(), json!(found.passes)),
            ("mistakes".to_owned(), json!(found.mistakes)),
            ("radius".to_owned(), json!(found.radius)),
            ("margin".to_owned(), json!(found.margin)),
            ("mistake_bound".to_owned(), json!(found.bound)),
        ]);
        let separated = match (found.margin, found.bound) {
            (Some(margin), Some(bound)) => {
                format!("separated with margin {margin:.3e}, so at most {bound:.0} mistakes in any order")
            }
            _ => "not separated".into(),
        };
        let report = Report {
            status: found.status,
            solver: format!("{} mistakes in {} passes, {separated}", found.mistakes, found.passes),
            iterations: found.passes,
            residual: 0.0,
            warnings: found.warnings,
        };
        Ok(Learnt { predictor, calibration: None, report: Some(report), facts })
    }
}
