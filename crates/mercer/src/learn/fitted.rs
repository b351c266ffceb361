//! The result of training: a model and a report on its quality.

use std::path::Path;

use crate::data::{AnySamples, Classes, Matrix, Number};
use crate::model::libsvm::PRECOMPUTED;
use crate::model::{Calibration, Errors, Facts, Model, ModelError, Predictor};
use crate::session::Session;
use crate::solve::Report;

use super::learner::{Learner, Requires};
use super::problem::{Inputs, Origin, Problem};

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The model, which predicts and can be saved.
    pub model: Model,
    /// The report of the solver; `None` if there was none, as for neighbours.
    pub report: Option<Report>,
    /// Further facts about the fit.
    pub facts: Facts,
    /// The rows of the problem that are the model's centres, if it keeps only some of them.
    pub centres: Option<Vec<usize>>,
    /// The iterations of each subproblem, if there are several: one for each support vector machine.
    pub iterations: Vec<u64>,
    /// The errors of each target on the held-out rows of a stream, by a fit to the others.
    pub held_out: Option<Vec<Errors>>,
}

impl Fitted {
    /// Assembles the model of a learner.
    pub(crate) fn new(
        learner: &dyn Learner,
        problem: &Problem<'_>,
        session: &Session<'_>,
        answer: Answer,
    ) -> Self {
        let rows = (problem.nrows() as u64, problem.origin.clone());
        let mut fitted = Self::of_rows(learner, rows, problem.classes().cloned(), session, answer);
        if matches!(problem.inputs, Inputs::Gram(_)) {
            fitted.model.settings.set(PRECOMPUTED, true);
        }
        fitted
    }

    /// As [`new`](Self::new) for this many rows, which need not be on this machine.
    ///
    /// Every trained model is assembled here.
    pub(crate) fn of_rows(
        learner: &dyn Learner,
        (rows, origin): (u64, Origin),
        classes: Option<Classes>,
        session: &Session<'_>,
        answer: Answer,
    ) -> Self {
        let Answer { predictor, calibration, report, facts, centres, iterations, held_out } = answer;
        let mut kept = facts.clone().with("rows", rows);
        if let Some(Report { solver, status, residual, .. }) = &report {
            kept = kept.with("solver", solver).with("status", status).with("residual", Number(*residual));
        }
        let classes = match learner.requires() {
            // One-class estimation has two classes: inliers and outliers.
            Requires::Nothing => Some(Classes::inliers()),
            _ => classes,
        };
        let outputs = match &classes {
            _ if !origin.outputs.is_empty() => origin.outputs,
            // Targets of arrays are named by their index.
            Some(_) => vec!["0".to_owned()],
            None => (0..predictor.noutputs()).map(|place| place.to_string()).collect(),
        };
        let model = Model {
            method: learner.method(),
            settings: learner.settings(session),
            predictor,
            schema: origin.schema,
            outputs,
            classes,
            label_type: None,
            calibration,
            scaling: origin.scaling,
            report: kept,
        };
        Self { model, report, facts, centres, iterations, held_out }
    }

    /// The outputs at samples, in a default session: one row per sample, one column per output.
    ///
    /// # Errors
    /// If the samples do not have the model's columns or are outside of the kernel's domain.
    pub fn predict<'a>(&self, samples: impl Into<AnySamples<'a>>) -> Result<Matrix<f64>, ModelError> {
        self.model.predict(&samples.into(), &Session::default())
    }

    /// The name of the class of each sample, in a default session.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    ///
    /// # Panics
    /// If the model is not a classifier.
    pub fn predict_classes<'a>(&self, samples: impl Into<AnySamples<'a>>) -> Result<Vec<String>, ModelError> {
        let classes = self.model.classes.as_ref().expect("a classifier");
        let (outputs, link) = (self.predict(samples)?, self.model.link());
        Ok((0..outputs.nrows()).map(|row| classes.name(link.class(outputs.row(row)))).collect())
    }

    /// Writes the model to a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        self.model.save(path.as_ref())
    }
}

/// The result of a learner, before it becomes a model.
pub(crate) struct Answer {
    /// The predictor.
    pub predictor: Predictor,
    /// The calibration of decisions to probabilities.
    pub calibration: Option<Calibration>,
    /// The report of the solver.
    pub report: Option<Report>,
    /// Further facts.
    pub facts: Facts,
    /// The rows of the problem that are the predictor's centres, if it keeps only some of them.
    pub centres: Option<Vec<usize>>,
    /// The iterations of each subproblem, if there are several.
    pub iterations: Vec<u64>,
    /// The errors on held-out rows.
    pub held_out: Option<Vec<Errors>>,
}

impl Answer {
    /// A predictor and the report of its solver.
    pub fn new(predictor: impl Into<Predictor>, report: Report) -> Self {
        Self { report: Some(report), ..Self::kept(predictor) }
    }

    /// A predictor that keeps the samples, without a solver.
    pub fn kept(predictor: impl Into<Predictor>) -> Self {
        let predictor = predictor.into();
        Self {
            predictor,
            calibration: None,
            report: None,
            facts: Facts::new(),
            centres: None,
            iterations: Vec::new(),
            held_out: None,
        }
    }
}
