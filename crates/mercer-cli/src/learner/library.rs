//! The learners of the library behind the trait of the command line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::learn::{self, Problem, Requires, Shape, Targets};
use mercer::model;
use mercer::session::Session;
use serde_json::Value;

use super::{Learner, Learnt, codes_of};
use crate::failure::Failure;

/// A learner of the library.
pub struct Library<L> {
    learner: L,
    seed: u64,
    classes: Option<Classes>,
}

impl<L: learn::Learner + 'static> Library<L> {
    /// A learner with its settings, and the seed of the session that it is trained in.
    pub fn boxed(learner: L, seed: u64) -> Box<dyn Learner> {
        Box::new(Self { learner, seed, classes: None })
    }
}

impl<L: learn::Learner> Learner for Library<L> {
    fn method(&self) -> model::Method {
        self.learner.method()
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        self.learner.settings(&Session::default().with_seed(self.seed))
    }

    fn classifies(&self, text: bool) -> bool {
        match self.learner.requires() {
            Requires::Classes => true,
            Requires::NumbersOrClasses => text,
            Requires::Numbers | Requires::Nothing => false,
        }
    }

    fn needs_target(&self) -> bool {
        self.learner.requires() != Requires::Nothing
    }

    fn name_classes(&mut self, classes: &Classes) -> Result<(), Failure> {
        self.classes = Some(classes.clone());
        Ok(())
    }

    fn check(&self, rows: usize, columns: usize, session: &Session<'_>) -> Result<(), Failure> {
        let targets = self.classes.as_ref().map_or(1, Classes::len);
        Ok(self.learner.check(Shape { rows, columns, targets }, session)?)
    }

    fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Learnt, Failure> {
        let targets = match &self.classes {
            Some(classes) => {
                Targets::Classes { codes: Cow::Owned(codes_of(targets)), classes: classes.clone() }
            }
            None => targets.into(),
        };
        let problem = Problem::new(samples, targets).weighted(weights);
        let fitted = self.learner.train(&problem, session)?;
        Ok(Learnt {
            predictor: fitted.model.predictor,
            calibration: fitted.model.calibration,
            report: fitted.report,
            facts: fitted.facts,
        })
    }
}
