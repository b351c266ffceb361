//! Support vector machines: classification, regression, one-class estimation.

use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{NuSvc, NuSvr, OneClass, SupportVectors, Svc, Svr, Training};
use mercer::learn::{Admission, Admitted};
use mercer::model::libsvm::PRECOMPUTED;
use mercer::model::{self, Calibration, Predictor, Sigmoid};
use mercer::session::Session;
use mercer::solve::svm::{SvmReport, SvmSettings};
use mercer::solve::{Report, Status};
use serde_json::{Value, json};

use super::{Learner, Learnt, Lift, admission, codes_of, is_precomputed, resolved, weights_by_name};
use crate::args::{Balance, Fit, Method, Multiclass};
use crate::failure::Failure;

/// A support vector machine with its settings.
pub struct SvmLearner {
    kernel: Kernel,
    machine: Machine,
    class_weight: Balance,
    /// The weight of each class, once they are known.
    by_class: Option<Vec<f64>>,
    one_vs_rest: bool,
    probability: bool,
    settings: SvmSettings,
    admission: Admission,
    /// Whether the samples are rows of kernel values.
    precomputed: bool,
    seed: u64,
}

/// Which machine, with the numbers that are its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Machine {
    /// C-classification.
    Svc { c: f64 },
    /// ν-classification.
    NuSvc { nu: f64 },
    /// ε-regression.
    Svr { c: f64, epsilon: f64 },
    /// ν-regression.
    NuSvr { c: f64, nu: f64 },
    /// One-class estimation.
    OneClass { nu: f64 },
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
        Ok(Self {
            class_weight: arguments.class_weight.clone().unwrap_or(Balance::Uniform),
            one_vs_rest: arguments.multiclass == Some(Multiclass::OneVsRest),
            probability: arguments.probability,
            settings: SvmSettings {
                tol: arguments.tol.unwrap_or(1e-3),
                cache: arguments.memory,
                ..SvmSettings::default()
            },
            admission: admission(arguments),
            precomputed: is_precomputed(arguments),
            ..Self::of(kernel, machine, arguments.common.seed)
        })
    }

    /// With a machine that is known, and everything else by itself.
    pub fn of(kernel: Kernel, machine: Machine, seed: u64) -> Self {
        Self {
            kernel,
            machine,
            class_weight: Balance::Uniform,
            by_class: None,
            one_vs_rest: false,
            probability: false,
            settings: SvmSettings::default(),
            admission: Admission::Check,
            precomputed: false,
            seed,
        }
    }

    /// With this admission of the kernel.
    pub fn admitting(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    /// C of each class.
    fn class_weight(&self, codes: &[usize], classes: usize) -> Option<Vec<f64>> {
        match &self.class_weight {
            Balance::Balanced => {
                let mut counts = vec![0usize; classes];
                codes.iter().for_each(|&code| counts[code] += 1);
                let balanced = |count: &usize| codes.len() as f64 / (classes as f64 * (*count).max(1) as f64);
                Some(counts.iter().map(balanced).collect())
            }
            _ => self.by_class.clone(),
        }
    }

    /// Fits a classifier.
    fn classify(
        &self,
        fit: &Fitting<'_>,
        classifier: &Classifier,
        (codes, classes): (&[usize], usize),
        weights: Option<&[f64]>,
    ) -> Result<Fitted, Failure> {
        let Fitting { kernel, training, samples, admitted, session } = fit;
        let calibration = |sigmoids: Vec<Sigmoid>| Calibration::Sigmoids(sigmoids);
        if self.one_vs_rest {
            let (found, sigmoids) = match classifier {
                Classifier::C(svc) => (
                    svc.fit_one_vs_rest_on(training, codes, classes, weights, session)?,
                    self.probability.then(|| {
                        svc.one_vs_rest_sigmoids_on(training, codes, classes, weights, self.seed, session)
                    }),
                ),
                Classifier::Nu(svc) => (
                    svc.fit_one_vs_rest_on(training, codes, classes, weights, session)?,
                    self.probability.then(|| {
                        svc.one_vs_rest_sigmoids_on(training, codes, classes, weights, self.seed, session)
                    }),
                ),
            };
            let solved = Solved::of(&found.reports, found.support.len());
            let predictor = found.expansion((*kernel).clone(), admitted.domain, samples).into();
            return Ok((predictor, sigmoids.transpose()?.map(calibration), solved));
        }
        let (found, sigmoids) = match classifier {
            Classifier::C(svc) => (
                svc.fit_on(training, codes, classes, weights, session)?,
                self.probability
                    .then(|| svc.sigmoids_on(training, codes, classes, weights, self.seed, session)),
            ),
            Classifier::Nu(svc) => (
                svc.fit_on(training, codes, classes, weights, session)?,
                self.probability
                    .then(|| svc.sigmoids_on(training, codes, classes, weights, self.seed, session)),
            ),
        };
        let solved = Solved::of(&found.reports, found.support.len());
        let predictor = found.pairs((*kernel).clone(), admitted.domain, samples).into();
        Ok((predictor, sigmoids.transpose()?.map(calibration), solved))
    }

    fn one_class(&self, fit: &Fitting<'_>, nu: f64, weights: Option<&[f64]>) -> Result<Fitted, Failure> {
        let Fitting { kernel, training, samples, admitted, session } = fit;
        let machine = OneClass {
            admission: self.admission,
            settings: self.settings,
            ..OneClass::new((*kernel).clone(), nu)
        };
        let found = machine.fit_on(training, weights, session)?;
        let marks = || OneClass::density_marks_on(training, &found, session);
        let marks = self.probability.then(marks).transpose()?.flatten();
        let mut solved = Solved::of(std::slice::from_ref(&found.report), found.support.len());
        if self.probability && marks.is_none() {
            solved.warnings.push(
                "fewer than five rows are on one side of the boundary: too few for probabilities".into(),
            );
        }
        let predictor = found.expansion((*kernel).clone(), admitted.domain, samples).into();
        Ok((predictor, marks.map(Calibration::Marks), solved))
    }

    /// Makes a fitted regression a predictor; ε is that of ν-regression.
    fn regression(
        fit: &Fitting<'_>,
        found: SupportVectors,
        epsilon: Option<f64>,
        scale: Option<f64>,
    ) -> Fitted {
        let mut solved = Solved::of(std::slice::from_ref(&found.report), found.support.len());
        solved.epsilon = epsilon;
        let predictor = found.expansion(fit.kernel.clone(), fit.admitted.domain, fit.samples).into();
        (predictor, scale.map(|scale| Calibration::Laplace { scale }), solved)
    }

    fn fitted(
        &self,
        fit: &Fitting<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
    ) -> Result<Fitted, Failure> {
        let (training, session, seed) = (fit.training, fit.session, self.seed);
        let (kernel, admission, settings) = (fit.kernel.clone(), self.admission, self.settings);
        let y = targets.entries();
        match self.machine {
            Machine::Svc { c } => {
                let (codes, classes) = (codes_of(targets), targets.ncols());
                let class_weight = self.class_weight(&codes, classes);
                let svc = Svc { class_weight, admission, settings, ..Svc::new(kernel, c) };
                self.classify(fit, &Classifier::C(svc), (&codes, classes), weights)
            }
            Machine::NuSvc { nu } => {
                let svc = NuSvc { admission, settings, ..NuSvc::new(kernel, nu) };
                self.classify(fit, &Classifier::Nu(svc), (&codes_of(targets), targets.ncols()), weights)
            }
            Machine::Svr { c, epsilon } => {
                let svr = Svr { admission, settings, ..Svr::new(kernel, c, epsilon) };
                let found = svr.fit_on(training, y, weights, session)?;
                let scale = || svr.laplace_scale_on(training, y, weights, seed, session);
                Ok(Self::regression(fit, found, None, self.probability.then(scale).transpose()?))
            }
            Machine::NuSvr { c, nu } => {
                let svr = NuSvr { admission, settings, ..NuSvr::new(kernel, c, nu) };
                let (found, epsilon) = svr.fit_on(training, y, weights, session)?;
                let scale = || svr.laplace_scale_on(training, y, weights, seed, session);
                Ok(Self::regression(fit, found, Some(epsilon), self.probability.then(scale).transpose()?))
            }
            Machine::OneClass { nu } => self.one_class(fit, nu, weights),
        }
    }
}

/// What predicts, what makes probabilities of it, and how good it is.
type Fitted = (Predictor, Option<Calibration>, Solved);

enum Classifier {
    C(Svc),
    Nu(NuSvc),
}

/// Rows with their kernel matrix, and what is said of the kernel.
struct Fitting<'a> {
    kernel: &'a Kernel,
    training: &'a Training<'a>,
    samples: &'a AnySamples<'a>,
    admitted: &'a Admitted,
    session: &'a Session<'a>,
}

impl Learner for SvmLearner {
    fn method(&self) -> model::Method {
        match self.machine {
            Machine::Svc { .. } => model::Method::Svc,
            Machine::NuSvc { .. } => model::Method::NuSvc,
            Machine::Svr { .. } => model::Method::Svr,
            Machine::NuSvr { .. } => model::Method::NuSvr,
            Machine::OneClass { .. } => model::Method::OneClass,
        }
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        let mut settings = BTreeMap::from([("tol".to_owned(), json!(self.settings.tol))]);
        let mut add = |name: &str, value: Value| settings.insert(name.to_owned(), value);
        match self.machine {
            Machine::Svc { c } => add("C", json!(c)),
            Machine::NuSvc { nu } | Machine::OneClass { nu } => add("nu", json!(nu)),
            Machine::Svr { c, epsilon } => {
                add("C", json!(c));
                add("epsilon", json!(epsilon))
            }
            Machine::NuSvr { c, nu } => {
                add("C", json!(c));
                add("nu", json!(nu))
            }
        };
        match (&self.class_weight, &self.by_class) {
            (Balance::Balanced, _) => {
                add("class_weight", json!("balanced"));
            }
            (_, Some(weights)) => {
                add("class_weight", json!(weights));
            }
            _ => {}
        }
        if self.one_vs_rest {
            add("multiclass", json!("one-vs-rest"));
        }
        if self.precomputed {
            add(PRECOMPUTED, json!(true));
        }
        if self.probability {
            add("seed", json!(self.seed));
        }
        settings
    }

    fn classifies(&self, _: bool) -> bool {
        !matches!(self.machine, Machine::Svr { .. } | Machine::NuSvr { .. })
    }

    fn needs_target(&self) -> bool {
        !matches!(self.machine, Machine::OneClass { .. })
    }

    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        if let Balance::Each(weights) = &self.class_weight {
            self.by_class = Some(weights_by_name(weights, classes)?);
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
        if !self.classifies(false) && targets.ncols() != 1 {
            return Err(Failure::usage(format!(
                "{} predicts one target, but {} are given",
                self.method(),
                targets.ncols()
            )));
        }
        if self.precomputed {
            let gram = kernel_matrix(samples)?;
            let rows = unit_vectors(samples.nrows())?;
            let (training, admitted) =
                (Training::precomputed(&gram), Admitted { domain: None, warning: None });
            let kernel = &self.kernel;
            let fit = Fitting { kernel, training: &training, samples: &rows, admitted: &admitted, session };
            return Ok(learnt(self.fitted(&fit, targets, weights)?));
        }
        let kernel = resolved(&self.kernel, samples, session)?;
        kernel.check_columns(samples.ncols())?;
        let admitted = self.admission.decide(&kernel, samples)?;
        let resident = session.load(samples)?;
        let training = Training::new(&*resident, &kernel)?;
        let fit = Fitting { kernel: &kernel, training: &training, samples, admitted: &admitted, session };
        let mut fitted = self.fitted(&fit, targets, weights)?;
        fitted.2.warnings.extend(admitted.warning.clone());
        Ok(learnt(fitted))
    }
}

fn learnt((predictor, calibration, solved): Fitted) -> Learnt {
    let facts = solved.facts(calibration.as_ref());
    Learnt { predictor, calibration, report: Some(solved.report()), facts }
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

/// The rows of the identity.
fn unit_vectors(n: usize) -> Result<AnySamples<'static>, Failure> {
    let indices = (0..n).map(u32::try_from).collect::<Result<Vec<u32>, _>>().map_err(Failure::usage)?;
    let samples = Samples::sparse(n, (0..=n).collect::<Vec<usize>>(), indices, vec![1.0; n]);
    samples.map(AnySamples::F64).map_err(Failure::usage)
}

/// How good the answers of all machines together are.
struct Solved {
    status: Status,
    support_vectors: usize,
    violation: f64,
    gap: f64,
    objective: f64,
    iterations: u64,
    evaluations: u64,
    /// ε that ν-regression found.
    epsilon: Option<f64>,
    warnings: Vec<String>,
}

impl Solved {
    /// The worst status and violation; sums of everything else.
    fn of(reports: &[SvmReport], support_vectors: usize) -> Self {
        let worst = |a: Status, b: Status| if a == Status::Converged { b } else { a };
        let mut warnings: Vec<String> = Vec::new();
        for warning in reports.iter().flat_map(|report| &report.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        Self {
            status: reports.iter().map(|report| report.status).fold(Status::Converged, worst),
            support_vectors,
            violation: reports.iter().map(|report| report.violation).fold(0.0, f64::max),
            gap: reports.iter().map(|report| report.gap).sum(),
            objective: reports.iter().map(|report| report.objective).sum(),
            iterations: reports.iter().map(|report| report.iterations).sum(),
            evaluations: reports.iter().map(|report| report.evaluations).sum(),
            epsilon: None,
            warnings,
        }
    }

    fn facts(&self, calibration: Option<&Calibration>) -> BTreeMap<String, Value> {
        let mut facts = BTreeMap::from(
            [
                ("support_vectors", json!(self.support_vectors)),
                ("violation", json!(self.violation)),
                ("duality_gap", json!(self.gap)),
                ("objective", json!(self.objective)),
                ("iterations", json!(self.iterations)),
                ("kernel_evaluations", json!(self.evaluations)),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        facts.extend(self.epsilon.map(|epsilon| ("epsilon".to_owned(), json!(epsilon))));
        if let Some(Calibration::Laplace { scale }) = calibration {
            facts.insert("error_scale".to_owned(), json!(scale));
        }
        facts
    }

    fn report(self) -> Report {
        let epsilon = self.epsilon.map(|epsilon| format!(", ε {epsilon:.4}")).unwrap_or_default();
        Report {
            status: self.status,
            solver: format!(
                "{} support vectors{epsilon}, objective {:.6}, duality gap {:.1e}, {} iterations, {} kernel values",
                self.support_vectors, self.objective, self.gap, self.iterations, self.evaluations
            ),
            iterations: usize::try_from(self.iterations).unwrap_or(usize::MAX),
            residual: self.violation,
            warnings: self.warnings,
        }
    }
}
