//! Training: settings, rows or a kernel matrix, and targets become the parts of a predictor.

use mercer::gram::DenseGram;
use mercer::learn::{
    AnyLearner, BudgetedPerceptron, Fitted, Inputs, LearnError, Learner, Origin, Problem, RidgeSolver,
    Targets,
};
use mercer::memory;
use mercer::watch::Watch;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{learn_error, value_error};
use crate::kernel::NativeKernel;
use crate::parts::parts_of;
use crate::rows::{Rows, matrix, square};
use crate::settings::read;
use crate::work::Job;

/// The training inputs.
#[derive(FromPyObject)]
pub enum InputParts<'py> {
    /// The kernel matrix of rows, as `{"gram": matrix}`.
    #[pyo3(from_item_all)]
    Gram { gram: PyReadonlyArray2<'py, f64> },
    /// Rows.
    Rows(Rows<'py>),
}

/// The targets.
#[derive(FromPyObject)]
pub enum TargetParts<'py> {
    /// The class of each row by its code, and the number of classes.
    Classes(PyReadonlyArray1<'py, usize>, usize),
    /// One column per target.
    Numbers(PyReadonlyArray2<'py, f64>),
}

/// Targets, or none.
fn targets<'a>(parts: Option<&'a TargetParts<'_>>) -> PyResult<Targets<'a>> {
    Ok(match parts {
        None => Targets::None,
        Some(TargetParts::Classes(codes, classes)) => {
            Targets::codes(codes.as_slice().map_err(value_error)?, *classes)
        }
        Some(TargetParts::Numbers(numbers)) => matrix(numbers)?.into(),
    })
}

/// The parts of a predictor, the report of its solver, and the words of its model file as JSON.
pub type Trained<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, String);

/// Trains the learner that the settings describe; `outputs` are the names of the targets.
#[pyfunction]
pub fn train<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    inputs: InputParts<'py>,
    targets: Option<TargetParts<'py>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    outputs: Vec<String>,
    job: Job<'py>,
) -> PyResult<Trained<'py>> {
    let learner: AnyLearner = read(settings)?;
    let gram;
    let inputs: Inputs<'_> = match &inputs {
        InputParts::Rows(rows) => rows.samples()?.into(),
        InputParts::Gram { gram: values } => {
            let (order, entries) = square(values)?;
            gram = DenseGram::new(order, entries);
            Inputs::Gram(&gram)
        }
    };
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(value_error)?;
    let origin = Origin { outputs, ..Origin::default() };
    let targets = self::targets(targets.as_ref())?;
    let problem = Problem::new(inputs, targets).weighted(weights).with_origin(origin);
    let fitted = job.run(py, |session| learner.train(&problem, session))?.map_err(learn_error)?;
    trained(py, fitted)
}

/// The parts of a fit that Python stores.
pub fn trained(py: Python<'_>, fitted: Fitted) -> PyResult<Trained<'_>> {
    let Fitted { model, report, facts, centres, iterations, .. } = fitted;
    let described = PyDict::new(py);
    if let Some(report) = report {
        let status = serde_json::to_value(report.status).map_err(value_error)?;
        described.set_item("status", status.as_str().unwrap_or_default())?;
        described.set_item("solver", report.solver)?;
        described.set_item("iterations", report.iterations)?;
        described.set_item("residual", report.residual)?;
        described.set_item("reasons", report.reasons)?;
        described.set_item("warnings", report.warnings)?;
    }
    described.set_item("iterations_of_each", PyArray1::from_vec(py, iterations))?;
    described.set_item("facts", json!(facts).to_string())?;
    described.set_item("centres", centres.map(|rows| PyArray1::from_vec(py, rows)))?;
    let words = json!({
        "method": model.method,
        "settings": model.settings,
        "report": model.report,
        "outputs": model.outputs,
        "classes": model.classes,
        "calibration": model.calibration,
    });
    Ok((parts_of(py, model.predictor)?, described, words.to_string()))
}

/// Continues a perceptron within its budget on more rows, in their order: its parts and the number of its mistakes. `centres`
/// has no rows at the start.
#[pyfunction]
pub fn update_perceptron<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    centres: Rows<'py>,
    coefficients: PyReadonlyArray2<'py, f64>,
    rows: Rows<'py>,
    targets: TargetParts<'py>,
    job: Job<'py>,
) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let (samples, centres, dual) = (rows.samples()?, centres.samples()?, matrix(&coefficients)?);
    let AnyLearner::Perceptron(perceptron) = read(settings)? else {
        return Err(value_error("these are not the settings of a perceptron"));
    };
    let (Some(kernel), Some(budget)) = (perceptron.lift.kernel(), perceptron.budget) else {
        return Err(value_error("a perceptron that continues has a kernel and a budget"));
    };
    let TargetParts::Classes(codes, classes) = &targets else {
        return Err(value_error("a perceptron needs targets that are classes"));
    };
    let (codes, classes, rule) = (codes.as_slice().map_err(value_error)?, *classes, perceptron.rule);
    let continued = job.run(py, |session| {
        perceptron.kernel_check.decide(kernel, &samples)?;
        let columns = samples.ncols();
        let mut machine = match centres.nrows() {
            0 => BudgetedPerceptron::new(kernel.clone(), columns, classes, rule, budget)?,
            _ => BudgetedPerceptron::resume(kernel.clone(), &centres, &dual, classes, rule, budget)?,
        };
        let mut row = vec![0.0; columns];
        session.begin("perceptron", codes.len() as u64);
        for (i, &code) in codes.iter().enumerate() {
            session.check()?;
            samples.copy_row(i, &mut row);
            machine.update(&row, code)?;
            session.advance(1);
        }
        Ok::<_, LearnError>((machine.expansion()?, machine.mistakes()))
    })?;
    let (expansion, mistakes) = continued.map_err(learn_error)?;
    Ok((parts_of(py, expansion.into())?, mistakes))
}

/// Whether ridge regression on the kernel's features is several times cheaper than on its matrix.
#[pyfunction]
pub fn prefers_primal(kernel: &NativeKernel, rows: usize, columns: usize) -> bool {
    let choice = RidgeSolver::Auto.choose(&kernel.0, rows, columns, memory::default_budget());
    choice.primal.is_some() && choice.primal_cost.is_some_and(|cost| 4.0 * cost < choice.dual_cost)
}
