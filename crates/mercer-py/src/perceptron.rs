//! The kernel perceptron.

use mercer::data::{AnySamples, Matrix};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::{self, BudgetedPerceptron, Inputs, LearnError, Perceptron, Problem, Rule};
use mercer::model::{Expansion, Predictor, Voted, VotedStep};
use mercer::watch::Watch;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{learn_error, model_error, value_error};
use crate::kernel::NativeKernel;
use crate::logistic::admission;
use crate::ridge::{described, from_matrix, matrix};
use crate::rows::{Rows, square};
use crate::train::{coded, expanded, train};
use crate::work::Job;

/// What a perceptron is trained on, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PerceptronProblem<'py> {
    codes: PyReadonlyArray1<'py, usize>,
    classes: usize,
    passes: usize,
    /// The order of the rows; None for that they come in.
    seed: Option<u64>,
    averaged: bool,
    direct: bool,
    /// Whether the kernel must not be refuted.
    admit: bool,
}

impl PerceptronProblem<'_> {
    fn settings(&self, kernel: Kernel) -> Perceptron {
        Perceptron::new(kernel)
            .passes(self.passes)
            .shuffle(self.seed.is_some())
            .averaged(self.averaged)
            .rule(self.rule())
            .admission(admission(self.admit))
    }

    fn rule(&self) -> Rule {
        if self.direct { Rule::Direct } else { Rule::OneVsRest }
    }

    fn train(
        &self,
        py: Python<'_>,
        perceptron: &Perceptron,
        inputs: Inputs<'_>,
        job: &Job<'_>,
    ) -> PyResult<learn::Fitted> {
        let problem = Problem::new(inputs, coded(&self.codes, self.classes)?);
        train(py, perceptron, &problem, self.seed.unwrap_or_default(), job)
    }
}

/// (dual coefficients, report).
type Trained<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyDict>);

/// Trains a perceptron on `rows`.
#[pyfunction]
pub fn fit_perceptron<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: PerceptronProblem<'py>,
    job: Job<'py>,
) -> PyResult<Trained<'py>> {
    let fitted = problem.train(py, &problem.settings(kernel.0.clone()), rows.samples()?.into(), &job)?;
    trained(py, fitted, problem.codes.as_slice().map_err(value_error)?.len())
}

/// Trains a perceptron on a kernel matrix.
#[pyfunction]
pub fn fit_perceptron_gram<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    problem: PerceptronProblem<'py>,
    job: Job<'py>,
) -> PyResult<Trained<'py>> {
    let (order, entries) = square(&gram)?;
    let gram = DenseGram::new(order, entries);
    let fitted = problem.train(py, &problem.settings(Kernel::linear()), Inputs::Gram(&gram), &job)?;
    trained(py, fitted, order)
}

fn trained(py: Python<'_>, fitted: learn::Fitted, rows: usize) -> PyResult<Trained<'_>> {
    let told = told(py, &fitted)?;
    Ok((expanded(py, fitted, rows)?.0, told))
}

fn told<'py>(py: Python<'py>, fitted: &learn::Fitted) -> PyResult<Bound<'py, PyDict>> {
    let report = fitted.report.as_ref().ok_or_else(|| value_error("nothing was trained"))?;
    let dict = described(py, report)?;
    dict.set_item("solver", "perceptron")?;
    dict.set_item("residual", f64::NAN)?;
    let domain = match &fitted.model.predictor {
        Predictor::Expansion(expansion) => expansion.domain,
        Predictor::Voted(voted) => voted.domain,
        _ => None,
    };
    dict.set_item("domain", domain.map(|domain| domain.to_string()))?;
    dict.set_item("mistakes", fitted.facts["mistakes"].as_u64())?;
    dict.set_item("margin", fitted.facts["margin"].as_f64())?;
    dict.set_item("bound", fitted.facts["mistake_bound"].as_f64())?;
    Ok(dict)
}

/// Trains a perceptron of which every decision votes: (rows that are centres, steps, report). A step is its centre's place, its
/// output, its amount and its votes.
#[pyfunction]
pub fn fit_perceptron_voted<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: PerceptronProblem<'py>,
    job: Job<'py>,
) -> PyResult<(Rest<'py>, Bound<'py, PyDict>)> {
    let perceptron = problem.settings(kernel.0.clone()).vote(true);
    let mut fitted = problem.train(py, &perceptron, rows.samples()?.into(), &job)?;
    let (told, used) = (told(py, &fitted)?, fitted.centres.take().unwrap_or_default());
    let Predictor::Voted(voted) = fitted.model.predictor else {
        return Err(value_error("the perceptron keeps no votes"));
    };
    let numbers =
        |step: &VotedStep| [f64::from(step.centre), f64::from(step.output), step.amount, step.votes as f64];
    let steps = Matrix::from_entries(voted.steps.len(), 4, voted.steps.iter().flat_map(numbers).collect());
    Ok(((PyArray1::from_vec(py, used), from_matrix(py, steps)?), told))
}

/// The rows that are kept, and numbers on them.
type Rest<'py> = (Bound<'py, PyArray1<usize>>, Bound<'py, PyArray2<f64>>);

/// The shares of the votes at each row of `queries`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the parts of a model, each of its own kind")]
pub fn cast_votes<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    domain: Option<&str>,
    centres: Rows<'py>,
    classes: usize,
    steps: PyReadonlyArray2<'py, f64>,
    queries: Rows<'py>,
    job: Job<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let voted = voted(kernel, domain, &centres.samples()?, classes, &steps)?;
    let queries = queries.samples()?;
    let shares = job.run(py, |session| voted.predict(&queries, session))?;
    from_matrix(py, shares.map_err(model_error)?)
}

/// A voted perceptron of its parts.
pub fn voted(
    kernel: &NativeKernel,
    domain: Option<&str>,
    centres: &AnySamples<'_>,
    classes: usize,
    steps: &PyReadonlyArray2<'_, f64>,
) -> PyResult<Voted> {
    let steps = matrix(steps)?;
    let step = |row: usize| match steps.row(row) {
        &[centre, output, amount, votes] => {
            Ok(VotedStep { centre: centre as u32, output: output as u32, amount, votes: votes as u64 })
        }
        _ => Err(value_error("a step has four numbers")),
    };
    Ok(Voted {
        kernel: kernel.0.clone(),
        domain: domain.map(str::parse).transpose().map_err(value_error)?,
        centres: centres.view().into_owned(),
        classes,
        steps: (0..steps.nrows()).map(step).collect::<PyResult<_>>()?,
    })
}

/// Trains a perceptron of at most `budget` centres: (centres, dual coefficients, report).
#[pyfunction]
pub fn fit_perceptron_budgeted<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    rows: Rows<'py>,
    problem: PerceptronProblem<'py>,
    budget: usize,
    job: Job<'py>,
) -> PyResult<Kept<'py>> {
    let perceptron = problem.settings(kernel.0.clone()).budget(Some(budget));
    let fitted = problem.train(py, &perceptron, rows.samples()?.into(), &job)?;
    let told = told(py, &fitted)?;
    let Predictor::Expansion(expansion) = fitted.model.predictor else {
        return Err(value_error("the perceptron has no centres"));
    };
    let (centres, dual) = kept(py, expansion)?;
    Ok((centres, dual, told))
}

/// (centres, dual coefficients, report).
type Kept<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyDict>);

/// Goes on with a perceptron of at most `budget` centres, one row after the other: ((centres, dual
/// coefficients), mistakes). `centres` has no rows at the start.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the state of a stream and what comes next")]
pub fn update_perceptron<'py>(
    py: Python<'py>,
    kernel: &NativeKernel,
    centres: Rows<'py>,
    dual: PyReadonlyArray2<'py, f64>,
    rows: Rows<'py>,
    problem: PerceptronProblem<'py>,
    budget: usize,
    job: Job<'py>,
) -> PyResult<(Centres<'py>, u64)> {
    let (samples, centres, dual) = (rows.samples()?, centres.samples()?, matrix(&dual)?);
    let (kernel, rule) = (kernel.0.clone(), problem.rule());
    let codes = problem.codes.as_slice().map_err(value_error)?;
    let learnt = job.run(py, |session| {
        admission(problem.admit).decide(&kernel, &samples)?;
        let columns = samples.ncols();
        let mut machine = match centres.nrows() {
            0 => BudgetedPerceptron::new(kernel, columns, problem.classes, rule, budget)?,
            _ => BudgetedPerceptron::resume(kernel, &centres, &dual, problem.classes, rule, budget)?,
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
    let (expansion, mistakes) = learnt.map_err(learn_error)?;
    Ok((kept(py, expansion)?, mistakes))
}

/// (centres, dual coefficients).
type Centres<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// The centres and the dual coefficients of an expansion.
fn kept(py: Python<'_>, expansion: Expansion) -> PyResult<Centres<'_>> {
    let (rows, columns) = (expansion.centres.nrows(), expansion.centres.ncols());
    let mut centres = Matrix::zeros(rows, columns);
    (0..rows).for_each(|row| expansion.centres.copy_row(row, centres.row_mut(row)));
    Ok((from_matrix(py, centres)?, from_matrix(py, expansion.coefficients)?))
}
