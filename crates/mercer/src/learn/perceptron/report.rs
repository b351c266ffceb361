//! What a perceptron says of its training.

use serde::{Deserialize, Serialize};

use crate::solve::Status;

use super::Rule;
use super::train::{Decisions, History, rival};

/// How training a perceptron went.
///
/// Where a pass made no mistake the classes are separated, with the margin γ of the function that did it: for two classes
/// γ = minᵢ yᵢf(xᵢ)/‖f‖. With R = maxᵢ √k(xᵢ, xᵢ), any separator's margin bounds the mistakes of every order of visits
/// (Novikoff, 1962): at most R²/γ² for two classes, Σₖ R²/γₖ² for one against the rest, and 2R²/γ² for the direct rule, where
/// γ = minᵢ (f_y(xᵢ) − max f_c(xᵢ))/(Σₖ‖fₖ‖²)^½.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerceptronReport {
    /// [`Status::Converged`] where the last pass made no mistake.
    pub status: Status,
    /// Passes over the rows.
    pub passes: usize,
    /// Corrections: mistakes, counted once for each class that had it wrong in one against the rest.
    pub mistakes: usize,
    /// The rows mistaken, in the order of their mistakes; not written with the rest.
    #[serde(skip)]
    pub mistaken: Vec<usize>,
    /// R.
    pub radius: f64,
    /// γ, the smallest over the classes; none where the classes were not separated.
    pub margin: Option<f64>,
    /// The bound on the mistakes; none where the classes were not separated.
    pub bound: Option<f64>,
    /// What a user should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl PerceptronReport {
    pub(super) fn new(
        history: &History,
        codes: &[usize],
        rule: Rule,
        radius: f64,
        decisions: &dyn Decisions,
    ) -> Self {
        let mistaken = history.mistaken();
        let norms = decisions.squared_norms();
        let mistakes = match rule {
            Rule::Direct if norms.len() > 1 => mistaken.len(),
            _ => history.updates.len(),
        };
        let margins = history.separated.then(|| margins(codes, rule, &norms, decisions));
        let reach = if rule == Rule::Direct && norms.len() > 1 { 2.0 } else { 1.0 };
        let bound = |margins: &Vec<f64>| margins.iter().map(|gamma| reach * (radius / gamma).powi(2)).sum();
        Self {
            status: if history.separated { Status::Converged } else { Status::OutOfIterations },
            passes: history.passes,
            mistakes,
            mistaken,
            radius,
            margin: margins.as_ref().map(|margins| margins.iter().copied().fold(f64::INFINITY, f64::min)),
            bound: margins.as_ref().map(bound),
            warnings: Vec::new(),
        }
    }
}

/// The margin of each function that separates on its own: one per output, or one for all of them together.
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
