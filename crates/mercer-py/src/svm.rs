//! Support vector machines: their fits, and what the decisions of pairs of classes say.

use mercer::data::Matrix;
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Machines, Svm};
use mercer::learn::{Inputs, Problem, Targets};
use mercer::model::{Calibration, Pairs, Sigmoid, classes_of_pairs, one_vs_rest_decisions, vote};
use mercer::solve::Status;
use mercer::solve::svm::SvmSettings;
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

impl SvmProblem<'_> {
    fn svm(&self, kernel: Kernel) -> PyResult<Svm> {
        let Self { c, nu, epsilon, tol, cache, shrinking, max_iter, .. } = *self;
        let machine = match self.method.as_str() {
            "svc" => Machine::Svc { c },
            "nu-svc" => Machine::NuSvc { nu },
            "svr" => Machine::Svr { c, epsilon },
            "nu-svr" => Machine::NuSvr { c, nu },
            "one-class" => Machine::OneClass { nu },
            other => {
                return Err(value_error(format!(
                    "the method is svc, nu-svc, svr, nu-svr or one-class, but this one is {other}"
                )));
            }
        };
        Ok(Svm::new(kernel, machine)
            .probability(self.probability)
            .admission(admission(self.admit))
            .solver(SvmSettings { tol, cache, shrinking, max_iter }))
    }

    fn problem<'a>(&'a self, inputs: Inputs<'a>) -> PyResult<Problem<'a>> {
        let targets = match (&self.codes, &self.targets) {
            (Some(codes), _) => Targets::codes(codes.as_slice().map_err(value_error)?, self.classes),
            (_, Some(targets)) => targets.as_slice().map_err(value_error)?.into(),
            _ => Targets::None,
        };
        let weights = self.weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
        Ok(Problem::new(inputs, targets).weighted(weights))
    }

    fn fit<'py>(
        &self,
        py: Python<'py>,
        svm: &Svm,
        inputs: Inputs<'_>,
        job: &Job<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (problem, seed) = (self.problem(inputs)?, self.seed);
        let found = job.run(py, |session| svm.machines(&problem, &session.with_seed(seed)))?;
        hand_back(py, found.map_err(learn_error)?)
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
    let svm = problem.svm(kernel.0.clone())?;
    problem.fit(py, &svm, rows.samples()?.into(), &job)
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
    let svm = problem.svm(Kernel::linear())?;
    problem.fit(py, &svm, Inputs::Gram(&DenseGram::new(order, entries)), &job)
}

fn hand_back(py: Python<'_>, found: Machines) -> PyResult<Bound<'_, PyDict>> {
    let (worst, reports) = (found.violation(), &found.reports);
    let converged = reports.iter().all(|report| report.status == Status::Converged);
    // Every pair may say the same.
    let mut warnings: Vec<String> =
        reports.iter().flat_map(|report| report.warnings.clone()).take(1).collect();
    let stalled = !warnings.is_empty();
    warnings.extend(found.warnings);
    let iterations = reports.iter().map(|report| report.iterations).collect();
    let sigmoids = match found.calibration {
        Some(Calibration::Sigmoids(sigmoids)) => sigmoids,
        _ => Vec::new(),
    };
    let of = |part: fn(&Sigmoid) -> f64| PyArray1::from_vec(py, sigmoids.iter().map(part).collect());
    let dict = PyDict::new(py);
    dict.set_item("per_class", PyArray1::from_vec(py, found.per_class.unwrap_or(vec![found.support.len()])))?;
    dict.set_item("support", PyArray1::from_vec(py, found.support))?;
    dict.set_item("coefficients", from_matrix(py, found.coefficients)?)?;
    dict.set_item("rho", PyArray1::from_vec(py, found.rho))?;
    dict.set_item("sigmoid_a", of(|sigmoid| sigmoid.a))?;
    dict.set_item("sigmoid_b", of(|sigmoid| sigmoid.b))?;
    dict.set_item("iterations", PyArray1::<u64>::from_vec(py, iterations))?;
    dict.set_item("objective", reports.iter().map(|report| report.objective).collect::<Vec<f64>>())?;
    dict.set_item("violation", worst)?;
    dict.set_item("gap", reports.iter().map(|report| report.gap).sum::<f64>())?;
    dict.set_item("converged", converged)?;
    dict.set_item("stalled", stalled)?;
    dict.set_item("warnings", warnings)?;
    dict.set_item("domain", found.domain.map(|domain| domain.to_string()))?;
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
