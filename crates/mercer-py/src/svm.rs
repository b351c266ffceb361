//! Support vector machines: their fits, and what the decisions of pairs of classes say.

use mercer::data::Matrix;
use mercer::gram::DenseGram;
use mercer::kernel::{Expr, Kernel};
use mercer::learn::svm::{NuSvc, NuSvr, OneClass, OneVsOne, SupportVectors, Svc, Svr, Training};
use mercer::learn::{Admission, Admitted, LearnError};
use mercer::memory;
use mercer::model::{Calibration, Pairs, Sigmoid, classes_of_pairs, one_vs_rest_decisions, vote};
use mercer::session::Session;
use mercer::solve::Status;
use mercer::solve::svm::{SvmReport, SvmSettings};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{learn_error, model_error, value_error};
use crate::kernel::NativeKernel;
use crate::logistic::admission;
use crate::ridge::{from_matrix, matrix};
use crate::rows::{Rows, square};
use crate::work::Job;

/// Which machine is fitted, to what, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SvmProblem<'py> {
    /// `svc`, `nu-svc`, `svr`, `nu-svr` or `one-class`.
    method: String,
    /// The class of each row, for a classifier.
    codes: Option<PyReadonlyArray1<'py, usize>>,
    classes: usize,
    /// The target of each row, for a regression.
    targets: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    c: f64,
    nu: f64,
    epsilon: f64,
    tol: f64,
    /// Bytes of kernel rows to keep.
    cache: Option<u64>,
    shrinking: bool,
    max_iter: Option<u64>,
    /// Whether a classifier is calibrated, on parts of the rows that the seed chooses.
    probability: bool,
    seed: u64,
    /// Whether the kernel must not be refuted.
    admit: bool,
}

/// The problem in the library's terms.
struct Task<'a> {
    machine: Machine,
    codes: &'a [usize],
    classes: usize,
    targets: &'a [f64],
    weights: Option<&'a [f64]>,
    calibration_seed: Option<u64>,
}

enum Machine {
    Svc(Svc),
    NuSvc(NuSvc),
    Svr(Svr),
    NuSvr(NuSvr),
    OneClass(OneClass),
}

/// What every machine hands back.
struct Found {
    support: Vec<usize>,
    /// Support vectors of each class; of all where there are no classes.
    per_class: Vec<usize>,
    coefficients: Matrix<f64>,
    rho: Vec<f64>,
    reports: Vec<SvmReport>,
    sigmoids: Vec<Sigmoid>,
}

impl SvmProblem<'_> {
    fn task(&self, kernel: Kernel) -> PyResult<Task<'_>> {
        let settings = SvmSettings {
            tol: self.tol,
            // Asked for once, not for every pair of classes.
            cache: Some(self.cache.unwrap_or_else(|| memory::total() / 5)),
            shrinking: self.shrinking,
            max_iter: self.max_iter,
        };
        let admission = admission(self.admit);
        let Self { c, nu, epsilon, .. } = *self;
        let machine = match self.method.as_str() {
            "svc" => Machine::Svc(Svc { admission, settings, ..Svc::new(kernel, c) }),
            "nu-svc" => Machine::NuSvc(NuSvc { admission, settings, ..NuSvc::new(kernel, nu) }),
            "svr" => Machine::Svr(Svr { admission, settings, ..Svr::new(kernel, c, epsilon) }),
            "nu-svr" => Machine::NuSvr(NuSvr { admission, settings, ..NuSvr::new(kernel, c, nu) }),
            "one-class" => Machine::OneClass(OneClass { admission, settings, ..OneClass::new(kernel, nu) }),
            other => {
                return Err(value_error(format!(
                    "the method is svc, nu-svc, svr, nu-svr or one-class, but this one is {other}"
                )));
            }
        };
        let codes = self.codes.as_ref().map(|codes| codes.as_slice()).transpose().map_err(value_error)?;
        let targets = self.targets.as_ref().map(|t| t.as_slice()).transpose().map_err(value_error)?;
        Ok(Task {
            machine,
            codes: codes.unwrap_or_default(),
            classes: self.classes,
            targets: targets.unwrap_or_default(),
            weights: self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?,
            calibration_seed: self.probability.then_some(self.seed),
        })
    }
}

impl Task<'_> {
    fn kernel_and_admission(&self) -> (&Kernel, Admission) {
        match &self.machine {
            Machine::Svc(svc) => (&svc.kernel, svc.admission),
            Machine::NuSvc(svc) => (&svc.kernel, svc.admission),
            Machine::Svr(svr) => (&svr.kernel, svr.admission),
            Machine::NuSvr(svr) => (&svr.kernel, svr.admission),
            Machine::OneClass(one) => (&one.kernel, one.admission),
        }
    }

    fn fit(&self, training: &Training<'_>, session: &Session<'_>) -> Result<Found, LearnError> {
        let Self { codes, classes, targets, weights, .. } = *self;
        let pairs = |fitted: OneVsOne, sigmoids: Option<Vec<Sigmoid>>| Found {
            support: fitted.support,
            per_class: fitted.per_class,
            coefficients: fitted.coefficients,
            rho: fitted.rho,
            reports: fitted.reports,
            sigmoids: sigmoids.unwrap_or_default(),
        };
        Ok(match &self.machine {
            Machine::Svc(svc) => {
                let fitted = svc.fit_on(training, codes, classes, weights, session)?;
                let sigmoids = |seed| svc.sigmoids_on(training, codes, classes, weights, seed, session);
                pairs(fitted, self.calibration_seed.map(sigmoids).transpose()?)
            }
            Machine::NuSvc(svc) => {
                let fitted = svc.fit_on(training, codes, classes, weights, session)?;
                let sigmoids = |seed| svc.sigmoids_on(training, codes, classes, weights, seed, session);
                pairs(fitted, self.calibration_seed.map(sigmoids).transpose()?)
            }
            Machine::Svr(svr) => one(svr.fit_on(training, targets, weights, session)?),
            Machine::NuSvr(svr) => one(svr.fit_on(training, targets, weights, session)?.0),
            Machine::OneClass(machine) => one(machine.fit_on(training, weights, session)?),
        })
    }
}

fn one(fitted: SupportVectors) -> Found {
    let count = fitted.support.len();
    Found {
        support: fitted.support,
        per_class: vec![count],
        coefficients: Matrix::from_entries(count, 1, fitted.coefficients),
        rho: vec![fitted.rho],
        reports: vec![fitted.report],
        sigmoids: Vec::new(),
    }
}

/// Fits a support vector machine on `rows`.
#[pyfunction]
pub fn fit_svm<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: SvmProblem<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let samples = rows.samples()?;
    kernel.0.check_columns(samples.ncols()).map_err(value_error)?;
    let task = problem.task(kernel.0.clone())?;
    let (admitted, found) = job
        .run(py, |session| {
            let (kernel, admission) = task.kernel_and_admission();
            let admitted = admission.decide(kernel, &samples)?;
            let resident = session.load(&samples)?;
            let training = Training::new(&*resident, kernel)?;
            Ok::<_, LearnError>((admitted, task.fit(&training, session)?))
        })?
        .map_err(learn_error)?;
    hand_back(py, found, admitted)
}

/// Fits a support vector machine on a kernel matrix.
#[pyfunction]
pub fn fit_svm_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: SvmProblem<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (order, entries) = square(&gram)?;
    // A kernel matrix says all about its kernel that the fit needs.
    let task = problem.task(Kernel::from_expr(Expr::Dot))?;
    let found =
        job.run(py, |session| task.fit(&Training::precomputed(&DenseGram::new(order, entries)), session))?;
    hand_back(py, found.map_err(learn_error)?, Admitted { domain: None, warning: None })
}

fn hand_back<'py>(py: Python<'py>, found: Found, admitted: Admitted) -> PyResult<Bound<'py, PyDict>> {
    let Found { support, per_class, coefficients, rho, reports, sigmoids } = found;
    let worst = reports.iter().map(|report| report.violation).fold(0.0, f64::max);
    let converged = reports.iter().all(|report| report.status == Status::Converged);
    // Every pair may say the same.
    let mut warnings: Vec<String> =
        reports.iter().flat_map(|report| report.warnings.clone()).take(1).collect();
    let stalled = !warnings.is_empty();
    warnings.extend(admitted.warning);
    let iterations = reports.iter().map(|report| report.iterations).collect();
    let of = |part: fn(&Sigmoid) -> f64| PyArray1::from_vec(py, sigmoids.iter().map(part).collect());
    let dict = PyDict::new(py);
    dict.set_item("support", PyArray1::from_vec(py, support))?;
    dict.set_item("per_class", PyArray1::from_vec(py, per_class))?;
    dict.set_item("coefficients", from_matrix(py, coefficients)?)?;
    dict.set_item("rho", PyArray1::from_vec(py, rho))?;
    dict.set_item("sigmoid_a", of(|sigmoid| sigmoid.a))?;
    dict.set_item("sigmoid_b", of(|sigmoid| sigmoid.b))?;
    dict.set_item("iterations", PyArray1::<u64>::from_vec(py, iterations))?;
    dict.set_item("objective", reports.iter().map(|report| report.objective).collect::<Vec<f64>>())?;
    dict.set_item("violation", worst)?;
    dict.set_item("gap", reports.iter().map(|report| report.gap).sum::<f64>())?;
    dict.set_item("converged", converged)?;
    dict.set_item("stalled", stalled)?;
    dict.set_item("warnings", warnings)?;
    dict.set_item("domain", admitted.domain.map(|domain| domain.to_string()))?;
    Ok(dict)
}

/// A machine for every pair of classes, as the estimators hold it: a row of coefficients per support vector.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PairParts<'py> {
    kernel: Bound<'py, NativeKernel>,
    domain: Option<String>,
    centres: Rows<'py>,
    per_class: Vec<usize>,
    coefficients: PyReadonlyArray2<'py, f64>,
    intercepts: Vec<f64>,
}

impl PairParts<'_> {
    /// The same in the library's form.
    ///
    /// # Errors
    /// Where the parts do not make machines.
    pub fn pairs(&self) -> PyResult<Pairs> {
        let pairs = Pairs {
            kernel: self.kernel.get().0.clone(),
            domain: self.domain.as_deref().map(str::parse).transpose().map_err(value_error)?,
            centres: self.centres.samples()?.into_owned(),
            per_class: self.per_class.clone(),
            coefficients: matrix(&self.coefficients)?,
            rho: self.intercepts.iter().map(|b| -b).collect(),
        };
        match pairs.fault() {
            Some(fault) => Err(value_error(format!("the machines have {fault}"))),
            None => Ok(pairs),
        }
    }
}

/// The decision of every pair of classes at every row: positive for the first class of the pair.
#[pyfunction]
pub fn decide_pairs<'py>(
    py: Python<'py>,
    machines: PairParts<'py>,
    rows: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let samples = rows.samples()?;
    let pairs = machines.pairs()?;
    let out = job.run(py, |session| pairs.predict(&samples, session))?;
    from_matrix(py, out.map_err(model_error)?)
}

/// The class that most pairs decide for, in every row of decisions.
#[pyfunction]
pub fn vote_pairs<'py>(
    py: Python<'py>,
    decisions: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<usize>>> {
    let decisions = of_pairs(&decisions)?;
    Ok(PyArray1::from_vec(py, (0..decisions.nrows()).map(|row| vote(decisions.row(row))).collect()))
}

/// One number per class from decisions per pair: votes, and less than half a vote by how clear they were.
#[pyfunction]
pub fn rank_pairs<'py>(
    py: Python<'py>,
    decisions: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    from_matrix(py, one_vs_rest_decisions(&of_pairs(&decisions)?))
}

/// The probability of each class from decisions per pair, by the sigmoid 1/(1 + e^(af + b)) of each.
#[pyfunction]
pub fn couple_pairs<'py>(
    py: Python<'py>,
    decisions: PyReadonlyArray2<'py, f64>,
    a: Vec<f64>,
    b: Vec<f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let decisions = of_pairs(&decisions)?;
    let sigmoids = sigmoids(&a, &b);
    if sigmoids.len() != decisions.ncols() {
        let (found, expected) = (sigmoids.len(), decisions.ncols());
        return Err(value_error(format!("{found} sigmoids for {expected} pairs of classes")));
    }
    let shares = Calibration::Sigmoids(sigmoids).probabilities(&decisions, true);
    from_matrix(py, shares.ok_or_else(|| value_error("sigmoids without probabilities"))?)
}

/// Sigmoids from the lists of their numbers.
pub fn sigmoids(a: &[f64], b: &[f64]) -> Vec<Sigmoid> {
    a.iter().zip(b).map(|(&a, &b)| Sigmoid { a, b }).collect()
}

/// Decisions that are of pairs of some number of classes.
fn of_pairs(decisions: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix<f64>> {
    let decisions = matrix(decisions)?;
    match classes_of_pairs(decisions.ncols()) {
        Some(_) => Ok(decisions),
        None => Err(value_error(format!("no number of classes has {} pairs", decisions.ncols()))),
    }
}
