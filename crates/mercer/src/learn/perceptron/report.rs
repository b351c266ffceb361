//! The report of training a perceptron.

use crate::data::{Number, counted};
use crate::model::Facts;
use crate::solve::{Report, Status};

use super::Rule;
use super::train::{Decisions, History, rival};

/// The outcome of training a perceptron.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// Whether the last pass made no mistake.
    pub separated: bool,
    /// Passes over the rows.
    pub passes: usize,
    /// Number of updates. With one-vs-rest, a row counts once for each class whose decision was wrong.
    pub mistakes: usize,
    /// R.
    pub radius: f64,
    /// γ, the smallest over the classes; `None` if the classes are not separated.
    pub margin: Option<f64>,
    /// The bound on the mistakes; `None` if the classes were not separated.
    pub bound: Option<f64>,
}

impl Outcome {
    pub fn new(
        history: &History,
        codes: &[usize],
        rule: Rule,
        radius: f64,
        decisions: &dyn Decisions,
    ) -> Self {
        let norms = decisions.squared_norms();
        let mistakes = match rule {
            Rule::Direct if norms.len() > 1 => history.mistaken().len(),
            _ => history.updates.len(),
        };
        let margins = history.separated.then(|| margins(codes, rule, &norms, decisions));
        let reach = if rule == Rule::Direct && norms.len() > 1 { 2.0 } else { 1.0 };
        let bound = |margins: &Vec<f64>| margins.iter().map(|gamma| reach * (radius / gamma).powi(2)).sum();
        Self {
            separated: history.separated,
            passes: history.passes,
            mistakes,
            radius,
            margin: margins.as_ref().map(|margins| margins.iter().copied().fold(f64::INFINITY, f64::min)),
            bound: margins.as_ref().map(bound),
        }
    }

    /// The outcome as a solver report.
    pub fn report(&self) -> Report {
        let separated = match (self.margin, self.bound) {
            (Some(margin), Some(bound)) => {
                format!("separated with margin {margin:.3e}, so at most {bound:.0} mistakes in any order")
            }
            _ if self.separated => "separated".into(),
            _ => "not separated".into(),
        };
        let status = if self.separated { Status::Converged } else { Status::OutOfIterations };
        let solver = format!(
            "{} in {} {}, {separated}",
            counted(self.mistakes, "mistake"),
            self.passes,
            if self.passes == 1 { "pass" } else { "passes" }
        );
        Report::new(status, solver, self.passes, 0.0)
    }

    /// The outcome by name.
    pub fn facts(&self) -> Facts {
        Facts::new()
            .with("passes", self.passes)
            .with("mistakes", self.mistakes)
            .with("radius", Number(self.radius))
            .with("margin", self.margin.map(Number))
            .with("mistake_bound", self.bound.map(Number))
    }
}

/// The margin of each separating function: one per output, or one for all of them together.
fn margins(codes: &[usize], rule: Rule, norms: &[f64], decisions: &dyn Decisions) -> Vec<f64> {
    let outputs = norms.len();
    let mut values = vec![0.0; outputs];
    let together = outputs > 1 && rule == Rule::Direct;
    let mut smallest = vec![f64::INFINITY; if together { 1 } else { outputs }];
    for (i, &own) in codes.iter().enumerate() {
        decisions.at(i, &mut values);
        if together {
            smallest[0] = smallest[0].min(values[own] - values[rival(&values, own)]);
        } else {
            for (k, (smallest, value)) in smallest.iter_mut().zip(&values).enumerate() {
                let positive = if outputs == 1 { own == 1 } else { own == k };
                *smallest = smallest.min(if positive { *value } else { -value });
            }
        }
    }
    let total = norms.iter().sum::<f64>().sqrt();
    let lengths = norms.iter().map(|norm| if together { total } else { norm.sqrt() });
    smallest.iter().zip(lengths).map(|(smallest, length)| smallest / length).collect()
}
