//! Support vector machines: classification, regression, one-class estimation.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::gram::DenseGram;
use mercer::learn::svm::{self, Machine, Svm};
use mercer::learn::{ClassWeight, Inputs, Learner as _, Problem, Requires, Targets};
use mercer::model;
use mercer::model::libsvm::PRECOMPUTED;
use mercer::session::Session;
use mercer::solve::svm::SvmSettings;
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, is_precomputed, weights_by_name};
use crate::args::{Balance, Fit, Method, Multiclass};
use crate::failure::Failure;

/// A support vector machine with its settings.
pub struct SvmLearner {
    svm: Svm,
    /// Class weights by name, until the classes are known.
    by_name: Vec<(String, f64)>,
    /// Whether the samples are rows of kernel values.
    precomputed: bool,
    seed: u64,
}

impl SvmLearner {
    /// As the command line asks for it.
    pub fn new(arguments: &Fit, lift: Lift) -> Result<Self, Failure> {
        let Lift::Kernel(kernel) = lift else {
            return Err(Failure::usage("support vector machines work on a kernel"));
        };
        let (c, nu) = (arguments.c.unwrap_or(1.0), arguments.nu.unwrap_or(0.5));
        let machine = match arguments.method {
            Method::NuSvc => Machine::NuSvc { nu },
            Method::Svr => Machine::Svr { c, epsilon: arguments.epsilon.unwrap_or(0.1) },
            Method::NuSvr => Machine::NuSvr { c, nu },
            Method::OneClass => Machine::OneClass { nu },
            _ => Machine::Svc { c },
        };
        let usual = SvmSettings::default();
        let solver =
            SvmSettings { tol: arguments.tol.unwrap_or(usual.tol), cache: arguments.memory, ..usual };
        let (class_weight, by_name) = match &arguments.class_weight {
            Some(Balance::Balanced) => (ClassWeight::Balanced, Vec::new()),
            Some(Balance::Each(weights)) => (ClassWeight::Uniform, weights.clone()),
            Some(Balance::Uniform) | None => (ClassWeight::Uniform, Vec::new()),
        };
        let multiclass = match arguments.multiclass {
            Some(Multiclass::OneVsRest) => svm::Multiclass::OneVsRest,
            _ => svm::Multiclass::OneVsOne,
        };
        let svm = Svm::new(kernel, machine)
            .class_weight(class_weight)
            .multiclass(multiclass)
            .probability(arguments.probability)
            .admission(admission(arguments))
            .solver(solver);
        let precomputed = is_precomputed(arguments);
        Ok(Self { svm, by_name, precomputed, seed: arguments.common.seed })
    }

    /// With settings that are known.
    pub fn of(svm: Svm, seed: u64) -> Self {
        Self { svm, by_name: Vec::new(), precomputed: false, seed }
    }
}

impl Learner for SvmLearner {
    fn method(&self) -> model::Method {
        self.svm.method()
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        let mut settings = self.svm.settings(&Session::default().with_seed(self.seed));
        if self.precomputed {
            settings.insert(PRECOMPUTED.to_owned(), json!(true));
        }
        settings
    }

    fn classifies(&self, _: bool) -> bool {
        self.svm.requires() != Requires::Numbers
    }

    fn needs_target(&self) -> bool {
        self.svm.requires() != Requires::Nothing
    }

    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        if !self.by_name.is_empty() {
            self.svm.class_weight = ClassWeight::Each(weights_by_name(&self.by_name, classes)?);
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
        let targets = match self.svm.requires() {
            Requires::Classes => Targets::codes(codes_of(targets), targets.ncols()),
            Requires::Nothing => Targets::None,
            _ => targets.into(),
        };
        let gram = self.precomputed.then(|| kernel_matrix(samples)).transpose()?;
        let inputs = match &gram {
            Some(gram) => Inputs::Gram(gram),
            None => samples.view().into(),
        };
        let problem = Problem::new(inputs, targets).weighted(weights);
        Ok(self.svm.train(&problem, session)?.into())
    }
}

/// The samples as a kernel matrix: square, and symmetric up to rounding.
fn kernel_matrix(samples: &AnySamples<'_>) -> Result<DenseGram<'static, f64>, Failure> {
    let (n, columns) = (samples.nrows(), samples.ncols());
    if n != columns {
        return Err(Failure::usage(format!(
            "a precomputed kernel has one column for each row, but there are {n} rows and {columns} columns"
        )));
    }
    let mut entries = vec![0.0; n * n];
    for (row, out) in entries.chunks_exact_mut(n).enumerate() {
        samples.copy_row(row, out);
    }
    let largest = entries.iter().fold(0.0f64, |most, k| most.max(k.abs()));
    for i in 0..n {
        for j in 0..i {
            let (one, other) = (entries[i * n + j], entries[j * n + i]);
            if (one - other).abs() > 1e-6 * largest {
                return Err(Failure::usage(format!(
                    "a kernel matrix is symmetric, but the entry of row {i} and column {j} is {one}, and that of row {j} and \
                     column {i} is {other}"
                )));
            }
        }
    }
    Ok(DenseGram::new(n, entries))
}
