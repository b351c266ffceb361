//! The perceptron, on a kernel or on features.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Matrix};
use mercer::design::FeatureMap;
use mercer::kernel::Kernel;
use mercer::learn::{FeatureWeights, Perceptron, PerceptronReport, Rule, Standing};
use mercer::model::{self, Linear, Predictor};
use mercer::session::Session;
use mercer::solve::{Report, Status};
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, resolved};
use crate::args::{Fit, Multiclass};
use crate::failure::Failure;

/// A perceptron with its settings; `auto` in its kernel not yet resolved.
pub struct PerceptronLearner {
    perceptron: Perceptron,
    form: Form,
}

/// What is kept of the training.
enum Form {
    /// The mean or the last of the decisions.
    Function,
    /// All of them, with their votes.
    Votes,
    /// The last one, with at most this many centres.
    Budget(usize),
    /// The mean or the last one, in these features.
    Features(FeatureMap),
}

impl PerceptronLearner {
    /// With settings that are known.
    pub fn of(perceptron: Perceptron) -> Self {
        Self { perceptron, form: Form::Function }
    }

    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Self {
        let (kernel, form) = match (lift, arguments.budget) {
            (Lift::Kernel(kernel), Some(budget)) => (kernel, Form::Budget(budget)),
            (Lift::Kernel(kernel), None) if arguments.vote => (kernel, Form::Votes),
            (Lift::Kernel(kernel), None) => (kernel, Form::Function),
            (Lift::Features(map), _) => (Kernel::linear(), Form::Features(map)),
        };
        let perceptron = Perceptron {
            kernel,
            passes: arguments.epochs.unwrap_or(100),
            shuffle: Some(arguments.common.seed),
            standing: if arguments.last { Standing::Last } else { Standing::Averaged },
            rule: match arguments.multiclass {
                Some(Multiclass::OneVsRest) => Rule::OneVsRest,
                _ => Rule::Direct,
            },
            admission: admission(arguments),
        };
        Self { perceptron, form }
    }

    fn seed(&self) -> u64 {
        self.perceptron.shuffle.unwrap_or_default()
    }
}

impl Learner for PerceptronLearner {
    fn method(&self) -> model::Method {
        model::Method::Perceptron
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("averaged".to_owned(), json!(self.perceptron.standing == Standing::Averaged)),
            ("epochs".to_owned(), json!(self.perceptron.passes)),
            ("seed".to_owned(), json!(self.seed())),
        ])
    }

    fn classifies(&self, _: bool) -> bool {
        true
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
        let (codes, classes) = (codes_of(targets), targets.ncols());
        let on_kernel = || -> Result<Perceptron, Failure> {
            let kernel = resolved(&self.perceptron.kernel, samples, session)?;
            Ok(Perceptron { kernel, ..self.perceptron.clone() })
        };
        let (predictor, found): (Predictor, PerceptronReport) = match &self.form {
            Form::Function => {
                let (expansion, report) = on_kernel()?.fit(samples, &codes, classes, session)?;
                (expansion.into(), report)
            }
            Form::Votes => {
                let (voted, report) = on_kernel()?.fit_voted(samples, &codes, classes, session)?;
                (voted.into(), report)
            }
            Form::Budget(budget) => {
                let (expansion, report) =
                    on_kernel()?.fit_budgeted(samples, &codes, classes, *budget, session)?;
                (expansion.into(), report)
            }
            Form::Features(map) => {
                let features = map.transform(samples, session)?;
                let FeatureWeights { weights, report } =
                    self.perceptron.fit_features(&features, &codes, classes, session)?;
                let intercepts = vec![0.0; weights.ncols()];
                let (map, columns) = (map.clone(), samples.ncols());
                (Linear { map: map.into(), columns, shift: None, weights, intercepts }.into(), report)
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
            _ if found.status == Status::Converged => "separated".into(),
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
